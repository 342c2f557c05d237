package sink

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tracehandler/tracehandler/internal/vfs"
	"github.com/tracehandler/tracehandler/naming"
)

func schemeOf(r naming.Rank) naming.Scheme {
	return naming.Scheme{User: "u", Host: "h", PID: 1, Rank: func() naming.Rank { return r }}
}

// TestDirRanks: none, 3, none, 3 makes two files, each continued on return.
func TestDirRanks(t *testing.T) {
	for _, f := range formats {
		for _, exists := range []Exists{Append, Truncate, Fail} {
			dir := filepath.Join(t.TempDir(), "deep", "logs")
			rank := naming.NoRank
			scheme := naming.Scheme{User: "u", Host: "h", PID: 1, Rank: func() naming.Rank { return rank }}
			s := Dir(dir, scheme, Options{Format: f, Exists: exists})
			want := map[naming.Rank]string{}
			for i, r := range []naming.Rank{naming.NoRank, 3, 3, naming.NoRank, 3} {
				rank = r
				must(t, s.Append([]byte(line(i))))
				want[r] += line(i)
			}
			must(t, s.Flush())
			must(t, s.Close())
			must(t, s.Close())
			for r, text := range want {
				if got := readFile(t, filepath.Join(dir, scheme.FileName(r, f))); got != text {
					t.Errorf("%v, rank %d: %q, want %q", f, r, got, text)
				}
			}
			if _, names := readDir(t, vfs.OS, dir); len(names) != 2 {
				t.Errorf("files %q", names)
			}
			if st := s.Stats(); st.Events != 5 || st.WrittenEvents != 5 || st.Files != 4 || st.Published != 4 {
				t.Errorf("%+v", st)
			}
			if err := s.Append(nil); err != ErrClosed {
				t.Errorf("Append after Close: %v", err)
			}
		}
	}
}

func TestDirWithoutEvents(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "logs")
	s := Dir(dir, schemeOf(0), Options{})
	must(t, s.Flush())
	must(t, s.Rotate())
	must(t, s.Close())
	if _, err := vfs.OS.Stat(dir); err == nil {
		t.Error("the directory was made")
	}
}

// shortWriter takes a few bytes at a time, and now and then fails.
type shortWriter struct {
	strings.Builder
	n int
}

func (w *shortWriter) Write(p []byte) (int, error) {
	w.n++
	n, _ := w.Builder.Write(p[:min(len(p), w.n%17)])
	if w.n%5 == 0 {
		return n, fmt.Errorf("write %d", w.n)
	}
	return n, nil
}

func TestWriter(t *testing.T) {
	for _, f := range formats {
		for _, perRecord := range []bool{false, true} {
			var w shortWriter
			s := Writer(&w, Options{Format: f, PerRecord: perRecord, BlockSize: 1000, Clock: newFastClock(), Patience: time.Hour})
			want := ""
			for i := range 100 {
				if s.Append([]byte(line(i))) == nil {
					want += line(i)
				}
				if i%10 == 0 {
					_ = s.Flush()
				}
			}
			for s.Sync() != nil {
			}
			must(t, s.Rotate())
			must(t, s.Close())
			if got := unpack(t, []byte(w.String())); got != want || want == "" {
				t.Errorf("%v: %d bytes, want %d", f, len(got), len(want))
			}
		}
	}
}
