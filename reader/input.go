package reader

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
)

// input is the stored bytes of one layer, with offsets, look-ahead and a way back. From a source that can seek it goes
// back anywhere; from any other as far as the mark, or maxKeep bytes.
type input struct {
	path string
	src  io.Reader
	seek io.Seeker // nil if there is no way back but buf
	buf  []byte    // bytes read and kept; buf[r:] are not consumed
	r    int
	base int64 // offset of buf[0]
	mark int64 // bytes from this offset on are kept; -1 if none need to be
	err  error // the error that ends the source, once it was met
	live bool  // the source waits at its end
}

const (
	readSize = 256 << 10       // bytes asked of the source at once
	maxKeep  = maxHeld + 1<<20 // bytes behind the reading position that are kept at most
	maxPeek  = maxHeld + 2<<20 // bytes that may be looked at before they are consumed
)

// newInput returns the input that src is. Only sources whose Read never waits for somebody else can seek.
func newInput(path string, src io.Reader) *input {
	in := &input{path: path, src: src, mark: -1}
	if t, ok := src.(*tail); ok {
		in.base, in.live = t.off, true
	}
	if s, ok := src.(io.Seeker); ok && restful(src) {
		if pos, err := s.Seek(0, io.SeekCurrent); err == nil {
			in.seek, in.base = s, pos
		}
	}
	return in
}

// restful reports whether reading from r can neither wait nor change: a regular file, bytes in memory.
func restful(r io.Reader) bool {
	switch f := r.(type) {
	case *bytes.Reader, *io.SectionReader:
		return true
	case interface{ Stat() (fs.FileInfo, error) }:
		info, err := f.Stat()
		return err == nil && info.Mode().IsRegular()
	case interface{ Len() int }: // strings.Reader and its like
		return true
	}
	return false
}

// offset returns the offset of the next byte.
func (in *input) offset() int64 { return in.base + int64(in.r) }

// buffered returns the bytes that can be had without reading.
func (in *input) buffered() []byte { return in.buf[in.r:] }

// setMark makes sure that rewind can go back to the current offset.
func (in *input) setMark() { in.mark = in.offset() }

// peek returns the next n bytes without consuming them, fewer only at the end of the source. The error is a failure to
// read, never io.EOF. The bytes are valid until the next call.
func (in *input) peek(n int) ([]byte, error) {
	for len(in.buf)-in.r < n && in.err == nil {
		in.fill()
	}
	b := in.buffered()
	if len(b) >= n {
		return b[:n], nil
	}
	return b, in.failure()
}

// failure returns the error that kept the source from being read to its end.
func (in *input) failure() error {
	if in.err == nil || in.err == io.EOF {
		return nil
	}
	return fmt.Errorf("reader: %s: offset %d: %w", in.path, in.base+int64(len(in.buf)), in.err)
}

// fill reads once from the source.
func (in *input) fill() {
	if cap(in.buf)-len(in.buf) < readSize/2 {
		in.makeRoom()
	}
	room := in.buf[len(in.buf):cap(in.buf)]
	if len(room) > readSize {
		room = room[:readSize]
	}
	for range 100 {
		n, err := in.src.Read(room)
		in.buf = in.buf[:len(in.buf)+n]
		if err != nil {
			in.err = err
			return
		}
		if n > 0 {
			return
		}
	}
	in.err = io.ErrNoProgress
}

// makeRoom drops bytes that nobody can ask for any more and grows the buffer if that was not enough.
func (in *input) makeRoom() {
	keep := in.r
	if in.mark >= 0 && in.seek == nil {
		if m := int(max(in.mark-in.base, 0)); m < keep {
			keep = m
		}
		if in.r-keep > maxKeep {
			keep = in.r - maxKeep/2 // half, so that not every fill moves the rest
		}
	}
	in.base += int64(keep)
	in.r -= keep
	rest := in.buf[keep:]
	if cap(in.buf)-len(rest) >= readSize {
		in.buf = in.buf[:copy(in.buf[:cap(in.buf)], rest)]
		return
	}
	grown := make([]byte, len(rest), max(2*readSize, 2*len(rest)))
	copy(grown, rest)
	in.buf = grown
}

// discard consumes n bytes and reports how many there were.
func (in *input) discard(n int64) (int64, error) {
	if have := int64(len(in.buf) - in.r); n <= have {
		in.r += int(n)
		return n, nil
	}
	var done int64
	for done < n {
		step := min(int64(len(in.buf)-in.r), n-done)
		in.r += int(step)
		done += step
		if done < n {
			if in.err != nil {
				return done, in.failure()
			}
			in.fill()
		}
	}
	return done, nil
}

// Read implements io.Reader. It reads from the source at most once, so it waits no longer than the source does.
func (in *input) Read(p []byte) (int, error) {
	if in.r == len(in.buf) {
		if in.err == nil && len(p) >= readSize && (in.seek != nil || in.mark < 0) {
			return in.readPast(p)
		}
		if in.err == nil {
			in.fill()
		}
		if in.r == len(in.buf) && in.err != nil {
			if err := in.failure(); err != nil {
				return 0, err
			}
			return 0, io.EOF
		}
	}
	n := copy(p, in.buf[in.r:])
	in.r += n
	return n, nil
}

// readPast reads into p without keeping a copy. All that was read before is consumed.
func (in *input) readPast(p []byte) (int, error) {
	n, err := in.src.Read(p)
	in.base += int64(len(in.buf) + n)
	in.buf, in.r = in.buf[:0], 0
	if err == nil {
		return n, nil
	}
	in.err = err
	if n > 0 {
		return n, nil
	}
	if err := in.failure(); err != nil {
		return 0, err
	}
	return 0, io.EOF
}

// rewind moves to off, or as near behind it as can be had, and returns where it is.
func (in *input) rewind(off int64) (int64, error) {
	if off >= in.base && off <= in.base+int64(len(in.buf)) {
		in.r = int(off - in.base)
		return off, nil
	}
	if in.seek == nil {
		if off > in.base { // beyond what was read
			_, err := in.discard(off - in.offset())
			return in.offset(), err
		}
		in.r = 0
		return in.base, nil
	}
	if _, err := in.seek.Seek(off, io.SeekStart); err != nil {
		return 0, fmt.Errorf("reader: %s: offset %d: %w", in.path, off, err)
	}
	in.buf, in.r, in.base, in.err = in.buf[:0], 0, off, nil
	return off, nil
}

// find moves to the first position, at or after the current one, where match says so; match is shown at least width
// bytes except at the end of the source. Without such a position it moves to the end and reports false. It waits for no
// more bytes than it needs.
func (in *input) find(width int, match func([]byte) int) (bool, error) {
	for {
		if _, err := in.peek(width); err != nil {
			return false, err
		}
		b := in.buffered()
		if i := match(b); i >= 0 {
			in.r += i
			return true, nil
		}
		if len(b) < width {
			in.r += len(b)
			return false, nil
		}
		in.r += len(b) - (width - 1)
	}
}
