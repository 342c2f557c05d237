package reader

import (
	"bytes"
	"errors"
	"io"

	"github.com/klauspost/compress/zstd"

	"github.com/tracehandler/tracehandler/internal/frame"
)

var errAppendedText = errors.New("lines of text follow that are not compressed; they are read")

// resync finds the next whole frame behind f and makes b the report of what was skipped. If there is none and the file
// ends inside the frame, what could be decoded of it is b's text.
func (z *zstdFetcher) resync(b *block, f *failure) error {
	text, err := appendedText(z.in, f)
	if err != nil {
		return err
	}
	var part []byte
	if f.torn && f.next == 0 {
		if _, err := z.in.rewind(f.off); err != nil {
			return err
		}
		p, err := z.in.peek(maxPeek)
		if err != nil {
			return err
		}
		part = bytes.Clone(p) // looking further may drop it from the buffer
	}
	r := resync{in: z.in, width: 4, match: frame.IndexZstd, try: z.try}
	found, err := r.run(f)
	if err != nil {
		return err
	}
	to := z.in.offset()
	switch {
	case text:
		b.gap = &DamageError{Path: z.in.path, Offset: f.off, Expected: f.expected, Err: errAppendedText}
		z.text = &textFetcher{in: z.in, until: to}
		_, err = z.in.rewind(f.off)
		return err
	case found:
		b.gap = damage(z.in, f, to)
		return nil
	}
	if !f.torn {
		if f.torn, err = onlyZeros(z.in, f.off); err != nil {
			return err
		}
	}
	if !f.torn {
		b.gap = damage(z.in, f, to)
		return nil
	}
	if len(part) > 0 {
		b.text, _ = z.decodeFrame(b.text[:0], part, f.most) // the error is what f says
	}
	b.gap = torn(z.in, f, to)
	return nil
}

// try reports whether a whole frame begins at the input's position.
func (z *zstdFetcher) try() (bool, int64, error) {
	z.walked = frame.MaxHeader
	h, size, text, f, err := z.frame()
	switch {
	case err != nil:
		return false, 0, err
	case f != nil && f.stream:
		// Too large to be decoded on trial: the headers of its first blocks must do.
		ok, cost, err := z.plausible(&h)
		return ok, cost, err
	case f != nil:
		return false, int64(z.walked), nil
	case size == 0: // the end is where it should be
		return true, 0, nil
	case h.Skippable:
		return z.follows(size)
	}
	raw, err := z.in.peek(int(size))
	if err != nil {
		return false, 0, err
	}
	z.probe, err = z.decodeFrame(z.probe[:0], raw, text)
	ok := err == nil || text > maxHeld && len(z.probe) >= frame.MaxBlock
	return ok, size + int64(len(z.probe)), nil
}

// plausible reports whether the first blocks of a frame too large to be tried have headers.
func (z *zstdFetcher) plausible(h *frame.Header) (bool, int64, error) {
	at := h.Size
	for range 8 {
		b, err := z.in.peek(at + frame.BlockHeader)
		if err != nil || len(b) < at+frame.BlockHeader {
			return false, int64(at), err
		}
		block, err := h.Block(b[at:])
		if err != nil {
			return false, int64(at), nil
		}
		if at += frame.BlockHeader + block.Stored; block.Last {
			break
		}
	}
	return true, int64(at), nil
}

// follows reports whether the end of the file or another frame stands size bytes ahead.
func (z *zstdFetcher) follows(size int64) (bool, int64, error) {
	if size > maxHeld {
		return false, 0, nil
	}
	b, err := z.in.peek(int(size) + 4)
	if err != nil || int64(len(b)) < size {
		return false, size, err
	}
	rest := b[size:]
	return len(rest) == 0 || frame.IndexZstd(rest) == 0, size, nil
}

// zstdStream is a frame that is decoded while it is read.
type zstdStream struct {
	in    *input
	off   int64 // where the frame begins
	at    int64 // bytes of the frame consumed, up to the end of the current piece
	left  int64 // bytes of the current piece not read yet
	text  int64 // bytes decoded
	state streamState
	head  frame.Header
	f     *failure // what ended it before its end
	raw   error    // failure to read
}

type streamState uint8

const (
	inHeader streamState = iota
	inBlock
	inLastBlock
	inSum
	streamDone
)

// Read implements io.Reader over the bytes of the one frame.
func (s *zstdStream) Read(p []byte) (int, error) {
	for s.left == 0 {
		if err := s.piece(); err != nil {
			return 0, err
		}
	}
	n, err := s.in.Read(p[:min(int64(len(p)), s.left)])
	s.left -= int64(n)
	if n > 0 {
		return n, nil
	}
	return 0, s.ended(err)
}

// ended notes why the input ended inside the frame.
func (s *zstdStream) ended(err error) error {
	if err == nil || err == io.EOF {
		s.f = &failure{off: s.off, torn: true, expected: "a zstd frame"}
		return io.ErrUnexpectedEOF
	}
	s.raw = err
	return err
}

// piece moves to the next piece of the frame: header, block with its header, checksum.
func (s *zstdStream) piece() error {
	switch s.state {
	case inHeader:
		b, err := s.in.peek(frame.MaxHeader)
		if err != nil {
			return s.ended(err)
		}
		if s.head, err = frame.ParseHeader(b); err != nil {
			return s.ended(nil)
		}
		s.left, s.state = int64(s.head.Size), inBlock
	case inBlock:
		b, err := s.in.peek(frame.BlockHeader)
		if err != nil || len(b) < frame.BlockHeader {
			return s.ended(err)
		}
		block, err := s.head.Block(b)
		if err != nil {
			s.f = &failure{off: s.off, expected: "a zstd block header", err: err}
			return err
		}
		s.left = int64(frame.BlockHeader + block.Stored)
		if block.Last {
			s.state = inLastBlock
		}
	case inLastBlock:
		if s.state = streamDone; s.head.Checksum {
			s.left, s.state = 4, inSum
		}
	case inSum:
		s.state = streamDone
	}
	s.at += s.left
	if s.state == streamDone {
		return io.EOF
	}
	return nil
}

// startStream begins to stream the frame at the input's position.
func (z *zstdFetcher) startStream(b *block) error {
	z.in.setMark()
	if z.sdec == nil {
		d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
			zstd.WithDecoderMaxWindow(max(z.maxWindow, zstd.MinWindowSize)))
		if err != nil {
			return err
		}
		z.sdec = d
	}
	z.stream = &zstdStream{in: z.in, off: z.in.offset()}
	if err := z.sdec.Reset(z.stream); err != nil {
		return err
	}
	return z.fetchStream(b)
}

// fetchStream fills b with more of the frame that is being streamed.
func (z *zstdFetcher) fetchStream(b *block) error {
	s := z.stream
	b.text = grow(b.text, blockTarget)
	for len(b.text) < blockTarget {
		n, err := z.sdec.Read(b.text[len(b.text):blockTarget])
		b.text = b.text[:len(b.text)+n]
		s.text += int64(n)
		if err == nil && !z.in.live {
			continue
		}
		if err == nil {
			if n > 0 {
				return nil
			}
			continue
		}
		z.stream = nil
		return z.endStream(b, s, err)
	}
	return nil
}

// endStream deals with the end of a streamed frame, good or bad.
func (z *zstdFetcher) endStream(b *block, s *zstdStream, err error) error {
	switch {
	case s.raw != nil:
		return s.raw
	case err == io.EOF && s.f == nil:
		b.frames = append(b.frames, frameRef{span: span{offset: s.off, size: s.at}, end: len(b.text)})
		return nil
	}
	f := s.f
	if f == nil {
		f = &failure{off: s.off, expected: "a whole zstd frame", err: err}
		if errors.Is(err, zstd.ErrDecoderSizeExceeded) || errors.Is(err, zstd.ErrWindowSizeExceeded) {
			f.err = errWindow
		}
	}
	// What was decoded is delivered: the blocks before the bad one are whole. The search goes on behind them, at most
	// one block before the place where decoding stopped.
	back := &failure{off: max(s.off, z.in.offset()-frame.MaxBlock-frame.BlockHeader)}
	r := resync{in: z.in, width: 4, match: frame.IndexZstd, try: z.try}
	found, err := r.run(back)
	if err != nil {
		return err
	}
	to := z.in.offset()
	if f.torn && !found {
		b.gap = torn(z.in, f, to)
		return nil
	}
	f.torn = false
	b.gap = damage(z.in, f, to)
	return nil
}

func (z *zstdFetcher) close() {
	if z.dec != nil {
		z.dec.Close()
	}
	if z.sdec != nil {
		z.sdec.Close()
	}
}
