package kql

import (
	"encoding/json"
	"log/slog"
	"strconv"
)

type scalarType uint8

const (
	isText scalarType = iota
	isInteger
	isFloat
	isBool
	isNull
	isTime
)

// scalar is a value as JSON has it.
type scalar struct {
	typ     scalarType
	text    string  // of a text
	integer int64   // of an integer; of a time, nanoseconds since 1970
	large   bool    // an integer of 2⁶³ and more: see float
	float   float64 // of a float
	truth   bool
	number  string // as it is spelt, if that is not what formatting it gives
}

func classify(v slog.Value) scalar {
	switch v.Kind() {
	case slog.KindString:
		return scalar{typ: isText, text: v.String()}
	case slog.KindInt64:
		return scalar{typ: isInteger, integer: v.Int64()}
	case slog.KindUint64:
		if u := v.Uint64(); u > 1<<63-1 {
			return scalar{typ: isInteger, large: true, float: float64(u)}
		}
		return scalar{typ: isInteger, integer: int64(v.Uint64())}
	case slog.KindFloat64:
		return scalar{typ: isFloat, float: v.Float64()}
	case slog.KindBool:
		return scalar{typ: isBool, truth: v.Bool()}
	}
	n, ok := v.Any().(json.Number)
	if !ok {
		return scalar{typ: isNull}
	}
	s := scalar{typ: isFloat, number: n.String()}
	if i, err := strconv.ParseInt(s.number, 10, 64); err == nil {
		s.typ, s.integer = isInteger, i
	}
	s.float, _ = strconv.ParseFloat(s.number, 64)
	return s
}

// compareInteger compares an integer or a time with an integer.
func (v *scalar) compareInteger(op operator, with int64) bool {
	switch {
	case v.large || v.integer > with:
		return op.holds(1)
	case v.integer < with:
		return op.holds(-1)
	}
	return op.holds(0)
}

// asTime turns the value of the time's key into a time, if it is one.
func (v *scalar) asTime() {
	text := v.text
	switch v.typ {
	case isInteger:
		text = strconv.FormatInt(v.integer, 10)
		if v.large {
			return
		}
	case isFloat:
		if text = v.number; text == "" {
			text = strconv.FormatFloat(v.float, 'f', -1, 64)
		}
	case isText:
	default:
		return
	}
	if ns, ok := parseTime(text); ok {
		*v = scalar{typ: isTime, integer: ns}
	}
}
