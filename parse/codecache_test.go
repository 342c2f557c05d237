package parse

import (
	"bytes"
	"context"
	"path/filepath"
	"slices"
	"testing"

	"github.com/tracehandler/tracehandler/parse/internal/js"
	"github.com/tracehandler/tracehandler/parse/internal/traces"
)

// TestCodeCache: what is taken from the cache is what would be worked out, with room for all code, for some, for none; in
// each form of output.
func TestCodeCache(t *testing.T) {
	dir := t.TempDir()
	in := filepath.Join(dir, "in")
	write(t, filepath.Join(in, "note"), "")
	writeTraces(t, in, "compilations", traces.Options{Seed: 1, Bytes: 2e6, Ranks: 2, Procs: 1})
	for _, form := range []Output{Gzip, Zstd, Plain} {
		var want map[string][][]byte
		some := 100 << 10
		if form == Plain {
			some = 1 << 20
		}
		for i, limit := range []int{0, some, codeMemory} {
			out := filepath.Join(dir, form.String(), string(rune('a'+i)))
			set, err := (&Options{Output: form, Parallel: 1}).check(in)
			if err != nil {
				t.Fatal(err)
			}
			set.codes.limit = limit
			if _, err := dirWith(context.Background(), set, in, out); err != nil {
				t.Fatal(err)
			}
			got := readTree(t, out)
			if want == nil {
				want = got
				if len(set.codes.byKey) > 0 {
					t.Fatal("a cache without room is not empty")
				}
				continue
			}
			if n := len(set.codes.byKey); n == 0 || limit == codeMemory && n > 20 || set.codes.size > limit {
				t.Errorf("%s: cache of %d bytes holds %d in %d entries", form, limit, set.codes.size, n)
			}
			for name, lines := range want {
				if !slices.EqualFunc(lines, got[name], bytes.Equal) {
					t.Errorf("%s, cache of %d bytes: %s differs", form, limit, name)
				}
			}
		}
	}
}

// TestCodeKey: everything that the parsed form of code depends on is in its key.
func TestCodeKey(t *testing.T) {
	key := func(text string) codeKey {
		t.Helper()
		var d js.Doc
		if err := d.Parse([]byte(text)); err != nil {
			t.Fatal(err)
		}
		c := d.Root().Get("file_content")
		var x codeKeys
		return x.of(d.Root(), []byte(text)[c.Offset():])
	}
	base := `{"metadata":{"hash":"h","backend_name":"cuda","num_warps":4},"python_source":{"file_path":"/k.py"},"file_content":{"k.ttir":"x"},"more":1}`
	seen := map[codeKey]string{}
	for _, text := range []string{
		base,
		`{"metadata":{"hash":"h","backend_name":"hip","num_warps":4},"python_source":{"file_path":"/k.py"},"file_content":{"k.ttir":"x"},"more":1}`,
		`{"metadata":{"hash":"h","backend_name":"cuda","num_warps":8},"python_source":{"file_path":"/k.py"},"file_content":{"k.ttir":"x"},"more":1}`,
		`{"metadata":{"hash":"h","backend_name":"cuda","num_warps":4,"num_warps_base":2},"python_source":{"file_path":"/k.py"},"file_content":{"k.ttir":"x"},"more":1}`,
		`{"metadata":{"hash":"h","backend_name":"cuda","num_warps":4},"python_source":{"file_path":"/o.py"},"file_content":{"k.ttir":"x"},"more":1}`,
		`{"metadata":{"hash":"h","backend_name":"cuda","num_warps":4},"python_source":{"file_path":"/k.py"},"file_content":{"k.ttir":"y"},"more":1}`,
		`{"metadata":{"hash":"h","backend_name":"cuda","num_warps":4},"python_source":{"file_path":"/k.py"},"file_content":{"k.ttir":"x"},"more":2}`,
	} {
		k := key(text)
		if other, ok := seen[k]; ok {
			t.Errorf("same key:\n%s\n%s", other, text)
		}
		seen[k] = text
	}
	if key(base) != key(`{"metadata":{"hash":"another","backend_name":"cuda","num_warps":4},"python_source":{"file_path":"/k.py"},"file_content":{"k.ttir":"x"},"more":1}`) {
		t.Error("the hash of a kernel is no part of its code")
	}
}

// TestLevels: every level of compression holds the same lines, in one gzip member; other levels are refused.
func TestLevels(t *testing.T) {
	const c = "01_example/default"
	want := runCase(t, c, nil)
	for form, most := range map[Output]int{Gzip: 9, Zstd: 4} {
		for level := 1; level <= most; level++ {
			got := runCase(t, c, &Options{Output: form, Level: level})
			delete(got, listName)
			for name, lines := range got {
				if !slices.EqualFunc(lines, want[name], bytes.Equal) {
					t.Errorf("%s level %d: %s differs", form, level, name)
				}
			}
		}
	}
	for form, level := range map[Output]int{Gzip: 10, Zstd: 5, Plain: 1, CLPIR: 5, CLP: 20} {
		for _, l := range []int{level, -1} {
			if _, err := (&Options{Output: form, Level: l}).check(""); err == nil {
				t.Errorf("%s level %d is taken", form, l)
			}
		}
	}
}
