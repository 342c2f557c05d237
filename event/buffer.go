package event

import (
	"encoding/json"
	"sync"

	"github.com/tracehandler/tracehandler/internal/slogtext"
)

// Buffer is the memory that an encoder works with: the output, and what encoding it again and again needs. The zero
// Buffer is ready for use. One goroutine at a time may use it.
type Buffer struct {
	B []byte // the output: whole events, one after the other

	now    slogtext.Clock // the second of the last record
	when   slogtext.Clock // the second of the last time among the attributes
	groups []string       // open groups, for ReplaceAttr
	keys   []string       // keys of maps, to be sorted

	json *json.Encoder // writes to foreign; made when first needed
	sink foreign
}

// maxPooled is the capacity in bytes above which a buffer is left to the garbage collector. Compile traces have events
// of some ten KiB as a rule, so the cap is above the 16 KiB of log/slog.
const maxPooled = 64 << 10

var buffers = sync.Pool{New: func() any { return &Buffer{B: make([]byte, 0, 1024)} }}

// GetBuffer returns an empty buffer. Give it back with [Buffer.Free].
func GetBuffer() *Buffer { return buffers.Get().(*Buffer) }

// Reset empties the output.
func (b *Buffer) Reset() { b.B = b.B[:0] }

// Free gives the buffer back. The caller must use neither it nor its output afterwards.
func (b *Buffer) Free() {
	if cap(b.B) > maxPooled || cap(b.keys) > maxPooled/16 { // 16 bytes a key
		return
	}
	b.Reset()
	buffers.Put(b)
}

// foreign collects what encoding/json writes.
type foreign struct{ dst []byte }

func (f *foreign) Write(p []byte) (int, error) {
	f.dst = append(f.dst, p...)
	return len(p), nil
}

// appendJSON appends encoding/json's text of v.
func (b *Buffer) appendJSON(dst []byte, v any) ([]byte, error) {
	if b.json == nil {
		b.json = json.NewEncoder(&b.sink)
		b.json.SetEscapeHTML(false)
	}
	b.sink.dst = dst
	err := b.json.Encode(v)
	out := b.sink.dst
	b.sink.dst = nil
	if err != nil {
		return dst, err
	}
	return out[:len(out)-1], nil // Encode ends with a newline
}
