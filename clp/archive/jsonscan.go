package archive

import (
	"encoding/binary"
	"math/bits"
	"strconv"
	"unicode/utf8"
)

// The functions below look at JSON text that may be wrong: they say so by an index of -1, and nothing more.

const (
	lowBits  = 0x0101010101010101
	highBits = 0x8080808080808080
)

// stringKind is what a string has in it.
type stringKind uint8

const (
	hasEscape stringKind = 1 << iota
	hasSpace
)

// scanString returns the index behind the string whose first character is at i, and what is in it.
func scanString(b []byte, i int) (end int, kind stringKind) {
	var spaces uint64
	for {
		for i+8 <= len(b) {
			x := binary.LittleEndian.Uint64(b[i:])
			stop := ((x ^ '"'*lowBits - lowBits) | (x ^ '\\'*lowBits - lowBits) | (x - ' '*lowBits)) &^ x & highBits
			// Of the bits that a borrow sets, only those above the first true one can be wrong.
			space := (x ^ ' '*lowBits - lowBits) &^ x & highBits
			if stop != 0 {
				spaces |= space & (stop&-stop - 1)
				i += bits.TrailingZeros64(stop) >> 3
				break
			}
			spaces |= space
			i += 8
		}
		for i < len(b) && b[i] != '"' && b[i] != '\\' && b[i] >= ' ' {
			if b[i] == ' ' {
				spaces = 1
			}
			i++
		}
		if i >= len(b) {
			return -1, 0
		}
		if b[i] == '"' {
			if spaces != 0 {
				kind |= hasSpace
			}
			return i + 1, kind
		}
		n := escapeLength(b[i:])
		if n == 0 {
			return -1, 0
		}
		kind |= hasEscape
		i += n
	}
}

// escapeLength returns the length of the escape that b starts with, 0 if it is none.
func escapeLength(b []byte) int {
	if len(b) < 2 || b[0] != '\\' {
		return 0
	}
	switch b[1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2
	case 'u':
		if len(b) >= 6 && hexRune(b[2:]) >= 0 {
			return 6
		}
	}
	return 0
}

// hexRune returns the value of four hexadecimal digits, -1 if they are none.
func hexRune(b []byte) rune {
	var r rune
	for _, c := range b[:4] {
		switch {
		case c-'0' <= 9:
			r = r<<4 | rune(c-'0')
		case c|0x20 >= 'a' && c|0x20 <= 'f':
			r = r<<4 | rune(c|0x20-'a'+10)
		default:
			return -1
		}
	}
	return r
}

// appendUnescaped appends what the inside of a valid string says. Halves of surrogate pairs become U+FFFD; other bytes are
// kept, whether or not they are UTF-8.
func appendUnescaped(dst, raw []byte) []byte {
	from := 0
	for i := 0; i < len(raw); i++ {
		if raw[i] != '\\' {
			continue
		}
		dst = append(dst, raw[from:i]...)
		i++
		switch c := raw[i]; c {
		case 'b':
			dst = append(dst, '\b')
		case 'f':
			dst = append(dst, '\f')
		case 'n':
			dst = append(dst, '\n')
		case 'r':
			dst = append(dst, '\r')
		case 't':
			dst = append(dst, '\t')
		case 'u':
			r := hexRune(raw[i+1:])
			i += 4
			if 0xD800 <= r && r < 0xE000 {
				low := rune(-1)
				if r < 0xDC00 && len(raw) >= i+7 && raw[i+1] == '\\' && raw[i+2] == 'u' {
					low = hexRune(raw[i+3:])
				}
				if 0xDC00 <= low && low < 0xE000 {
					r = 0x10000 + (r-0xD800)<<10 + low - 0xDC00
					i += 6
				} else {
					r = utf8.RuneError
				}
			}
			dst = utf8.AppendRune(dst, r)
		default:
			dst = append(dst, c)
		}
		from = i + 1
	}
	return append(dst, raw[from:]...)
}

// scanSpace returns the index of the first byte from i on that is not white space.
func scanSpace(b []byte, i int) int {
	for i < len(b) && b[i] <= ' ' && (b[i] == ' ' || b[i] == '\t' || b[i] == '\n' || b[i] == '\r') {
		i++
	}
	return i
}

// number is what scanNumber finds.
type number struct {
	end      int
	small    int64 // its value, if exact
	digits   uint64
	fraction int  // digits behind the point
	exact    bool // it is an integer of at most 18 digits, and not -0
	plain    bool // it has a point, no exponent, and at most 15 digits, which are digits
	neg      bool
}

// scanNumber reads the number at i.
func scanNumber(b []byte, i int) (n number) {
	n.end = -1
	if i < len(b) && b[i] == '-' {
		n.neg = true
		i++
	}
	first := i
	var v uint64
	for i < len(b) && b[i]-'0' <= 9 {
		v = v*10 + uint64(b[i]-'0')
		i++
	}
	whole := i - first
	if whole == 0 || whole > 1 && b[first] == '0' {
		return n
	}
	if i == len(b) || b[i] != '.' && b[i]|0x20 != 'e' {
		n.end = i
		if whole <= 18 && (v != 0 || !n.neg) {
			n.exact, n.small = true, int64(v)
			if n.neg {
				n.small = -n.small
			}
		}
		return n
	}
	if b[i] == '.' {
		i++
		point := i
		for i < len(b) && b[i]-'0' <= 9 {
			v = v*10 + uint64(b[i]-'0')
			i++
		}
		if n.fraction = i - point; n.fraction == 0 {
			return n
		}
	}
	if i < len(b) && b[i]|0x20 == 'e' {
		if i++; i < len(b) && (b[i] == '+' || b[i] == '-') {
			i++
		}
		first := i
		for i < len(b) && b[i]-'0' <= 9 {
			i++
		}
		if i > first {
			n.end = i
		}
		return n
	}
	n.end = i
	n.plain, n.digits = whole+n.fraction <= 15, v
	return n
}

// scanValue returns the index behind the value at i, inside of depth objects and arrays.
func scanValue(b []byte, i, depth int) int {
	if i >= len(b) {
		return -1
	}
	switch c := b[i]; c {
	case '"':
		end, _ := scanString(b, i+1)
		return end
	case '[', '{':
		if depth++; depth > maxDepth {
			return -1
		}
		if i = scanSpace(b, i+1); i < len(b) && b[i] == c+2 {
			return i + 1
		}
		for {
			if c == '{' {
				if i >= len(b) || b[i] != '"' {
					return -1
				}
				if i, _ = scanString(b, i+1); i < 0 {
					return -1
				}
				if i = scanSpace(b, i); i >= len(b) || b[i] != ':' {
					return -1
				}
				i = scanSpace(b, i+1)
			}
			if i = scanValue(b, i, depth); i < 0 {
				return -1
			}
			if i = scanSpace(b, i); i >= len(b) {
				return -1
			}
			if b[i] == c+2 {
				return i + 1
			}
			if b[i] != ',' {
				return -1
			}
			i = scanSpace(b, i+1)
		}
	case 't':
		return scanWord(b, i, "true")
	case 'f':
		return scanWord(b, i, "false")
	case 'n':
		return scanWord(b, i, "null")
	}
	return scanNumber(b, i).end
}

func scanWord(b []byte, i int, word string) int {
	if i+len(word) <= len(b) && string(b[i:i+len(word)]) == word {
		return i + len(word)
	}
	return -1
}

// formatPlain returns the bits and the format of a float whose text is plain; see appendFormatted. A number of at most 15
// digits and the float next to it name each other, and dividing by a power of ten that is exact rounds but once.
func formatPlain(text []byte, n *number) (bits uint64, format uint16) {
	v := float64(n.digits) / powers[n.fraction]
	digits := 0
	if n.digits == 0 { // all zeros count
		for _, c := range text {
			if c-'0' <= 9 {
				digits++
			}
		}
	} else {
		// Digits count from the first that is not zero; 0.5 has a whole part of which none does.
		for u := n.digits; u > 0; u /= 10 {
			digits++
		}
	}
	b := floatBits(v)
	if n.neg {
		b |= 1 << 63
	}
	return b, uint16(digits-1) << 5
}

var powers = [...]float64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15}

// formatSlow does the same for any number, and reports whether a float and its format can be the text.
func formatSlow(text []byte, buf *[]byte) (bits uint64, format uint16, ok bool) {
	v, err := strconv.ParseFloat(unsafeString(text), 64)
	if err != nil {
		return 0, 0, false
	}
	if format, ok = floatFormat(text); !ok {
		return 0, 0, false
	}
	*buf, err = appendFormatted((*buf)[:0], v, format)
	if err != nil || string(*buf) != string(text) {
		return 0, 0, false
	}
	return floatBits(v), format, true
}
