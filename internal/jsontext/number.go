package jsontext

// NumberEnd returns the index behind the number at b[i].
func NumberEnd(b []byte, i int) int {
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

// IsNumber reports whether b is a number and nothing else.
func IsNumber(b []byte) bool { return NumberEnd(b, 0) == len(b) }

// Int returns the value of a number that is written as an integer of at most 18 digits. The text -0 is none: no integer
// has it.
func Int(number []byte) (v int64, ok bool) {
	digits := number
	if digits[0] == '-' {
		digits = digits[1:]
	}
	if len(digits) > 18 || digits[0] == '0' && len(number) > 1 {
		return 0, false
	}
	for _, c := range digits {
		if c -= '0'; c > 9 {
			return 0, false
		}
		v = v*10 + int64(c)
	}
	if len(digits) < len(number) {
		v = -v
	}
	return v, true
}

// Number is what [ScanNumber] finds.
type Number struct {
	End      int    // the index behind it, or ^index of what is wrong
	Digits   uint64 // all digits before the exponent as one number, if there are at most 19
	Whole    int    // how many of them stand before the point
	Fraction int    // and how many behind it
	Neg      bool   // it has a minus
	Exponent bool   // it has an exponent, which was not looked at further
}

// ScanNumber reads the number at b[i].
func ScanNumber(b []byte, i int) (n Number) {
	if i < len(b) && b[i] == '-' {
		n.Neg = true
		i++
	}
	first := i
	var v uint64
	for i < len(b) && b[i]-'0' <= 9 {
		v = v*10 + uint64(b[i]-'0')
		i++
	}
	n.Whole = i - first
	if n.Whole == 0 {
		n.End = ^i
		return n
	}
	if n.Whole > 1 && b[first] == '0' { // a number, and other digits behind it
		n.End, n.Whole = first+1, 1
		return n
	}
	if i < len(b) && b[i] == '.' {
		i++
		point := i
		for i < len(b) && b[i]-'0' <= 9 {
			v = v*10 + uint64(b[i]-'0')
			i++
		}
		if n.Fraction = i - point; n.Fraction == 0 {
			n.End = ^i
			return n
		}
	}
	n.Digits = v
	if i < len(b) && b[i]|0x20 == 'e' {
		n.Exponent = true
		if i++; i < len(b) && (b[i] == '+' || b[i] == '-') {
			i++
		}
		first := i
		if i = digitsEnd(b, first); i == first {
			n.End = ^i
			return n
		}
	}
	n.End = i
	return n
}

// Int is what [Int] returns for the number.
func (n *Number) Int() (v int64, ok bool) {
	if n.Fraction > 0 || n.Exponent || n.Whole > 18 || n.Digits == 0 && n.Neg {
		return 0, false
	}
	if n.Neg {
		return -int64(n.Digits), true
	}
	return int64(n.Digits), true
}
