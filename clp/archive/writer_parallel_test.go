package archive

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"testing"

	"go.uber.org/goleak"

	"github.com/tracehandler/tracehandler/internal/corpus"
)

// TestWriteConcurrently has goroutines make the archives that one makes, of logs with several frames in each column.
func TestWriteConcurrently(t *testing.T) {
	for _, kind := range corpus.Kinds() {
		t.Run(string(kind), func(t *testing.T) {
			events := 3000
			if kind == corpus.Spans {
				events = 12_000
			}
			lines, _ := corpusLines(t, kind, events)
			var in []string
			for _, l := range lines {
				in = append(in, string(l))
			}
			for _, n := range []int{1, 2, 5} {
				before := goleak.IgnoreCurrent()
				data := write(t, lines, &WriterOptions{Concurrency: n, TimeKey: []string{"time"}})
				goleak.VerifyNone(t, before)
				checkSame(t, in, readWithSide(t, data))
			}
		})
	}
}

// memoryScratch is a Scratch in memory, safe for concurrent use as a file is.
type memoryScratch struct {
	mu sync.Mutex
	b  []byte
}

func (s *memoryScratch) WriteAt(p []byte, off int64) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := int(off) + len(p) - len(s.b); n > 0 {
		s.b = append(s.b, make([]byte, n)...)
	}
	return copy(s.b[off:], p), nil
}

func (s *memoryScratch) ReadAt(p []byte, off int64) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return bytes.NewReader(s.b).ReadAt(p, off)
}

// brokenScratch takes some bytes and then fails.
type brokenScratch struct {
	memoryScratch
	left atomic.Int64
}

var errBroken = errors.New("broken")

func (s *brokenScratch) WriteAt(p []byte, off int64) (int, error) {
	if s.left.Add(-int64(len(p))) < 0 {
		return 0, errBroken
	}
	return s.memoryScratch.WriteAt(p, off)
}

// TestWriteSpills keeps almost nothing in memory.
func TestWriteSpills(t *testing.T) {
	lines, _ := corpusLines(t, corpus.Spans, 12_000)
	var in []string
	for _, l := range lines {
		in = append(in, string(l))
	}
	for _, n := range []int{1, 3} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			before := goleak.IgnoreCurrent()
			var b bytes.Buffer
			spill := &memoryScratch{}
			w, err := NewWriter(&b, &WriterOptions{Concurrency: n, Spill: spill, TimeKey: []string{"time"}})
			check(t, err)
			w.packer.most = 0
			for _, line := range lines {
				check(t, w.Write(line))
			}
			check(t, w.Close())
			checkSame(t, in, readWithSide(t, b.Bytes()))
			if len(spill.b) == 0 {
				t.Error("nothing was spilled")
			}

			broken := &brokenScratch{}
			broken.left.Store(100_000)
			w, err = NewWriter(io.Discard, &WriterOptions{Concurrency: n, Spill: broken})
			check(t, err)
			w.packer.most = 0
			for _, line := range lines {
				if err = w.Write(line); err != nil {
					break
				}
			}
			if err != nil && !errors.Is(err, errBroken) { // it may come to light only at Close
				t.Errorf("write: %v", err)
			}
			for range 2 {
				if err := w.Close(); !errors.Is(err, errBroken) {
					t.Errorf("close: %v", err)
				}
			}
			goleak.VerifyNone(t, before)
		})
	}
}

func TestAbort(t *testing.T) {
	before := goleak.IgnoreCurrent()
	var b bytes.Buffer
	w, err := NewWriter(&b, &WriterOptions{Concurrency: 3})
	check(t, err)
	check(t, w.Write([]byte(`{"a":"b c"}`)))
	w.Abort()
	w.Abort()
	if err := w.Write([]byte(`{}`)); err != ErrClosed || b.Len() > 0 {
		t.Errorf("after Abort: %v, %d bytes", err, b.Len())
	}
	check(t, w.Close())
	goleak.VerifyNone(t, before)
}
