package jsontext

import (
	"fmt"
	"unicode/utf8"
)

// Fault is what [ScanValue] found wrong.
type Fault uint8

// The faults of text.
const (
	NoFault Fault = iota
	FaultValue
	FaultLiteral
	FaultNumber
	FaultString
	FaultKey
	FaultColon
	FaultMember
	FaultElement
	FaultDepth
)

var faultTexts = [...]string{
	FaultValue:   "expected a value",
	FaultLiteral: "expected true, false or null",
	FaultNumber:  "expected a digit of a number",
	FaultKey:     "expected a key in quotes",
	FaultColon:   "expected ':' after a key",
	FaultMember:  "expected ',' or '}' after a member",
	FaultElement: "expected ',' or ']' after an element",
}

// At describes the fault at b[i] in words.
func (f Fault) At(b []byte, i int) string {
	switch {
	case f == FaultDepth:
		return fmt.Sprintf("nested deeper than %d levels", MaxDepth)
	case f == FaultString && i >= len(b):
		return "the string does not end"
	case f == FaultString && b[i] == '\\':
		return "unknown escape in a string"
	case f == FaultString:
		return fmt.Sprintf("control character %#02x in a string", b[i])
	}
	return Expected(faultTexts[f], b, i)
}

// Expected appends to the text what stands at b[i] instead of what was expected.
func Expected(text string, b []byte, i int) string {
	if i >= len(b) {
		return text + ", the line ends"
	}
	c, size := utf8.DecodeRune(b[i:])
	if c == utf8.RuneError && size == 1 {
		return fmt.Sprintf("%s, found '\\x%02x'", text, b[i])
	}
	return fmt.Sprintf("%s, found %q", text, c)
}

// ScanValue returns the index behind the value at b[i], which depth objects and arrays enclose, or ^index of a fault. At most
// [MaxDepth] may be open.
func ScanValue(b []byte, i, depth int) (end int, f Fault) {
	var near [16]uint64 // most lines need no more than the first word
	objects := near[:]  // a bit for each open object or array: is it an object?
	room := MaxDepth - depth
	depth = 0
value:
	if i >= len(b) {
		return ^i, FaultValue
	}
	switch c := b[i]; c {
	case '"':
		if i, _ = ScanString(b, i+1); i < 0 {
			return i, FaultString
		}
	case '{':
		if depth++; depth > room {
			return ^i, FaultDepth
		}
		if depth>>6 == len(objects) {
			objects = append(make([]uint64, 0, MaxDepth/64+1), objects...)[:MaxDepth/64+1]
		}
		objects[depth>>6] |= 1 << (depth & 63)
		if i = SkipSpace(b, i+1); i < len(b) && b[i] == '}' {
			depth--
			i++
			break
		}
		goto key
	case '[':
		if depth++; depth > room {
			return ^i, FaultDepth
		}
		if depth>>6 == len(objects) {
			objects = append(make([]uint64, 0, MaxDepth/64+1), objects...)[:MaxDepth/64+1]
		}
		objects[depth>>6] &^= 1 << (depth & 63)
		if i = SkipSpace(b, i+1); i < len(b) && b[i] == ']' {
			depth--
			i++
			break
		}
		goto value
	case 't':
		if i = ScanWord(b, i, "true"); i < 0 {
			return i, FaultLiteral
		}
	case 'n':
		if i = ScanWord(b, i, "null"); i < 0 {
			return i, FaultLiteral
		}
	case 'f':
		if i = ScanWord(b, i, "false"); i < 0 {
			return i, FaultLiteral
		}
	default:
		if c != '-' && c-'0' > 9 {
			return ^i, FaultValue
		}
		if i = NumberEnd(b, i); i < 0 {
			return i, FaultNumber
		}
	}

after:
	if depth == 0 {
		return i, NoFault
	}
	i = SkipSpace(b, i)
	if objects[depth>>6]>>(depth&63)&1 == 0 {
		switch {
		case i < len(b) && b[i] == ',':
			i = SkipSpace(b, i+1)
			goto value
		case i < len(b) && b[i] == ']':
			depth--
			i++
			goto after
		}
		return ^i, FaultElement
	}
	switch {
	case i < len(b) && b[i] == ',':
		i = SkipSpace(b, i+1)
	case i < len(b) && b[i] == '}':
		depth--
		i++
		goto after
	default:
		return ^i, FaultMember
	}

key:
	if i >= len(b) || b[i] != '"' {
		return ^i, FaultKey
	}
	if i, _ = ScanString(b, i+1); i < 0 {
		return i, FaultString
	}
	if i >= len(b) || b[i] != ':' {
		if i = SkipSpace(b, i); i >= len(b) || b[i] != ':' {
			return ^i, FaultColon
		}
	}
	i = SkipSpace(b, i+1)
	goto value
}

// Valid reports whether b is one value and white space around it.
func Valid(b []byte) bool {
	i, _ := ScanValue(b, SkipSpace(b, 0), 0)
	return i >= 0 && SkipSpace(b, i) == len(b)
}

// ScanWord returns the index behind the word at b[i], ^i if b[i:] starts with something else.
func ScanWord(b []byte, i int, word string) int {
	if i+len(word) <= len(b) && string(b[i:i+len(word)]) == word {
		return i + len(word)
	}
	return ^i
}
