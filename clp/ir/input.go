package ir

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/klauspost/compress/zstd"
)

const (
	minBuffer     = 4 << 10   // doubled each time the source fills it, …
	easyBuffer    = 128 << 10 // … up to this; beyond, only for an event that needs it
	defaultWindow = 8 << 20
	maxZstdWindow = 128 << 20 // what the reference reads
	zstdMagic     = "\x28\xB5\x2F\xFD"
)

// decompress puts a decompressor in front of src if src holds zstd frames (RFC 8878; also skippable ones).
func (r *Reader) decompress(window uint64) error {
	var head [4]byte
	n, err := io.ReadFull(r.src, head[:])
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return r.readError(err)
	}
	skippable := n == 4 && head[0]&0xF0 == 0x50 && string(head[1:]) == "\x2A\x4D\x18"
	if string(head[:n]) != zstdMagic && !skippable {
		r.buf = append(r.buf, head[:n]...)
		return nil
	}
	r.frames = newWindowReader(bufio.NewReader(io.MultiReader(bytes.NewReader(head[:]), r.src)), window)
	z, err := zstd.NewReader(r.frames, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
		zstd.WithDecoderMaxWindow(window))
	if err != nil {
		return r.readError(err)
	}
	r.src, r.close = z, z.Close
	return nil
}

// fill reads until at least need bytes of the unit at pos are there, and want bytes if the input has them. The buffer
// grows only with bytes that came in.
func (r *Reader) fill(need, want int64) error {
	if need > int64(r.limits.Event) {
		return &LimitError{What: "bytes of an event", Limit: int64(r.limits.Event), Offset: r.Offset()}
	}
	if r.pos > 0 && len(r.buf)-r.pos <= r.pos { // move the rest down only if that frees half or more
		r.base += int64(r.pos)
		r.buf = append(r.buf[:0], r.buf[r.pos:]...)
		r.pos = 0
	}
	for idle := 0; int64(len(r.buf)-r.pos) < want; {
		if len(r.buf) == cap(r.buf) || r.filled && cap(r.buf) < easyBuffer {
			grown := make([]byte, len(r.buf), max(minBuffer, 2*cap(r.buf)))
			copy(grown, r.buf)
			r.buf = grown
		}
		n, err := r.src.Read(r.buf[len(r.buf):cap(r.buf)])
		r.buf = r.buf[:len(r.buf)+n]
		r.filled = len(r.buf) == cap(r.buf)
		switch {
		case n > 0:
			idle = 0
		case err == nil:
			if idle++; idle > 100 {
				return r.readError(io.ErrNoProgress)
			}
		case int64(len(r.buf)-r.pos) >= need:
			return nil // the error comes again if the unit needs more
		case err == io.EOF || errors.Is(err, io.ErrUnexpectedEOF):
			return &IncompleteError{Unit: r.Offset(), Offset: r.base + int64(len(r.buf))}
		default:
			return r.readError(err)
		}
	}
	return nil
}

// readError wraps an error of the source. One of the decompressor is damage.
func (r *Reader) readError(err error) error {
	at := r.base + int64(len(r.buf))
	if r.frames != nil && r.frames.clamped && strings.Contains(err.Error(), "match offset") { // the decoder has no name for it
		return &LimitError{What: "bytes of a zstd window (ReaderOptions.MaxWindow)", Limit: int64(r.frames.max), Offset: at}
	}
	if _, ok := r.src.(*zstd.Decoder); ok {
		return r.corrupt(&CorruptError{Offset: at - r.base, Detail: "behind this place", Err: err})
	}
	return fmt.Errorf("ir: reading at byte %d: %w", at, err)
}
