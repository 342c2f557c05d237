package event

import (
	"encoding/binary"
	"log/slog"
	"math"
	"math/bits"
	"strconv"
	"unicode/utf8"

	"github.com/tracehandler/tracehandler/internal/jsontext"
	"github.com/tracehandler/tracehandler/internal/slogtext"
)

// appendComma appends what goes before the next member of an object: nothing if the object was just opened. No value
// ends with a brace that opens, so the last byte tells.
func appendComma(dst []byte) []byte {
	if dst[len(dst)-1] != '{' {
		dst = append(dst, ',')
	}
	return dst
}

// appendKey appends the comma, the key and the colon of a member.
func appendKey(dst []byte, key string) []byte {
	if at := len(dst); cap(dst)-at >= len(key)+4 {
		buf := dst[:cap(dst)]
		if at = putKey(buf, at, key); at > 0 {
			return buf[:at]
		}
	}
	return append(appendEscaped(appendComma(dst), key), ':')
}

// putKey writes what appendKey appends to buf, which has room for it, at index at. It returns the index after it, 0 if
// the key must be escaped.
func putKey(buf []byte, at int, key string) int {
	if buf[at-1] != '{' {
		buf[at] = ','
		at++
	}
	buf[at] = '"'
	at++
	if !copyPlain(buf[at:], key) {
		return 0
	}
	at += len(key)
	buf[at], buf[at+1] = '"', ':'
	return at + 2
}

// appendStringMember appends a member whose value is a string, in one go if neither text must be escaped.
func appendStringMember(dst []byte, key, s string) []byte {
	if at := len(dst); cap(dst)-at >= len(key)+len(s)+6 {
		buf := dst[:cap(dst)]
		if at = putKey(buf, at, key); at > 0 && copyPlain(buf[at+1:], s) {
			buf[at] = '"'
			at += 1 + len(s)
			buf[at] = '"'
			return buf[:at+1]
		}
	}
	return AppendString(appendKey(dst, key), s)
}

// AppendString appends s as a JSON string. Quotes, backslashes and control characters are escaped, so are U+2028 and
// U+2029, which end a line in JavaScript; bytes that are not UTF-8 become \ufffd.
func AppendString(dst []byte, s string) []byte {
	if at := len(dst); cap(dst)-at >= len(s)+2 {
		buf := dst[:cap(dst)]
		if copyPlain(buf[at+1:], s) {
			buf[at] = '"'
			at += 1 + len(s)
			buf[at] = '"'
			return buf[:at+1]
		}
	}
	return appendEscaped(dst, s)
}

// copyPlain copies s to dst, which has room for it, if s stands in a JSON string as it is. It looks at eight bytes at a
// time, and copies them while it has them.
func copyPlain(dst []byte, s string) bool {
	n := len(s)
	dst = dst[:n]
	switch {
	case n >= 8:
		for i := 0; i < n-8; i += 8 {
			x := load64(s[i : i+8])
			if jsontext.Unplain(x) != 0 {
				return false
			}
			binary.LittleEndian.PutUint64(dst[i:i+8], x)
		}
		x := load64(s[n-8:]) // may overlap what came before
		if jsontext.Unplain(x) != 0 {
			return false
		}
		binary.LittleEndian.PutUint64(dst[n-8:], x)
	case n >= 4:
		x, y := load32(s), load32(s[n-4:])
		if jsontext.Unplain(uint64(y)<<32|uint64(x)) != 0 {
			return false
		}
		binary.LittleEndian.PutUint32(dst, x)
		binary.LittleEndian.PutUint32(dst[n-4:], y)
	default:
		for i := range n {
			c := s[i]
			if c < ' ' || c == '"' || c == '\\' || c >= utf8.RuneSelf {
				return false
			}
			dst[i] = c
		}
	}
	return true
}

// appendEscaped is AppendString for all strings.
func appendEscaped(dst []byte, s string) []byte {
	dst = append(dst, '"')
	for {
		n := plainPrefix(s)
		dst = append(dst, s[:n]...)
		if n == len(s) {
			return append(dst, '"')
		}
		s = s[n:]
		if s[0] < utf8.RuneSelf {
			dst = jsontext.AppendEscape(dst, s[0])
			s = s[1:]
			continue
		}
		n = 0
		for n < len(s) && s[n] >= utf8.RuneSelf {
			r, size := utf8.DecodeRuneInString(s[n:])
			if size == 1 || r == '\u2028' || r == '\u2029' {
				dst = append(dst, s[:n]...)
				dst = append(dst, '\\', 'u', hex[r>>12], hex[r>>8&15], hex[r>>4&15], hex[r&15])
				s = s[n+size:]
				n = 0
				continue
			}
			n += size
		}
		dst = append(dst, s[:n]...)
		s = s[n:]
	}
}

const hex = "0123456789abcdef"

// plainPrefix returns the length of the longest prefix of s that is ASCII and stands in a JSON string as it is. It looks
// at eight bytes at a time.
func plainPrefix(s string) int {
	i := 0
	for ; i+8 <= len(s); i += 8 {
		if m := jsontext.Unplain(load64(s[i : i+8])); m != 0 {
			return i + bits.TrailingZeros64(m)>>3
		}
	}
	if i == len(s) {
		return i
	}
	if len(s) >= 8 { // the last eight bytes: those before i are plain
		if m := jsontext.Unplain(load64(s[len(s)-8:])); m != 0 {
			return len(s) - 8 + bits.TrailingZeros64(m)>>3
		}
		return len(s)
	}
	for ; i < len(s); i++ {
		if c := s[i]; c < ' ' || c == '"' || c == '\\' || c >= utf8.RuneSelf {
			break
		}
	}
	return i
}

func load32(s string) uint32 {
	_ = s[3]
	return uint32(s[0]) | uint32(s[1])<<8 | uint32(s[2])<<16 | uint32(s[3])<<24
}

// load64 returns the eight bytes of s, the first one lowest. The compiler makes one load of it.
func load64(s string) uint64 {
	_ = s[7]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}

// AppendFloat appends f as the JSON of events has it: as encoding/json, or as the string "NaN", "+Inf" or "-Inf".
func AppendFloat(dst []byte, f float64) []byte { return appendFloat(dst, f, 64) }

// appendFloat appends f as encoding/json does: the shortest text that reads back as f, with an exponent below 1e-6 and
// from 1e21 (as ECMAScript's Number to String). What is not a number is a string.
func appendFloat(dst []byte, f float64, size int) []byte {
	switch {
	case f != f:
		return append(dst, `"NaN"`...)
	case f > math.MaxFloat64:
		return append(dst, `"+Inf"`...)
	case f < -math.MaxFloat64:
		return append(dst, `"-Inf"`...)
	}
	if i := int64(f); float64(i) == f && i > -1<<53 && i < 1<<53 && size == 64 && (i != 0 || !math.Signbit(f)) {
		return strconv.AppendInt(dst, i, 10)
	}
	abs := math.Abs(f)
	if n := uint64(abs*1e6 + 0.5); abs >= 1e-6 && abs < 1e9 && size == 64 && float64(n)/1e6 == abs {
		// No two decimal numbers of 15 digits or less are the same float64, so this one is the shortest text.
		if f < 0 {
			dst = append(dst, '-')
		}
		dst = strconv.AppendUint(dst, n/1e6, 10)
		return slogtext.AppendFraction(dst, uint32(n%1e6)*1000)
	}
	if abs == 0 || size == 64 && abs >= 1e-6 && abs < 1e21 || size == 32 && float32(abs) >= 1e-6 && float32(abs) < 1e21 {
		return strconv.AppendFloat(dst, f, 'f', -1, size)
	}
	dst = strconv.AppendFloat(dst, f, 'e', -1, size)
	if n := len(dst); n >= 4 && dst[n-4] == 'e' && dst[n-3] == '-' && dst[n-2] == '0' { // e-09 is e-9
		dst[n-2] = dst[n-1]
		dst = dst[:n-1]
	}
	return dst
}

// appendLevel appends l as a JSON string.
func appendLevel(dst []byte, l slog.Level) []byte {
	return append(slogtext.AppendLevel(append(dst, '"'), l), '"')
}
