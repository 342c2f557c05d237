package encoding

import (
	"fmt"
	"strconv"
)

// Width is the size of the integers and floats of a message.
type Width uint8

const (
	EightByte Width = iota // 64 bits: archives, and streams for long-lived storage
	FourByte               // 32 bits: the encoding that every reader of streams knows
)

func (w Width) String() string {
	switch w {
	case EightByte:
		return "eight-byte"
	case FourByte:
		return "four-byte"
	}
	return fmt.Sprintf("Width(%d)", uint8(w))
}

// Kind is how a variable is kept.
type Kind uint8

const (
	Dict  Kind = iota // its bytes, in the dictionary
	Int               // its value
	Float             // its digits, their number and the place of the point
)

// Placeholder returns the byte that stands for a variable of this kind in a log type.
func (k Kind) Placeholder() byte {
	return [...]byte{Dict: DictPlaceholder, Int: IntPlaceholder, Float: FloatPlaceholder}[k]
}

// Limits of a float: digits in all, and (four-byte only) the digits read as one integer.
const (
	digits4   = 8
	digits8   = 16
	maxFloat4 = 1<<25 - 1
	maxFloat8 = 9_999_999_999_999_999
)

// EncodeVariable types a variable. For an Int, bits is its value; for a Float, its packed form, in the low 32 bits if
// w is FourByte; for a Dict it is 0.
//
// An Int is exactly what strconv.AppendInt prints of a value that fits w (so not "007", "-0", "+5"). A Float is an
// optional '-', then digits with one point, which is not the last byte: at most 8 digits (FourByte; as one integer at
// most 2²⁵−1) or 16. Its form, from the most significant bit: sign; for EightByte one zero bit; the digits as an
// integer (25 or 54 bits); their number less 1 (3 or 4 bits); the number right of the point less 1 (3 or 4 bits).
func EncodeVariable[T Text](w Width, v T) (kind Kind, bits int64) {
	i, neg := 0, false
	if len(v) > 0 && v[0] == '-' {
		i, neg = 1, true
	}
	n := len(v) - i
	if n == 0 || n > 19 { // 19 digits fit a uint64, and no number has more
		return Dict, 0
	}
	first, point := i, -1
	var u uint64
	for ; i < len(v); i++ {
		if d := v[i] - '0'; d <= 9 {
			u = u*10 + uint64(d)
		} else if v[i] == '.' && point < 0 {
			point = i
		} else {
			return Dict, 0
		}
	}
	if point >= 0 {
		return encodeFloat(w, neg, u, n-1, len(v)-1-point)
	}
	if v[first] == '0' && (n > 1 || neg) {
		return Dict, 0
	}
	limit := uint64(1)<<63 - 1
	if w == FourByte {
		limit = 1<<31 - 1
	}
	if neg {
		if u > limit+1 {
			return Dict, 0
		}
		return Int, -int64(u)
	}
	if u > limit {
		return Dict, 0
	}
	return Int, int64(u)
}

// encodeFloat packs u, which has n digits, p of them right of the point.
func encodeFloat(w Width, neg bool, u uint64, n, p int) (Kind, int64) {
	if p < 1 {
		return Dict, 0
	}
	if w == FourByte {
		if n > digits4 || u > maxFloat4 {
			return Dict, 0
		}
		b := uint32(u)<<6 | uint32(n-1)<<3 | uint32(p-1)
		if neg {
			b |= 1 << 31
		}
		return Float, int64(int32(b))
	}
	if n > digits8 {
		return Dict, 0
	}
	b := u<<8 | uint64(n-1)<<4 | uint64(p-1)
	if neg {
		b |= 1 << 63
	}
	return Float, int64(b)
}

// AppendInt appends the text of an integer variable.
func AppendInt(dst []byte, bits int64) []byte { return strconv.AppendInt(dst, bits, 10) }

// AppendFloat appends the text of a float variable. Bits that EncodeVariable never gives are ErrFloat: more places
// than digits, a value of more digits than the number of digits says, or one that is too large. The unused bit 62 is
// ignored, as the reference does.
func AppendFloat(dst []byte, w Width, bits int64) ([]byte, error) {
	var u uint64
	var n, p int
	if w == FourByte {
		b := uint32(bits)
		u, n, p = uint64(b>>6&maxFloat4), int(b>>3&7)+1, int(b&7)+1
		bits = int64(int32(b))
	} else {
		b := uint64(bits)
		u, n, p = b>>8&(1<<54-1), int(b>>4&15)+1, int(b&15)+1
	}
	if p > n || u > maxFloat8 {
		return dst, ErrFloat
	}
	var text [digits8 + 2]byte
	i := len(text)
	for k := range n {
		if k == p {
			i--
			text[i] = '.'
		}
		i--
		text[i] = '0' + byte(u%10)
		u /= 10
	}
	if u != 0 {
		return dst, ErrFloat
	}
	if p == n {
		i--
		text[i] = '.'
	}
	if bits < 0 {
		i--
		text[i] = '-'
	}
	return append(dst, text[i:]...), nil
}

// Widen gives the eight-byte form of a four-byte variable that is an Int or a Float.
func Widen(kind Kind, bits int64) int64 {
	if kind != Float {
		return bits
	}
	b := uint32(bits)
	return int64(uint64(b>>31)<<63 | uint64(b>>6&maxFloat4)<<8 | uint64(b>>3&7)<<4 | uint64(b&7))
}
