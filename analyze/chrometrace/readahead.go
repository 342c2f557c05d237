package chrometrace

import "io"

const (
	aheadChunk  = 256 << 10
	aheadChunks = 3
)

// readAhead reads its source in a goroutine, so that inflating and scanning run on two cores. Chunks circulate: the
// goroutine owns those it takes from free, the reader owns the one it took from full.
type readAhead struct {
	full chan chunk
	free chan []byte
	quit chan struct{}
	done chan struct{}
	cur  chunk
	off  int
}

type chunk struct {
	data []byte
	err  error
}

func newReadAhead(r io.Reader) *readAhead {
	a := &readAhead{
		full: make(chan chunk, aheadChunks),
		free: make(chan []byte, aheadChunks),
		quit: make(chan struct{}),
		done: make(chan struct{}),
	}
	for range aheadChunks {
		a.free <- make([]byte, aheadChunk)
	}
	go a.run(r)
	return a
}

func (a *readAhead) run(r io.Reader) {
	defer close(a.done)
	for {
		var b []byte
		select {
		case b = <-a.free:
		case <-a.quit:
			return
		}
		n, err := 0, error(nil)
		for n < len(b) && err == nil {
			var m int
			m, err = r.Read(b[n:])
			n += m
		}
		select {
		case a.full <- chunk{b[:n], err}:
		case <-a.quit:
			return
		}
		if err != nil {
			return
		}
	}
}

func (a *readAhead) Read(p []byte) (int, error) {
	for a.off == len(a.cur.data) {
		if a.cur.err != nil {
			return 0, a.cur.err
		}
		if a.cur.data != nil {
			a.free <- a.cur.data[:cap(a.cur.data)]
		}
		a.cur, a.off = <-a.full, 0
	}
	n := copy(p, a.cur.data[a.off:])
	a.off += n
	return n, nil
}

// stop ends the goroutine and waits for it. Read must not be called afterwards.
func (a *readAhead) stop() {
	close(a.quit)
	<-a.done
}
