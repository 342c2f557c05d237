package slogkv

import (
	"bytes"
	"fmt"
	"unicode/utf8"

	"github.com/tracehandler/tracehandler/internal/jsontext"
)

// The functions of this file walk over JSON text that is known to be valid.

// jsonValue adds the value that text holds, with white space around it perhaps.
func (l *layout) jsonValue(key string, text []byte) {
	l.jsonAt(key, text, jsontext.SkipSpace(text, 0))
}

// jsonAt adds the value at text[i] and returns where it ends.
func (l *layout) jsonAt(key string, text []byte, i int) int {
	end := jsontext.ValueEnd(text, i)
	switch text[i] {
	case '{':
		l.b.Open(key)
		before := l.leaves
		l.members(text, i)
		if l.leaves == before {
			l.leaves++ // an empty object is a value
		}
		l.b.Close()
		return end
	case '[':
		l.text = appendCompact(l.text[:0], text[i:end])
		l.b.Array(key, l.text)
	case '"':
		l.text = jsontext.AppendText(l.text[:0], text[i+1:end-1])
		l.b.StringBytes(key, l.text)
	case 't', 'f':
		l.b.Bool(key, text[i] == 't')
	case 'n':
		l.b.Null(key)
	default:
		l.number(key, text[i:end])
		return end
	}
	l.leaves++
	return end
}

// members adds the members of the object at text[i].
func (l *layout) members(text []byte, i int) { l.membersFrom(text, i+1) }

// membersFrom adds the members behind text[i], which is inside an object and outside of its members.
func (l *layout) membersFrom(text []byte, i int) {
	for i = jsontext.SkipSpace(text, i); text[i] != '}'; i = jsontext.SkipSpace(text, i) {
		if text[i] == ',' {
			i = jsontext.SkipSpace(text, i+1)
		}
		key, next := member(text, i)
		i = l.jsonAt(key, text, next)
	}
}

// member returns the key at text[i], and where its value starts.
func member(text []byte, i int) (key string, value int) {
	end := jsontext.StringEnd(text, i+1)
	key = string(jsontext.AppendText(nil, text[i+1:end-1]))
	return key, jsontext.SkipSpace(text, jsontext.SkipSpace(text, end)+1)
}

// appendCompact appends text without white space between tokens, and with U+FFFD for bytes that are not UTF-8.
func appendCompact(dst, text []byte) []byte {
	return jsontext.Clean(jsontext.AppendCompact(dst, text), len(dst))
}

// exactLine returns a line that says the same as line and is UTF-8, if some string of it is not one of Unicode: it has bytes
// that are not UTF-8, or halves of surrogate pairs. Otherwise it returns nil. A byte is then spelled as the half of a pair
// that Python's surrogateescape (PEP 383) makes of it, \udc80 to \udcff; behind the first half of a pair, with which that would
// be a character, it becomes U+FFFD.
func exactLine(line []byte) []byte {
	valid := utf8.Valid(line)
	if valid && jsontext.HalfPair(line) < 0 {
		return nil
	}
	if valid {
		return line
	}
	var out []byte
	for i := 0; i < len(line); {
		r, size := utf8.DecodeRune(line[i:])
		switch {
		case r != utf8.RuneError || size > 1:
			out = append(out, line[i:i+size]...)
		case endsWithHalf(out):
			out = append(out, `\ufffd`...)
		default:
			out = fmt.Appendf(out, `\udc%02x`, line[i])
		}
		i += size
	}
	return out
}

// endsWithHalf reports whether b ends with the escape of the first half of a surrogate pair, \ud800 to \udbff.
func endsWithHalf(b []byte) bool {
	n := len(b) - 6
	if n < 0 || b[n] != '\\' || b[n+1] != 'u' || b[n+2]|0x20 != 'd' || bytes.IndexByte([]byte("89abAB"), b[n+3]) < 0 {
		return false
	}
	before := n
	for before > 0 && b[before-1] == '\\' {
		before--
	}
	return (n-before)&1 == 0
}
