package ir

import (
	"encoding/json"
	"math"
	"strconv"
	"unicode/utf8"
)

// isPlain reports whether text stands in a JSON string as it is.
func isPlain(text []byte) bool {
	for _, c := range text {
		if c < 0x20 || c >= utf8.RuneSelf || c == '"' || c == '\\' {
			return false
		}
	}
	return true
}

const hexDigits = "0123456789abcdef"

// AppendQuoted appends text as a JSON string. Bytes that are not UTF-8 become U+FFFD.
func AppendQuoted(dst, text []byte) []byte {
	dst = append(dst, '"')
	return append(appendEscaped(dst, text), '"')
}

func appendEscaped(dst, text []byte) []byte {
	from := 0
	for i := 0; i < len(text); {
		c := text[i]
		if c >= utf8.RuneSelf {
			r, size := utf8.DecodeRune(text[i:])
			if r == utf8.RuneError && size == 1 {
				dst = append(append(dst, text[from:i]...), `�`...)
				from = i + 1
			}
			i += size
			continue
		}
		if c >= 0x20 && c != '"' && c != '\\' {
			i++
			continue
		}
		dst = append(dst, text[from:i]...)
		switch c {
		case '"', '\\':
			dst = append(dst, '\\', c)
		case '\n':
			dst = append(dst, '\\', 'n')
		case '\r':
			dst = append(dst, '\\', 'r')
		case '\t':
			dst = append(dst, '\\', 't')
		default:
			dst = append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
		}
		i++
		from = i
	}
	return append(dst, text[from:]...)
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
		if err == nil && !(json.Valid(dst[from:]) && utf8.Valid(dst[from:])) {
			err = ErrArray
		}
		return dst, err
	}
	if !v.encoded {
		return AppendQuoted(dst, v.text.logtype), nil
	}
	dst = append(dst, '"')
	from := len(dst)
	dst, err := v.text.appendTo(dst)
	if err != nil {
		return dst, err
	}
	// Most text needs no escapes and is right where it is. Else the escaped form is made behind it, and takes its place.
	if end := len(dst); !isPlain(dst[from:]) {
		dst = appendEscaped(dst, dst[from:end])
		dst = append(dst[:from], dst[end:]...)
	}
	return append(dst, '"'), nil
}
