package event

import (
	"bytes"

	"github.com/tracehandler/tracehandler/internal/jsontext"
)

// Equal reports whether a and b say the same: the same members in the same order, duplicates included, with the same
// values. How strings are escaped and where white space stands does not matter, and numbers are equal if their exact
// values are: 1, 1.0 and 1e0 are equal, 0.1 and 0.10000000000000001 are not. Lines that are not valid are equal if all
// their bytes are.
func Equal(a, b Event) bool {
	a, b = a.told(), b.told()
	if a.line != nil && b.line != nil && bytes.Equal(a.line, b.line) {
		return true
	}
	bufA, bufB := GetBuffer(), GetBuffer()
	defer bufA.Free()
	defer bufB.Free()
	textA, okA := a.validText(bufA)
	textB, okB := b.validText(bufB)
	return okA && okB && equalText(textA, textB)
}

// validText returns the event's JSON. It reports false if it is not valid.
func (e Event) validText(b *Buffer) ([]byte, bool) {
	switch {
	case e.line == nil:
		b.B = e.AppendJSON(b.B)
		return b.B, true
	case e.checked:
		return e.line, true
	}
	return e.line, validateObject(e.line) == nil
}

// equalText compares valid texts token by token; equal tokens make equal structures.
func equalText(a, b []byte) bool {
	i, j := jsontext.SkipSpace(a, 0), jsontext.SkipSpace(b, 0)
	for i < len(a) && j < len(b) {
		x, y := tokenEnd(a, i), tokenEnd(b, j)
		s, t := a[i:x], b[j:y]
		if !bytes.Equal(s, t) {
			switch {
			case s[0] == '"' && t[0] == '"':
				if !bytes.Equal(decodedKey(s[1:len(s)-1]), decodedKey(t[1:len(t)-1])) {
					return false
				}
			case isNumber(s[0]) && isNumber(t[0]):
				if !equalNumber(s, t) {
					return false
				}
			default:
				return false
			}
		}
		i, j = jsontext.SkipSpace(a, x), jsontext.SkipSpace(b, y)
	}
	return i == len(a) && j == len(b)
}

func isNumber(c byte) bool { return c == '-' || c-'0' <= 9 }

// tokenEnd returns the index after the token at i of valid text.
func tokenEnd(b []byte, i int) int {
	switch c := b[i]; {
	case c == '"':
		return jsontext.StringEnd(b, i+1)
	case isNumber(c):
		return jsontext.NumberEnd(b, i)
	case c == 't' || c == 'n':
		return i + 4
	case c == 'f':
		return i + 5
	}
	return i + 1
}

// equalNumber compares the values of two numbers, of any size, without calculating them.
func equalNumber(a, b []byte) bool {
	x, y := decimal(a), decimal(b)
	if len(x.digits) == 0 || len(y.digits) == 0 {
		return len(x.digits) == len(y.digits) // zero has one value, whatever its sign and exponent
	}
	return x.neg == y.neg && bytes.Equal(x.digits, y.digits) && x.exp == y.exp && bytes.Equal(x.huge, y.huge)
}

// number is digits, without zeros at both ends, times 10 to the exp. An exponent of more than 18 digits is kept as its
// text in huge and not added to exp: such numbers are equal only if they are written with the same exponent.
type number struct {
	neg    bool
	digits []byte
	exp    int64
	huge   []byte
}

func decimal(text []byte) (n number) {
	if text[0] == '-' {
		n.neg, text = true, text[1:]
	}
	if e := bytes.IndexAny(text, "eE"); e >= 0 {
		power := bytes.TrimPrefix(text[e+1:], []byte{'+'})
		text = text[:e]
		neg := power[0] == '-'
		digits := bytes.TrimLeft(power, "-0")
		if len(digits) > 18 {
			n.huge = append([]byte{'+'}, digits...)
			if neg {
				n.huge[0] = '-'
			}
		} else {
			for _, c := range digits {
				n.exp = n.exp*10 + int64(c-'0')
			}
			if neg {
				n.exp = -n.exp
			}
		}
	}
	whole, part, _ := bytes.Cut(text, []byte{'.'})
	digits := append(append(make([]byte, 0, len(whole)+len(part)), whole...), part...)
	trimmed := bytes.TrimRight(digits, "0")
	n.exp += int64(len(digits) - len(trimmed) - len(part))
	n.digits = bytes.TrimLeft(trimmed, "0")
	return n
}
