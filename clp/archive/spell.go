package archive

import "math"

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
