package event

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"time"
)

// Event is one entry of a trace: an ordered list of attributes, or a JSON line that is decoded when it is asked for.
// The zero Event has no attributes. An Event is a value; copies share the line or the attributes, which nobody may
// change. Its methods may be called concurrently.
type Event struct {
	line  []byte
	attrs []slog.Attr
}

// SyntaxError says where a line stops being one JSON object.
type SyntaxError struct {
	Offset int // bytes before the error in the line
	Msg    string
}

func (e *SyntaxError) Error() string { return fmt.Sprintf("event: offset %d: %s", e.Offset, e.Msg) }

var errNotBuilt = errors.New("event: decoding is not built yet")

// New returns the event that holds attrs. It keeps the slice.
func New(attrs ...slog.Attr) Event { return Event{attrs: attrs} }

// Parse returns the event that line holds. It keeps line.
func Parse(line []byte) (Event, error) {
	line = bytes.TrimRight(line, " \t\r\n")
	if !json.Valid(line) || line[0] != '{' {
		return Event{}, &SyntaxError{Msg: "not a JSON object"}
	}
	return Event{line: line}, nil
}

// Lazy returns the event that line holds without looking at it.
func Lazy(line []byte) Event { return Event{line: line} }

// Line returns the JSON text that the event was read from, nil if it was built from attributes.
func (e Event) Line() []byte { return e.line }

// Attrs returns the event's attributes.
func (e Event) Attrs() ([]slog.Attr, error) {
	if e.line == nil {
		return e.attrs, nil
	}
	return nil, errNotBuilt
}

// All iterates over the event's attributes.
func (e Event) All() iter.Seq[slog.Attr] {
	return func(yield func(slog.Attr) bool) {
		for _, a := range e.attrs {
			if !yield(a) {
				return
			}
		}
	}
}

// Get returns the value at path.
func (e Event) Get(path ...string) (slog.Value, bool) { return slog.Value{}, false }

// Time returns when the event happened.
func (e Event) Time() (time.Time, bool) { return time.Time{}, false }

// Level returns the event's level.
func (e Event) Level() (slog.Level, bool) { return 0, false }

// Message returns the event's message.
func (e Event) Message() (string, bool) { return "", false }

// AppendJSON appends the event as one JSON object, without a newline.
func (e Event) AppendJSON(dst []byte) []byte { return append(dst, e.line...) }

// Clone returns an event that shares no memory with the buffer that e was read from.
func (e Event) Clone() Event { return Event{line: bytes.Clone(e.line), attrs: e.attrs} }

// Equal reports whether a and b are equal as JSON, with order, duplicate keys and the values of numbers.
func Equal(a, b Event) bool { return bytes.Equal(a.line, b.line) }
