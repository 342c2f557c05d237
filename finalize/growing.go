package finalize

import (
	"io"
	"sync"
)

// growing is a file as one sees it who reads while it is written: Read waits at its end until there is more, or until it
// is known that no more comes. One goroutine reads; grow, finish and abort may be called by others.
type growing struct {
	r io.ReaderAt

	mu   sync.Mutex
	more sync.Cond
	size int64 // bytes that may be read
	over bool  // no more come
	err  error // of abort
	off  int64 // where Read is
}

func newGrowing(r io.ReaderAt, size int64) *growing {
	g := &growing{r: r, size: size}
	g.more.L = &g.mu
	return g
}

// Read implements io.Reader.
func (g *growing) Read(p []byte) (int, error) {
	off, size, err := g.wait()
	if err != nil {
		return 0, err
	}
	n, err := g.r.ReadAt(p[:min(int64(len(p)), size-off)], off)
	if n > 0 {
		g.mu.Lock()
		defer g.mu.Unlock()
		g.off += int64(n)
		return n, nil
	}
	if err == io.EOF && len(p) > 0 {
		err = io.ErrUnexpectedEOF // the file has become shorter than it was
	}
	return 0, err
}

// wait returns when there is something to read.
func (g *growing) wait() (off, size int64, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for g.off >= g.size && !g.over && g.err == nil {
		g.more.Wait()
	}
	switch {
	case g.err != nil:
		return 0, 0, g.err
	case g.off >= g.size:
		return 0, 0, io.EOF
	}
	return g.off, g.size, nil
}

// grow says how many bytes may be read now.
func (g *growing) grow(size int64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.size = size
	g.more.Signal()
}

// finish says that no more bytes come than size.
func (g *growing) finish(size int64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.size, g.over = size, true
	g.more.Signal()
}

// abort makes Read fail.
func (g *growing) abort(err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.err == nil {
		g.err = err
	}
	g.more.Signal()
}

// at returns how far Read is, and how much there is.
func (g *growing) at() (off, size int64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.off, g.size
}
