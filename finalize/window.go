package finalize

import (
	"errors"
	"io"
)

// window is an io.ReaderAt that keeps the last stretch read, so that walking over many small headers costs few system
// calls. It remembers the first failure of the file below, so that a failed read is never taken for damage. It is not
// safe for concurrent use.
type window struct {
	r    io.ReaderAt
	size int64
	buf  []byte // valid bytes
	off  int64  // of buf
	err  error  // of r, other than io.EOF
}

const windowSize = 128 << 10

func newWindow(r io.ReaderAt, size int64) *window {
	return &window{r: r, size: size, buf: make([]byte, 0, min(size, windowSize))}
}

// ReadAt implements io.ReaderAt over the first size bytes.
func (w *window) ReadAt(p []byte, off int64) (int, error) {
	n := 0
	for n < len(p) {
		if off >= w.size {
			return n, io.EOF
		}
		if off < w.off || off >= w.off+int64(len(w.buf)) {
			if err := w.fill(off); err != nil {
				return n, err
			}
		}
		c := copy(p[n:], w.buf[off-w.off:])
		n += c
		off += int64(c)
	}
	return n, nil
}

// fill reads the stretch that begins at off, at least one byte of it.
func (w *window) fill(off int64) error {
	want := int64(cap(w.buf))
	if rest := w.size - off; rest < want {
		want = rest
	}
	n, err := w.r.ReadAt(w.buf[:want], off)
	w.buf, w.off = w.buf[:n], off
	if n > 0 {
		return nil
	}
	if err == nil || errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF // the file has become shorter than it was
	}
	if w.err == nil {
		w.err = err
	}
	return err
}
