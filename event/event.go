package event

import (
	"bytes"
	"iter"
	"log/slog"

	"github.com/tracehandler/tracehandler/internal/jsontext"
)

// Event is one entry of a trace: an ordered list of attributes, or a line of JSON that is decoded when it is asked for.
// The zero Event has no attributes. An Event is a value; copies share the line or the attributes, which nobody may
// change. Its methods may be called concurrently.
//
// The attributes of an event are literal: nothing is left out or inlined as it is when a record is encoded, so that any
// JSON object is an event, empty groups and empty keys included.
type Event struct {
	line    []byte
	attrs   []slog.Attr
	checked bool // line is valid

	deferred *Deferred // not nil: what makes line
}

// New returns the event with the given attributes. It keeps the slice.
func New(attrs ...slog.Attr) Event { return Event{attrs: attrs} }

// Parse returns the event that line holds: one JSON object (RFC 8259), perhaps with white space around it, nested no
// deeper than [MaxDepth]. It checks the whole line and keeps it: the caller must not change line while the event is used
// (see [Event.Clone]). The error is a *[SyntaxError].
//
// Parse takes the objects that [encoding/json.Valid] takes. In particular keys may repeat, and strings may have
// bytes that are not UTF-8 and escaped halves of surrogate pairs, which are decoded as U+FFFD; Line keeps them.
func Parse(line []byte) (Event, error) {
	if err := validateObject(line); err != nil {
		return Event{}, err
	}
	return Event{line: line, checked: true}, nil
}

// Lazy returns the event that line holds without looking at it. Asking for a few keys then costs as much as finding
// them. If line is not one JSON object, Attrs returns the error, All and Get stop where the line makes no sense, and
// AppendJSON copies it. The caller must not change line while the event is used.
func Lazy(line []byte) Event {
	if line == nil {
		line = []byte{}
	}
	return Event{line: line}
}

// Line returns the JSON text that the event was read from, nil if it was made from attributes. It must not be changed.
func (e Event) Line() []byte {
	if e.deferred != nil {
		return e.deferred.text()
	}
	return e.line
}

// Attrs returns the event's attributes in their order, with their duplicates. A line is decoded at each call and the
// result does not refer to it; the error is a *[SyntaxError] and only possible after [Lazy].
//
// A JSON object is a group. A string is a string: times are not guessed. A number is an int64, a uint64 or a float64
// (whichever is first) if formatting that gives the same text, otherwise a [json.Number]: 1.0, 1E5, 1e999 and 30 digits
// keep theirs. An array is a []any of nil, bool, string, int64, uint64, float64, json.Number, []any and, for objects,
// Event. null is nil.
func (e Event) Attrs() ([]slog.Attr, error) {
	e = e.told()
	if e.line == nil {
		return e.attrs, nil
	}
	if !e.checked {
		if err := validateObject(e.line); err != nil {
			return nil, err
		}
	}
	d := decoders.Get().(*decoder)
	d.b, d.i = e.line, jsontext.SkipSpace(e.line, 0)
	attrs := d.object()
	d.free()
	return attrs, nil
}

// All iterates over the event's attributes as Attrs returns them, decoding one after the other. It stops where a line
// is not valid.
func (e Event) All() iter.Seq[slog.Attr] {
	return func(yield func(slog.Attr) bool) {
		e := e.told()
		for _, a := range e.attrs {
			if !yield(a) {
				return
			}
		}
		c, ok := e.members()
		for ok {
			var key, value []byte
			if key, ok = c.next(); !ok {
				return
			}
			if value, ok = c.value(); !ok {
				return
			}
			ok = yield(slog.Attr{Key: string(decodedKey(key)), Value: decodeValue(value)})
		}
	}
}

// AppendJSON appends the event as one JSON object without a newline. A line is copied as it is.
func (e Event) AppendJSON(dst []byte) []byte {
	e = e.told()
	if e.line != nil {
		return append(dst, e.line...)
	}
	b := GetBuffer()
	defer b.Free()
	w := writer{b: b, literal: true, limit: MaxDepth, depth: 1}
	dst = append(dst, '{')
	for _, a := range e.attrs {
		dst = w.appendTop(dst, a)
	}
	return append(dst, '}')
}

// String returns the event as JSON.
func (e Event) String() string { return string(e.AppendJSON(nil)) }

// MarshalJSON implements [encoding/json.Marshaler], so that events can be parts of other values.
func (e Event) MarshalJSON() ([]byte, error) { return e.AppendJSON(nil), nil }

// Clone returns an event that does not refer to the line that e was read from.
func (e Event) Clone() Event {
	e = e.told()
	e.line = bytes.Clone(e.line)
	return e
}
