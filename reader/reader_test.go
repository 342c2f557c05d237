package reader

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// allocated returns the bytes allocated so far.
func allocated() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.TotalAlloc
}

func TestOpenErrors(t *testing.T) {
	dir := t.TempDir()
	if _, err := Open(filepath.Join(dir, "none"), nil); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	if _, err := Open(dir, nil); err == nil {
		t.Error("a directory can be opened")
	}
}

func TestNested(t *testing.T) {
	events, text := testEvents(3000)
	data := gzipMember(t, zstdFrame(t, text))
	for _, w := range ways[:3] {
		o := w.o
		if g := read(t, w.src(data), &o); len(g.errs) > 0 || !slices.Equal(g.events, events) {
			t.Fatalf("%s: %d events, %v", w.name, len(g.events), g.errs)
		}
	}
	// Damage of the outer layer is told once for each layer, and ends.
	bad := bytes.Clone(data)
	bad = bad[:len(bad)*2/3]
	g := read(t, bytes.NewReader(bad), nil)
	if len(g.errs) == 0 || len(g.errs) > 2 || !slices.Equal(g.events, events[:len(g.events)]) {
		t.Fatalf("%d events, %v", len(g.events), g.errs)
	}
	deep := text
	for range maxDepth {
		deep = gzipMember(t, deep)
	}
	if g := read(t, bytes.NewReader(deep), nil); len(g.events) != len(events) {
		t.Fatalf("%d layers: %v", maxDepth, g.errs)
	}
	if _, err := New(bytes.NewReader(gzipMember(t, deep)), nil); err == nil || !strings.Contains(err.Error(), "more than 4 times") {
		t.Fatal(err)
	}
}

// TestLarge reads frames that are too large to be held, and many small ones, in every way.
func TestLarge(t *testing.T) {
	events, text := testEvents(110_000) // 10 MB
	if len(text) < maxHeld*17/16 {
		t.Fatal(len(text))
	}
	small := pack(t, events, 1000, zstdFrame)
	for name, data := range map[string][]byte{
		"text": text, "gzip": gzipMember(t, text), "zstd": zstdFrame(t, text), "zstd, no size": zstdStreamed(t, text),
		"two": append(gzipMember(t, text[:100]), gzipMember(t, text[100:])...), "small": small.data,
	} {
		if testing.Short() && name != "gzip" && name != "small" {
			continue
		}
		for _, w := range ways[1:3] {
			o := w.o
			if g := read(t, w.src(data), &o); len(g.errs) > 0 || !slices.Equal(g.events, events) {
				t.Fatalf("%s, %s: %d events, %v", name, w.name, len(g.events), g.errs)
			}
		}
		if name == "text" {
			continue
		}
		// Torn: the whole lines before the cut. Corrupt and followed by another frame: that one comes.
		cut := data[:len(data)*3/4]
		for _, w := range ways[1:3] {
			o := w.o
			g := read(t, w.src(cut), &o)
			var torn *TornError
			if len(g.errs) != 1 || !errors.As(g.errs[0], &torn) || len(g.events) < len(events)/2 || !slices.Equal(g.events, events[:len(g.events)]) {
				t.Fatalf("%s, %s: cut: %d events, %v", name, w.name, len(g.events), g.errs)
			}
		}
		if name == "two" || name == "small" {
			continue
		}
		more := zstdFrame(t, []byte(`{"last":true}`+"\n"))
		if name == "gzip" {
			more = gzipMember(t, []byte(`{"last":true}`+"\n"))
		}
		bad := append(bytes.Clone(data), more...)
		for i := range 40 {
			bad[len(data)*3/4+i] ^= 0x5a
		}
		for _, w := range ways[2:3] {
			o := w.o
			g := read(t, w.src(bad), &o)
			n := len(g.events)
			if n < len(events)/2 || g.events[n-1] != `{"last":true}` {
				t.Fatalf("%s, %s: corrupt: %d events, %v", name, w.name, n, g.errs)
			}
			var damage *DamageError
			if len(g.errs) < 1 || !errors.As(g.errs[len(g.errs)-1], &damage) {
				t.Fatalf("%s, %s: corrupt: %v", name, w.name, g.errs)
			}
		}
	}
}

func TestSkippable(t *testing.T) {
	events, _ := testEvents(6)
	p := pack(t, events, 2, zstdFrame)
	data := skippable(0)
	for i := range 3 {
		data = append(append(data, p.data[p.start[i]:p.start[i+1]]...), skippable(300)...)
	}
	for _, w := range ways {
		o := w.o
		g := read(t, w.src(data), &o)
		if len(g.errs) > 0 || !slices.Equal(g.events, events) || g.r.Stats().Frames != 3 {
			t.Fatalf("%s: %d events, %v", w.name, len(g.events), g.errs)
		}
		o = w.o
		g = read(t, w.src(data[:len(data)-1]), &o)
		var torn *TornError
		if len(g.errs) != 1 || !errors.As(g.errs[0], &torn) || torn.Offset != int64(len(data)-308) || len(g.events) != 6 {
			t.Fatalf("%s: torn: %v", w.name, g.errs)
		}
	}
}

// TestNoText reads a hundred thousand frames without any text: memory does not grow with them.
func TestNoText(t *testing.T) {
	_, text := testEvents(3)
	empty := append([]byte{0x28, 0xb5, 0x2f, 0xfd, 0x20, 0, 1, 0, 0}, skippable(0)...)
	for name, c := range map[string][2][]byte{
		"zstd": {empty, zstdFrame(t, text)}, "gzip": {gzipMember(t, nil), gzipMember(t, text)},
	} {
		data := append(bytes.Repeat(c[0], 100_000), c[1]...)
		for _, w := range ways[1:3] {
			before := allocated()
			o := w.o
			g := read(t, w.src(data), &o)
			if len(g.events) != 3 || len(g.errs) > 0 || g.r.Stats().Frames != 100_001 {
				t.Fatalf("%s, %s: %d events, %+v, %v", name, w.name, len(g.events), g.r.Stats(), g.errs)
			}
			if grown := allocated() - before; grown > 64<<20 {
				t.Errorf("%s, %s: %d bytes allocated", name, w.name, grown)
			}
		}
	}
}

// TestUnaligned has frames that begin inside lines: after damage, the rest of a line is no line.
func TestUnaligned(t *testing.T) {
	events, text := testEvents(40)
	var p packed
	for at := 0; at < len(text); at += 700 {
		p.add(zstdFrame(t, text[at:min(at+700, len(text))]), 0)
	}
	for _, frame := range []int{0, 1, 3} {
		data := bytes.Clone(p.data)
		data[p.start[frame]+20] ^= 0x10
		for _, w := range ways {
			o := w.o
			g := readLines(t, w.src(data), &o)
			for _, l := range g.events {
				if !slices.Contains(events, l) {
					t.Fatalf("%s: frame %d: the line %q was never written", w.name, frame, l)
				}
			}
			if len(g.events) < 30 || len(g.errs) != 2 {
				t.Fatalf("%s: frame %d: %d lines, %v", w.name, frame, len(g.events), g.errs)
			}
		}
	}
}

// TestLostMagic damages the first bytes, which say what the file is.
func TestLostMagic(t *testing.T) {
	events, _ := testEvents(12)
	for _, p := range packers {
		file := pack(t, events, 4, p.frame)
		file.data[0] ^= 0xff
		for _, w := range ways {
			o := w.o
			g := read(t, w.src(file.data), &o)
			if !slices.Equal(g.events, events[4:]) || len(g.errs) != 1 || place(g.errs[0])[:12] != "corrupt at 0" {
				t.Fatalf("%s, %s: %d events, %v", p.name, w.name, len(g.events), g.errs)
			}
		}
	}
}

// TestZeroTail has the zero bytes that a power cut leaves at the end of a file.
func TestZeroTail(t *testing.T) {
	events, text := testEvents(8)
	for _, c := range []struct {
		name string
		data []byte
		errs int
	}{
		{"text", text, 1}, {"gzip", gzipMember(t, text), 0}, {"zstd", zstdFrame(t, text), 1},
	} {
		for _, w := range ways {
			o := w.o
			g := read(t, w.src(append(bytes.Clone(c.data), make([]byte, 5000)...)), &o)
			if len(g.errs) != c.errs || !slices.Equal(g.events, events) {
				t.Fatalf("%s, %s: %d events, %v", c.name, w.name, len(g.events), g.errs)
			}
			var torn *TornError
			if c.errs > 0 && (!errors.As(g.errs[0], &torn) || torn.Offset != int64(len(c.data)) || torn.Skipped != 5000) {
				t.Fatalf("%s, %s: %v", c.name, w.name, g.errs)
			}
		}
	}
}

// TestBreak breaks iterations off and takes them up again: nothing is lost, and goleak finds no goroutine.
func TestBreak(t *testing.T) {
	events, _ := testEvents(20_000)
	file := pack(t, events, 500, zstdFrame)
	for _, w := range ways[:3] {
		o := w.o
		r, err := New(w.src(file.data), &o)
		if err != nil {
			t.Fatal(err)
		}
		rnd := rand.New(rand.NewPCG(3, 4))
		var got []string
		for len(got) < len(events) {
			n, before := rnd.IntN(3000), len(got)
			if rnd.IntN(2) == 0 {
				for e, err := range r.Events() {
					if err != nil {
						t.Fatal(err)
					}
					if got = append(got, string(e.Line())); n == 0 {
						break
					}
					n--
				}
			} else {
				for l, err := range r.Lines() {
					if err != nil {
						t.Fatal(err)
					}
					if got = append(got, string(l.Raw)); n == 0 {
						break
					}
					n--
				}
			}
			if len(got) == before {
				t.Fatalf("%s: ends after %d", w.name, before)
			}
		}
		if !slices.Equal(got, events) {
			t.Fatalf("%s: other events", w.name)
		}
		for range r.Events() {
			t.Fatal("more than all")
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
		for _, err := range r.Events() {
			if err == nil {
				t.Fatal("a closed reader delivers")
			}
		}
		if r.Stats().Events == 0 || r.Close() != nil {
			t.Fatal("after Close")
		}
	}
}

func TestMidFile(t *testing.T) {
	events, _ := testEvents(6)
	file := pack(t, events, 2, gzipMember)
	path := filepath.Join(t.TempDir(), "x")
	if err := os.WriteFile(path, file.data, 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.Seek(int64(file.start[1]), io.SeekStart); err != nil {
		t.Fatal(err)
	}
	if g := read(t, f, nil); !slices.Equal(g.events, events[2:]) {
		t.Fatalf("%d events, %v", len(g.events), g.errs)
	}
}

// TestAllocations pins what a line costs in steady state: nothing.
func TestAllocations(t *testing.T) {
	_, few := testEvents(1000)
	_, many := testEvents(50_000)
	for _, p := range packers[:2] {
		cost := func(text []byte) float64 {
			data := p.frame(t, text[:len(text)/3])
			data = append(data, p.frame(t, text[len(text)/3:])...)
			return testing.AllocsPerRun(3, func() {
				r, err := New(onlyReader{bytes.NewReader(data)}, nil)
				if err != nil {
					t.Fatal(err)
				}
				for _, err := range r.Events() {
					if err != nil {
						t.Fatal(err)
					}
				}
				r.Close()
			})
		}
		if a, b := cost(few), cost(many); b-a > 200 {
			t.Errorf("%s: 49,000 more lines cost %.0f more allocations", p.name, b-a)
		}
	}
}
