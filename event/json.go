package event

import (
	"bytes"
	"log/slog"
	"slices"
)

// JSON is the [Encoder] of JSON lines.
type JSON struct {
	replace func(groups []string, a slog.Attr) slog.Attr
	sources *sources // nil without AddSource

	groups []string // all groups, the outermost first
	attrs  []byte   // text of the attributes of WithAttrs: members of the root; it leaves opened groups open
	opened int      // how many of groups attrs leaves open
	heads  []byte   // text that opens the others: "g":{"h":{
}

// NewJSON returns the encoder of JSON lines, a *[JSON].
//
// A line holds what [slog.JSONHandler] writes: the level by [slog.Level.String], durations as integers of nanoseconds,
// times as RFC 3339 with nanoseconds, errors by their Error method unless they are JSON marshalers, everything else by
// encoding/json without escapes for HTML. It differs from that handler where
//
//   - a group is left without attributes, by ReplaceAttr or because they are empty: it disappears, and what follows it
//     stays whole and in its place;
//   - a time's year is beyond 0 to 9999: its text is a string such as "10000-01-01T00:00:00Z";
//   - a float is no number: the strings "NaN", "+Inf" and "-Inf", also in the slices and maps named below;
//   - LogValue, Error, String or ReplaceAttr panics: the value is the string "!PANIC: " and the panic's value ("<nil>" if
//     the method's receiver is a nil pointer), as it is for MarshalJSON there, too;
//   - a [slog.Value], a [slog.Attr] or an [Event] is in a []any, a map[string]any or a slice of its own type: it is
//     written as what it means, not as {};
//   - an element of a []any or a map[string]any cannot be encoded: "!ERROR:…" stands for that element only;
//   - a JSON marshaler returns invalid UTF-8: it is replaced by \ufffd, as it is in strings;
//   - a value is cyclic or nested deeper than [MaxRecordDepth]: it is the string "!ERROR:…".
//
// WithGroup does nothing when MaxRecordDepth/2 groups are open.
func NewJSON(o Options) Encoder {
	j := &JSON{replace: o.ReplaceAttr}
	if o.AddSource {
		j.sources = new(sources)
	}
	return j
}

// WithAttrs implements [Encoder].
func (j *JSON) WithAttrs(attrs []slog.Attr) Encoder {
	b := GetBuffer()
	defer b.Free()
	w := j.writer(b)
	w.enter(j.groups)
	dst := append(b.B, '{')
	dst = append(dst, j.attrs...)
	dst, body := j.openGroups(dst)
	for _, a := range attrs {
		dst = w.appendTop(dst, a)
	}
	w.leave()
	b.B = dst
	if len(dst) == body {
		return j
	}
	j2 := *j
	j2.attrs = slices.Clone(dst[1:])
	j2.opened = len(j.groups)
	j2.heads = nil
	return &j2
}

// WithGroup implements [Encoder].
func (j *JSON) WithGroup(name string) Encoder {
	if name == "" || len(j.groups) >= MaxRecordDepth/2 {
		return j
	}
	j2 := *j
	j2.groups = append(slices.Clip(j.groups), name)
	j2.heads = slices.Clip(j.heads)
	if len(j2.heads) > 0 {
		j2.heads = append(j2.heads, '{')
	}
	j2.heads = append(AppendString(j2.heads, name), ':')
	return &j2
}

// AppendEvent implements [Encoder]. It appends one line: newlines between the tokens of e become spaces.
func (j *JSON) AppendEvent(b *Buffer, e Event) {
	start := len(b.B)
	b.B = e.AppendJSON(b.B)
	for text := b.B[start:]; ; {
		i := bytes.IndexByte(text, '\n')
		if i < 0 {
			break
		}
		text[i] = ' '
		text = text[i+1:]
	}
	b.B = append(b.B, '\n')
}

// AppendRecord implements [Encoder]. It appends one line and allocates nothing unless a value's methods do.
func (j *JSON) AppendRecord(b *Buffer, r slog.Record, extra []slog.Attr) {
	w := j.writer(b)
	dst := append(b.B, '{')
	if j.replace == nil {
		dst = j.appendBuiltins(dst, b, &r)
	} else {
		dst = j.replaceBuiltins(dst, &w, &r)
	}
	for i := range extra {
		dst = w.appendTop(dst, extra[i])
	}
	if len(j.attrs) > 0 {
		dst = append(appendComma(dst), j.attrs...)
	}
	open := j.opened
	if r.NumAttrs() > 0 {
		w.enter(j.groups)
		mark := len(dst)
		var body int
		dst, body = j.openGroups(dst)
		r.Attrs(func(a slog.Attr) bool {
			dst = w.appendTop(dst, a)
			return true
		})
		if len(dst) > body {
			open = len(j.groups)
		} else {
			dst = dst[:mark]
		}
		w.leave()
	}
	for range open {
		dst = append(dst, '}')
	}
	b.B = append(dst, '}', '\n')
}

func (j *JSON) writer(b *Buffer) writer {
	return writer{b: b, replace: j.replace, limit: MaxRecordDepth, depth: 1}
}

// openGroups opens the groups that attrs leaves closed. Nothing was written into them as long as dst has length body.
func (j *JSON) openGroups(dst []byte) (_ []byte, body int) {
	if len(j.heads) > 0 {
		dst = append(append(appendComma(dst), j.heads...), '{')
	}
	return dst, len(dst)
}

// appendBuiltins appends time, level, source and msg. It is first in its object.
func (j *JSON) appendBuiltins(dst []byte, b *Buffer, r *slog.Record) []byte {
	if !r.Time.IsZero() {
		dst = append(dst, `"time":`...)
		dst = b.now.AppendQuoted(dst, r.Time)
		dst = append(dst, ',')
	}
	switch r.Level {
	case slog.LevelInfo:
		dst = append(dst, `"level":"INFO"`...)
	case slog.LevelDebug:
		dst = append(dst, `"level":"DEBUG"`...)
	default:
		dst = append(dst, `"level":`...)
		dst = appendLevel(dst, r.Level)
	}
	if j.sources != nil {
		if s := j.sources.get(r); len(s.text) > 0 {
			dst = append(append(dst, ','), s.text...)
		}
	}
	dst = append(dst, `,"msg":`...)
	return AppendString(dst, r.Message)
}

// replaceBuiltins does the same through ReplaceAttr. In log/slog it sees the built-in attributes without groups.
func (j *JSON) replaceBuiltins(dst []byte, w *writer, r *slog.Record) []byte {
	w.builtin = true
	if !r.Time.IsZero() {
		dst = w.appendTop(dst, slog.Time(slog.TimeKey, r.Time.Round(0)))
	}
	dst = w.appendTop(dst, slog.Any(slog.LevelKey, r.Level))
	if j.sources != nil {
		src := j.sources.get(r).source // a copy: ReplaceAttr likes to change what the pointer points to
		dst = w.appendTop(dst, slog.Any(slog.SourceKey, &src))
	}
	dst = w.appendTop(dst, slog.String(slog.MessageKey, r.Message))
	w.builtin = false
	return dst
}
