package parse

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/tracehandler/tracehandler/parse/internal/js"
)

// variants are the ways in which the reference was run on the cases.
var variants = []struct {
	dir  string
	opts Options
}{
	{"01_example/default", Options{}},
	{"01_example/no_split", Options{NoSplit: true}},
	{"02_ranks/default", Options{}},
	{"02_ranks/rank_0", Options{Ranks: OneRank(0)}},
	{"02_ranks/rank_1", Options{Ranks: OneRank(1)}},
	{"02_ranks/rank_none", Options{Ranks: OneRank(-1)}},
	{"02_ranks/no_pre_init", Options{NoPreInit: true}},
	{"02_ranks/rank_5_falls_back", Options{Ranks: OneRank(5)}},
	{"03_launch_autotune/default", Options{}},
	{"04_malformed_fake/default", Options{}},
	{"05_split/default", Options{}},
	{"05_split/torch_trace", Options{TorchTraceDir: "testdata/cases/05_split/torch_trace"}},
	{"05_split/no_split", Options{NoSplit: true}},
	{"06_mapping/default", Options{}},
	{"06_mapping/analysis_none", Options{Analyses: []string{}}},
	{"07_full_autotune/default", Options{}},
}

// TestCompat holds the strict mode against the reference's output: equal as JSON, event by event. The other forms of
// output must hold the same bytes.
func TestCompat(t *testing.T) {
	for _, v := range variants {
		t.Run(v.dir, func(t *testing.T) {
			o := v.opts
			o.Compat = true
			got := runCase(t, v.dir, &o)
			compareFiles(t, readTree(t, expectedDir(v.dir)), got, nil)
			for _, form := range []Output{Zstd, Plain} {
				o.Output = form
				other := runCase(t, v.dir, &o)
				delete(other, listName)
				for name, lines := range other {
					if !slices.EqualFunc(lines, got[name], bytes.Equal) {
						t.Errorf("%s: %s differs from gzip", form, name)
					}
				}
			}
		})
	}
}

func expectedDir(variant string) string {
	c, v := filepath.Split(variant)
	return filepath.Join("testdata/cases", c, "expected", v)
}

func runCase(t *testing.T, variant string, o *Options) map[string][][]byte {
	t.Helper()
	out := filepath.Join(t.TempDir(), "out")
	if _, err := Dir(context.Background(), filepath.Join("testdata/cases", filepath.Dir(variant), "input"), out, o); err != nil {
		t.Fatal(err)
	}
	return readTree(t, out)
}

// readTree reads every file of a folder: its lines (log_file_list.json: one), by name without suffix of compression.
func readTree(t *testing.T, dir string) map[string][][]byte {
	t.Helper()
	files := map[string][][]byte{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		data := decompress(t, path)
		name := strings.TrimSuffix(strings.TrimSuffix(filepath.ToSlash(rel), ".gz"), ".zst")
		if filepath.Base(path) == listName {
			files[name] = [][]byte{data}
			return nil
		}
		files[name] = bytes.Split(bytes.TrimSuffix(data, []byte{'\n'}), []byte{'\n'})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func decompress(t *testing.T, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	switch {
	case bytes.HasPrefix(data, []byte{0x1f, 0x8b}):
		in := bytes.NewReader(data)
		z, err := gzip.NewReader(in)
		if err != nil {
			t.Fatal(err)
		}
		z.Multistream(false) // a browser reads one member only
		if data, err = io.ReadAll(z); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		if in.Len() > 0 {
			t.Errorf("%s: %d bytes behind the gzip member", path, in.Len())
		}
	case bytes.HasPrefix(data, []byte{0x28, 0xb5, 0x2f, 0xfd}):
		z, err := zstd.NewReader(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		defer z.Close()
		if data, err = io.ReadAll(z); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
	}
	return data
}

// compareFiles fails for each difference. change may adapt a pair of events first.
func compareFiles(t *testing.T, want, got map[string][][]byte, change func(want, got map[string]any)) {
	t.Helper()
	for name := range got {
		if _, ok := want[name]; !ok {
			t.Errorf("file %s is too many", name)
		}
	}
	for name, w := range want {
		g, ok := got[name]
		if !ok {
			t.Errorf("file %s is missing", name)
			continue
		}
		if len(g) != len(w) {
			t.Errorf("%s: %d events, want %d", name, len(g), len(w))
			continue
		}
		for i := range w {
			if bytes.Equal(canonical(t, w[i]), canonical(t, g[i])) {
				continue
			}
			var wm, gm map[string]any
			if err := errors.Join(json.Unmarshal(w[i], &wm), json.Unmarshal(g[i], &gm)); err != nil {
				t.Fatalf("%s: event %d: %v", name, i, err)
			}
			if strings.HasSuffix(name, listName) {
				normaliseList(wm)
				normaliseList(gm)
			}
			if change != nil {
				change(wm, gm)
			}
			if d := differences("", wm, gm); len(d) > 0 {
				t.Errorf("%s: event %d (%v):\n%s", name, i, wm["event_type"], strings.Join(d[:min(len(d), 8)], "\n"))
			}
		}
	}
}

// canonical is tested against encoding/json in its own package.
func canonical(t *testing.T, line []byte) []byte {
	t.Helper()
	var d js.Doc
	if err := d.Parse(line); err != nil {
		t.Fatalf("%.200s: %v", line, err)
	}
	return d.Root().AppendCanonical(nil, nil)
}

// normaliseList makes two file lists comparable: the order of files is free, and so is the compression.
func normaliseList(l map[string]any) {
	for _, v := range l {
		r, ok := v.(map[string]any)
		if !ok {
			continue
		}
		strip := func(v any) string { return strings.TrimSuffix(strings.TrimSuffix(v.(string), ".gz"), ".zst") }
		if m, ok := r["mapped_file"]; ok {
			r["mapped_file"] = strip(m)
		}
		files := r["regular_files"].([]any)
		for i := range files {
			files[i] = strip(files[i])
		}
		slices.SortFunc(files, func(a, b any) int { return strings.Compare(a.(string), b.(string)) })
	}
}

// differences lists where two JSON values differ.
func differences(path string, want, got any) []string {
	if reflect.DeepEqual(want, got) {
		return nil
	}
	short := func(v any) string {
		b, _ := json.Marshal(v)
		if len(b) > 200 {
			return string(b[:200]) + "…"
		}
		return string(b)
	}
	wm, ok1 := want.(map[string]any)
	gm, ok2 := got.(map[string]any)
	if ok1 && ok2 {
		var d []string
		for k, w := range wm {
			if g, ok := gm[k]; ok {
				d = append(d, differences(path+"/"+k, w, g)...)
			} else {
				d = append(d, fmt.Sprintf("  %s/%s: missing, want %s", path, k, short(w)))
			}
		}
		for k, g := range gm {
			if _, ok := wm[k]; !ok {
				d = append(d, fmt.Sprintf("  %s/%s: unexpected %s", path, k, short(g)))
			}
		}
		slices.Sort(d)
		return d
	}
	wa, ok1 := want.([]any)
	ga, ok2 := got.([]any)
	if ok1 && ok2 && len(wa) == len(ga) {
		var d []string
		for i := range wa {
			d = append(d, differences(fmt.Sprintf("%s/%d", path, i), wa[i], ga[i])...)
		}
		return d
	}
	return []string{fmt.Sprintf("  %s: got %s, want %s", path, short(got), short(want))}
}
