package archive

import (
	"math"
	"strconv"
)

// The format of a FormattedFloat says how its text was spelt:
//
//	bit  14      an exponent
//	bit  15      E for e
//	bits 13..12  sign of the exponent: 0 none, 1 +, 2 -
//	bits 11..10  digits of the exponent, less 1
//	bits  9..5   significant digits, less 1
const (
	floatExponent = 1 << 14
	floatUpper    = 1 << 15
)

// appendFormatted appends v as format says.
func appendFormatted(dst []byte, v float64, format uint16) ([]byte, error) {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return dst, ErrFloat
	}
	var buf [64]byte
	digits := int(format>>5&31) + 1
	s := strconv.AppendFloat(buf[:0], v, 'e', digits-1, 64) // [-]d[.ddd]e±dd
	if s[0] == '-' {
		dst = append(dst, '-')
		s = s[1:]
	}
	e := 1
	if digits > 1 {
		e = digits + 1
	}
	mantissa, exponent := s[:e], s[e+1:]
	if format&floatExponent != 0 {
		dst = append(dst, mantissa...)
		if format&floatUpper != 0 {
			dst = append(dst, 'E')
		} else {
			dst = append(dst, 'e')
		}
		switch format >> 12 & 3 {
		case 1:
			dst = append(dst, '+')
		case 2:
			dst = append(dst, '-')
		}
		exponent = exponent[1:]
		want := int(format>>10&3) + 1
		for len(exponent) > want && exponent[0] == '0' {
			exponent = exponent[1:]
		}
		for n := len(exponent); n < want; n++ {
			dst = append(dst, '0')
		}
		return append(dst, exponent...), nil
	}
	x := 0
	for _, c := range exponent[1:] {
		x = x*10 + int(c-'0')
	}
	if exponent[0] == '-' {
		x = -x
	}
	if digits > 1 { // the digits alone
		copy(mantissa[1:], mantissa[2:])
		mantissa = mantissa[:digits]
	}
	switch point := x + 1; {
	case point <= 0:
		dst = append(dst, '0', '.')
		for range -point {
			dst = append(dst, '0')
		}
		return append(dst, mantissa...), nil
	case point < digits:
		dst = append(dst, mantissa[:point]...)
		dst = append(dst, '.')
		return append(dst, mantissa[point:]...), nil
	default:
		dst = append(dst, mantissa...)
		for range point - digits {
			dst = append(dst, '0')
		}
		return dst, nil
	}
}
