package sink

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tracehandler/tracehandler/clp/archive"
	"github.com/tracehandler/tracehandler/event"
	"github.com/tracehandler/tracehandler/finalize"
	"github.com/tracehandler/tracehandler/format"
	"github.com/tracehandler/tracehandler/internal/vfs"
	"github.com/tracehandler/tracehandler/naming"
)

func clpRecord(i int) slog.Record {
	r := slog.NewRecord(time.Unix(1700000000, int64(i)*1000).UTC(), slog.LevelInfo, fmt.Sprintf("request %d took %d.5 ms", i, i%100), 0)
	if i%3 == 0 { // keys in another order than before
		r.AddAttrs(slog.Uint64("hash", ^uint64(i)), slog.Any(fmt.Sprint("key", i/50), []int{i}))
	}
	r.AddAttrs(slog.Int("i", i), slog.String("id", fmt.Sprintf("%016x", uint64(i)*0x9e3779b97f4a7c15)), slog.Group("g", slog.Float64("f", float64(i)/8)))
	return r
}

func clpLine(i int) string {
	var b event.Buffer
	event.NewJSON(event.Options{}).AppendRecord(&b, clpRecord(i), nil)
	return strings.TrimSpace(string(b.B))
}

func clpAppend(t testing.TB, s Sink, first, last int) {
	t.Helper()
	enc := s.Encoder(event.Options{})
	var b event.Buffer
	for i := first; i < last; i++ {
		b.Reset()
		enc.AppendRecord(&b, clpRecord(i), nil)
		must(t, s.Append(b.B))
	}
}

// clpRead returns the events of an archive.
func clpRead(t testing.TB, fsys vfs.FS, path string) (lines []string) {
	t.Helper()
	f, err := fsys.OpenFile(path, os.O_RDONLY, 0)
	must(t, err)
	defer f.Close()
	info, err := f.Stat()
	must(t, err)
	r, err := archive.Open(f, info.Size(), nil)
	must(t, err)
	defer r.Close()
	for rec, err := range r.All() {
		must(t, err)
		line, err := rec.AppendJSON(nil)
		must(t, err)
		lines = append(lines, string(line))
	}
	return lines
}

// clpDir returns the events of all archives of a directory, and checks that there is nothing else.
func clpDir(t testing.TB, dir string) (lines, names []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	must(t, err)
	for _, e := range entries {
		names = append(names, e.Name())
		lines = append(lines, clpRead(t, vfs.OS, filepath.Join(dir, e.Name()))...)
	}
	return lines, names
}

func clpWant(t testing.TB, got []string, last int) {
	t.Helper()
	var want []string
	for i := range last {
		want = append(want, clpLine(i))
	}
	if !slices.Equal(got, want) {
		for i := range min(len(got), len(want)) {
			if got[i] != want[i] {
				t.Fatalf("event %d of %d, want %d:\n got %s\nwant %s", i, len(got), last, got[i], want[i])
			}
		}
		t.Fatalf("%d events, want %d", len(got), last)
	}
}

func TestArchive(t *testing.T) {
	for _, background := range []bool{false, true} {
		t.Run(fmt.Sprint("background ", background), func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "trace.clp")
			var told [][2]int64
			s := File(path, Options{Format: format.CLP, BlockSize: 4096, ArchiveInBackground: background,
				OnProgress: func(done, total int64) { told = append(told, [2]int64{done, total}) }})
			clpAppend(t, s, 0, 500)
			must(t, s.Flush())
			if rep, err := finalize.Verify(path+naming.PartialSuffix, nil); err != nil || rep.Events != 500 || rep.Format != format.CLP {
				t.Errorf("the partial: %+v, %v", rep, err)
			}
			if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("the trace has its name before Close: %v", err)
			}
			clpAppend(t, s, 500, 1000)
			must(t, s.Sync())
			must(t, s.Close())
			lines, names := clpDir(t, filepath.Dir(path))
			clpWant(t, lines, 1000)
			if len(names) != 1 || names[0] != "trace.clp" {
				t.Errorf("%q", names)
			}
			if len(told) == 0 || told[len(told)-1][0] != told[len(told)-1][1] || told[0][1] == 0 {
				t.Errorf("progress: %v", told)
			}
			for i, p := range told {
				if p[1] != told[0][1] || p[0] < 0 || i > 0 && p[0] < told[i-1][0] || p[0] == p[1] && i < len(told)-1 {
					t.Errorf("progress: %v", told)
					break
				}
			}
			if st := s.Stats(); st.Published != 1 || st.WrittenEvents != 1000 {
				t.Errorf("%+v", st)
			}
		})
	}
}

// TestArchiveSet: what does not fit into one archive becomes several, whose names sort as the events do.
func TestArchiveSet(t *testing.T) {
	for _, background := range []bool{false, true} {
		t.Run(fmt.Sprint("background ", background), func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "trace.clp")
			s := File(path, Options{Format: format.CLP, ArchiveMemory: 300_000, ArchiveInBackground: background})
			clpAppend(t, s, 0, 2000)
			must(t, s.Close())
			lines, names := clpDir(t, filepath.Dir(path))
			clpWant(t, lines, 2000)
			if len(names) < 3 || names[len(names)-1] != "trace.clp" {
				t.Errorf("%q", names)
			}
			if st := s.Stats(); st.Published != int64(len(names)) {
				t.Errorf("%+v", st)
			}
		})
	}
}

func TestArchiveRotates(t *testing.T) {
	for _, background := range []bool{false, true} {
		t.Run(fmt.Sprint("background ", background), func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "trace.clp")
			s := File(path, Options{Format: format.CLP, BlockSize: 4096, ArchiveInBackground: background, Rotation: Rotation{MaxSize: 40_000}})
			clpAppend(t, s, 0, 3000)
			must(t, s.Rotate())
			clpAppend(t, s, 3000, 3010)
			must(t, s.Close())
			lines, names := clpDir(t, filepath.Dir(path))
			clpWant(t, lines, 3010)
			if len(names) < 4 || names[len(names)-1] != "trace.clp" {
				t.Errorf("%q", names)
			}
			if st := s.Stats(); st.Published != int64(len(names)) || st.Rotations != int64(len(names))-1 || st.Failures != 0 {
				t.Errorf("%+v", st)
			}
		})
	}
}

// TestArchiveAgain: an archive is written once. The next run of the program does not touch it until its own is complete.
func TestArchiveAgain(t *testing.T) {
	for exists, runs := range map[Exists]int{Append: 3, Truncate: 1} {
		path := filepath.Join(t.TempDir(), "trace.clp")
		for n := range 3 {
			s := File(path, Options{Format: format.CLP, Exists: exists})
			clpAppend(t, s, 100*n, 100*n+100)
			must(t, s.Flush())
			if n > 0 && len(clpRead(t, vfs.OS, path)) != 100 {
				t.Errorf("%v: the archive before is not there", exists)
			}
			must(t, s.Close())
		}
		lines, names := clpDir(t, filepath.Dir(path))
		if len(names) != runs {
			t.Errorf("%v: %q", exists, names)
		}
		if exists == Append {
			clpWant(t, lines, 300)
		} else if len(lines) != 100 || lines[0] != clpLine(200) {
			t.Errorf("%d events, the first %s", len(lines), lines[0])
		}
	}
	path := filepath.Join(t.TempDir(), "trace.clp")
	must(t, os.WriteFile(path, []byte("\xfd\x2f\xc5\x30"), 0o600))
	s := File(path, Options{Format: format.CLP, Exists: Fail})
	var exists *ExistsError
	if err := s.Append([]byte(packed(0))); !errors.As(err, &exists) {
		t.Errorf("Append: %v", err)
	}
	must(t, s.Close())
}

func packed(i int) string {
	var b event.Buffer
	encoderOf(&Options{Format: format.CLP}, event.Options{}).AppendRecord(&b, clpRecord(i), nil)
	return string(b.B)
}

// TestArchiveContinued: the journal of a program that died is continued.
func TestArchiveContinued(t *testing.T) {
	path := filepath.Join(t.TempDir(), "trace.clp")
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for n := range 3 {
		s := File(path, Options{Format: format.CLP})
		clpAppend(t, s, 100*n, 100*n+100)
		err := s.(ContextCloser).CloseContext(ctx)
		var unfinished *UnfinishedError
		if !errors.As(err, &unfinished) || !errors.Is(err, context.Canceled) || unfinished.Partial != path+".partial" {
			t.Fatalf("CloseContext: %v", err)
		}
		if rep, err := finalize.Verify(path+".partial", nil); err != nil || !rep.OK() || rep.Events != int64(100*n+100) {
			t.Fatalf("%+v, %v", rep, err)
		}
	}
	reports, err := finalize.Recover(filepath.Dir(path), nil)
	if err != nil || len(reports) != 1 || !reports[0].Published || reports[0].Events != 300 || reports[0].Path != path {
		t.Errorf("%+v, %v", reports, err)
	}
	lines, _ := clpDir(t, filepath.Dir(path))
	clpWant(t, lines, 300)
}

// TestArchiveTimeKey: the key that has the time is told by the options, or by the journal of a program that died.
func TestArchiveTimeKey(t *testing.T) {
	rename := event.Options{ReplaceAttr: func(groups []string, a slog.Attr) slog.Attr {
		if len(groups) == 0 && a.Key == slog.TimeKey {
			a.Key = "ts"
		}
		return a
	}}
	for _, died := range []bool{false, true} {
		path := filepath.Join(t.TempDir(), "trace.clp")
		s := File(path, Options{Format: format.CLP, TimeKey: "ts"})
		enc := s.Encoder(rename)
		var b event.Buffer
		enc.AppendRecord(&b, clpRecord(1), nil)
		must(t, s.Append(b.B))
		if died {
			ctx, cancel := context.WithCancel(context.Background())
			cancel()
			if err := s.(ContextCloser).CloseContext(ctx); !errors.Is(err, context.Canceled) {
				t.Fatal(err)
			}
			_, err := finalize.Recover(path, nil)
			must(t, err)
		} else {
			must(t, s.Close())
		}
		f, err := os.Open(path)
		must(t, err)
		info, err := f.Stat()
		must(t, err)
		r, err := archive.Open(f, info.Size(), nil)
		must(t, err)
		if times := r.Times(); len(times) != 1 || times[0].Key != "ts" || times[0].Begin != 1700000000000 {
			t.Errorf("died %v: times %+v", died, times)
		}
		must(t, r.Close())
		must(t, f.Close())
	}
	var option *OptionError
	for _, key := range []string{"a.*", "@ts", "a..b"} {
		if err := (Options{Format: format.CLP, TimeKey: key}).Validate(); !errors.As(err, &option) || option.Option != "TimeKey" {
			t.Errorf("%s: %v", key, err)
		}
	}
}

// TestArchiveCut: Close is cut short in the middle, and leaves a partial and nothing else.
func TestArchiveCut(t *testing.T) {
	for _, background := range []bool{false, true} {
		path := filepath.Join(t.TempDir(), "trace.clp")
		ctx, cancel := context.WithCancel(context.Background())
		calls := 0
		s := File(path, Options{Format: format.CLP, ArchiveInBackground: background, OnProgress: func(int64, int64) {
			if calls++; calls == 2 {
				cancel()
			}
		}})
		clpAppend(t, s, 0, 8000)
		err := s.(ContextCloser).CloseContext(ctx)
		cancel()
		lines, names := []string(nil), []string(nil)
		if err == nil { // the end was faster
			lines, names = clpDir(t, filepath.Dir(path))
		} else {
			var unfinished *UnfinishedError
			if !errors.As(err, &unfinished) || !errors.Is(err, context.Canceled) {
				t.Fatalf("CloseContext: %v", err)
			}
			entries, err := os.ReadDir(filepath.Dir(path))
			must(t, err)
			if len(entries) != 1 || entries[0].Name() != "trace.clp.partial" {
				t.Errorf("left: %v", entries)
			}
			_, err = finalize.Recover(path, nil)
			must(t, err)
			lines, names = clpDir(t, filepath.Dir(path))
		}
		clpWant(t, lines, 8000)
		if len(names) != 1 {
			t.Errorf("%q", names)
		}
	}
}

func TestArchiveWithoutEvents(t *testing.T) {
	path := filepath.Join(t.TempDir(), "d", "trace.clp")
	s := File(path, Options{Format: format.CLP})
	must(t, s.Close())
	if _, err := os.Lstat(filepath.Dir(path)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v", err)
	}
}

// TestArchiveRanks: traces of all ranks are archived at Close, and going back to one continues it.
func TestArchiveRanks(t *testing.T) {
	dir := t.TempDir()
	rank := naming.Rank(0)
	s := Dir(dir, naming.Scheme{User: "u", PID: 1, Host: "h", Rank: func() naming.Rank { return rank }}, Options{Format: format.CLP})
	for n := range 6 {
		rank = naming.Rank(n % 2)
		clpAppend(t, s, 100*n, 100*n+100)
	}
	if st := s.Stats(); st.Events != 600 || st.Published != 0 {
		t.Errorf("%+v", st)
	}
	must(t, s.Close())
	_, names := clpDir(t, dir)
	if len(names) != 2 {
		t.Fatalf("%q", names)
	}
	for _, name := range names {
		first := int(naming.Parse(name).Rank)
		lines := clpRead(t, vfs.OS, filepath.Join(dir, name))
		if len(lines) != 300 || lines[0] != clpLine(100*first) || lines[100] != clpLine(200+100*first) {
			t.Errorf("%s: %d events", name, len(lines))
		}
	}
	if st := s.Stats(); st.Events != 600 || st.Published != 2 {
		t.Errorf("%+v", st)
	}
}

func TestArchiveNeedsAFile(t *testing.T) {
	s := Writer(&strings.Builder{}, Options{Format: format.CLP})
	var bad *OptionError
	if err := s.Append([]byte(packed(0))); !errors.As(err, &bad) || !strings.Contains(err.Error(), "clp-ir") {
		t.Errorf("%v", err)
	}
	must(t, Options{Format: format.CLP}.Validate())
}
