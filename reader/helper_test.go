package reader

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// onlyReader hides everything but Read: a pipe.
type onlyReader struct{ io.Reader }

// testEvent returns the text of the i-th event.
func testEvent(i int) string {
	return fmt.Sprintf(`{"time":"2026-01-01T00:00:%02d.%06dZ","level":"INFO","msg":"event %d","n":%d}`, i/1000%60, i%1000, i, i*i)
}

// testEvents returns n events, and their lines joined.
func testEvents(n int) (events []string, text []byte) {
	for i := range n {
		events = append(events, testEvent(i))
		text = append(append(text, events[i]...), '\n')
	}
	return events, text
}

// packed is a compressed file and where its frames and their lines are.
type packed struct {
	data  []byte
	start []int // of each frame
	lines []int // events before each frame
}

func (p *packed) add(frame []byte, lines int) {
	p.start = append(p.start, len(p.data))
	n := 0
	if len(p.lines) > 0 {
		n = p.lines[len(p.lines)-1]
	}
	p.lines = append(p.lines, n+lines)
	p.data = append(p.data, frame...)
}

// pack makes frames of per events each.
func pack(t testing.TB, events []string, per int, frame func(testing.TB, []byte) []byte) *packed {
	t.Helper()
	p := &packed{lines: []int{0}}
	for at := 0; at < len(events); at += per {
		var text []byte
		end := min(at+per, len(events))
		for _, e := range events[at:end] {
			text = append(append(text, e...), '\n')
		}
		p.add(frame(t, text), end-at)
	}
	p.start = append(p.start, len(p.data))
	return p
}

func gzipMember(t testing.TB, text []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write(text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func zstdFrame(t testing.TB, text []byte) []byte {
	t.Helper()
	w, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderCRC(true))
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	return w.EncodeAll(text, nil)
}

// zstdStreamed makes a frame without content size.
func zstdStreamed(t testing.TB, text []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := zstd.NewWriter(&b, zstd.WithEncoderConcurrency(1), zstd.WithEncoderCRC(true))
	if err != nil {
		t.Fatal(err)
	}
	for len(text) > 0 { // in pieces: a single Write would know the size
		n := min(len(text), 1000)
		if _, err := w.Write(text[:n]); err != nil {
			t.Fatal(err)
		}
		w.Flush()
		text = text[n:]
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func skippable(size int) []byte {
	return append([]byte{0x5e, 0x2a, 0x4d, 0x18, byte(size), byte(size >> 8), 0, 0}, make([]byte, size)...)
}

// got is what a reading delivered.
type got struct {
	events []string
	errs   []error
	r      *Reader
}

// maxReports is more than any test causes; a reader that reports for ever fails instead of running for ever.
const maxReports = 100_000

// read reads all events of r.
func read(t testing.TB, src io.Reader, o *Options) got {
	t.Helper()
	if o == nil {
		o = &Options{}
	}
	o.Name = "test"
	r, err := New(src, o)
	if err != nil {
		return got{errs: []error{err}}
	}
	defer r.Close()
	g := got{r: r}
	for e, err := range r.Events() {
		if err != nil {
			if g.errs = append(g.errs, err); len(g.errs) > maxReports {
				t.Fatal("the reader does not stop reporting: ", err)
			}
			continue
		}
		g.events = append(g.events, string(e.AppendJSON(nil)))
	}
	return g
}

// readLines reads all lines of r.
func readLines(t testing.TB, src io.Reader, o *Options) got {
	t.Helper()
	r, err := New(src, o)
	if err != nil {
		return got{errs: []error{err}}
	}
	defer r.Close()
	g := got{r: r}
	for l, err := range r.Lines() {
		if err != nil {
			if g.errs = append(g.errs, err); len(g.errs) > maxReports {
				t.Fatal("the reader does not stop reporting: ", err)
			}
			continue
		}
		g.events = append(g.events, string(l.Raw))
	}
	return g
}

// ways are the ways a source can be read; all must give the same.
var ways = []struct {
	name string
	src  func([]byte) io.Reader
	o    Options
}{
	{"memory", func(b []byte) io.Reader { return bytes.NewReader(b) }, Options{Parallel: 1}},
	{"parallel", func(b []byte) io.Reader { return bytes.NewReader(b) }, Options{Parallel: 3}},
	{"pipe", func(b []byte) io.Reader { return onlyReader{bytes.NewReader(b)} }, Options{}},
	{"drops", func(b []byte) io.Reader { return &drops{b, rand.New(rand.NewPCG(1, 2))} }, Options{}},
}

// drops is a pipe that gives a few bytes at a time.
type drops struct {
	b []byte
	r *rand.Rand
}

func (d *drops) Read(p []byte) (int, error) {
	if len(d.b) == 0 {
		return 0, io.EOF
	}
	n := copy(p, d.b[:min(len(d.b), 1+d.r.IntN(40))])
	d.b = d.b[n:]
	return n, nil
}
