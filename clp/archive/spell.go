package archive

import (
	"math"
	"math/bits"
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

// formatLong does the same for a number with a point, no exponent, and up to 17 digits, if the float rounds to them. It reports false also
// of some that do. A float below a power of ten that is printed in 16 digits and more could have one decimal more than the text, but those
// of 0.1, 0.01 and 0.001 are above.
func formatLong(text []byte, n *jsontext.Number) (bits uint64, format uint16, ok bool) {
	if n.Exponent || n.Fraction == 0 || n.Whole+n.Fraction > 19 || n.Digits >= powersOfTen[17] {
		return 0, 0, false
	}
	v, err := strconv.ParseFloat(unsafeString(text), 64)
	digits := decimalLength(int64(n.Digits))
	if err != nil || !roundsTo(v, n.Digits, n.Fraction) {
		return 0, 0, false
	}
	return floatBits(v), uint16(digits-1) << 5, true
}

// roundsTo reports whether |v| with so many decimals, 18 at most, is digits.
func roundsTo(v float64, digits uint64, decimals int) bool {
	b := floatBits(v) &^ (1 << 63)
	exponent := int(b >> 52)
	shift := uint(1075 - exponent - decimals) // |v|·10^decimals is mantissa·5^decimals / 2^shift
	if exponent == 0 || shift == 0 || shift > 126 {
		return false
	}
	hi, lo := bits.Mul64(b&(1<<52-1)|1<<52, powersOfFive[decimals])
	half := [2]uint64{0, 1 << (shift - 1)}
	if shift > 64 {
		half = [2]uint64{1 << (shift - 65), 0}
	}
	lo, carry := bits.Add64(lo, half[1], 0)
	hi += half[0] + carry
	whole, rest := hi>>(shift-64), lo|hi&(1<<(shift-64)-1)
	if shift < 64 {
		whole, rest = hi<<(64-shift)|lo>>shift, lo&(1<<shift-1)
		if hi>>shift != 0 {
			return false
		}
	}
	return whole == digits && rest != 0 // of two that are equally near, the even one would be printed
}

var powersOfFive = func() (p [19]uint64) {
	p[0] = 1
	for i := 1; i < len(p); i++ {
		p[i] = 5 * p[i-1]
	}
	return p
}()

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
