package pretty

import (
	"bytes"
	"unicode/utf8"

	"github.com/mattn/go-runewidth"
)

const (
	narrow     = 100 // columns below which continued lines are indented less
	narrowest  = 40  // columns below which nothing is wrapped
	lessIndent = 4
)

// wrap moves what was appended since start, one attribute, to a new line of the terminal if it does not fit on this one.
func (p *Printer) wrap(start int) {
	if p.o.Width < narrowest {
		return
	}
	piece := p.dst[start:]
	w := columns(piece)
	if p.column+w <= p.o.Width || p.column <= p.indent {
		p.column += w
		return
	}
	rest := bytes.TrimLeft(piece, " ")
	p.scratch = append(p.scratch[:0], rest...)
	p.dst = append(bytes.TrimRight(p.dst[:start], " "), '\n')
	for range p.indent {
		p.dst = append(p.dst, ' ')
	}
	p.dst = append(p.dst, p.scratch...)
	p.column = p.indent + w - (len(piece) - len(rest))
}

// widths of characters on a terminal; those that Unicode's UAX #11 calls ambiguous are narrow, as nearly all terminals have them.
var widths = &runewidth.Condition{}

// columns returns how many columns of a terminal text takes. Escape sequences, which are those of begin and end, take none.
func columns(text []byte) (n int) {
	for i := 0; i < len(text); {
		c := text[i]
		switch {
		case c == '\x1b':
			for i < len(text) && text[i] != 'm' {
				i++
			}
			i++
		case c < utf8.RuneSelf:
			n++
			i++
		default:
			r, size := utf8.DecodeRune(text[i:])
			n += widths.RuneWidth(r)
			i += size
		}
	}
	return n
}
