package reader

import (
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/klauspost/compress/zstd"
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

// maxFrameHeader is the length of the longest frame header and the first block header.
const maxFrameHeader = zstd.HeaderMaxSize

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
func (z *zstdFetcher) frame() (h zstd.Header, size int64, text int, f *failure, err error) {
	off := z.in.offset()
	head, err := z.in.peek(maxFrameHeader)
	if err != nil || len(head) == 0 {
		return h, 0, 0, nil, err
	}
	switch err := h.Decode(head); {
	case errors.Is(err, io.ErrUnexpectedEOF) && (len(head) >= 4 || isZstdPrefix(head)):
		return h, 0, 0, &failure{off: off, torn: true, expected: "a zstd frame"}, nil
	case errors.Is(err, io.ErrUnexpectedEOF):
		return h, 0, 0, &failure{off: off, expected: "a zstd frame"}, nil
	case err != nil:
		f := &failure{off: off, expected: "a zstd frame"}
		if err != zstd.ErrMagicMismatch {
			f.expected, f.err = "a zstd frame header", err
		}
		return h, 0, 0, f, nil
	}
	if h.Skippable {
		return h, int64(h.HeaderSize) + int64(h.SkippableSize), 0, nil, nil
	}
	window := h.WindowSize
	if h.HasFCS && (h.SingleSegment || h.FrameContentSize < window) {
		window = h.FrameContentSize
	}
	if h.HasFCS && h.FrameContentSize > maxHeld || !h.HasFCS && z.in.live {
		if window > z.maxWindow {
			return h, 0, 0, &failure{off: off, expected: fmt.Sprintf("a window of at most %d bytes", z.maxWindow), err: errWindow}, nil
		}
		return h, 0, 0, &failure{off: off, stream: true}, nil
	}
	size, text, f, err = z.walk(off, &h)
	if h.HasFCS {
		text = int(h.FrameContentSize)
	}
	return h, size, text, f, err
}

// walk follows the block headers from the frame header h on and returns the frame's length and a bound of its text's.
// What it needs is looked at, not consumed.
func (z *zstdFetcher) walk(off int64, h *zstd.Header) (size int64, text int, f *failure, err error) {
	at := h.HeaderSize
	last := false
	for {
		n := at + blockHeaderSize
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
		bh, err := readBlockHeader(b[at:])
		if err != nil {
			err = fmt.Errorf("offset %d: %w", off+int64(at), err)
			return 0, 0, &failure{off: off, stream: text > maxHeld, expected: "a zstd block header", err: err}, nil
		}
		at += blockHeaderSize + bh.stored
		z.walked = at
		text += bh.text
		last = bh.last
		if last && h.HasCheckSum {
			at += 4
		}
		if at > maxHeld+maxHeld/16 {
			if h.HasFCS {
				return 0, 0, &failure{off: off, expected: "a zstd frame no longer than its content"}, nil
			}
			return 0, 0, &failure{off: off, stream: true}, nil
		}
	}
}

const (
	blockHeaderSize = 3
	maxBlock        = 128 << 10 // bytes of text in one block, at most
)

// blockHead is what a block header says (RFC 8878 §3.1.1.2).
type blockHead struct {
	stored int // bytes behind the header
	text   int // bytes they decode to, at most
	last   bool
}

func readBlockHeader(b []byte) (blockHead, error) {
	v := uint32(b[0]) | uint32(b[1])<<8 | uint32(b[2])<<16
	h := blockHead{stored: int(v >> 3), text: int(v >> 3), last: v&1 != 0}
	if h.stored > maxBlock {
		return h, fmt.Errorf("block of %d bytes", h.stored)
	}
	switch v >> 1 & 3 {
	case 1: // one byte, to be repeated
		h.stored = 1
	case 2: // compressed
		h.text = maxBlock
	case 3:
		return h, errors.New("reserved block type")
	}
	return h, nil
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
func (z *zstdFetcher) decodeFrame(dst, frame []byte, most int) ([]byte, error) {
	// The decoder never grows dst; a few bytes to spare let it copy by words.
	return z.decoder().DecodeAll(frame, grow(dst, min(most, maxHeld)+64))
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
