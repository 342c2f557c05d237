package pretty

import (
	"bytes"
	"log/slog"
	"path"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/tracehandler/tracehandler/cmd/tracectl/internal/filter"
)

// ANSI SGR parameters.
const (
	bold    = "1"
	dim     = "2"
	red     = "31"
	green   = "32"
	yellow  = "33"
	magenta = "35"
	boldRed = "1;31"
)

func levelColor(l slog.Level) string {
	switch {
	case l < slog.LevelInfo:
		return magenta
	case l < slog.LevelWarn:
		return green
	case l < slog.LevelError:
		return yellow
	}
	return boldRed
}

func (p *Printer) begin(sgr string) {
	if p.o.Color {
		p.dst = append(append(append(p.dst, "\x1b["...), sgr...), 'm')
	}
}

func (p *Printer) end() {
	if p.o.Color {
		p.dst = append(p.dst, "\x1b[0m"...)
	}
}

func (p *Printer) style(sgr, text string) {
	p.begin(sgr)
	p.dst = append(p.dst, text...)
	p.end()
}

// text appends s with everything that is not printable escaped, in quotes if wanted.
func (p *Printer) text(s string, quoted bool) {
	if quoted {
		p.dst = append(p.dst, '"')
	}
	for i := 0; i < len(s); {
		c := s[i]
		switch {
		case quoted && (c == '"' || c == '\\'):
			p.dst = append(p.dst, '\\', c)
			i++
		case c >= ' ' && c < 0x7f:
			p.dst = append(p.dst, c)
			i++
		default:
			r, n := utf8.DecodeRuneInString(s[i:])
			switch {
			case r == utf8.RuneError && n <= 1:
				p.dst = append(p.dst, `\x`...)
				p.dst = append(p.dst, "0123456789abcdef"[c>>4], "0123456789abcdef"[c&15])
			case unicode.IsPrint(r):
				p.dst = append(p.dst, s[i:i+n]...)
			default:
				esc := strconv.QuoteRune(r)
				p.dst = append(p.dst, esc[1:len(esc)-1]...)
			}
			i += n
		}
	}
	if quoted {
		p.dst = append(p.dst, '"')
	}
}

// plain reports whether a string reads well without quotes.
func plain(s string) bool {
	for _, r := range s {
		if r <= ' ' || r == '"' || r == '=' || r == '\\' || !unicode.IsPrint(r) {
			return false
		}
	}
	return s != ""
}

// isError tells the keys whose texts stand out.
func isError(key []byte) bool {
	last := key[bytes.LastIndexByte(key, '.')+1:]
	return string(last) == "err" || string(last) == "error"
}

func (p *Printer) value(key []byte, v slog.Value) {
	s := filter.Text(v)
	first, lines := firstLine(s)
	if lines > 0 && p.o.Full {
		p.blocks = append(p.blocks, block{bytes.Clone(key), s})
		p.dst = append(p.dst, "↓"...)
		return
	}
	over := 0
	if !p.o.Full {
		first, over = cut(first, maxValue)
	}
	isString := v.Kind() == slog.KindString
	quoted := isString && !plain(first)
	switch {
	case !p.o.Color:
		p.text(first, quoted)
	case isString && isError(key):
		p.begin(red)
		p.text(first, quoted)
		p.end()
	case p.repeated(key, first):
		p.begin(dim)
		p.text(first, quoted)
		p.end()
	default:
		p.text(first, quoted)
	}
	p.cutMark(over, lines)
}

// repeated reports whether the key had this value when it was printed last, and remembers it. What every event says is
// printed dim, so that what is new stands out.
func (p *Printer) repeated(key []byte, value string) bool {
	last, known := p.before[string(key)]
	switch {
	case known && last == value:
		return true
	case len(value) > 4*maxValue:
		delete(p.before, string(key))
	case known || len(p.before) < maxBefore:
		p.before[string(key)] = strings.Clone(value)
	}
	return false
}

// cutMark says what is left out of a text, unless nothing is or the text follows in full.
func (p *Printer) cutMark(chars, lines int) {
	switch {
	case p.o.Full:
	case lines > 0:
		p.style(dim, "…+"+count(lines, "line"))
	case chars > 0:
		p.style(dim, "…+"+count(chars, "char"))
	}
}

func count(n int, unit string) string {
	if n == 1 {
		return "1 " + unit
	}
	return strconv.Itoa(n) + " " + unit + "s"
}

// firstLine returns the first line of s and how many follow it. A newline at the end begins no line.
func firstLine(s string) (string, int) {
	s = strings.TrimRight(s, "\r\n")
	first, rest, more := strings.Cut(s, "\n")
	if !more {
		return s, 0
	}
	return strings.TrimSuffix(first, "\r"), 1 + strings.Count(rest, "\n")
}

// cut returns at most n characters of s and how many are left out.
func cut(s string, n int) (string, int) {
	if len(s) <= n {
		return s, 0
	}
	at := 0
	for range n {
		if at == len(s) {
			return s, 0
		}
		_, size := utf8.DecodeRuneInString(s[at:])
		at += size
	}
	return s[:at], utf8.RuneCountInString(s[at:])
}

// block sets a text of several lines below its event.
func (p *Printer) block(b block) {
	if len(b.key) > 0 {
		p.dst = append(p.dst, "    "...)
		p.begin(dim)
		p.text(string(b.key), false)
		p.dst = append(p.dst, ':')
		p.end()
		p.dst = append(p.dst, '\n')
	}
	for line := range strings.Lines(b.text) {
		p.dst = append(p.dst, "    "...)
		p.style(dim, "│ ")
		line = strings.ReplaceAll(strings.TrimRight(line, "\r\n"), "\t", "    ")
		p.text(line, false)
		p.dst = append(p.dst, '\n')
	}
}

// shortSource returns file:line of slog's source group, with the last element of the file's path.
func shortSource(v slog.Value) string {
	if v.Kind() != slog.KindGroup {
		return ""
	}
	var file, line string
	for _, a := range v.Group() {
		switch a.Key {
		case "file":
			file = filter.Text(a.Value)
		case "line":
			line = filter.Text(a.Value)
		}
	}
	if file == "" || line == "" {
		return ""
	}
	return path.Base(strings.ReplaceAll(file, `\`, "/")) + ":" + line
}
