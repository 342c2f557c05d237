package reader

import (
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/klauspost/compress/zstd"

	"github.com/tracehandler/tracehandler/internal/frame"
)

// zstdFetcher reads zstd frames (RFC 8878 §3.1). Frames of up to maxHeld bytes are cut out of the input by their block
// headers and decoded by the workers, each by itself; larger ones, and those that do not say how large they are and turn
// out to be, are streamed.
type zstdFetcher struct {
	in        *input
	maxWindow uint64
	parallel  int

	bad    *failure      // where the next fetch has to look for the next whole frame
	text   *textFetcher  // not nil while reading text that was appended without compression
	stream *zstdStream   // not nil inside a frame that is streamed
	once   sync.Once     // makes dec
	dec    *zstd.Decoder // for whole frames
	sdec   *zstd.Decoder // for streamed ones
	probe  []byte        // what resync decodes into
	walked int           // bytes that the last walk went over
}

func newZstdFetcher(in *input, o *Options) *zstdFetcher {
	return &zstdFetcher{in: in, maxWindow: uint64(o.MaxWindow), parallel: o.Parallel}
}

func (z *zstdFetcher) fetch(b *block) error {
	if z.stream != nil {
		return z.fetchStream(b)
	}
	if z.text != nil {
		err := z.text.fetch(b)
		if err != io.EOF {
			return err
		}
		z.text = nil
	}
	if z.bad != nil {
		f := z.bad
		z.bad = nil
		if f.stream {
			if _, err := z.in.rewind(f.off); err != nil {
				return err
			}
			return z.startStream(b)
		}
		return z.resync(b, f)
	}
	content := 0
	for content < blockTarget && len(b.stored) < 4*blockTarget && len(b.frames) < maxFrames {
		more := len(b.frames) > 0
		if more && z.in.seek == nil {
			return nil // the rest of the next frame may be long in coming
		}
		off := z.in.offset()
		z.in.setMark()
		h, size, text, f, err := z.frame()
		switch {
		case err != nil:
			return err
		case f == nil && size == 0: // the end
			if more {
				return nil
			}
			return io.EOF
		case more && content+text > 2*blockTarget:
			return nil // a large frame has a block of its own
		case f != nil && more:
			return nil // what is whole goes first; the next fetch meets the failure again
		case f != nil && f.stream:
			return z.startStream(b)
		case f != nil:
			return z.resync(b, f)
		case h.Skippable:
			n, err := z.in.discard(size)
			if err != nil {
				return err
			}
			if n < size {
				f := &failure{off: off, torn: true, expected: "a zstd skippable frame"}
				if more {
					z.bad = f
					return nil
				}
				return z.resync(b, f)
			}
			b.frames = append(b.frames, frameRef{span: span{offset: off, size: size, skippable: true}})
			continue
		}
		raw, _ := z.in.peek(int(size))
		from := len(b.stored)
		b.stored = append(b.stored, raw...)
		if _, err := z.in.discard(size); err != nil {
			return err
		}
		b.frames = append(b.frames, frameRef{span: span{offset: off, size: size}, from: from, to: len(b.stored), most: text})
		content += text
		b.size = content
	}
	return nil
}

// frame looks at the frame at the input's position, without consuming it, and returns its length and the length that its
// text has at most. Size 0 without a failure is the end.
func (z *zstdFetcher) frame() (h frame.Header, size int64, text int, f *failure, err error) {
	off := z.in.offset()
	head, err := z.in.peek(frame.MaxHeader)
	if err != nil || len(head) == 0 {
		return h, 0, 0, nil, err
	}
	switch h, err = frame.ParseHeader(head); {
	case err == io.ErrUnexpectedEOF:
		return h, 0, 0, &failure{off: off, torn: true, expected: "a zstd frame"}, nil
	case err == frame.ErrNoFrame:
		return h, 0, 0, &failure{off: off, expected: "a zstd frame"}, nil
	case err != nil:
		return h, 0, 0, &failure{off: off, expected: "a zstd frame header", err: err}, nil
	case h.Skippable:
		return h, int64(h.Size) + h.Content, 0, nil, nil
	}
	if h.Content > maxHeld || h.Content < 0 && z.in.live {
		window := uint64(h.Window)
		if h.Content >= 0 {
			window = min(window, uint64(h.Content))
		}
		if window > z.maxWindow {
			return h, 0, 0, &failure{off: off, expected: fmt.Sprintf("a window of at most %d bytes", z.maxWindow), err: errWindow}, nil
		}
		return h, 0, 0, &failure{off: off, stream: true}, nil
	}
	size, text, f, err = z.walk(off, &h)
	if h.Content >= 0 {
		text = int(h.Content)
	}
	return h, size, text, f, err
}

// walk follows the block headers from the frame header h on and returns the frame's length and a bound of its text's.
// What it needs is looked at, not consumed.
func (z *zstdFetcher) walk(off int64, h *frame.Header) (size int64, text int, f *failure, err error) {
	at := h.Size
	last := false
	for {
		n := at + frame.BlockHeader
		if last {
			n = at
		}
		b, err := z.in.peek(n)
		switch {
		case err != nil:
			return 0, 0, nil, err
		case len(b) < n:
			return 0, 0, &failure{off: off, torn: true, most: text, stream: text > maxHeld, expected: "a zstd frame"}, nil
		case last:
			return int64(at), text, nil, nil
		}
		block, err := h.Block(b[at:])
		if err != nil {
			err = fmt.Errorf("offset %d: %w", off+int64(at), err)
			return 0, 0, &failure{off: off, stream: text > maxHeld, expected: "a zstd block header", err: err}, nil
		}
		at += frame.BlockHeader + block.Stored
		z.walked = at
		text += block.Most
		last = block.Last
		if last && h.Checksum {
			at += 4
		}
		if at > maxHeld+maxHeld/16 {
			if h.Content >= 0 {
				return 0, 0, &failure{off: off, expected: "a zstd frame no longer than its content"}, nil
			}
			return 0, 0, &failure{off: off, stream: true}, nil
		}
	}
}

func (z *zstdFetcher) decoder() *zstd.Decoder {
	z.once.Do(func() {
		// The options are valid, so there is no error. Decoding whole frames starts no goroutine.
		z.dec, _ = zstd.NewReader(nil, zstd.WithDecoderConcurrency(z.parallel), zstd.WithDecoderLowmem(true),
			zstd.WithDecodeAllCapLimit(true), zstd.WithDecoderMaxWindow(max(z.maxWindow, zstd.MinWindowSize)))
	})
	return z.dec
}

// decodeFrame appends the text of a whole frame to dst, most bytes of it but no more than maxHeld.
func (z *zstdFetcher) decodeFrame(dst, raw []byte, most int) ([]byte, error) {
	// The decoder never grows dst; a few bytes to spare let it copy by words.
	return z.decoder().DecodeAll(raw, grow(dst, min(most, maxHeld)+64))
}

// decode decodes the frames of b.stored one by one.
func (z *zstdFetcher) decode(b *block) {
	if len(b.stored) == 0 {
		return
	}
	for i := range b.frames {
		f := &b.frames[i]
		if f.from == f.to {
			f.end = len(b.text)
			continue
		}
		text, err := z.decodeFrame(b.text, b.stored[f.from:f.to], f.most)
		if err != nil {
			b.fail = &failure{
				off: f.offset, next: f.offset + f.size, expected: "a whole zstd frame", err: err,
				stream: f.most > maxHeld, // it may have been too large to be held
			}
			if errors.Is(err, zstd.ErrWindowSizeExceeded) {
				b.fail.expected, b.fail.err = fmt.Sprintf("a window of at most %d bytes", z.maxWindow), errWindow
			}
			b.frames = b.frames[:i]
			break
		}
		b.text = text
		f.end = len(text)
	}
	b.stored = b.stored[:0]
}

func (z *zstdFetcher) restart(f *failure) { z.bad, z.stream, z.text = f, nil, nil }
