package parse

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tracehandler/tracehandler/format"
	"github.com/tracehandler/tracehandler/internal/vfs"
	"github.com/tracehandler/tracehandler/parse/internal/traces"
	"github.com/tracehandler/tracehandler/reader"
)

// TestCLP: output as CLP streams and archives holds the same events as gzip output, on every case, and parses again as
// input.
func TestCLP(t *testing.T) {
	for _, form := range []Output{CLPIR, CLP} {
		for _, v := range variants {
			o := v.opts
			o.Output = form
			if form == CLPIR && !strings.HasSuffix(v.dir, "/default") {
				continue // how traces are chosen has nothing to do with the format
			}
			t.Run(form.String()+"/"+v.dir, func(t *testing.T) {
				want := runCase(t, v.dir, &v.opts)
				out := filepath.Join(t.TempDir(), "out")
				rep, err := Dir(context.Background(), filepath.Join("testdata/cases", filepath.Dir(v.dir), "input"), out, &o)
				if err != nil {
					t.Fatal(err)
				}
				for _, f := range rep.Files() {
					if f == listName {
						continue
					}
					path := filepath.Join(out, filepath.FromSlash(f))
					name := strings.TrimSuffix(strings.TrimSuffix(f, ".clp"), form.Format().Suffix()) + ".ndjson"
					compareEvents(t, f, want[name], readEvents(t, path))
					delete(want, name)
				}
				delete(want, listName)
				if len(want) > 0 {
					t.Errorf("%d files are missing", len(want))
				}
			})
		}
	}
}

func compareEvents(t *testing.T, name string, want, got [][]byte) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%s: %d events, want %d", name, len(got), len(want))
		return
	}
	for i := range want {
		if g, w := canonical(t, got[i]), canonical(t, want[i]); !bytes.Equal(g, w) {
			t.Errorf("%s: event %d:\n got %.2000s\nwant %.2000s", name, i, g, w)
		}
	}
}

func readEvents(t *testing.T, path string) (lines [][]byte) {
	t.Helper()
	r, err := reader.Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for e, err := range r.Events() {
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, e.AppendJSON(nil))
	}
	return lines
}

// TestCLPInput: raw traces as CLP streams and archives parse like the same traces as text.
func TestCLPInput(t *testing.T) {
	const c = "03_launch_autotune/default"
	want := runCase(t, c, nil)
	raw, err := filepath.Glob(filepath.Join("testdata/cases", filepath.Dir(c), "input", "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range []format.Format{format.CLPIR, format.CLP} {
		in := t.TempDir()
		for _, path := range raw {
			file, err := newEventFile(vfs.OS, filepath.Join(in, strings.TrimSuffix(filepath.Base(path), ".ndjson")+".clp"), f, 0, archiveMemory)
			if err != nil {
				t.Fatal(err)
			}
			lines, err := traces.Read(path)
			if err != nil {
				t.Fatal(err)
			}
			for _, l := range lines {
				if _, err := file.lines(l); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := file.close(); err != nil {
				t.Fatal(err)
			}
		}
		out := filepath.Join(t.TempDir(), "out")
		if _, err := Dir(context.Background(), in, out, nil); err != nil {
			t.Fatal(err)
		}
		got := readTree(t, out)
		for name, lines := range want {
			if name != listName {
				compareEvents(t, f.String()+": "+name, lines, got[name])
			}
		}
	}
}

// TestAbandon: a parse that has failed does not make the archive first that it is about to remove.
func TestAbandon(t *testing.T) {
	for _, f := range []format.Format{format.CLPIR, format.CLP} {
		path := filepath.Join(t.TempDir(), "x"+f.Suffix())
		file, err := newEventFile(vfs.OS, path, f, 0, archiveMemory)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := file.lines([]byte(`{"event_type":"launch"}` + "\n")); err != nil {
			t.Fatal(err)
		}
		file.abandon()
		if info, err := os.Stat(path); f == format.CLP && (err != nil || info.Size() > 0) {
			t.Errorf("%v, %v", info, err)
		}
	}
}

// TestArchiveParts: an archive that may hold no more is continued in another file, and no event is lost or doubled.
func TestArchiveParts(t *testing.T) {
	dir := t.TempDir()
	in, out := filepath.Join(dir, "in"), filepath.Join(dir, "out")
	write(t, filepath.Join(in, "note"), "")
	writeTraces(t, in, "launches", traces.Options{Seed: 1, Bytes: 5e6, Ranks: 1, Procs: 1, FreshPtr: true})
	set, err := (&Options{Output: CLP, NoSplit: true}).check(in)
	if err != nil {
		t.Fatal(err)
	}
	set.archive = 3 << 20
	rep, err := dirWith(context.Background(), set, in, out)
	if err != nil {
		t.Fatal(err)
	}
	if len(rep.Ranks[0].Files) < 2 {
		t.Fatalf("one file: %v", rep.Files())
	}
	var got, want [][]byte
	for _, f := range rep.Ranks[0].Files {
		events := readEvents(t, filepath.Join(out, filepath.FromSlash(f.Path)))
		if len(events) == 0 {
			t.Errorf("%s is empty", f.Path)
		}
		got = append(got, events...)
	}
	if _, err := Dir(context.Background(), in, filepath.Join(dir, "plain"), &Options{Output: Plain, NoSplit: true}); err != nil {
		t.Fatal(err)
	}
	for name, lines := range readTree(t, filepath.Join(dir, "plain")) {
		if name != listName {
			want = append(want, lines...)
		}
	}
	compareEvents(t, "parts", want, got)
}
