package slogkv

import (
	"bytes"
	"fmt"
	"unicode/utf16"
	"unicode/utf8"
)

// The functions of this file walk over JSON text that is known to be valid.

// jsonValue adds the value that text holds, with white space around it perhaps.
func (l *layout) jsonValue(key string, text []byte) {
	l.jsonAt(key, text, spaces(text, 0))
}

// jsonAt adds the value at text[i] and returns where it ends.
func (l *layout) jsonAt(key string, text []byte, i int) int {
	end := valueEnd(text, i)
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
		l.text = appendUnquoted(l.text[:0], text[i+1:end-1])
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
	for i = spaces(text, i); text[i] != '}'; i = spaces(text, i) {
		if text[i] == ',' {
			i = spaces(text, i+1)
		}
		key, next := member(text, i)
		i = l.jsonAt(key, text, next)
	}
}

// member returns the key at text[i], and where its value starts.
func member(text []byte, i int) (key string, value int) {
	end := stringEnd(text, i)
	key = string(appendUnquoted(nil, text[i+1:end-1]))
	return key, spaces(text, spaces(text, end)+1)
}

func spaces(text []byte, i int) int {
	for i < len(text) && text[i] <= ' ' {
		i++
	}
	return i
}

// stringEnd returns the index behind the string that starts at text[i].
func stringEnd(text []byte, i int) int {
	for i++; text[i] != '"'; i++ {
		if text[i] == '\\' {
			i++
		}
	}
	return i + 1
}

// valueEnd returns the index behind the value that starts at text[i].
func valueEnd(text []byte, i int) int {
	switch text[i] {
	case '"':
		return stringEnd(text, i)
	case '{', '[':
		for depth := 0; ; i++ {
			switch text[i] {
			case '"':
				i = stringEnd(text, i) - 1
			case '{', '[':
				depth++
			case '}', ']':
				if depth--; depth == 0 {
					return i + 1
				}
			}
		}
	}
	for i < len(text) && text[i] > ' ' && text[i] != ',' && text[i] != '}' && text[i] != ']' {
		i++
	}
	return i
}

// appendCompact appends text without white space between tokens, and with U+FFFD for bytes that are not UTF-8.
func appendCompact(dst, text []byte) []byte {
	from := len(dst)
	for i := 0; i < len(text); {
		switch c := text[i]; {
		case c == '"':
			end := stringEnd(text, i)
			dst = append(dst, text[i:end]...)
			i = end
		case c <= ' ':
			i++
		default:
			dst = append(dst, c)
			i++
		}
	}
	if !utf8.Valid(dst[from:]) {
		clean := string([]rune(string(dst[from:])))
		dst = append(dst[:from], clean...)
	}
	return dst
}

// appendUnquoted appends what the inside of a JSON string means. Bytes that are not UTF-8, and halves of surrogate
// pairs, become U+FFFD.
func appendUnquoted(dst, s []byte) []byte {
	for i := 0; i < len(s); {
		c := s[i]
		if c != '\\' {
			if c < utf8.RuneSelf {
				dst = append(dst, c)
				i++
				continue
			}
			r, size := utf8.DecodeRune(s[i:])
			dst = utf8.AppendRune(dst, r)
			i += size
			continue
		}
		i += 2
		switch c = s[i-1]; c {
		case 'b':
			dst = append(dst, '\b')
		case 'f':
			dst = append(dst, '\f')
		case 'n':
			dst = append(dst, '\n')
		case 'r':
			dst = append(dst, '\r')
		case 't':
			dst = append(dst, '\t')
		case 'u':
			r := hex4(s[i:])
			i += 4
			if utf16.IsSurrogate(r) {
				low := rune(-1)
				if len(s) >= i+6 && s[i] == '\\' && s[i+1] == 'u' {
					low = hex4(s[i+2:])
				}
				if r = utf16.DecodeRune(r, low); r != utf8.RuneError {
					i += 6
				}
			}
			dst = utf8.AppendRune(dst, r)
		default:
			dst = append(dst, c)
		}
	}
	return dst
}

// exactLine returns a line that says the same as line and is UTF-8, if some string of it is not one of Unicode: it has bytes
// that are not UTF-8, or halves of surrogate pairs. Otherwise it returns nil. A byte is then spelled as the half of a pair
// that Python's surrogateescape (PEP 383) makes of it, \udc80 to \udcff.
func exactLine(line []byte) []byte {
	valid := utf8.Valid(line)
	if valid && !hasHalf(line) {
		return nil
	}
	if valid {
		return line
	}
	var out []byte
	for i := 0; i < len(line); {
		r, size := utf8.DecodeRune(line[i:])
		if r == utf8.RuneError && size == 1 {
			out = fmt.Appendf(out, `\udc%02x`, line[i])
		} else {
			out = append(out, line[i:i+size]...)
		}
		i += size
	}
	return out
}

// hasHalf reports whether a string of line has an escaped half of a surrogate pair without the other half.
func hasHalf(line []byte) bool {
	for i := 0; i < len(line); {
		n := bytes.IndexByte(line[i:], '\\')
		if n < 0 {
			return false
		}
		i += n + 2
		if line[i-1] != 'u' {
			continue
		}
		r := hex4(line[i:])
		i += 4
		if !utf16.IsSurrogate(r) {
			continue
		}
		if len(line) < i+6 || line[i] != '\\' || line[i+1] != 'u' || utf16.DecodeRune(r, hex4(line[i+2:])) == utf8.RuneError {
			return true
		}
		i += 6
	}
	return false
}

func hex4(s []byte) (r rune) {
	for _, c := range s[:4] {
		switch {
		case c <= '9':
			c -= '0'
		case c >= 'a':
			c -= 'a' - 10
		default:
			c -= 'A' - 10
		}
		r = r<<4 | rune(c)
	}
	return r
}
