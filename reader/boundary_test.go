package reader

import (
	"bytes"
	"errors"
	"testing"

	"github.com/tracehandler/tracehandler/format"
)

func boundary(t *testing.T, data []byte, from int) Bounds {
	t.Helper()
	b, err := Boundary(bytes.NewReader(data), int64(len(data)), int64(from))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestBoundaryCut looks for the boundary in every prefix of a file of every format.
func TestBoundaryCut(t *testing.T) {
	events, text := testEvents(12)
	for n := range len(text) + 1 {
		end, lines := 0, 0
		for _, e := range events {
			if n < end+len(e) {
				break
			}
			lines++
			end = min(end+len(e)+1, n)
		}
		b := boundary(t, text[:n], 0)
		open := n > 0 && end == n && text[n-1] != '\n'
		if b.Magic != format.Text || b.End != int64(end) || b.Lines != int64(lines) || b.OpenLine != open || (b.Torn != nil) != (end < n) || b.Text != int64(end) {
			t.Fatalf("text cut at %d: %+v, want end %d, %d lines", n, b, end, lines)
		}
	}
	for _, p := range packers {
		file := pack(t, events, 4, p.frame)
		for n := 4; n <= len(file.data); n++ {
			for from := range 2 {
				frame := 0
				for frame < 3 && file.start[frame+1] <= n {
					frame++
				}
				if from > frame {
					continue
				}
				b := boundary(t, file.data[:n], file.start[from])
				end := file.start[frame]
				if b.End != int64(end) || len(b.Frames) != frame-from || b.Lines != int64(4*(frame-from)) || b.OpenLine || (b.Torn != nil) != (end < n) || len(b.Damage) > 0 {
					t.Fatalf("%s cut at %d, from %d: %+v, want end %d", p.name, n, from, b, end)
				}
				if b.Torn != nil && (b.Torn.Offset != int64(end) || b.Torn.Skipped != int64(n-end)) {
					t.Fatalf("%s cut at %d: %v", p.name, n, b.Torn)
				}
				for i, f := range b.Frames {
					at := from + i
					if f.Offset != int64(file.start[at]) || f.Size != int64(file.start[at+1]-file.start[at]) || f.Skippable || f.Content == 0 {
						t.Fatalf("%s cut at %d: frame %d: %+v", p.name, n, at, f)
					}
				}
			}
		}
	}
}

func TestBoundaryDamage(t *testing.T) {
	events, text := testEvents(12)
	for _, p := range packers {
		file := pack(t, events, 4, p.frame)
		data := bytes.Clone(file.data)
		data[file.start[1]+30] ^= 1
		b := boundary(t, data, 0)
		if b.End != int64(len(data)) || len(b.Frames) != 2 || len(b.Damage) != 1 || b.Damage[0].Offset != int64(file.start[1]) || b.Torn != nil || b.Lines != 8 {
			t.Errorf("%s: damage in the middle: %+v", p.name, b)
		}
		data = bytes.Clone(file.data)
		data[file.start[2]+30] ^= 1
		b = boundary(t, data, 0)
		if b.End != int64(file.start[2]) || len(b.Frames) != 2 || len(b.Damage) != 0 || b.Torn == nil || b.Lines != 8 {
			t.Errorf("%s: damage at the end: %+v", p.name, b)
		}
		b = boundary(t, append(bytes.Clone(file.data), p.frame(t, []byte(`{"n":1}`))...), 0)
		if !b.OpenLine || b.Lines != 13 || b.Torn != nil {
			t.Errorf("%s: a frame that ends inside a line: %+v", p.name, b)
		}
	}
	with := append(zstdFrame(t, text), skippable(20)...)
	if b := boundary(t, with, 0); b.End != int64(len(with)) || len(b.Frames) != 2 || !b.Frames[1].Skippable || b.OpenLine {
		t.Errorf("seek table: %+v", b)
	}
	if b := boundary(t, nil, 0); b.End != 0 || b.Torn != nil {
		t.Errorf("empty: %+v", b)
	}
	if _, err := Boundary(bytes.NewReader(nil), 0, 1); err == nil {
		t.Error("an offset behind the end is taken")
	}
	var u *UnsupportedError
	if _, err := Boundary(bytes.NewReader([]byte("\xfd\x2f\xc5\x30")), 4, 0); !errors.As(err, &u) {
		t.Error(err)
	}
}
