package archive

import (
	"math"
	"strconv"

	"github.com/tracehandler/tracehandler/internal/jsontext"
)

// floatFormat derives the format of a number's text; see appendFormatted. Whether the format restores the text must be
// tried.
func floatFormat(text []byte) (format uint16, ok bool) {
	i := 0
	if text[0] == '-' {
		i++
	}
	whole, digits, point, significant := 0, 0, false, false
	for ; i < len(text); i++ {
		c := text[i]
		if c == '.' {
			point = true
			continue
		}
		if c-'0' > 9 {
			break
		}
		if !point {
			whole++
		}
		if c != '0' || !point {
			significant = significant || c != '0'
		}
		if significant {
			digits++
		}
	}
	if !significant { // only zeros: all of them count
		digits = 0
		for _, c := range text[:i] {
			if c-'0' <= 9 {
				digits++
			}
		}
	}
	if digits < 1 || digits > 17 {
		return 0, false
	}
	format = uint16(digits-1) << 5
	if i == len(text) {
		return format, true
	}
	if whole != 1 {
		return 0, false
	}
	format |= floatExponent
	if text[i] == 'E' {
		format |= floatUpper
	}
	i++
	switch text[i] {
	case '+':
		format |= 1 << 12
		i++
	case '-':
		format |= 2 << 12
		i++
	}
	n := len(text) - i
	if n < 1 || n > 4 {
		return 0, false
	}
	return format | uint16(n-1)<<10, true
}

func floatBits(v float64) uint64 { return math.Float64bits(v) }

// isPlain reports whether a number has a point, no exponent, and at most 15 digits.
func isPlain(n *jsontext.Number) bool {
	return !n.Exponent && n.Fraction > 0 && n.Whole+n.Fraction <= 15
}

// formatPlain returns the bits and the format of a float whose text is plain; see appendFormatted. A number of at most 15
// digits and the float next to it name each other, and dividing by a power of ten that is exact rounds but once.
func formatPlain(text []byte, n *jsontext.Number) (bits uint64, format uint16) {
	v := float64(n.Digits) / powers[n.Fraction]
	digits := 0
	if n.Digits == 0 { // all zeros count
		for _, c := range text {
			if c-'0' <= 9 {
				digits++
			}
		}
	} else {
		// Digits count from the first that is not zero; 0.5 has a whole part of which none does.
		for u := n.Digits; u > 0; u /= 10 {
			digits++
		}
	}
	b := floatBits(v)
	if n.Neg {
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
