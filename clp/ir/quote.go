package ir

import (
	"encoding/binary"
	"math/bits"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/tracehandler/tracehandler/clp/encoding"
	"github.com/tracehandler/tracehandler/internal/jsontext"
)

// plainPrefix returns how many bytes of s stand in a JSON string as they are, at least. Placeholders are control characters
// and the escape of log types is a backslash, so of a log type they are text.
func plainPrefix(s []byte) int {
	i := 0
	for ; len(s)-i >= 8; i += 8 {
		if m := jsontext.Unplain(binary.LittleEndian.Uint64(s[i:])); m != 0 {
			return i + bits.TrailingZeros64(m)>>3
		}
	}
	for i < len(s) && isPlainByte(s[i]) {
		i++
	}
	return i
}

func isPlainByte(c byte) bool { return c >= ' ' && c < utf8.RuneSelf && c != '"' && c != '\\' }

// decodes reports whether appendTo would decode the whole text.
func (t *encodedText) decodes() bool {
	numbers, words := t.variables, t.variables
	for lt := t.logtype; ; {
		n := plainPrefix(lt)
		if n == len(lt) {
			return true
		}
		c := lt[n]
		lt = lt[n+1:]
		var err error
		switch c {
		case encoding.Escape:
			if len(lt) == 0 {
				return false
			}
			lt = lt[1:]
		case encoding.DictPlaceholder:
			_, words, err = nextWord(words)
		case encoding.IntPlaceholder:
			_, numbers, err = nextNumber(numbers, t.width)
		case encoding.FloatPlaceholder:
			var bits int64
			if bits, numbers, err = nextNumber(numbers, t.width); err == nil {
				var text [24]byte
				_, err = encoding.AppendFloat(text[:0], t.width, bits)
			}
		}
		if err != nil {
			return false
		}
	}
}

// appendPlain appends the text itself as a JSON string in one pass. It reports false, and dst as it was, if the text has
// what must be escaped, cannot be decoded, or has its variables in another order than writers put them.
func (t *encodedText) appendPlain(dst []byte) ([]byte, bool) {
	lt, vars := t.logtype, t.variables
	// A number of 1+4 bytes becomes 11 at most, one of 1+8 bytes 20; eight bytes more let words be stored whole.
	b := slices.Grow(dst, len(lt)+3*len(vars)+2+8)
	b = b[:cap(b)]
	at := len(dst)
	b[at] = '"'
	at++
	for i := 0; ; {
		for len(lt)-i >= 8 {
			x := binary.LittleEndian.Uint64(lt[i:])
			binary.LittleEndian.PutUint64(b[at:], x)
			if m := jsontext.Unplain(x); m != 0 {
				n := bits.TrailingZeros64(m) >> 3
				i, at = i+n, at+n
				break
			}
			i, at = i+8, at+8
		}
		for len(lt)-i < 8 && i < len(lt) && isPlainByte(lt[i]) {
			b[at] = lt[i]
			i, at = i+1, at+1
		}
		if i == len(lt) {
			b[at] = '"'
			return b[:at+1], true
		}
		if len(vars) == 0 {
			return dst, false
		}
		c, tag := lt[i], vars[0]
		i++
		switch {
		case c == encoding.DictPlaceholder && tag == tagDict8:
			end := 2 + int(vars[1])
			word := vars[2:end]
			if plainPrefix(word) < len(word) {
				return dst, false
			}
			at += copy(b[at:], word)
			vars = vars[end:]
		case c == encoding.IntPlaceholder && tag == tagVar4:
			at = len(strconv.AppendInt(b[:at], int64(int32(binary.BigEndian.Uint32(vars[1:]))), 10))
			vars = vars[5:]
		case c == encoding.FloatPlaceholder && tag == tagVar4:
			f, err := encoding.AppendFloat(b[:at], encoding.FourByte, int64(int32(binary.BigEndian.Uint32(vars[1:]))))
			if err != nil {
				return dst, false
			}
			at = len(f)
			vars = vars[5:]
		default:
			return dst, false
		}
	}
}
