package kql

import (
	"encoding/json"
	"log/slog"
	"math"
	"strconv"
	"strings"

	"github.com/tracehandler/tracehandler/event"
)

// Value is a value of a key in a group: JSON, in which a number is written in the shortest way, so that 1 and 1.0 are the
// same. It is empty if the key is missing.
type Value string

// Missing reports whether the key is missing.
func (v Value) Missing() bool { return v == "" }

// Text returns a string without quotes and escapes, anything else as JSON.
func (v Value) Text() string {
	if strings.HasPrefix(string(v), `"`) {
		var s string
		if json.Unmarshal([]byte(v), &s) == nil {
			return s
		}
	}
	return string(v)
}

// compare orders missing values first, then numbers by size, then everything else by its text.
func (v Value) compare(w Value) int {
	a, errA := strconv.ParseFloat(string(v), 64)
	b, errB := strconv.ParseFloat(string(w), 64)
	switch {
	case errA == nil && errB == nil && a < b, errA == nil && errB != nil && w != "", v == "" && w != "":
		return -1
	case errA == nil && errB == nil && a > b, errB == nil && errA != nil && v != "", w == "" && v != "":
		return 1
	}
	return strings.Compare(string(v), string(w))
}

// appendValue appends the value at a path as JSON, nothing if it is missing.
func (c *column) appendValue(dst []byte, in *Input) []byte {
	v, ok := c.get(in)
	if !ok {
		return dst
	}
	switch v.Kind() {
	case slog.KindInt64:
		return strconv.AppendInt(dst, v.Int64(), 10)
	case slog.KindUint64:
		return strconv.AppendUint(dst, v.Uint64(), 10)
	case slog.KindBool:
		return strconv.AppendBool(dst, v.Bool())
	case slog.KindFloat64:
		return appendFloat(dst, v.Float64())
	}
	if n, ok := v.Any().(json.Number); ok {
		if i, err := n.Int64(); err == nil {
			return strconv.AppendInt(dst, i, 10)
		}
		if f, err := n.Float64(); err == nil && strings.ContainsAny(n.String(), ".eE") {
			return appendFloat(dst, f)
		}
		return append(dst, n...)
	}
	const before, after = len(`{"":`), len(`}`)
	n := len(dst)
	dst = event.New(slog.Attr{Value: v}).AppendJSON(dst)
	return append(dst[:n], dst[n+before:len(dst)-after]...)
}

// appendFloat appends a float, as an integer if it is one that has all its digits.
func appendFloat(dst []byte, f float64) []byte {
	if f == math.Trunc(f) && math.Abs(f) < 1<<53 {
		return strconv.AppendInt(dst, int64(f), 10)
	}
	return strconv.AppendFloat(dst, f, 'g', -1, 64)
}

// numeric is an integer, or a float.
type numeric struct {
	whole   bool
	integer int64
	float   float64 // also of an integer
}

func (n numeric) less(m numeric) bool {
	if n.whole && m.whole {
		return n.integer < m.integer
	}
	return n.float < m.float
}

// value returns n as JSON.
func (n numeric) value() Value {
	if n.whole {
		return Value(strconv.FormatInt(n.integer, 10))
	}
	return Value(appendFloat(nil, n.float))
}

// number returns the number at a path. It is false if there is none, or one that no float64 holds.
func (c *column) number(in *Input) (numeric, bool) {
	v, ok := c.get(in)
	if !ok {
		return numeric{}, false
	}
	switch v.Kind() {
	case slog.KindInt64:
		return numeric{true, v.Int64(), float64(v.Int64())}, true
	case slog.KindUint64:
		return numeric{float: float64(v.Uint64())}, true
	case slog.KindFloat64:
		return numeric{float: v.Float64()}, true
	}
	if n, ok := v.Any().(json.Number); ok {
		if i, err := n.Int64(); err == nil {
			return numeric{true, i, float64(i)}, true
		}
		f, err := n.Float64()
		return numeric{float: f}, err == nil
	}
	return numeric{}, false
}
