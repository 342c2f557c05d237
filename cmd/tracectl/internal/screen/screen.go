// Package screen is what a terminal may be sent: colours, where they are wanted, and texts without controls.
//
//	bad := screen.NewStyle(useColor, color.FgRed, color.Bold)
//	fmt.Println(bad.Paint("DAMAGED"), screen.Text(name))
package screen

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/fatih/color"
)

// Style is what a terminal is told before and after a text to set it apart. The zero value tells it nothing.
type Style struct{ Before, After string }

// NewStyle returns the style of these attributes, or none if there is to be no colour.
func NewStyle(wanted bool, attributes ...color.Attribute) Style {
	if !wanted {
		return Style{}
	}
	c := color.New(attributes...)
	c.EnableColor() // what the library finds out about standard output and the environment does not count: --color does
	const text = "text"
	before, after, _ := strings.Cut(c.Sprint(text), text)
	return Style{before, after}
}

// Paint returns text in this style.
func (s Style) Paint(text string) string { return s.Before + text + s.After }

// Text returns s with everything that is not printable escaped.
func Text(s string) string { return string(AppendText(nil, s, false)) }

// AppendText appends s with everything that is not printable escaped, in quotes if wanted.
func AppendText(dst []byte, s string, quoted bool) []byte {
	if quoted {
		dst = append(dst, '"')
	}
	for i := 0; i < len(s); {
		c := s[i]
		switch {
		case quoted && (c == '"' || c == '\\'):
			dst = append(dst, '\\', c)
			i++
		case c >= ' ' && c < 0x7f:
			dst = append(dst, c)
			i++
		default:
			r, n := utf8.DecodeRuneInString(s[i:])
			switch {
			case r == utf8.RuneError && n <= 1:
				dst = append(dst, `\x`...)
				dst = append(dst, "0123456789abcdef"[c>>4], "0123456789abcdef"[c&15])
			case unicode.IsPrint(r):
				dst = append(dst, s[i:i+n]...)
			default:
				esc := strconv.QuoteRune(r)
				dst = append(dst, esc[1:len(esc)-1]...)
			}
			i += n
		}
	}
	if quoted {
		dst = append(dst, '"')
	}
	return dst
}
