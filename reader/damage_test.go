package reader

import (
	"bytes"
	"errors"
	"os"
	"slices"
	"testing"
)

// TestCutPlain reads every prefix of a plain file: exactly the whole events, and a torn end if there is one.
func TestCutPlain(t *testing.T) {
	events, text := testEvents(5)
	for n := range len(text) + 1 {
		whole, start := 0, 0
		for _, e := range events {
			if n < start+len(e) {
				break
			}
			whole++
			start += len(e) + 1
		}
		for _, w := range ways {
			o := w.o
			g := read(t, w.src(text[:n]), &o)
			if !slices.Equal(g.events, events[:whole]) {
				t.Fatalf("%s: cut at %d: %d events, want %d", w.name, n, len(g.events), whole)
			}
			if n <= start {
				if len(g.errs) > 0 {
					t.Fatalf("%s: cut at %d between lines: %v", w.name, n, g.errs)
				}
				continue
			}
			var torn *TornError
			if len(g.errs) != 1 || !errors.As(g.errs[0], &torn) {
				t.Fatalf("%s: cut at %d: errors %v, want one TornError", w.name, n, g.errs)
			}
			if torn.Offset != int64(start) || torn.Skipped != int64(n-start) || torn.Line != int64(whole) {
				t.Fatalf("%s: cut at %d: %v, want offset %d", w.name, n, torn, start)
			}
		}
	}
}

var packers = []struct {
	name    string
	frame   func(testing.TB, []byte) []byte
	checked bool // a frame has a checksum that covers it
}{
	{"gzip", gzipMember, true},
	{"zstd", zstdFrame, true},
	{"zstd without content size", zstdStreamed, true},
}

// TestCutFrames reads every prefix of compressed files: all of the whole frames, of the torn one nothing but its first
// whole lines, and one TornError that says where it begins.
func TestCutFrames(t *testing.T) {
	events, _ := testEvents(12)
	for _, p := range packers {
		file := pack(t, events, 4, p.frame)
		for n := range len(file.data) + 1 {
			frame := 0
			for file.start[frame+1] <= n && frame+1 < len(file.start)-1 {
				frame++
			}
			if n == len(file.data) {
				frame = len(file.start) - 1
			}
			whole, start := file.lines[frame], file.start[frame]
			for _, w := range ways {
				o := w.o
				g := read(t, w.src(file.data[:n]), &o)
				if len(g.events) < whole || !slices.Equal(g.events, events[:len(g.events)]) {
					t.Fatalf("%s, %s: cut at %d: %d events, want at least %d: %v", p.name, w.name, n, len(g.events), whole, g.errs)
				}
				if n == start {
					if len(g.errs) > 0 || len(g.events) != whole {
						t.Fatalf("%s, %s: cut at %d between frames: %v", p.name, w.name, n, g.errs)
					}
					continue
				}
				var torn *TornError
				if len(g.errs) != 1 || !errors.As(g.errs[0], &torn) {
					t.Fatalf("%s, %s: cut at %d: errors %v, want one TornError", p.name, w.name, n, g.errs)
				}
				if torn.Offset != int64(start) || torn.Skipped != int64(n-start) {
					t.Fatalf("%s, %s: cut at %d: %v, want offset %d", p.name, w.name, n, torn, start)
				}
			}
		}
	}
}

// long reports whether tests may take their time: .ci/run asks for it as for the long crash tests.
func long() bool { return os.Getenv("TRACEHANDLER_CRASH_RUNS") != "" }

// TestFlip changes every byte of compressed files, in the long run every bit of it: no event is invented, none of another frame is lost, order is kept.
func TestFlip(t *testing.T) {
	events, _ := testEvents(12)
	for _, p := range packers {
		file := pack(t, events, 4, p.frame)
		for at := range file.data {
			frame := 0
			for file.start[frame+1] <= at {
				frame++
			}
			for bit := range 8 {
				if !long() && bit != at%8 && bit != at*5%8 {
					continue
				}
				data := bytes.Clone(file.data)
				data[at] ^= 1 << bit
				for i, w := range ways[:3] {
					if i > 0 && bit != at%8 {
						continue // all bits one way, one bit all ways
					}
					o := w.o
					g := read(t, w.src(data), &o)
					checkFlip(t, p.name+", "+w.name, at, bit, g, events, file.lines[frame], file.lines[frame+1])
				}
				if bit == at%8 {
					o := ways[0].o
					g := readLines(t, ways[0].src(data), &o)
					if g.r != nil && len(g.r.Compression()) > 0 { // else the magic number is gone, and lines are lines
						checkFlip(t, p.name+", lines", at, bit, g, events, file.lines[frame], file.lines[frame+1])
					}
				}
			}
		}
	}
}

// checkFlip checks what was read of events, of which those from lost up to end may be missing.
func checkFlip(t *testing.T, name string, at, bit int, g got, events []string, lost, end int) {
	t.Helper()
	next := 0
	for _, e := range g.events {
		i := slices.Index(events[next:], e)
		if i < 0 {
			t.Fatalf("%s: byte %d, bit %d: invented %q (%v)", name, at, bit, e, g.errs)
		}
		if skipped := events[next : next+i]; i > 0 && (next < lost || next+i > end) {
			t.Fatalf("%s: byte %d, bit %d: lost %q (%v)", name, at, bit, skipped, g.errs)
		}
		next += i + 1
	}
	if next < lost || next < len(events) && (next > end || end < len(events)) {
		t.Fatalf("%s: byte %d, bit %d: ends after %d events (%v)", name, at, bit, next, g.errs)
	}
	if len(g.events) < len(events) && len(g.errs) == 0 {
		t.Fatalf("%s: byte %d, bit %d: %d events are missing and nothing says so", name, at, bit, len(events)-len(g.events))
	}
}
