package jsontext

import (
	"bytes"
	"unicode/utf16"
	"unicode/utf8"
)

// AppendUnescaped appends what s means, which stood between quotes. Halves of surrogate pairs become U+FFFD. Everything else
// that is no character stays as it is: bytes that are not UTF-8, and, in text that nobody has checked, what is no escape.
func AppendUnescaped(dst, s []byte) []byte {
	for {
		n := bytes.IndexByte(s, '\\')
		if n < 0 {
			return append(dst, s...)
		}
		dst = append(dst, s[:n]...)
		r, size := escape(s[n:])
		if size == 0 {
			r, size = '\\', 1
		}
		dst = utf8.AppendRune(dst, r)
		s = s[n+size:]
	}
}

// AppendText is [AppendUnescaped] with U+FFFD for each byte that is not UTF-8: what encoding/json makes of a string.
func AppendText(dst, s []byte) []byte {
	from := len(dst)
	return Clean(AppendUnescaped(dst, s), from)
}

// Clean makes UTF-8 of b[from:], which may grow: U+FFFD stands for each byte that is none.
func Clean(b []byte, from int) []byte {
	if utf8.Valid(b[from:]) {
		return b
	}
	s := string(b[from:])
	b = b[:from]
	for _, r := range s {
		b = utf8.AppendRune(b, r)
	}
	return b
}

// escape returns the character whose escape s starts with, and the length of the escape: 0 if it is none.
func escape(s []byte) (r rune, size int) {
	if size = escapeLen(s); size == 0 {
		return 0, 0
	}
	switch c := s[1]; c {
	case 'b':
		return '\b', size
	case 'f':
		return '\f', size
	case 'n':
		return '\n', size
	case 'r':
		return '\r', size
	case 't':
		return '\t', size
	case 'u':
		if r = hex4(s[2:]); utf16.IsSurrogate(r) {
			low := rune(-1)
			if len(s) >= 12 && s[6] == '\\' && s[7] == 'u' {
				low = hex4(s[8:])
			}
			if r = utf16.DecodeRune(r, low); r != utf8.RuneError {
				size = 12
			}
		}
		return r, size
	default:
		return rune(c), size
	}
}

// HalfPair returns the index of the first escape in b that is half of a surrogate pair without the other half, -1 if there
// is none. In valid text backslashes are in strings only, so b may be a whole line.
func HalfPair(b []byte) int {
	for i := 0; i < len(b); {
		n := bytes.IndexByte(b[i:], '\\')
		if n < 0 {
			break
		}
		i += n
		r, size := escape(b[i:])
		if r == utf8.RuneError && utf16.IsSurrogate(hex4(b[i+2:])) {
			return i
		}
		i += max(size, 1)
	}
	return -1
}

// ValidPrefix returns the number of bytes before the first that is not UTF-8.
func ValidPrefix(b []byte) int {
	for i := 0; i < len(b); {
		r, n := utf8.DecodeRune(b[i:])
		if r == utf8.RuneError && n == 1 {
			return i
		}
		i += n
	}
	return len(b)
}
