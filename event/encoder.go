// Package event is the data model of traces: events, and their text as JSON lines.
package event

import (
	"bytes"
	"context"
	"log/slog"
	"sync"
)

// Options change what an encoder writes. They mean what the fields of the same names of [slog.HandlerOptions] mean.
type Options struct {
	ReplaceAttr func(groups []string, a slog.Attr) slog.Attr
	AddSource   bool
}

// Encoder turns records into events of one format. It is immutable and safe for concurrent use.
type Encoder interface {
	// WithAttrs returns an encoder that adds attrs to each record.
	WithAttrs(attrs []slog.Attr) Encoder
	// WithGroup returns an encoder that puts what follows into the group name.
	WithGroup(name string) Encoder
	// AppendRecord appends one event to b: the built-in attributes of r, extra, those of WithAttrs, those of r.
	AppendRecord(b *Buffer, r slog.Record, extra []slog.Attr)
	// AppendEvent appends e to b.
	AppendEvent(b *Buffer, e Event)
}

// Buffer is the memory that an encoder works with. One goroutine at a time may use it.
type Buffer struct {
	B []byte // the output
}

// maxPooled is the capacity in bytes above which a buffer is left to the garbage collector.
const maxPooled = 16 << 10

var buffers = sync.Pool{New: func() any { return &Buffer{B: make([]byte, 0, 1024)} }}

// GetBuffer returns an empty buffer.
func GetBuffer() *Buffer { return buffers.Get().(*Buffer) }

// Reset empties the buffer.
func (b *Buffer) Reset() { b.B = b.B[:0] }

// Free gives the buffer back. The caller must not use it, nor b.B, afterwards.
func (b *Buffer) Free() {
	if cap(b.B) > maxPooled {
		return
	}
	b.Reset()
	buffers.Put(b)
}

// JSON is the [Encoder] of JSON lines.
type JSON struct {
	o Options
	h func(*bytes.Buffer) slog.Handler
}

// NewJSON returns an encoder of JSON lines.
func NewJSON(o Options) Encoder {
	return &JSON{o: o, h: func(w *bytes.Buffer) slog.Handler {
		return slog.NewJSONHandler(w, &slog.HandlerOptions{AddSource: o.AddSource, ReplaceAttr: o.ReplaceAttr})
	}}
}

// WithAttrs implements [Encoder].
func (j *JSON) WithAttrs(attrs []slog.Attr) Encoder {
	return &JSON{o: j.o, h: func(w *bytes.Buffer) slog.Handler { return j.h(w).WithAttrs(attrs) }}
}

// WithGroup implements [Encoder].
func (j *JSON) WithGroup(name string) Encoder {
	return &JSON{o: j.o, h: func(w *bytes.Buffer) slog.Handler { return j.h(w).WithGroup(name) }}
}

// AppendRecord implements [Encoder].
func (j *JSON) AppendRecord(b *Buffer, r slog.Record, extra []slog.Attr) {
	w := bytes.NewBuffer(b.B)
	_ = j.h(w).Handle(context.Background(), r)
	b.B = w.Bytes()
}

// AppendEvent implements [Encoder].
func (j *JSON) AppendEvent(b *Buffer, e Event) {
	b.B = append(e.AppendJSON(b.B), '\n')
}
