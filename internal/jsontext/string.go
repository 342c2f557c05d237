package jsontext

import (
	"bytes"
	"encoding/binary"
	"math/bits"
)

// StringEnd returns the index behind the string whose first character is b[i], behind its quote, or ^len(b) if it does
// not end. It does not check what is in the string: a quote ends it unless an odd number of backslashes stands before.
func StringEnd(b []byte, i int) int {
	start := i
scan:
	for {
		for stop := i + 32; i+8 <= len(b) && i < stop; i += 8 { // most strings are short
			x := binary.LittleEndian.Uint64(b[i:]) ^ '"'*ones
			if m := (x - ones) &^ x & highs; m != 0 {
				if i += bits.TrailingZeros64(m) >> 3; !escaped(b, start, i) {
					return i + 1
				}
				i++
				continue scan
			}
		}
		n := bytes.IndexByte(b[i:], '"')
		if n < 0 {
			return ^len(b)
		}
		if i += n; !escaped(b, start, i) {
			return i + 1
		}
		i++
	}
}

// escaped reports whether an odd number of backslashes stands before b[i], from start on.
func escaped(b []byte, start, i int) bool {
	n := i
	for n > start && b[n-1] == '\\' {
		n--
	}
	return (i-n)&1 == 1
}

// Content says what a string has in it.
type Content uint8

// The things that [ScanString] looks for.
const (
	Escapes Content = 1 << iota // a backslash
	Unicode                     // an escape with the code of a character, \u00e9
	Spaces                      // a space that is not escaped; only ScanSpaced says so
)

// ScanString returns the index behind the string whose first character is b[i], behind its quote, and what is in it. A
// string is wrong at a control character, at an unknown escape, and at the end of the text.
func ScanString(b []byte, i int) (end int, has Content) {
	for {
		for ; i+8 <= len(b); i += 8 {
			x := binary.LittleEndian.Uint64(b[i:])
			if stop := Special(x); stop != 0 {
				if i += bits.TrailingZeros64(stop) >> 3; b[i] == '"' {
					return i + 1, has
				}
				break
			}
		}
		for i < len(b) && b[i] != '"' && b[i] != '\\' && b[i] >= ' ' {
			i++
		}
		if i >= len(b) {
			return ^len(b), 0
		}
		if b[i] == '"' {
			return i + 1, has
		}
		n := escapeLen(b[i:])
		if n == 0 {
			return ^i, 0
		}
		has |= escapes(n)
		i += n
	}
}

// ScanSpaced is [ScanString] that looks for spaces, too. It costs a fifth more.
func ScanSpaced(b []byte, i int) (end int, has Content) {
	var spaces uint64
	for {
		for ; i+8 <= len(b); i += 8 {
			x := binary.LittleEndian.Uint64(b[i:])
			space := (x ^ ' '*ones - ones) &^ x & highs // as for Special, only those above the first true one can be wrong
			if stop := Special(x); stop != 0 {
				spaces |= space & (stop&-stop - 1)
				i += bits.TrailingZeros64(stop) >> 3
				break
			}
			spaces |= space
		}
		for i < len(b) && b[i] != '"' && b[i] != '\\' && b[i] >= ' ' {
			if b[i] == ' ' {
				spaces = 1
			}
			i++
		}
		if i >= len(b) {
			return ^len(b), 0
		}
		if b[i] == '"' {
			if spaces != 0 {
				has |= Spaces
			}
			return i + 1, has
		}
		n := escapeLen(b[i:])
		if n == 0 {
			return ^i, 0
		}
		has |= escapes(n)
		i += n
	}
}

// escapes says what an escape of n bytes is.
func escapes(n int) Content {
	if n > 2 {
		return Escapes | Unicode
	}
	return Escapes
}

// escapeLen returns the length of the escape that b starts with, 0 if it starts with none.
func escapeLen(b []byte) int {
	if len(b) < 2 || b[0] != '\\' {
		return 0
	}
	switch b[1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2
	case 'u':
		if len(b) >= 6 && hexValue[b[2]]|hexValue[b[3]]|hexValue[b[4]]|hexValue[b[5]] >= 0 {
			return 6
		}
	}
	return 0
}

// hex4 returns the number of four hexadecimal digits, -1 if b does not start with them.
func hex4(b []byte) rune {
	if len(b) < 4 {
		return -1
	}
	return rune(hexValue[b[0]])<<12 | rune(hexValue[b[1]])<<8 | rune(hexValue[b[2]])<<4 | rune(hexValue[b[3]])
}

// hexValue has the value of each hexadecimal digit, -1 for other bytes, which makes negative whatever it is or'ed with.
var hexValue = func() (t [256]int8) {
	for i := range t {
		t[i] = -1
	}
	for i := range 10 {
		t['0'+i] = int8(i)
	}
	for i := range 6 {
		t['a'+i], t['A'+i] = int8(10+i), int8(10+i)
	}
	return t
}()
