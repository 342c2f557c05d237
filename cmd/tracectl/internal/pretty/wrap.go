package pretty

import (
	"bytes"
	"unicode/utf8"
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
			n++
			if wide(r) {
				n++
			}
			i += size
		}
	}
	return n
}

// wide reports whether a character takes two columns: the East Asian and emoji blocks for which Unicode's UAX #11 says so, without
// its exceptions.
func wide(r rune) bool {
	return r >= 0x1100 && (r <= 0x115f || r >= 0x2e80 && r <= 0xa4cf && r != 0x303f || r >= 0xa960 && r <= 0xa97c || r >= 0xac00 && r <= 0xd7a3 ||
		r >= 0xf900 && r <= 0xfaff || r >= 0xfe30 && r <= 0xfe6f || r >= 0xff00 && r <= 0xff60 || r >= 0xffe0 && r <= 0xffe6 ||
		r >= 0x1f300 && r <= 0x1faff || r >= 0x20000 && r <= 0x3fffd)
}
