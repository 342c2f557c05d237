// Package pretty sets events for people to read, one line each:
//
//	2026-11-30 10:37:40.123456 WARN  slow query            db.rows=12 took=1500000  store.go:42
//
//	p := pretty.New(pretty.Options{Color: true})
//	buf = p.Append(buf[:0], e)
//
// Nothing that an event holds reaches the terminal as a control: such characters are written as escapes.
package pretty

import (
	"log/slog"
	"strconv"
	"time"

	"github.com/tracehandler/tracehandler/event"
)

// Options say how events look. The zero value is black and white, with date and local time.
type Options struct {
	Color bool           // ANSI colours
	Full  bool           // cut nothing, and set texts of several lines below the event
	Zone  *time.Location // nil: local time
	Clock Clock
	Width int // columns at which lines are wrapped between attributes; 0: never
}

// Limits of what is shown of an event without Options.Full.
const (
	maxMessage = 1000 // characters of the message
	maxKey     = 100  // characters of one key
	maxValue   = 100  // characters of one value
	maxValues  = 32   // keys of one event
	maxBefore  = 1000 // keys whose last value is remembered
)

// messageWidth is what short messages are padded to, so that the keys of neighbours stand below each other.
const messageWidth = 20

// levelWidth leaves room for INFO+1 and its like.
const levelWidth = 6

// Printer sets events. It is not safe for concurrent use.
type Printer struct {
	o      Options
	styles styles
	last   time.Time // of the event before, for Delta
	begun  bool
	before map[string]string // the values of the events before, by key, as far as they were printed in colour
	dst    []byte
	blocks []block // texts to set below the event
	shown  int
	cut    int // keys left out

	rest          []slog.Attr
	path, scratch []byte
	column        int // of the terminal, where the line has come to
	indent        int // of continued lines
}

type block struct {
	key  []byte
	text string
}

// New returns a printer.
func New(o Options) *Printer {
	if o.Zone == nil {
		o.Zone = time.Local
	}
	return &Printer{o: o, styles: newStyles(o.Color), before: map[string]string{}}
}

// parts are the attributes of an event that have a place of their own on the line.
type parts struct {
	at      time.Time
	level   slog.Level
	message string
	source  string // file:line

	timed, leveled, said bool
}

// Append appends the event and a newline to dst.
func (p *Printer) Append(dst []byte, e event.Event) []byte {
	p.dst, p.blocks, p.shown, p.cut = dst, p.blocks[:0], 0, 0
	start := len(dst)
	var has parts
	rest := p.rest[:0]
	timeKey, timed := e.TimeKey()
	levelKey, leveled := e.LevelKey()
	messageKey, said := e.MessageKey()
	for a := range e.All() {
		switch {
		case timed && a.Key == timeKey && !has.timed:
			has.at, has.timed = e.Time()
		case leveled && a.Key == levelKey && !has.leveled:
			has.level, has.leveled = e.Level()
		case said && a.Key == messageKey && !has.said:
			has.message, has.said = e.Message()
		case has.source == "" && a.Key == slog.SourceKey && shortSource(a.Value) != "":
			has.source = shortSource(a.Value)
		default:
			rest = append(rest, a)
		}
	}
	if has.timed {
		p.clock(has.at)
	}
	if has.leveled {
		p.level(has.level)
	}
	if p.indent = max(columns(p.dst[start:])+1, lessIndent); p.o.Width < narrow {
		p.indent = lessIndent
	}
	if has.said {
		p.message(has.message, has.leveled && has.level >= slog.LevelError, len(rest) > 0 || has.source != "")
	}
	p.column = columns(p.dst[start:])
	for _, a := range rest {
		p.path = p.path[:0]
		p.attr(a)
	}
	clear(rest)
	p.rest = rest
	if from := len(p.dst); p.cut > 0 {
		p.space(1)
		p.style(p.styles.dim, "…+"+count(p.cut, "key"))
		p.wrap(from)
	}
	if from := len(p.dst); has.source != "" {
		p.space(2)
		p.begin(p.styles.dim)
		p.text(has.source, false)
		p.end(p.styles.dim)
		p.wrap(from)
	}
	if len(p.dst) == start {
		p.style(p.styles.dim, "{}")
	}
	p.dst = append(trimRight(p.dst, start), '\n')
	for _, b := range p.blocks {
		p.block(b)
	}
	dst, p.dst = p.dst, nil
	return dst
}

// space separates what follows from what stands on the line already.
func (p *Printer) space(n int) {
	if len(p.dst) == 0 || p.dst[len(p.dst)-1] == '\n' {
		return
	}
	for range n {
		p.dst = append(p.dst, ' ')
	}
}

func trimRight(b []byte, start int) []byte {
	for len(b) > start && b[len(b)-1] == ' ' {
		b = b[:len(b)-1]
	}
	return b
}

func (p *Printer) level(l slog.Level) {
	p.space(1)
	name := l.String()
	if l < slog.LevelDebug {
		name = offset("TRACE", l-(slog.LevelDebug-4))
	}
	p.style(p.styles.level(l), name)
	for n := len(name); n < levelWidth; n++ {
		p.dst = append(p.dst, ' ')
	}
}

func offset(name string, d slog.Level) string {
	switch {
	case d > 0:
		return name + "+" + strconv.Itoa(int(d))
	case d < 0:
		return name + strconv.Itoa(int(d))
	}
	return name
}

func (p *Printer) message(text string, bad, more bool) {
	p.space(1)
	style := p.styles.bold
	if bad {
		style = p.styles.boldRed
	}
	p.begin(style)
	from := len(p.dst)
	first, lines := firstLine(text)
	if p.o.Full && lines > 0 {
		p.blocks = append(p.blocks, block{text: text})
	}
	over := 0
	if !p.o.Full {
		first, over = cut(first, maxMessage)
	}
	p.text(first, false)
	width := columns(p.dst[from:])
	p.end(style)
	p.cutMark(over, lines)
	for n := width; more && n < messageWidth; n++ {
		p.dst = append(p.dst, ' ')
	}
	if more {
		p.dst = append(p.dst, ' ')
	}
}

// attr sets one attribute, whose key is appended to p.path; groups as their members with dotted keys.
func (p *Printer) attr(a slog.Attr) {
	p.path = append(p.path, a.Key...)
	v := a.Value.Resolve()
	if v.Kind() == slog.KindGroup && len(v.Group()) > 0 {
		p.path = append(p.path, '.')
		prefix := len(p.path)
		for _, child := range v.Group() {
			p.path = p.path[:prefix]
			p.attr(child)
		}
		return
	}
	if p.shown == maxValues && !p.o.Full {
		p.cut++
		return
	}
	p.shown++
	from := len(p.dst)
	p.space(1)
	p.begin(p.styles.dim)
	key := string(p.path)
	if !p.o.Full {
		if short, over := cut(key, maxKey); over > 0 {
			key = short + "…"
		}
	}
	p.text(key, false)
	p.dst = append(p.dst, '=')
	p.end(p.styles.dim)
	p.value(p.path, v)
	p.wrap(from)
}
