package ir

import (
	"encoding/binary"
	"math/bits"
	"unicode/utf8"

	"github.com/tracehandler/tracehandler/clp/encoding"
)

const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// unplain has the high bit set of the lowest byte of x that does not stand in a JSON string as it is: a control character
// (placeholders among them), a quote, a backslash (which is also the escape of log types), or no ASCII. The bits of bytes
// above it mean nothing.
func unplain(x uint64) uint64 {
	return (x | (x - ' '*ones) | (x ^ '"'*ones - ones) | (x ^ '\\'*ones - ones)) & highs
}

// plainPrefix returns how many bytes of s stand in a JSON string as they are, at least.
func plainPrefix(s []byte) int {
	i := 0
	for ; len(s)-i >= 8; i += 8 {
		if m := unplain(binary.LittleEndian.Uint64(s[i:])); m != 0 {
			return i + bits.TrailingZeros64(m)>>3
		}
	}
	for i < len(s) && isPlainByte(s[i]) {
		i++
	}
	return i
}

func isPlainByte(c byte) bool { return c >= ' ' && c < utf8.RuneSelf && c != '"' && c != '\\' }

// appendPlain appends the text itself as a JSON string in one pass. It reports false, and dst as it was, if the text has
// what must be escaped, or cannot be decoded.
func (t *encodedText) appendPlain(dst []byte) ([]byte, bool) {
	start := len(dst)
	dst = append(dst, '"')
	numbers, words := t.variables, t.variables
	for lt := t.logtype; ; {
		n := plainPrefix(lt)
		dst = append(dst, lt[:n]...)
		if n == len(lt) {
			return append(dst, '"'), true
		}
		c := lt[n]
		lt = lt[n+1:]
		var err error
		switch c {
		case encoding.DictPlaceholder:
			var word []byte
			if word, words, err = nextWord(words); err != nil || plainPrefix(word) < len(word) {
				return dst[:start], false
			}
			dst = append(dst, word...)
		case encoding.IntPlaceholder, encoding.FloatPlaceholder:
			var bits int64
			if bits, numbers, err = nextNumber(numbers, t.width); err != nil {
				return dst[:start], false
			}
			if c == encoding.IntPlaceholder {
				dst = encoding.AppendInt(dst, bits)
			} else if dst, err = encoding.AppendFloat(dst, t.width, bits); err != nil {
				return dst[:start], false
			}
		default:
			return dst[:start], false
		}
	}
}
