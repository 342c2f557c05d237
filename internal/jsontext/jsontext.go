// Package jsontext walks over JSON text (RFC 8259) in place: white space, strings, numbers, values. It makes no values of
// it and allocates nothing.
//
// Functions with an index go forward from it, and return the index behind what they were asked for. If that is not there
// they return ^index of the fault, which is negative: of the first byte that is wrong, or ^len(b) if the text ends too
// early. None reads beyond the text or panics, whatever is in it.
//
// There are two kinds of them. [ScanString], [ScanNumber], [NumberEnd] and [ScanValue] check the grammar, as encoding/json
// does: like that, they take bytes that are not UTF-8 and escaped halves of surrogate pairs. [StringEnd], [NestedEnd] and
// [ValueEnd] look for the end only, several times faster: they are for text that is known to be valid, or of which a
// reader wants to know no more than where to go on.
package jsontext

import (
	"encoding/binary"
	"math/bits"
)

// MaxDepth is the number of objects and arrays that may be open at a time in text that [ScanValue] takes: what
// encoding/json takes.
const MaxDepth = 10000

const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// SkipSpace returns the index of the first byte at or behind i that is no white space, len(b) if there is none.
func SkipSpace(b []byte, i int) int {
	for i < len(b) && b[i] <= ' ' && (b[i] == ' ' || b[i] == '\t' || b[i] == '\n' || b[i] == '\r') {
		i++
	}
	return i
}

// SkipIndent is [SkipSpace] for pretty-printed text that nobody has checked: it passes over white space eight bytes at a
// time, and also over the other control characters from tab to space. NUL, of which crashes leave holes in files, ends it.
func SkipIndent(b []byte, i int) int {
	if i < len(b) && b[i] > ' ' { // the usual case, inlined
		return i
	}
	return skipBlanks(b, i)
}

// skipBlanks is SkipIndent where there is white space. It is not inlined, so that what is stays small.
//
//go:noinline
func skipBlanks(b []byte, i int) int {
	for i+8 <= len(b) {
		w := binary.LittleEndian.Uint64(b[i:])
		if m := (((w &^ highs) + ('\x7f'-' ')*ones) | w | (w-'\t'*ones)&^w) & highs; m != 0 { // above ' ', or below '\t'
			return i + bits.TrailingZeros64(m)>>3
		}
		i += 8
	}
	for i < len(b) && '\t' <= b[i] && b[i] <= ' ' {
		i++
	}
	return i
}

// AppendCompact appends valid text without the white space between its tokens.
func AppendCompact(dst, b []byte) []byte {
	start := 0
	for i := 0; i < len(b); {
		switch c := b[i]; {
		case c == '"':
			if i = StringEnd(b, i+1); i < 0 {
				i = len(b)
			}
		case c <= ' ' && (c == ' ' || c == '\t' || c == '\n' || c == '\r'):
			dst = append(dst, b[start:i]...)
			i = SkipSpace(b, i)
			start = i
		default:
			i++
		}
	}
	return append(dst, b[start:]...)
}
