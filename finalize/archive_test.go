package finalize

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tracehandler/tracehandler/clp/archive"
	"github.com/tracehandler/tracehandler/clp/ir"
	"github.com/tracehandler/tracehandler/clp/ir/slogkv"
	"github.com/tracehandler/tracehandler/event"
	"github.com/tracehandler/tracehandler/format"
	"github.com/tracehandler/tracehandler/internal/temporary"
	"github.com/tracehandler/tracehandler/internal/vfs"
	"github.com/tracehandler/tracehandler/internal/vfs/crashfs"
)

const clpTrace = "/logs/trace.clp"

// journalBytes returns a journal of the events from first on to before last, as frames of ten events, and the end of each frame.
func journalBytes(t testing.TB, id string, last int) (file []byte, ends []int) {
	t.Helper()
	w := slogkv.NewWriter(ir.Limits{})
	stream, err := w.AppendJournalPreamble(nil, slogkv.Journal{ID: id})
	must(t, err)
	enc := slogkv.NewEncoder(event.Options{})
	for i := range last {
		r := slog.NewRecord(time.Unix(1_700_000_000, int64(i)).UTC(), slog.LevelInfo, fmt.Sprint("event number ", i), 0)
		r.AddAttrs(slog.Int("i", i))
		var b event.Buffer
		enc.AppendRecord(&b, r, nil)
		stream, err = w.Append(stream, b.B)
		must(t, err)
		if i%10 == 9 || i == last-1 {
			file = append(file, encode(t, format.Zstd, string(stream))...)
			ends = append(ends, len(file))
			stream = stream[:0]
		}
	}
	return file, ends
}

// numbers returns the attribute i of the events of an archive.
func numbers(t testing.TB, fsys vfs.FS, path string) (list []int64) {
	t.Helper()
	data := get(t, fsys, path)
	r, err := archive.Open(bytes.NewReader(data), int64(len(data)), nil)
	must(t, err)
	defer r.Close()
	for rec, err := range r.All() {
		must(t, err)
		e, err := rec.Event()
		must(t, err)
		v, _ := e.Get("i")
		list = append(list, v.Int64())
	}
	return list
}

func wantNumbers(t testing.TB, got []int64, last int) {
	t.Helper()
	for i := range got {
		if got[i] != int64(i) {
			t.Fatalf("event %d stands where %d should", got[i], i)
		}
	}
	if len(got) != last {
		t.Fatalf("%d events, want %d", len(got), last)
	}
}

// TestArchiveRecover: a journal becomes an archive by what it holds, whatever its name; the frames it ends in are repaired
// first.
func TestArchiveRecover(t *testing.T) {
	file, ends := journalBytes(t, NewJournalID(), 55)
	for _, name := range []string{clpTrace, "/logs/trace.txt"} {
		for _, cut := range []int{0, 1, 20, len(file) - ends[len(ends)-2] - 1} {
			fsys := crashfs.New()
			put(t, fsys, name+".partial", file[:len(file)-cut])
			reports, err := Recover("/logs", &Options{FS: fsys})
			must(t, err)
			rep := reports[0]
			want := 55
			if cut > 0 {
				want = 50 + int(rep.SalvagedEvents)
			}
			if !rep.Published || rep.Format != format.CLP || rep.Path != name || rep.Events != int64(want) || rep.Kept != "" {
				t.Errorf("%s cut by %d: %+v", name, cut, rep)
			}
			if got := names(t, fsys, "/logs"); len(got) != 1 {
				t.Errorf("%q", got)
			}
			wantNumbers(t, numbers(t, fsys, name), want)
			v, err := Verify(name, &Options{FS: fsys})
			if err != nil || !v.OK() || v.Events != int64(want) || v.Format != format.CLP || v.Text != rep.Text {
				t.Errorf("%+v, %v; recovered %+v", v, err, rep)
			}
		}
	}
}

// TestArchiveRecoverAgain: archives of a journal that is still there are not made a second time.
func TestArchiveRecoverAgain(t *testing.T) {
	file, ends := journalBytes(t, NewJournalID(), 60)
	fsys := crashfs.New()
	put(t, fsys, clpTrace+".partial", file)
	_, err := Recover("/logs", &Options{FS: fsys})
	must(t, err)
	before := get(t, fsys, clpTrace)

	put(t, fsys, clpTrace+".partial", file) // the crash was before its removal
	reports, err := Recover("/logs", &Options{FS: fsys})
	must(t, err)
	if !reports[0].Published || reports[0].Path != clpTrace || !slices.Equal(names(t, fsys, "/logs"), []string{"trace.clp"}) ||
		!bytes.Equal(get(t, fsys, clpTrace), before) {
		t.Errorf("%+v, %q", reports[0], names(t, fsys, "/logs"))
	}

	// A beginning of the journal was archived: as when a program goes on with a journal that had its archive already.
	fsys = crashfs.New()
	put(t, fsys, clpTrace+".partial", file[:ends[2]])
	_, err = Recover("/logs", &Options{FS: fsys})
	must(t, err)
	put(t, fsys, clpTrace+".partial", file)
	_, err = Recover("/logs", &Options{FS: fsys})
	must(t, err)
	files := names(t, fsys, "/logs")
	if len(files) != 2 || files[1] != "trace.clp" {
		t.Fatalf("%q", files)
	}
	wantNumbers(t, append(numbers(t, fsys, "/logs/"+files[0]), numbers(t, fsys, clpTrace)...), 60)

	// Another journal's archive is none of its business.
	other, _ := journalBytes(t, NewJournalID(), 7)
	put(t, fsys, clpTrace+".partial", other)
	_, err = Recover("/logs", &Options{FS: fsys})
	must(t, err)
	if files := names(t, fsys, "/logs"); len(files) != 3 {
		t.Fatalf("%q", files)
	}
	wantNumbers(t, numbers(t, fsys, clpTrace), 7)
}

// TestArchiveDamaged: a damaged journal is kept, beside an archive of what could be read.
func TestArchiveDamaged(t *testing.T) {
	file, ends := journalBytes(t, NewJournalID(), 60)
	bad := bytes.Clone(file)
	bad[(ends[2]+ends[3])/2] ^= 0x55
	fsys := crashfs.New()
	put(t, fsys, clpTrace+".partial", bad)
	for n := range 2 {
		reports, err := Recover("/logs", &Options{FS: fsys})
		must(t, err)
		if n == 1 {
			if len(reports) != 0 {
				t.Errorf("again: %+v", reports)
			}
			break
		}
		rep := reports[0]
		if !rep.Published || rep.Events != 30 || rep.Kept != clpTrace+".damaged" || len(rep.Damage) == 0 {
			t.Errorf("%+v", rep)
		}
	}
	wantNumbers(t, numbers(t, fsys, clpTrace), 30)
	if got := names(t, fsys, "/logs"); !slices.Equal(got, []string{"trace.clp", "trace.clp.damaged"}) || !bytes.Equal(get(t, fsys, clpTrace+".damaged"), bad) {
		t.Errorf("%q", got)
	}
}

// TestArchiveDiffers: a file that does not hold what its journal holds is found out.
func TestArchiveDiffers(t *testing.T) {
	file, _ := journalBytes(t, NewJournalID(), 30)
	line := func(i int) string {
		return fmt.Sprintf(`{"time":%q,"level":"INFO","msg":"event number %d","i":%d}`, time.Unix(1_700_000_000, int64(i)).UTC().Format(time.RFC3339Nano), i, i)
	}
	for _, c := range []struct {
		name   string
		change func(lines []string) []string
		want   string
	}{
		{"equal", func(l []string) []string { return l }, ""},
		{"a digit", func(l []string) []string { l[7] = strings.Replace(l[7], `"i":7`, `"i":8`, 1); return l }, "schema 0"},
		{"a type", func(l []string) []string { l[7] = strings.Replace(l[7], `"i":7`, `"i":"7"`, 1); return l }, "2 tables, want 30 in 1"},
		{"an order", func(l []string) []string { l[3], l[4] = l[4], l[3]; return l }, "schema 0"},
		{"one fewer", func(l []string) []string { return l[:29] }, "29 records in 1 tables, want 30"},
	} {
		t.Run(c.name, func(t *testing.T) {
			fsys := disk(t, clpTrace+".partial", file)
			f, err := fsys.OpenFile(clpTrace+".partial", os.O_RDWR, 0)
			must(t, err)
			defer f.Close()
			p := &Partial{fs: fsys, f: f, path: clpTrace, size: int64(len(file))}
			a := newArchiving(p, ArchiveOptions{}, false)
			a.src.finish(p.size)
			made, err := a.copy()
			must(t, err)
			must(t, made.w.Close())
			must(t, a.verify(made, true))
			var lines []string
			for i := range 30 {
				lines = append(lines, line(i))
			}
			other, err := a.begin()
			must(t, err)
			for _, l := range c.change(lines) {
				must(t, other.w.Write([]byte(l)))
			}
			must(t, other.w.Close())
			err = a.verify(&part{out: other.out, w: made.w}, true)
			a.drop()
			if c.want == "" {
				must(t, err)
			} else if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}

// TestTemporaries: recovery removes the temporary files of the dead, and leaves those of the living.
func TestTemporaries(t *testing.T) {
	file, _ := journalBytes(t, NewJournalID(), 30)
	fsys := disk(t, clpTrace+".partial", file)
	for _, name := range []string{clpTrace + ".archive-1.partial", clpTrace + ".archive-2.partial", "/logs/other.clp.archive-7.partial"} {
		put(t, fsys, name, []byte("rest"))
	}
	f, err := fsys.OpenFile(clpTrace+".archive-2.partial", os.O_RDWR, 0)
	must(t, err)
	must(t, f.TryLock())
	_, err = Recover("/logs", &Options{FS: fsys})
	must(t, err)
	if got := names(t, fsys, "/logs"); !slices.Equal(got, []string{"trace.clp", "trace.clp.archive-2.partial"}) {
		t.Errorf("%q", got)
	}
	must(t, f.Close())
	reports, err := Recover(clpTrace+".archive-2.partial", &Options{FS: fsys})
	if err != nil || len(reports) != 0 || len(names(t, fsys, "/logs")) != 1 {
		t.Errorf("%+v, %v, %q", reports, err, names(t, fsys, "/logs"))
	}
	for _, path := range []string{clpTrace + ".archive-3", clpTrace + ".salvage"} {
		if _, err := OpenPartial(path, OpenOptions{FS: fsys}); err == nil || !strings.Contains(err.Error(), "temporary") {
			t.Errorf("%s: %v", path, err)
		}
	}
	for name, want := range map[string]bool{"a.archive-1.partial": true, "a.archive-.partial": false, ".archive-1.partial": false,
		"a.archive-x.partial": false, "a.archive-+1.partial": false, "a.archive-1": false, "a.archive-99999.partial": false} {
		if _, ok := temporary.Of(name); ok != want {
			t.Errorf("%s: %v", name, ok)
		}
	}
}

// TestJournalFormats: a journal is no trace of another format, and the other way round.
func TestJournalFormats(t *testing.T) {
	file, _ := journalBytes(t, NewJournalID(), 30)
	var wrong *FormatError
	for _, f := range []format.Format{format.Plain, format.Gzip, format.Zstd, format.CLPIR} {
		fsys := disk(t, clpTrace+".partial", file)
		if _, err := OpenPartial(clpTrace, OpenOptions{Format: f, FS: fsys}); !errors.As(err, &wrong) || !wrong.Journal {
			t.Errorf("%v: %v", f, err)
		}
	}
	fsys := disk(t, clpTrace+".partial", encode(t, format.Zstd, lines(0, 3)))
	if _, err := OpenPartial(clpTrace, OpenOptions{Format: format.CLP, FS: fsys}); !errors.As(err, &wrong) {
		t.Errorf("%v", err)
	}
	if reports, err := Recover("/logs", &Options{FS: disk(t, clpTrace+".partial", file), Archive: ArchiveOptions{Context: cancelled()}}); err == nil ||
		len(reports) != 1 || reports[0].Published || !errors.Is(err, context.Canceled) {
		t.Errorf("%+v, %v", reports, err)
	}
}

func cancelled() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}
