package reader

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// FuzzRead reads arbitrary bytes in two ways: no panic, no endless reading, bounded memory, the same from both.
func FuzzRead(f *testing.F) {
	files, err := filepath.Glob("testdata/edge/*/*")
	if err != nil {
		f.Fatal(err)
	}
	more, err := filepath.Glob("testdata/golden/*zst")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range append(files, more...) {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		o := Options{MaxWindow: 1 << 20, MaxLine: 1 << 20}
		before := allocated()
		a := read(t, bytes.NewReader(data), &Options{MaxWindow: o.MaxWindow, MaxLine: o.MaxLine, Parallel: 1})
		if grown := allocated() - before; grown > 256<<20+1000*uint64(len(data)) {
			t.Fatalf("%d bytes allocated for %d", grown, len(data))
		}
		b := read(t, onlyReader{bytes.NewReader(data)}, &o)
		if !slices.Equal(a.events, b.events) || len(a.errs) != len(b.errs) {
			t.Fatalf("a file and a pipe differ: %d and %d events, %v and %v", len(a.events), len(b.events), a.errs, b.errs)
		}
		for _, e := range append(a.errs, b.errs...) {
			_ = e.Error()
		}
		lines := readLines(t, bytes.NewReader(data), &o)
		if a.r != nil && int64(len(lines.events)) > a.r.Stats().Lines {
			t.Fatalf("%d lines, %d seen for events", len(lines.events), a.r.Stats().Lines)
		}
	})
}

// decodes reports whether data is whole to a decoder that knows nothing of ours. What was cut out between two frames, or between
// the same fields of two headers, leaves a file that is.
func decodes(packer int, data []byte) bool {
	var r io.Reader
	var err error
	if packer == 0 {
		r, err = gzip.NewReader(bytes.NewReader(data))
	} else if z, zerr := zstd.NewReader(bytes.NewReader(data), zstd.WithDecoderConcurrency(1)); zerr == nil {
		defer z.Close()
		r = z
	}
	if err == nil {
		_, err = io.Copy(io.Discard, r)
	}
	return err == nil
}

// FuzzDamage packs events into frames with checksums, damages the file, and reads it: no event is invented, and order is
// kept.
func FuzzDamage(f *testing.F) {
	f.Add(uint8(0), uint8(3), uint16(10), uint16(90), uint16(4), []byte("xyz"))
	f.Add(uint8(1), uint8(7), uint16(300), uint16(20), uint16(0), []byte{0, 1, 2})
	f.Add(uint8(1), uint8(1), uint16(0), uint16(5), uint16(700), []byte{0x28, 0xb5, 0x2f, 0xfd})
	f.Fuzz(func(t *testing.T, kind, per uint8, seed, at, cut uint16, put []byte) {
		var events []string
		for i := range 40 {
			events = append(events, fmt.Sprintf(`{"n":%d,"seed":%d,"s":"%x"}`, i, seed, i*int(seed)*7919))
		}
		p := pack(t, events, 1+int(per)%20, packers[int(kind)%2].frame)
		where := int(at) % len(p.data)
		end := min(where+int(cut)%400, len(p.data))
		data := slices.Concat(p.data[:where], put, p.data[end:])
		known := map[string]bool{}
		for _, e := range events {
			known[e] = true
		}
		g := read(t, bytes.NewReader(data), nil)
		sure := len(events) // of so many nothing but the right ones may come: those before a frame that was damaged and ends too early
		for _, err := range g.errs {
			var torn *TornError
			if errors.As(err, &torn) && int(torn.Offset) <= where {
				sure = (1 + int(per)%20) * max(slices.Index(p.start, int(torn.Offset)), 0)
			}
		}
		next := 0
		for n, e := range g.events {
			if !known[e] && bytes.Contains(put, []byte(e)) {
				continue // put there by the fuzzer
			}
			i := slices.Index(events[next:], e)
			if i < 0 && n >= sure {
				continue // a torn frame has no checksum
			}
			if i < 0 {
				t.Fatalf("invented or out of order: %q (%v)", e, g.errs)
			}
			next += i + 1
		}
		if len(g.events) < len(events) && len(g.errs) == 0 && end > where {
			if !decodes(int(kind)%2, data) {
				t.Fatalf("%d events are missing and nothing says so", len(events)-len(g.events))
			}
		}
	})
}
