package slogkv

import (
	"encoding/binary"
	"log/slog"
	"slices"
	"time"

	"github.com/tracehandler/tracehandler/clp/ir"
	"github.com/tracehandler/tracehandler/event"
)

// Encoder is the event.Encoder of key-value events. What it appends to a buffer is one packed event, which Writer.Append
// takes; it starts with its size, so that packed events can be kept one behind the other (see First). It is immutable and
// safe for concurrent use.
type Encoder struct {
	viewer  bool
	replace func(groups []string, a slog.Attr) slog.Attr
	sources *sources // nil without AddSource

	groups []string // all groups, the outermost first
	prefix prefix   // the attributes of WithAttrs
	opened int      // how many of groups prefix leaves open
}

// prefix is what attributes became that a logger was given.
type prefix struct {
	keys   ir.Fragment
	leaves int
	exact  exact
}

// Options change what an encoder writes.
type Options struct {
	event.Options

	// ViewerKeys adds time and level once more, where the YScope log viewer looks for them unless its settings say
	// otherwise: timestamp and log.level among the user-generated keys. Reading back, they are gone again.
	ViewerKeys bool
}

// NewEncoder returns the encoder with default options.
func NewEncoder(o event.Options) *Encoder { return NewEncoderWith(Options{Options: o}) }

// NewEncoderWith returns the encoder.
func NewEncoderWith(o Options) *Encoder {
	e := &Encoder{replace: o.ReplaceAttr, viewer: o.ViewerKeys}
	if o.AddSource {
		e.sources = new(sources)
	}
	return e
}

// WithAttrs implements event.Encoder.
func (e *Encoder) WithAttrs(attrs []slog.Attr) event.Encoder {
	l := newLayout(e.replace)
	defer l.free()
	l.exact.spell = true // others may add floats of either kind
	start := l.b.Mark()
	l.add(&e.prefix)
	before := l.leaves
	l.enter(e.groups, e.opened)
	for _, a := range attrs {
		l.attr(a)
	}
	if l.leaves == before {
		return e
	}
	with := *e
	with.opened = len(e.groups)
	with.prefix = prefix{keys: l.b.Fragment(start), leaves: l.leaves, exact: l.exact}
	return &with
}

// WithGroup implements event.Encoder.
func (e *Encoder) WithGroup(name string) event.Encoder {
	if name == "" || len(e.groups) >= event.MaxRecordDepth/2 {
		return e
	}
	with := *e
	with.groups = append(slices.Clip(e.groups), name)
	return &with
}

// AppendRecord implements event.Encoder. It appends one packed event, and allocates nothing unless a value's methods do.
func (e *Encoder) AppendRecord(b *event.Buffer, r slog.Record, extra []slog.Attr) {
	l := newLayout(e.replace)
	e.layOut(l, &r, extra)
	for l.again() {
		e.layOut(l, &r, extra)
	}
	b.B = l.finish(b.B)
	l.free()
}

// finish appends the event behind its size.
func (l *layout) finish(dst []byte) []byte {
	start := len(dst)
	dst, err := l.b.AppendTo(append(dst, 0, 0, 0, 0))
	if err != nil { // a layout has used its builder in the wrong way: an event that says so, and not a dead program
		l.b.Reset()
		l.b.User()
		l.b.String(keyMessage, "!ERROR:"+err.Error())
		dst, _ = l.b.AppendTo(dst)
	}
	binary.LittleEndian.PutUint32(dst[start:], uint32(len(dst)-start-4))
	return dst
}

func (e *Encoder) layOut(l *layout, r *slog.Record, extra []slog.Attr) {
	if e.replace == nil && fits(r.Time) {
		l.builtins(r.Time, r.Level, e.source(r))
		e.user(l, r.Time, r.Level)
		l.leaves++
		l.b.String(keyMessage, r.Message)
	} else {
		e.replaceBuiltins(l, r)
	}
	for _, a := range extra {
		l.attr(a)
	}
	l.add(&e.prefix)
	open := e.opened
	if r.NumAttrs() > 0 {
		m, before := l.b.Mark(), l.leaves
		l.enter(e.groups, e.opened)
		r.Attrs(func(a slog.Attr) bool {
			l.attr(a)
			return true
		})
		if l.leaves > before {
			open = len(e.groups)
		} else {
			l.b.Drop(m)
		}
		l.leave(len(e.groups))
	}
	for range open {
		l.b.Close()
	}
}

// add adds a prefix and leaves its groups open.
func (l *layout) add(p *prefix) {
	if !l.exact.known {
		for _, s := range p.exact.numbers {
			l.exact.numbers = append(l.exact.numbers, spelling{s.leaf + l.leaves, s.text})
		}
		l.exact.bare += p.exact.bare
	}
	l.b.Add(&p.keys)
	l.leaves += p.leaves
}

// enter opens the groups behind the first opened ones.
func (l *layout) enter(groups []string, opened int) {
	l.depth += len(groups)
	if l.replace != nil {
		l.groups = append(l.groups[:0], groups...)
	}
	for _, name := range groups[opened:] {
		l.b.Open(name)
	}
}

func (l *layout) leave(groups int) {
	l.depth -= groups
	clear(l.groups)
	l.groups = l.groups[:0]
}

// builtins adds the auto-generated keys of a record.
func (l *layout) builtins(t time.Time, level slog.Level, src *site) {
	if !t.IsZero() {
		_, zone := t.Zone()
		if ns := t.Nanosecond() % 1e6; ns != 0 {
			l.b.AddInts(&fragments.nanos, t.UnixMilli(), int64(zone), int64(ns))
		} else {
			l.b.AddInts(&fragments.millis, t.UnixMilli(), int64(zone))
		}
	}
	if i := int(level-slog.LevelDebug) / 4; level >= slog.LevelDebug && level%4 == 0 && i < len(fragments.levels) {
		l.b.Add(&fragments.levels[i])
	} else {
		l.level(level)
	}
	if src != nil {
		l.b.Add(&src.keys)
	}
}

func (l *layout) level(level slog.Level) {
	l.b.Open(keyLevel)
	l.b.Int(keyNum, int64(level))
	l.b.String(keyName, levelName(level))
	l.b.Close()
}

// fragments are the auto-generated keys that most events have. They do not change.
var fragments = func() (f struct {
	millis, nanos ir.Fragment    // times without and with a part below the millisecond
	levels        [4]ir.Fragment // DEBUG, INFO, WARN, ERROR
}) {
	var l layout
	cut := func(build func()) ir.Fragment {
		l.b.Reset()
		build()
		return l.b.Fragment(ir.Mark{})
	}
	stamp := func(keys ...string) func() {
		return func() {
			l.b.Open(keyTimestamp)
			for _, k := range keys {
				l.b.Int(k, 0)
			}
			l.b.Close()
		}
	}
	f.millis = cut(stamp(keyMillis, keyOffset))
	f.nanos = cut(stamp(keyMillis, keyOffset, keyNanos))
	for i := range f.levels {
		f.levels[i] = cut(func() { l.level(slog.LevelDebug + slog.Level(4*i)) })
	}
	return f
}()

// sourceKeys returns the keys of a place in a program, none if nothing is known of it.
func sourceKeys(src *slog.Source) ir.Fragment {
	var b ir.Builder
	if *src == (slog.Source{}) {
		return ir.Fragment{}
	}
	b.Open(keySource)
	if src.File != "" {
		b.String(keyPath, src.File)
	}
	if src.Line != 0 {
		b.Int(keyLine, int64(src.Line))
	}
	if src.Function != "" {
		b.String(keyFunction, src.Function)
	}
	b.Close()
	return b.Fragment(ir.Mark{})
}

func (e *Encoder) source(r *slog.Record) *site {
	if e.sources == nil {
		return nil
	}
	return e.sources.get(r)
}

// replaceBuiltins adds the built-in attributes through ReplaceAttr. If they come out of it as they went in, or are gone
// where an event may lack them, they go where they belong; otherwise all are user-generated.
func (e *Encoder) replaceBuiltins(l *layout, r *slog.Record) {
	l.groups, l.builtin = l.groups[:0], true
	var attrs [4]slog.Attr
	n := 0
	replaced := func(a slog.Attr) slog.Attr {
		if l.replace != nil {
			a = l.replaced(a)
		}
		attrs[n] = a
		n++
		return a
	}
	b := builtins{ok: true}
	if !r.Time.IsZero() {
		b.time(replaced(slog.Time(slog.TimeKey, r.Time.Round(0))))
	}
	b.level(replaced(slog.Any(slog.LevelKey, r.Level)))
	if e.sources != nil {
		src := e.sources.get(r).source // a copy: ReplaceAttr likes to change what the pointer points to
		b.source(replaced(slog.Any(slog.SourceKey, &src)))
	}
	b.message(replaced(slog.String(slog.MessageKey, r.Message)))
	if b.ok {
		l.builtins(b.t, b.l, b.site())
		e.user(l, b.t, b.l)
		l.leaves++
		l.b.String(keyMessage, b.msg)
		l.builtin = false
		return
	}
	l.viewerKeys(r.Time, r.Level)
	l.exactKeys()
	l.b.User()
	replace := l.replace
	for _, a := range attrs[:n] {
		if a.Value.Kind() == slog.KindGroup { // its members go through ReplaceAttr
			l.group(a.Key, a.Value.Group())
			continue
		}
		l.replace = nil // it has been there
		l.attr(a)
		l.replace = replace
	}
	l.builtin = false
}

// user begins the user-generated keys of an event that has its time and level where they belong.
func (e *Encoder) user(l *layout, t time.Time, level slog.Level) {
	if e.viewer {
		l.b.Bool(keyViewer, true)
	}
	l.exactKeys()
	l.b.User()
	if !e.viewer {
		return
	}
	l.leaves += viewerLeaves
	millis := int64(0) // so that there are as many keys as the decoder leaves out
	if !t.IsZero() {
		millis = t.UnixMilli()
	}
	l.b.Int(keyTimestamp, millis)
	l.b.Open(keyLog)
	l.b.String(keyLevel, levelName(level))
	l.b.Close()
}

// fits reports whether ms since 1970 can say t.
func fits(t time.Time) bool {
	const most = 1 << 62 / 1000
	return t.Unix() < most && t.Unix() > -most
}

// viewerKeys adds the auto-generated keys of an event whose time and level stand among its user-generated keys.
func (l *layout) viewerKeys(t time.Time, level slog.Level) {
	if !t.IsZero() && fits(t) {
		l.b.Open(keyTimestamp)
		l.b.Int(keyMillis, t.UnixMilli())
		l.b.Close()
	}
	l.b.Open(keyLevel)
	l.b.String(keyName, levelName(level))
	l.b.Close()
}

// builtins are built-in attributes that came out of ReplaceAttr.
type builtins struct {
	ok  bool // they are what they were, as far as their places go
	t   time.Time
	l   slog.Level
	src *slog.Source
	msg string
}

func (b *builtins) site() *site {
	if b.src == nil {
		return nil
	}
	return &site{keys: sourceKeys(b.src)}
}

func (b *builtins) time(a slog.Attr) {
	switch {
	case a.Equal(slog.Attr{}):
	case a.Key == slog.TimeKey && a.Value.Kind() == slog.KindTime && fits(a.Value.Time()):
		b.t = a.Value.Time()
	default:
		b.ok = false
	}
}

func (b *builtins) level(a slog.Attr) {
	l, ok := a.Value.Any().(slog.Level)
	b.l = l
	b.ok = b.ok && ok && a.Key == slog.LevelKey
}

func (b *builtins) source(a slog.Attr) {
	if a.Equal(slog.Attr{}) {
		return
	}
	src, ok := a.Value.Any().(*slog.Source)
	b.src = src
	b.ok = b.ok && ok && src != nil && a.Key == slog.SourceKey
}

func (b *builtins) message(a slog.Attr) {
	b.ok = b.ok && a.Key == slog.MessageKey && a.Value.Kind() == slog.KindString
	if b.ok {
		b.msg = a.Value.String()
	}
}
