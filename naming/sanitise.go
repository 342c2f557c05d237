package naming

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// unknown stands for a user or host without a name.
const unknown = "unknown"

// SanitiseHost returns what stands for host in a file name: its first label, each byte outside [a-zA-Z0-9-] replaced by
// "-", cut to 63 bytes; "unknown" if nothing is left.
func SanitiseHost(host string) string {
	label, _, _ := strings.Cut(host, ".")
	if label == "" {
		return unknown
	}
	var b strings.Builder
	for _, r := range label {
		if b.Len() == maxHost {
			break
		}
		if r >= utf8.RuneSelf || !isHostByte(byte(r)) {
			r = '-'
		}
		b.WriteByte(byte(r))
	}
	return b.String()
}

// SanitiseName returns what stands for s, a user's name or a prefix, in a file name: letters, digits and marks of any
// script, "_", "-", "+", "@" and single dots stay; anything else, invalid UTF-8 included, becomes "-". A dot or dash at
// the start becomes "_", so that the name is neither hidden nor taken for a flag. At most limit bytes are kept, never a
// part of a character; "unknown" if nothing is left.
func SanitiseName(s string, limit int) string {
	var b strings.Builder
	last := rune(-1)
	for _, r := range s {
		switch {
		case r == utf8.RuneError:
			r = '-'
		case r == '.' && last == '.':
			r = '-'
		case r == '_', r == '-', r == '+', r == '@', r == '.', unicode.IsLetter(r), unicode.IsDigit(r), unicode.IsMark(r):
		default:
			r = '-'
		}
		if last < 0 && (r == '.' || r == '-') {
			r = '_'
		}
		if b.Len()+utf8.RuneLen(r) > limit {
			break
		}
		b.WriteRune(r)
		last = r
	}
	if b.Len() == 0 {
		return unknown[:min(len(unknown), max(limit, 0))]
	}
	return b.String()
}
