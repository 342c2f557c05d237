package corpus

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"testing"
)

func TestSameSeedSameEvents(t *testing.T) {
	for _, k := range Kinds() {
		t.Run(string(k), func(t *testing.T) {
			var one, two, other bytes.Buffer
			for _, w := range []struct {
				buf  *bytes.Buffer
				seed uint64
			}{{&one, 7}, {&two, 7}, {&other, 8}} {
				n, err := WriteNDJSON(w.buf, k, w.seed, 2000)
				if err != nil || n != int64(w.buf.Len()) {
					t.Fatalf("WriteNDJSON = %d, %v; wrote %d", n, err, w.buf.Len())
				}
			}
			if !bytes.Equal(one.Bytes(), two.Bytes()) {
				t.Error("the same seed gives different events")
			}
			if bytes.Equal(one.Bytes(), other.Bytes()) {
				t.Error("another seed gives the same events")
			}
			if got := bytes.Count(one.Bytes(), []byte("\n")); got != 2000 {
				t.Errorf("%d lines, want 2000", got)
			}
			for i, line := range bytes.Split(bytes.TrimSpace(one.Bytes()), []byte("\n")) {
				var v struct{ Worker, Seq int }
				if err := json.Unmarshal(line, &v); err != nil || v.Seq != i || v.Worker != 0 {
					t.Fatalf("line %d: %v: %s", i, err, line)
				}
			}
			t.Logf("%.1f bytes an event", float64(one.Len())/2000)
		})
	}
}

func TestProgramCountersRepeat(t *testing.T) {
	a, b := New(Demo, 1, 3), New(Demo, 1, 3)
	files := map[int]bool{}
	for range 5000 {
		ra, rb := a.Next(), b.Next()
		sa, sb := ra.Source(), rb.Source()
		if sa == nil || sb == nil || *sa != *sb || !ra.Time.Equal(rb.Time) {
			t.Fatalf("%v at %v, then %v at %v", sa, ra.Time, sb, rb.Time)
		}
		files[sa.Line] = true
	}
	if len(files) < 5 {
		t.Errorf("only %d places log", len(files))
	}
}

func TestDemoUsesEveryLevel(t *testing.T) {
	seen := map[slog.Level]int{}
	for r := range New(Demo, 1, 0).Records(20000) {
		seen[r.Level]++
	}
	for _, l := range []slog.Level{slog.LevelDebug, slog.LevelInfo, slog.LevelInfo + 1, slog.LevelWarn, slog.LevelError} {
		if seen[l] == 0 {
			t.Errorf("no event of level %v in %v", l, seen)
		}
	}
}

func BenchmarkNext(b *testing.B) {
	for _, k := range Kinds() {
		b.Run(string(k), func(b *testing.B) {
			s := New(k, 1, 0)
			b.ReportAllocs()
			for b.Loop() {
				s.Next()
			}
		})
	}
}
