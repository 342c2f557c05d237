package ir

import (
	"encoding/json"
	"io"

	"github.com/tracehandler/tracehandler/format"
	"github.com/tracehandler/tracehandler/internal/frame"
)

// KVOptions are the settings of a KVWriter. The zero value writes a raw stream for every reader.
type KVOptions struct {
	Width Width           // of numbers inside encoded text
	User  json.RawMessage // user-defined metadata: a JSON object, at most about 65,000 bytes, or nil

	AnyBytes bool // see Encoder
	Output
	Limits Limits
}

// TextOptions are the settings of a TextWriter.
type TextOptions struct {
	Width     Width
	Reference int64 // four-byte: the time that the first delta counts from, ms; usually now
	Version   string

	TimestampPattern       string
	TimestampPatternSyntax string
	TimeZone               string // a name of the IANA data base, "" for UTC

	AnyBytes bool // see TextEncoder
	Output
	Limits Limits
}

// Output says how a writer hands a stream to its destination.
type Output struct {
	Zstd      bool
	Level     int // of zstd: 0 (the fastest) to 4
	FrameSize int // bytes of the stream in a write, or a zstd frame, at most (one larger event excepted); default 256 KiB
}

// output collects whole events and writes them as blocks: raw, or as a zstd frame each.
type output struct {
	dst   io.Writer
	enc   frame.Encoder
	size  int
	block []byte
	out   []byte
	err   error // of the destination; a stream with a hole is of no use, so it stays
}

func (o *output) open(dst io.Writer, s Output) error {
	o.dst, o.size = dst, s.FrameSize
	if o.size <= 0 {
		o.size = 256 << 10
	}
	f := format.Plain
	if s.Zstd {
		f = format.Zstd
	}
	var err error
	o.enc, err = frame.NewEncoder(f, s.Level)
	return err
}

// appended is called when the block has grown by one event or more, from its size before.
func (o *output) appended(before int) error {
	if len(o.block) <= o.size {
		return nil
	}
	if before > 0 {
		if err := o.write(before); err != nil || len(o.block) <= o.size {
			return err
		}
	}
	return o.write(len(o.block))
}

// write hands over the first n bytes of the block.
func (o *output) write(n int) error {
	if o.err != nil || n == 0 {
		return o.err
	}
	if o.out, o.err = o.enc.AppendFrame(o.out[:0], o.block[:n]); o.err == nil {
		var written int
		if written, o.err = o.dst.Write(o.out); o.err == nil && written < len(o.out) {
			o.err = io.ErrShortWrite
		}
	}
	o.block = append(o.block[:0], o.block[n:]...)
	return o.err
}

func (o *output) close() error {
	if o.err == ErrClosed {
		return nil
	}
	// The end mark gets a frame of its own, so that a stream can be opened again without writing events anew.
	err := o.write(len(o.block))
	if err == nil {
		o.block = append(o.block, tagEnd)
		err = o.write(len(o.block))
	}
	o.err = ErrClosed
	return err
}

// KVWriter writes a key-value stream. It is not safe for concurrent use. The caller owns the destination and closes
// it after the writer.
type KVWriter struct {
	out output
	enc *Encoder
}

// NewKVWriter starts a stream on dst; the preamble is written with the first events.
func NewKVWriter(dst io.Writer, o *KVOptions) (*KVWriter, error) {
	if o == nil {
		o = &KVOptions{}
	}
	w := &KVWriter{enc: NewEncoder(o.Width, o.Limits)}
	w.enc.AnyBytes = o.AnyBytes
	if err := w.out.open(dst, o.Output); err != nil {
		return nil, err
	}
	var err error
	w.out.block, err = AppendPreamble(nil, o.Width, &Metadata{Version: VersionKV, User: o.User})
	return w, err
}

// Write adds an event. If the event itself is refused (see Encoder.Append) the stream is as before, and goes on. An
// error of the destination stays.
func (w *KVWriter) Write(b *Builder) error {
	if w.out.err != nil {
		return w.out.err
	}
	before := len(w.out.block)
	var err error
	if w.out.block, err = w.enc.Append(w.out.block, b); err != nil {
		return err
	}
	return w.out.appended(before)
}

// Flush hands all events over to the destination, in zstd as a frame that can be read by itself.
func (w *KVWriter) Flush() error { return w.out.write(len(w.out.block)) }

// Close ends the stream and hands it over. It is idempotent.
func (w *KVWriter) Close() error { return w.out.close() }

// TextWriter writes a text stream. It is not safe for concurrent use. The caller owns the destination and closes it
// after the writer.
type TextWriter struct {
	out   output
	enc   *TextEncoder
	limit int
}

// NewTextWriter starts a stream on dst; the preamble is written with the first events.
func NewTextWriter(dst io.Writer, o *TextOptions) (*TextWriter, error) {
	if o == nil {
		o = &TextOptions{}
	}
	md := &Metadata{Version: o.Version, Reference: o.Reference, TimestampPattern: o.TimestampPattern,
		TimestampPatternSyntax: o.TimestampPatternSyntax, TimeZone: o.TimeZone}
	if md.Version == "" {
		md.Version = VersionText
	}
	if md.TimeZone == "" {
		md.TimeZone = "UTC"
	}
	w := &TextWriter{enc: NewTextEncoder(o.Width, o.Reference), limit: o.Limits.withDefaults().Event}
	w.enc.AnyBytes = o.AnyBytes
	if err := w.out.open(dst, o.Output); err != nil {
		return nil, err
	}
	var err error
	w.out.block, err = AppendPreamble(nil, o.Width, md)
	return w, err
}

// Write adds an event: a time in ms since 1970 UTC and a message (see TextEncoder.Append). If the event itself is
// refused the stream is as before, and goes on. An error of the destination stays.
func (w *TextWriter) Write(ms int64, message []byte) error {
	if w.out.err != nil {
		return w.out.err
	}
	before, last := len(w.out.block), w.enc.last
	var err error
	if w.out.block, err = w.enc.Append(w.out.block, ms, message); err != nil {
		return err
	}
	if len(w.out.block)-before > w.limit {
		w.out.block, w.enc.last = w.out.block[:before], last
		return &LimitError{What: "bytes of an event", Limit: int64(w.limit), Offset: -1}
	}
	return w.out.appended(before)
}

// WriteUTCOffset says where the events from here on come from: see TextEncoder.AppendUTCOffset.
func (w *TextWriter) WriteUTCOffset(ms int64) error {
	if w.out.err != nil {
		return w.out.err
	}
	w.out.block = w.enc.AppendUTCOffset(w.out.block, ms)
	return nil
}

// Flush hands all events over to the destination, in zstd as a frame that can be read by itself.
func (w *TextWriter) Flush() error { return w.out.write(len(w.out.block)) }

// Close ends the stream and hands it over. It is idempotent.
func (w *TextWriter) Close() error { return w.out.close() }
