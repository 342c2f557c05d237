package reader

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/tracehandler/tracehandler/naming"
)

// TestTail asks for the last events: archives begin there, or earlier; other traces at their start.
func TestTail(t *testing.T) {
	var lines []string
	for i := range 70_000 {
		lines = append(lines, fmt.Sprintf(`{"id":%d,"word":"w%d"}`, i, i%7))
	}
	data := archiveOf(t, lines...)
	for _, n := range []int64{1, 10, 69_999, 70_000, 1 << 40} {
		for name, data := range map[string][]byte{"archive": data, "plain": []byte(lines[0] + "\n" + lines[1] + "\n")} {
			want := lines[max(0, int64(len(lines))-n):]
			if name == "plain" {
				want = lines[:2]
			}
			r, err := New(bytes.NewReader(data), nil)
			if err != nil {
				t.Fatal(err)
			}
			r.Tail(n)
			var got []string
			first := int64(0)
			for l, err := range r.Lines() {
				if err != nil {
					t.Fatal(err)
				}
				if first == 0 {
					first = l.Number
				}
				got = append(got, string(l.Text))
			}
			if !slices.Equal(got, want) || name == "archive" && first != int64(len(lines)-len(want))+1 {
				t.Errorf("%s, %d: %d lines from %d on, want %d", name, n, len(got), first, len(want))
			}
			r.Close()
		}
	}
}

func TestTailSet(t *testing.T) {
	path := filepath.Join(t.TempDir(), "trace.clp")
	events, _ := testEvents(300)
	now := time.Now()
	put(t, naming.RotatedName(path, now, 0), partOf(t, "aa", 1, 0, events[:100]...))
	put(t, naming.RotatedName(path, now, 1), partOf(t, "aa", 2, 100, events[100:200]...))
	put(t, path, partOf(t, "aa", 3, 200, events[200:]...))
	for _, n := range []int{1, 100, 101} {
		r, err := Open(path, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Tail(int64(n))
		var got []string
		var last int64
		for l, err := range r.Lines() {
			if err != nil {
				t.Fatal(err)
			}
			got, last = append(got, string(l.Text)), l.Number
		}
		if len(got) < n || !slices.Equal(got, events[len(events)-len(got):]) || n == 101 && len(got) != 300 || n <= 100 && len(got) > 100 || last != 300 {
			t.Errorf("%d: %d lines up to %d", n, len(got), last)
		}
		r.Close()
	}
}
