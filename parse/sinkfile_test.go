package parse

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/tracehandler/tracehandler/parse/internal/js"
	"github.com/tracehandler/tracehandler/reader"
)

// TestCLP: output as a CLP stream holds the same events as gzip output, and parses again as input.
func TestCLP(t *testing.T) {
	dir := t.TempDir()
	source := "testdata/cases/04_malformed_fake/input"
	for _, form := range []Output{Gzip, CLPIR} {
		if _, err := Dir(context.Background(), source, filepath.Join(dir, form.String()), &Options{Output: form, NoSplit: true}); err != nil {
			t.Fatal(err)
		}
	}
	read := func(path string) (lines []string) {
		t.Helper()
		files, err := filepath.Glob(path)
		if err != nil || len(files) != 1 {
			t.Fatal(files, err)
		}
		r, err := reader.Open(files[0], nil)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		for e, err := range r.Events() {
			if err != nil {
				t.Fatal(err)
			}
			var d js.Doc
			if err := d.Parse(e.AppendJSON(nil)); err != nil {
				t.Fatal(err)
			}
			lines = append(lines, string(d.Root().AppendCanonical(nil, nil)))
		}
		return lines
	}
	want, got := read(filepath.Join(dir, "gzip/rank_0/*")), read(filepath.Join(dir, "clp-ir/rank_0/*"))
	if len(got) != len(want) {
		t.Fatalf("%d events, want %d", len(got), len(want))
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("event %d:\n got %.2000s\nwant %.2000s", i, got[i], want[i])
		}
	}

	// A raw trace as a CLP stream parses like the same trace as text.
	in := filepath.Join(dir, "clp-ir/rank_0")
	files, err := filepath.Glob(filepath.Join(in, "*"))
	if err != nil {
		t.Fatal(err)
	}
	rep, err := Dir(context.Background(), files[0], filepath.Join(dir, "again"), nil)
	if err != nil {
		t.Fatal(err)
	}
	if e := rep.Events(); e["compilation"] != 4 || e["launch"] != 7 || e["launch_diff"] != 4 {
		t.Errorf("parsed again: %v", e)
	}
}
