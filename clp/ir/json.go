package ir

import (
	"math"
	"strconv"
	"unicode/utf8"
	"unsafe"

	"github.com/tracehandler/tracehandler/clp/encoding"
	"github.com/tracehandler/tracehandler/event"
	"github.com/tracehandler/tracehandler/internal/jsontext"
)

// isPlain reports whether text stands in a JSON string as it is.
func isPlain(text []byte) bool { return plainPrefix(text) == len(text) }

// AppendQuoted appends text as a JSON string. Bytes that are not UTF-8 become U+FFFD.
func AppendQuoted(dst, text []byte) []byte {
	return event.AppendString(dst, unsafe.String(unsafe.SliceData(text), len(text)))
}

// appendNumber appends a float with a point or an exponent, so that it is read as a float again; NaN and infinities,
// which JSON has not, as null.
func appendNumber(dst []byte, v float64) []byte {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return append(dst, "null"...)
	}
	format := byte('f')
	if abs := math.Abs(v); abs != 0 && (abs < 1e-6 || abs >= 1e21) {
		format = 'e'
	}
	from := len(dst)
	dst = strconv.AppendFloat(dst, v, format, -1, 64)
	for _, c := range dst[from:] {
		if c == '.' || c == 'e' {
			return dst
		}
	}
	return append(dst, '.', '0')
}

// AppendJSON appends v as JSON. Members of an event that cannot be decoded are an error: an *encoding.DecodeError or
// ErrArray.
func (v *Value) AppendJSON(dst []byte) ([]byte, error) {
	switch v.kind {
	case Null:
		return append(dst, "null"...), nil
	case Empty:
		return append(dst, "{}"...), nil
	case Int:
		return strconv.AppendInt(dst, v.Int(), 10), nil
	case Float:
		return appendNumber(dst, v.Float()), nil
	case Bool:
		return strconv.AppendBool(dst, v.Bool()), nil
	case Array:
		from := len(dst)
		dst, err := v.AppendText(dst)
		if err == nil && !isIntArray(dst[from:]) && !(jsontext.Valid(dst[from:]) && utf8.Valid(dst[from:])) {
			err = ErrArray
		}
		return dst, err
	}
	if !v.encoded {
		return AppendQuoted(dst, v.text.logtype), nil
	}
	if dst, ok := v.text.appendPlain(dst); ok {
		return dst, nil
	}
	// The text is decoded behind dst, and its JSON made behind that, which then takes its place.
	from := len(dst)
	dst, err := v.text.appendTo(dst)
	if err != nil {
		return dst, err
	}
	end := len(dst)
	dst = AppendQuoted(dst, dst[from:])
	return dst[:from+copy(dst[from:], dst[end:])], nil
}

// isIntList reports whether a log type is that of an array of integers, which is valid whatever the integers are.
func isIntList(logtype []byte) bool {
	if len(logtype) < 3 || len(logtype)%2 == 0 || logtype[0] != '[' || logtype[len(logtype)-1] != ']' {
		return false
	}
	for i, c := range logtype[1 : len(logtype)-1] {
		if i%2 == 0 && c != encoding.IntPlaceholder || i%2 == 1 && c != ',' {
			return false
		}
	}
	return true
}

// isIntArray reports whether text is an array of short integers that are not negative, which most arrays are.
func isIntArray(text []byte) bool {
	last := len(text) - 1
	if last < 2 || text[0] != '[' || text[last] != ']' {
		return false
	}
	digits, zero := 0, false
	for _, c := range text[1:last] {
		switch {
		case c-'0' <= 9 && !zero:
			zero = digits == 0 && c == '0'
			digits++
		case c == ',' && digits > 0:
			digits, zero = 0, false
		default:
			return false
		}
	}
	return digits > 0
}
