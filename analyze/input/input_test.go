package input

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func TestIsCapture(t *testing.T) {
	text, err := os.ReadFile("../category/testdata/rules.json")
	if err != nil {
		t.Fatal(err)
	}
	var v struct {
		Cases []struct {
			Path   string
			Root   *string
			Expect bool
		} `json:"is_capture_fragment"`
	}
	if err := json.Unmarshal(text, &v); err != nil || len(v.Cases) == 0 {
		t.Fatal(err)
	}
	for _, c := range v.Cases {
		root := ""
		if c.Root != nil {
			root = *c.Root
		}
		if got := IsCapture(c.Path, root); got != c.Expect {
			t.Errorf("%s below %q: %v", c.Path, root, got)
		}
	}
}

func tree(t *testing.T, names ...string) string {
	t.Helper()
	dir := t.TempDir()
	for _, n := range names {
		p := filepath.Join(dir, filepath.FromSlash(n))
		if err := errors.Join(os.MkdirAll(filepath.Dir(p), 0o700), os.WriteFile(p, []byte("{}"), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestDiscover(t *testing.T) {
	for name, c := range map[string]struct {
		files    []string
		traces   []string
		captures int
		err      error
	}{
		"ranks in order":  {files: []string{"rank10.json", "rank2.json.gz", "notes.txt"}, traces: []string{"rank2.json.gz", "rank10.json"}},
		"merged wins":     {files: []string{"merged-all.json", "rank0.json"}, traces: []string{"merged-all.json"}},
		"sidecars aside":  {files: []string{"decode.json.gz", "capture_traces/big.json.gz", "capture_traces/execution_details.json"}, traces: []string{"decode.json.gz"}, captures: 1},
		"splits are last": {files: []string{"trace_split/a.json", "whole.json"}, traces: []string{"whole.json"}},
		"only splits":     {files: []string{"trace_split/a.json"}, traces: []string{"a.json"}},
		"only sidecars":   {files: []string{"capture_traces/bs_1.json"}, captures: 1, err: ErrCaptureOnly},
		"nothing":         {files: []string{"x.txt"}, err: ErrNoTraces},
	} {
		t.Run(name, func(t *testing.T) {
			sel, err := Discover(tree(t, c.files...))
			if !errors.Is(err, c.err) || len(sel.Captures) != c.captures || len(sel.Traces) != len(c.traces) {
				t.Fatalf("%+v, %v", sel, err)
			}
			for i, f := range sel.Traces {
				if filepath.Base(f.Path) != c.traces[i] {
					t.Errorf("%d: %s, want %s", i, f.Path, c.traces[i])
				}
			}
		})
	}
	if _, err := Discover(filepath.Join(t.TempDir(), "none")); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}
