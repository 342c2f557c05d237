package kql

import (
	"fmt"
	"strings"
)

// SyntaxError says where a query is wrong.
type SyntaxError struct {
	Offset int    // byte of the query
	Msg    string // what is wrong
	Hint   string // what might be meant, or empty
}

func (e *SyntaxError) Error() string {
	s := fmt.Sprintf("kql: %s (byte %d)", e.Msg, e.Offset)
	if e.Hint != "" {
		s += "; " + e.Hint
	}
	return s
}

type tokenKind uint8

const (
	tokenEnd tokenKind = iota
	tokenWord
	tokenQuoted
	tokenAnd
	tokenOr
	tokenNot
	tokenRange // < <= > >=
	tokenSign  // : ( ) { } ,
	tokenTime  // timestamp(
)

type lexeme struct {
	kind tokenKind
	text string // as it stands in the query, quotes included
	at   int
}

// content returns the text without quotes, and where it starts.
func (l lexeme) content() (string, int) {
	if l.kind == tokenQuoted {
		return l.text[1 : len(l.text)-1], l.at + 1
	}
	return l.text, l.at
}

const (
	timeWord  = "timestamp("
	stops     = `\():<>"{}` + blanks // what ends a word
	blanks    = " \t\r\n"
	escapable = `\():<>"*?{}.@$!#trn` // in words, besides \uXXXX
)

// lex cuts a query into tokens. The longest one wins at each place.
func lex(query string) ([]lexeme, error) {
	var out []lexeme
	for i := 0; i < len(query); {
		c := query[i]
		if strings.IndexByte(blanks, c) >= 0 {
			i++
			continue
		}
		l := lexeme{at: i}
		n := word(query[i:])
		switch {
		case strings.HasPrefix(query[i:], timeWord) && n < len(timeWord):
			l.kind, n = tokenTime, len(timeWord)
		case c == '"':
			l.kind = tokenQuoted
			if n = quoted(query[i:]); n == 0 {
				return nil, &SyntaxError{i, "the quote is not closed", `a quote inside is written \"`}
			}
		case c == '<' || c == '>':
			l.kind, n = tokenRange, 1
			if i+1 < len(query) && query[i+1] == '=' {
				n = 2
			}
		case strings.IndexByte(":(){}", c) >= 0 || c == ',' && n == 1:
			l.kind, n = tokenSign, 1
		case n > 0:
			switch l.kind = tokenWord; strings.ToLower(query[i : i+n]) {
			case "and":
				l.kind = tokenAnd
			case "or":
				l.kind = tokenOr
			case "not":
				l.kind = tokenNot
			}
		default:
			return nil, &SyntaxError{i, fmt.Sprintf("%q is no escape", query[i:min(i+2, len(query))]), `a backslash is written \\`}
		}
		l.text = query[i : i+n]
		out = append(out, l)
		i += n
	}
	return append(out, lexeme{at: len(query)}), nil
}

// word returns the length of the unquoted text at the start of s.
func word(s string) int {
	i := 0
	for i < len(s) {
		if strings.IndexByte(stops, s[i]) < 0 {
			i++
			continue
		}
		if s[i] != '\\' || i+1 == len(s) {
			break
		}
		if strings.IndexByte(escapable, s[i+1]) >= 0 {
			i += 2
		} else if _, ok := hex4(s[i+1:]); ok {
			i += 6
		} else {
			break
		}
	}
	return i
}

// hex4 reads uXXXX.
func hex4(s string) (rune, bool) {
	if len(s) < 5 || s[0] != 'u' {
		return 0, false
	}
	var r rune
	for _, c := range []byte(s[1:5]) {
		switch {
		case '0' <= c && c <= '9':
			r = r<<4 | rune(c-'0')
		case 'a' <= c|0x20 && c|0x20 <= 'f':
			r = r<<4 | rune(c|0x20-'a'+10)
		default:
			return 0, false
		}
	}
	return r, true
}

// quoted returns the length of the quoted text at the start of s, or 0. A quote behind a backslash may end it or not;
// the longest reading counts, as in the reference.
func quoted(s string) int {
	end := 0
	for i := 1; i < len(s); i++ {
		if s[i] != '"' {
			continue
		}
		end = i + 1
		if s[i-1] != '\\' || i == 1 {
			break
		}
	}
	return end
}
