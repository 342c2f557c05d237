package event

import (
	"encoding/binary"
	"math/bits"
)

// The functions below look at JSON text. Those whose names end in End return the index after what they were asked for
// and do not read beyond the text, whatever is in it.

// stringEnd returns the index after the string whose first character is at i (after its quote), len(b)+1 if it does not
// end. It does not check what is in the string.
func stringEnd(b []byte, i int) int {
	for {
		for ; i+8 <= len(b); i += 8 {
			x := binary.LittleEndian.Uint64(b[i:])
			if m := ((x ^ '"'*ones - ones) | (x ^ '\\'*ones - ones)) &^ x & highs; m != 0 {
				i += bits.TrailingZeros64(m) >> 3
				break
			}
		}
		for i < len(b) && b[i] != '"' && b[i] != '\\' {
			i++
		}
		if i >= len(b) {
			return len(b) + 1
		}
		if b[i] == '"' {
			return i + 1
		}
		i += 2
	}
}

// strictStringEnd is stringEnd for text that must be right: it returns the index of the fault, as ^index, if a control
// character or an unknown escape is in the string or it does not end.
func strictStringEnd(b []byte, i int) int {
	for {
		for ; i+8 <= len(b); i += 8 {
			x := binary.LittleEndian.Uint64(b[i:])
			if m := ((x ^ '"'*ones - ones) | (x ^ '\\'*ones - ones) | (x - ' '*ones)) &^ x & highs; m != 0 {
				if i += bits.TrailingZeros64(m) >> 3; b[i] == '"' {
					return i + 1
				}
				break
			}
		}
		for i < len(b) && b[i] != '"' && b[i] != '\\' && b[i] >= ' ' {
			i++
		}
		if i >= len(b) {
			return ^len(b)
		}
		if b[i] == '"' {
			return i + 1
		}
		n := escapeLen(b[i:])
		if n == 0 {
			return ^i
		}
		i += n
	}
}

// escapeLen returns the length of the escape that b starts with, 0 if it starts with none.
func escapeLen(b []byte) int {
	if len(b) < 2 || b[0] != '\\' {
		return 0
	}
	switch b[1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2
	case 'u':
		if len(b) >= 6 && hexValue[b[2]]|hexValue[b[3]]|hexValue[b[4]]|hexValue[b[5]] < 16 {
			return 6
		}
	}
	return 0
}

// hexValue has the value of each hexadecimal digit, 255 for other bytes.
var hexValue = func() (t [256]byte) {
	for i := range t {
		t[i] = 255
	}
	for i := range 10 {
		t['0'+i] = byte(i)
	}
	for i := range 6 {
		t['a'+i], t['A'+i] = byte(10+i), byte(10+i)
	}
	return t
}()

// spaceEnd returns the index of the first byte at or after i that is not white space.
func spaceEnd(b []byte, i int) int {
	for i < len(b) && b[i] <= ' ' && (b[i] == ' ' || b[i] == '\t' || b[i] == '\n' || b[i] == '\r') {
		i++
	}
	return i
}

// numberEnd returns the index after the number at i, or ^index of what is wrong with it.
func numberEnd(b []byte, i int) int {
	if i < len(b) && b[i] == '-' {
		i++
	}
	if i >= len(b) || b[i]-'0' > 9 {
		return ^i
	}
	if b[i] == '0' {
		i++
	} else {
		i = digitsEnd(b, i)
	}
	if i < len(b) && b[i] == '.' {
		first := i + 1
		if i = digitsEnd(b, first); i == first {
			return ^i
		}
	}
	if i < len(b) && b[i]|0x20 == 'e' {
		if i++; i < len(b) && (b[i] == '+' || b[i] == '-') {
			i++
		}
		first := i
		if i = digitsEnd(b, first); i == first {
			return ^i
		}
	}
	return i
}

func digitsEnd(b []byte, i int) int {
	for i < len(b) && b[i]-'0' <= 9 {
		i++
	}
	return i
}

// valueEnd returns the index after the value at i without checking it; len(b)+1 if it does not end. i itself is returned
// if no value starts there.
func valueEnd(b []byte, i int) int {
	if i >= len(b) {
		return i
	}
	switch b[i] {
	case '"':
		return stringEnd(b, i+1)
	case '{', '[':
		return nestedEnd(b, i)
	}
	for i < len(b) && b[i] > ' ' && b[i] != ',' && b[i] != '}' && b[i] != ']' {
		i++
	}
	return i
}

// nestedEnd is valueEnd for an object or an array. It counts brackets, eight bytes at a time where there are none.
func nestedEnd(b []byte, i int) int {
	depth := 0
	for {
		for ; i+8 <= len(b); i += 8 {
			x := binary.LittleEndian.Uint64(b[i:])
			y := x | 0x20*ones // [ and ] become { and }
			if m := ((x ^ '"'*ones - ones) | (y ^ '{'*ones - ones) | (y ^ '}'*ones - ones)) &^ x & highs; m != 0 {
				i += bits.TrailingZeros64(m) >> 3
				break
			}
		}
		if i >= len(b) {
			return len(b) + 1
		}
		switch b[i] {
		case '"':
			i = stringEnd(b, i+1)
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1
			}
		}
		i++
	}
}

// deeper reports whether more than limit objects and arrays are open at some place of valid text.
func deeper(b []byte, limit int) bool {
	depth := 0
	for i := 0; i < len(b); i++ {
		switch b[i] {
		case '"':
			i = stringEnd(b, i+1) - 1
		case '{', '[':
			if depth++; depth > limit {
				return true
			}
		case '}', ']':
			depth--
		}
	}
	return false
}

// appendCompact appends valid text without the white space between its tokens.
func appendCompact(dst, b []byte) []byte {
	start := 0
	for i := 0; i < len(b); {
		switch c := b[i]; {
		case c == '"':
			i = stringEnd(b, i+1)
		case c <= ' ':
			dst = append(dst, b[start:i]...)
			i++
			start = i
		default:
			i++
		}
	}
	return append(dst, b[start:]...)
}
