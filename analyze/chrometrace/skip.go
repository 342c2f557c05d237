package chrometrace

import (
	"bytes"
	"encoding/binary"
	"math/bits"
)

const (
	lows   = 0x0101010101010101
	highs  = 0x8080808080808080
	quotes = '"' * lows
)

// stringEnd returns the index of the quote that ends the string whose first byte is b[i], or -1 if b ends before it.
// A quote is escaped if an odd number of backslashes stands before it; nothing else in a string matters here.
func stringEnd(b []byte, i int) int {
	start := i
	for {
		// Most strings are short: look at up to 32 bytes eight at a time, then let IndexByte's vector code take over.
		found := -1
		for n := 0; n < 4 && i+8 <= len(b); n++ {
			x := binary.LittleEndian.Uint64(b[i:]) ^ quotes
			if m := (x - lows) &^ x & highs; m != 0 {
				found = i + bits.TrailingZeros64(m)>>3
				break
			}
			i += 8
		}
		if found < 0 {
			n := bytes.IndexByte(b[i:], '"')
			if n < 0 {
				return -1
			}
			found = i + n
		}
		if found == start || b[found-1] != '\\' {
			return found
		}
		k := found - 1
		for k > start && b[k-1] == '\\' {
			k--
		}
		if (found-k)&1 == 0 {
			return found
		}
		i = found + 1
	}
}

// short says that a value does not end within the bytes at hand.
const short = -1

// skipNested returns the index after the object or array that starts at b[i], short, or -2 - the place of a closing
// bracket that does not match. Only brackets and strings are looked at.
func skipNested(b []byte, i int) int {
	var kinds uint64 // one bit a level: 1 for an object; levels beyond 64 are not checked
	depth := 0
	for {
		if i+8 <= len(b) {
			w := binary.LittleEndian.Uint64(b[i:])
			q := w ^ quotes
			// [ ] { } all give 0x7f when 0x26 is set; so do Y _ y and DEL, which no valid text has outside strings.
			s := (w | 0x26*lows) ^ 0x7f*lows
			m := ((q-lows)&^q | (s-lows)&^s) & highs
			if m == 0 {
				i += 8
				continue
			}
			i += bits.TrailingZeros64(m) >> 3
		}
		if i >= len(b) {
			return short
		}
		switch b[i] {
		case '"':
			if i = stringEnd(b, i+1); i < 0 {
				return short
			}
		case '{':
			kinds = kinds<<1 | 1
			depth++
		case '[':
			kinds <<= 1
			depth++
		case '}', ']':
			if depth <= 64 && (kinds&1 == 1) != (b[i] == '}') {
				return -2 - i
			}
			kinds >>= 1
			if depth--; depth == 0 {
				return i + 1
			}
		}
		i++
	}
}

// flatEnd returns the index after the object at b[i] if it holds no other object, no array and no escape, as most arguments
// do, or 0 if that is not so. Five vector searches of its text are several times faster than a walk from bracket to bracket:
// with an even number of quotes before it and no backslash, the first '}' is outside strings, and as the object's own
// '{' is the only one before it, it is the object's end.
func flatEnd(b []byte, i int) int {
	n := bytes.IndexByte(b[i:], '}')
	if n < 0 {
		return 0
	}
	text := b[i : i+n]
	if bytes.Count(text, openBrace) != 1 || bytes.IndexByte(text, '[') >= 0 || bytes.IndexByte(text, ']') >= 0 || bytes.Count(text, quote)&1 != 0 || bytes.IndexByte(text, '\\') >= 0 {
		return 0
	}
	return i + n + 1
}

// skipSpace returns the index of the first byte at or after i that is not JSON white space.
func skipSpace(b []byte, i int) int {
	if i < len(b) && b[i] > ' ' { // the usual case, inlined
		return i
	}
	return skipBlanks(b, i)
}

// skipBlanks is skipSpace for runs of spaces, by which pretty-printed traces indent. The other control characters from tab to
// space are passed over as well; NUL, of which crashes leave holes in files, is not.
func skipBlanks(b []byte, i int) int {
	for i+8 <= len(b) {
		w := binary.LittleEndian.Uint64(b[i:])
		if m := (((w &^ highs) + ('\x7f'-' ')*lows) | w | (w-'\t'*lows)&^w) & highs; m != 0 { // above ' ', or below '\t'
			return i + bits.TrailingZeros64(m)>>3
		}
		i += 8
	}
	for i < len(b) && '\t' <= b[i] && b[i] <= ' ' {
		i++
	}
	return i
}

// scalarEnd returns the index after the number or word at b[i]; at the end of b it returns short.
func scalarEnd(b []byte, i int) int {
	for ; i < len(b); i++ {
		if endsScalar[b[i]] {
			return i
		}
	}
	return short
}

var endsScalar = func() (t [256]bool) {
	for _, c := range []byte(",}] \n\t\r:\"{[") {
		t[c] = true
	}
	return t
}()

// scalarOK reports whether a scalar can start a JSON value or one of the words profilers write instead.
func scalarOK(t []byte) bool {
	if len(t) == 0 {
		return false
	}
	switch c := t[0]; {
	case '0' <= c && c <= '9':
		return true
	case c == '-' || c == '+':
		return len(t) > 1
	}
	switch string(t) {
	case "null", "true", "false", "NaN", "nan", "Infinity", "inf", "Inf", "None":
		return true
	}
	return false
}
