package jsontext

import (
	"encoding/binary"
	"math/bits"
)

// ValueEnd returns the index behind the value at b[i], without checking more of it than where it ends: at i itself if none
// starts there.
func ValueEnd(b []byte, i int) int {
	if i >= len(b) {
		return i
	}
	switch b[i] {
	case '"':
		return StringEnd(b, i+1)
	case '{', '[':
		return NestedEnd(b, i)
	}
	for i < len(b) && b[i] > ' ' && b[i] != ',' && b[i] != '}' && b[i] != ']' {
		i++
	}
	return i
}

// NestedEnd returns the index behind the object or array at b[i]. It looks at brackets and strings only, and is at fault at a
// bracket that closes one of the other kind, of the innermost 64 that were open at a time.
func NestedEnd(b []byte, i int) int {
	var kinds uint64    // a bit a level: 1 for an object
	depth, lost := 0, 0 // the levels up to lost have none
	for {
		if i+8 <= len(b) {
			x := binary.LittleEndian.Uint64(b[i:])
			q := x ^ '"'*ones
			// [ ] { } all give 0x7f when 0x26 is set; so do Y _ y and DEL, which no valid text has outside strings.
			s := (x | 0x26*ones) ^ 0x7f*ones
			m := ((q-ones)&^q | (s-ones)&^s) & highs
			if m == 0 {
				i += 8
				continue
			}
			i += bits.TrailingZeros64(m) >> 3
		}
		if i >= len(b) {
			return ^len(b)
		}
		switch b[i] {
		case '"':
			if i = StringEnd(b, i+1); i < 0 {
				return i
			}
			continue
		case '{':
			kinds = kinds<<1 | 1
			depth++
			lost = max(lost, depth-64)
		case '[':
			kinds <<= 1
			depth++
			lost = max(lost, depth-64)
		case '}', ']':
			if depth > lost && (kinds&1 == 1) != (b[i] == '}') {
				return ^i
			}
			kinds >>= 1
			if depth--; depth == 0 {
				return i + 1
			}
		}
		i++
	}
}

// Deeper reports whether more than limit objects and arrays are open at some place of valid text.
func Deeper(b []byte, limit int) bool {
	depth := 0
	for i := 0; i < len(b); i++ {
		switch b[i] {
		case '"':
			if i = StringEnd(b, i+1) - 1; i < 0 {
				return false
			}
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
