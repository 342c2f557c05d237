package archive

import (
	"encoding/binary"
	"math"
	"strconv"

	"github.com/tracehandler/tracehandler/internal/jsontext"
)

// mustEscape says which bytes do not stand for themselves in a JSON string.
var mustEscape = func() (t [256]bool) {
	for c := range 0x20 {
		t[c] = true
	}
	t['"'], t['\\'] = true, true
	return t
}()

// appendEscaped appends s as the inside of a JSON string, escaped as the reference does it: only what must be, and bytes
// that are not UTF-8 as they are.
func appendEscaped(dst, s []byte) []byte {
	plain := 0 // what of s stands for itself, eight bytes at a time
	for len(s)-plain >= 8 && jsontext.Special(binary.LittleEndian.Uint64(s[plain:])) == 0 {
		plain += 8
	}
	from := 0
	for i := plain; i < len(s); i++ {
		c := s[i]
		if !mustEscape[c] {
			continue
		}
		dst = append(dst, s[from:i]...)
		from = i + 1
		switch c {
		case '"', '\\':
			dst = append(dst, '\\', c)
		case '\b':
			dst = append(dst, '\\', 'b')
		case '\f':
			dst = append(dst, '\\', 'f')
		case '\n':
			dst = append(dst, '\\', 'n')
		case '\r':
			dst = append(dst, '\\', 'r')
		case '\t':
			dst = append(dst, '\\', 't')
		default:
			const hex = "0123456789abcdef"
			dst = append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		}
	}
	return append(dst, s[from:]...)
}

// appendFixed appends a float whose spelling was not kept: six decimals, as the reference prints it. JSON has no NaN and
// no infinities; they are null.
func appendFixed(dst []byte, v float64) []byte {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return append(dst, "null"...)
	}
	return strconv.AppendFloat(dst, v, 'f', 6, 64)
}
