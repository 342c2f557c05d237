package pretty

import (
	"bytes"
	"log/slog"
	"path"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/fatih/color"

	"github.com/tracehandler/tracehandler/cmd/tracectl/internal/filter"
	"github.com/tracehandler/tracehandler/cmd/tracectl/internal/screen"
)

// styles of the parts of a line.
type styles struct{ dim, bold, red, boldRed, debug, info, warn screen.Style }

func newStyles(wanted bool) styles {
	return styles{
		dim:     screen.NewStyle(wanted, color.Faint),
		bold:    screen.NewStyle(wanted, color.Bold),
		red:     screen.NewStyle(wanted, color.FgRed),
		boldRed: screen.NewStyle(wanted, color.Bold, color.FgRed),
		debug:   screen.NewStyle(wanted, color.FgMagenta),
		info:    screen.NewStyle(wanted, color.FgGreen),
		warn:    screen.NewStyle(wanted, color.FgYellow),
	}
}

func (s *styles) level(l slog.Level) screen.Style {
	switch {
	case l < slog.LevelInfo:
		return s.debug
	case l < slog.LevelWarn:
		return s.info
	case l < slog.LevelError:
		return s.warn
	}
	return s.boldRed
}

func (p *Printer) begin(s screen.Style) { p.dst = append(p.dst, s.Before...) }

func (p *Printer) end(s screen.Style) { p.dst = append(p.dst, s.After...) }

func (p *Printer) style(s screen.Style, text string) {
	p.begin(s)
	p.dst = append(p.dst, text...)
	p.end(s)
}

// text appends s with everything that is not printable escaped, in quotes if wanted.
func (p *Printer) text(s string, quoted bool) { p.dst = screen.AppendText(p.dst, s, quoted) }

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
	var style screen.Style
	switch {
	case !p.o.Color:
	case isString && isError(key):
		style = p.styles.red
	case p.repeated(key, first):
		style = p.styles.dim
	}
	p.begin(style)
	p.text(first, quoted)
	p.end(style)
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
		p.style(p.styles.dim, "…+"+count(lines, "line"))
	case chars > 0:
		p.style(p.styles.dim, "…+"+count(chars, "char"))
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
		p.begin(p.styles.dim)
		p.text(string(b.key), false)
		p.dst = append(p.dst, ':')
		p.end(p.styles.dim)
		p.dst = append(p.dst, '\n')
	}
	for line := range strings.Lines(b.text) {
		p.dst = append(p.dst, "    "...)
		p.style(p.styles.dim, "│ ")
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
