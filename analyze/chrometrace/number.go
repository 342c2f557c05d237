package chrometrace

import (
	"math"
	"math/big"
)

// maxExponent bounds the work on a number such as 1e999999999.
const maxExponent = 400

// exponent converts a number of microseconds in scientific notation exactly.
func exponent(text []byte) (ns int64, huge, ok bool) {
	e := 0
	for i, c := range text {
		if c|0x20 != 'e' {
			continue
		}
		neg := false
		for j, d := range text[i+1:] {
			switch {
			case j == 0 && (d == '-' || d == '+'):
				neg = d == '-'
			case d < '0' || d > '9':
				return 0, false, false
			case e <= maxExponent:
				e = e*10 + int(d-'0')
			}
		}
		if e > maxExponent {
			if neg {
				return 0, false, true
			}
			return saturated(text[0] == '-'), true, true
		}
	}
	if len(text) > 1024 {
		return 0, false, false
	}
	for _, c := range text {
		if (c < '0' || c > '9') && c != '.' && c != '-' && c != '+' && c|0x20 != 'e' {
			return 0, false, false // big.Rat would also take fractions and other bases
		}
	}
	r, ok := new(big.Rat).SetString(string(text))
	if !ok {
		return 0, false, false
	}
	r.Mul(r, big.NewRat(1000, 1))
	half := big.NewRat(1, 2)
	if r.Sign() < 0 {
		half.Neg(half)
	}
	r.Add(r, half)
	q := new(big.Int).Quo(r.Num(), r.Denom())
	if !q.IsInt64() {
		return saturated(q.Sign() < 0), true, true
	}
	return q.Int64(), false, true
}

func saturated(neg bool) int64 {
	if neg {
		return -math.MaxInt64
	}
	return math.MaxInt64
}
