package archive

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/klauspost/compress/zstd"
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

// TestConcurrencyChangesNothing compares the archives that several processors make with those of one: small ones byte by byte, of
// others what is compressed, because which encoder is tried next depends on the order in which frames are compressed.
func TestConcurrencyChangesNothing(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	special := []string{`{}`, `{"a":1,"a":2}`, `{"a":{"b":1},"c":2,"a":{"d":"x y"}}`, `{"a":[1,{"a":"b c"}],"a":[]}`, `{"time":"2026-01-02T03:04:05Z","a":""}`}
	object := func() []byte {
		for {
			if s := randomJSON(random, 0); s[0] == '{' {
				return []byte(s)
			}
		}
	}
	for i := range 20 {
		var lines [][]byte
		for len(lines) < 2000 {
			lines = append(lines, object(), []byte(special[random.IntN(len(special))]), fmt.Appendf(nil, `{"id":"%x","msg":"took %d ms"}`, random.Uint64(), random.IntN(100)))
		}
		o := WriterOptions{TimeKey: []string{"time"}, Structured: i%2 == 1, Memory: []int64{0, 8 << 20}[i/2%2]}
		want := write(t, lines, &o)
		for _, o.Concurrency = range []int{2, 4} {
			if got := write(t, lines, &o); !bytes.Equal(got, want) {
				t.Fatalf("%+v: another archive than that of one processor", o)
			}
		}
	}
	var lines [][]byte
	for i := range 3 * blockRows {
		switch {
		case i%50 == 0:
			lines = append(lines, []byte(special[random.IntN(len(special))]))
		case i%2 == 0:
			lines = append(lines, fmt.Appendf(nil, `{"i":%d,"id":"%x","word":"w%d"}`, i, random.Uint64(), random.IntN(100)))
		default:
			lines = append(lines, fmt.Appendf(nil, `{"time":"2026-01-02T03:04:05.%03dZ","msg":"job%d took %d.5 ms"}`, i%1000, random.IntN(1000), i%100))
		}
	}
	want := plainSections(t, write(t, lines, &WriterOptions{TimeKey: []string{"time"}}))
	for _, n := range []int{2, 4} {
		got := plainSections(t, write(t, lines, &WriterOptions{TimeKey: []string{"time"}, Concurrency: n}))
		for name := range want {
			if !bytes.Equal(got[name], want[name]) {
				t.Errorf("concurrency %d: another section %s than that of one processor", n, name)
			}
		}
	}
}

// plainSections returns the decompressed sections of an archive, without what is in skippable frames.
func plainSections(t *testing.T, data []byte) map[string][]byte {
	t.Helper()
	r := openBytes(t, data, nil)
	defer r.Close()
	d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1))
	check(t, err)
	defer d.Close()
	sections := map[string][]byte{}
	for name, s := range r.box.sections {
		if name == sectionTables {
			continue // says where streams begin
		}
		b := data[s.off : s.off+s.size]
		if strings.HasSuffix(name, ".dict") {
			sections[name], b = bytes.Clone(b[:8]), b[8:]
		}
		sections[name], err = d.DecodeAll(b, sections[name])
		check(t, err)
	}
	return sections
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
	for _, n := range []int{1, 2, 4} {
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

// TestWriteFails has the destination fail, with all goroutines at work.
func TestWriteFails(t *testing.T) {
	lines, _ := corpusLines(t, corpus.Demo, 5000)
	for _, n := range []int{1, 2, 4} {
		before := goleak.IgnoreCurrent()
		w, err := NewWriter(failingWriter{errBroken}, &WriterOptions{Concurrency: n})
		check(t, err)
		for _, line := range lines {
			check(t, w.Write(line))
		}
		for range 2 {
			if err := w.Close(); !errors.Is(err, errBroken) {
				t.Errorf("close: %v", err)
			}
		}
		goleak.VerifyNone(t, before)
	}
}

// TestCheck has frames compared with what went into them.
func TestCheck(t *testing.T) {
	lines, _ := corpusLines(t, corpus.Demo, 5000)
	want := write(t, lines, &WriterOptions{})
	for _, n := range []int{1, 2} {
		if got := write(t, lines, &WriterOptions{Check: true, Concurrency: n}); !bytes.Equal(got, want) {
			t.Errorf("concurrency %d: another archive than without", n)
		}
	}

	e, err := newEffort(3)
	check(t, err)
	defer e.close()
	plain := bytes.Repeat([]byte("some text "), 1000)
	frame := e.usual.EncodeAll(plain, nil)
	check(t, e.verify(frame, plain))
	for _, wrong := range [][]byte{nil, plain[1:], append(bytes.Clone(plain), 'x')} {
		if err := e.verify(frame, wrong); !errors.Is(err, ErrDiffers) {
			t.Errorf("a frame of other bytes: %v", err)
		}
	}
	frame[len(frame)/2] ^= 1
	if err := e.verify(frame, plain); !errors.Is(err, ErrDiffers) {
		t.Errorf("a damaged frame: %v", err)
	}
	check(t, e.verify(e.quick.EncodeAll(plain, nil), plain))

	// An encoder whose frames nobody can read.
	odd, err := zstd.NewWriter(nil, zstd.WithEncoderDictRaw(1, plain))
	check(t, err)
	for _, checks := range []bool{false, true} {
		e, err := newEffort(3)
		check(t, err)
		for _, enc := range []**zstd.Encoder{&e.quick, &e.usual, &e.tiny, &e.best} {
			*enc = odd
		}
		w, err := NewWriter(io.Discard, &WriterOptions{Check: checks})
		check(t, err)
		w.packer.give(e)
		for _, line := range lines {
			check(t, w.Write(line))
		}
		if err := w.Close(); errors.Is(err, ErrDiffers) != checks {
			t.Errorf("check %v: close: %v", checks, err)
		}
	}
}

// TestAbort ends writers that have written nothing, little, and more than is queued.
func TestAbort(t *testing.T) {
	lines, _ := corpusLines(t, corpus.Demo, 20_000)
	for _, n := range []int{2, 3} {
		for _, some := range []int{0, 1, len(lines)} {
			before := goleak.IgnoreCurrent()
			var b bytes.Buffer
			w, err := NewWriter(&b, &WriterOptions{Concurrency: n})
			check(t, err)
			for _, line := range lines[:some] {
				check(t, w.Write(line))
			}
			w.Abort()
			w.Abort()
			if err := w.Write([]byte(`{}`)); err != ErrClosed || b.Len() > 0 {
				t.Errorf("after Abort: %v, %d bytes", err, b.Len())
			}
			check(t, w.Close())
			goleak.VerifyNone(t, before)
		}
	}
}
