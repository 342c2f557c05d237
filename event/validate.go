package event

import "fmt"

// SyntaxError says where a line stops being one JSON object.
type SyntaxError struct {
	Offset int    // bytes of the line before the fault
	Msg    string // what is wrong or what was expected
	err    error
}

func (e *SyntaxError) Error() string { return fmt.Sprintf("event: offset %d: %s", e.Offset, e.Msg) }

// Unwrap returns [ErrDepth] if the line is nested too deep, otherwise nil.
func (e *SyntaxError) Unwrap() error { return e.err }

// fault is what validate found at an index. The zero fault is none.
type fault uint8

const (
	faultValue fault = 1 + iota
	faultLiteral
	faultNumber
	faultString
	faultKey
	faultColon
	faultMember
	faultElement
	faultDepth
	faultObject
	faultAfter
)

var faultTexts = [...]string{
	faultValue:   "expected a value",
	faultLiteral: "expected true, false or null",
	faultNumber:  "expected a digit of a number",
	faultKey:     "expected a key in quotes",
	faultColon:   "expected ':' after a key",
	faultMember:  "expected ',' or '}' after a member",
	faultElement: "expected ',' or ']' after an element",
	faultDepth:   fmt.Sprintf("nested deeper than %d levels", MaxDepth),
	faultObject:  "expected an object",
	faultAfter:   "expected nothing after the object",
}

// syntaxError describes the fault f at index i of b.
func syntaxError(b []byte, i int, f fault) *SyntaxError {
	e := &SyntaxError{Offset: i}
	switch {
	case f == faultDepth:
		e.err = ErrDepth
	case f == faultString && i >= len(b):
		e.Msg = "the string does not end"
	case f == faultString && b[i] == '\\':
		e.Msg = "unknown escape in a string"
	case f == faultString:
		e.Msg = fmt.Sprintf("control character %#02x in a string", b[i])
	}
	if e.Msg == "" {
		e.Msg = faultTexts[f]
		if i >= len(b) {
			e.Msg += ", the line ends"
		} else if f != faultDepth {
			e.Msg += fmt.Sprintf(", found %q", b[i])
		}
	}
	return e
}

// validateObject checks that b is one object and white space around it.
func validateObject(b []byte) error {
	i := spaceEnd(b, 0)
	if i >= len(b) || b[i] != '{' {
		return syntaxError(b, i, faultObject)
	}
	if i, f := validateValue(b, i, 0); f != 0 {
		return syntaxError(b, i, f)
	} else if i = spaceEnd(b, i); i < len(b) {
		return syntaxError(b, i, faultAfter)
	}
	return nil
}

// validate checks that b is one value and white space around it.
func validate(b []byte) (int, fault) {
	i, f := validateValue(b, spaceEnd(b, 0), 0)
	if f == 0 {
		if i = spaceEnd(b, i); i < len(b) {
			f = faultAfter
		}
	}
	return i, f
}

// validateValue checks the value at i, which depth objects and arrays enclose. It returns the index after it, or the
// index of a fault. The grammar is RFC 8259's. It says nothing about the encoding of strings: like encoding/json, this
// takes bytes that are not UTF-8 and halves of surrogate pairs, which decode as U+FFFD.
func validateValue(b []byte, i, depth int) (int, fault) {
	var near [16]uint64 // most lines need no more than the first word
	objects := near[:]  // a bit for each open object or array: is it an object?
	base := depth
value:
	if i >= len(b) {
		return i, faultValue
	}
	switch c := b[i]; c {
	case '"':
		if i = strictStringEnd(b, i+1); i < 0 {
			return ^i, faultString
		}
	case '{':
		if depth++; depth > MaxDepth {
			return i, faultDepth
		}
		if depth>>6 == len(objects) {
			objects = append(make([]uint64, 0, MaxDepth/64+1), objects...)[:MaxDepth/64+1]
		}
		objects[depth>>6] |= 1 << (depth & 63)
		if i = spaceEnd(b, i+1); i < len(b) && b[i] == '}' {
			depth--
			i++
			break
		}
		goto key
	case '[':
		if depth++; depth > MaxDepth {
			return i, faultDepth
		}
		if depth>>6 == len(objects) {
			objects = append(make([]uint64, 0, MaxDepth/64+1), objects...)[:MaxDepth/64+1]
		}
		objects[depth>>6] &^= 1 << (depth & 63)
		if i = spaceEnd(b, i+1); i < len(b) && b[i] == ']' {
			depth--
			i++
			break
		}
		goto value
	case 't':
		if !(i+4 <= len(b) && string(b[i:i+4]) == "true") {
			return i, faultLiteral
		}
		i += 4
	case 'n':
		if !(i+4 <= len(b) && string(b[i:i+4]) == "null") {
			return i, faultLiteral
		}
		i += 4
	case 'f':
		if !(i+5 <= len(b) && string(b[i:i+5]) == "false") {
			return i, faultLiteral
		}
		i += 5
	default:
		if c != '-' && c-'0' > 9 {
			return i, faultValue
		}
		if i = numberEnd(b, i); i < 0 {
			return ^i, faultNumber
		}
	}

after:
	if depth == base {
		return i, 0
	}
	i = spaceEnd(b, i)
	if objects[depth>>6]>>(depth&63)&1 == 0 {
		switch {
		case i < len(b) && b[i] == ',':
			i = spaceEnd(b, i+1)
			goto value
		case i < len(b) && b[i] == ']':
			depth--
			i++
			goto after
		}
		return i, faultElement
	}
	switch {
	case i < len(b) && b[i] == ',':
		i = spaceEnd(b, i+1)
	case i < len(b) && b[i] == '}':
		depth--
		i++
		goto after
	default:
		return i, faultMember
	}

key:
	if i >= len(b) || b[i] != '"' {
		return i, faultKey
	}
	if i = strictStringEnd(b, i+1); i < 0 {
		return ^i, faultString
	}
	if i >= len(b) || b[i] != ':' {
		if i = spaceEnd(b, i); i >= len(b) || b[i] != ':' {
			return i, faultColon
		}
	}
	i = spaceEnd(b, i+1)
	goto value
}
