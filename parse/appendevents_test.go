package parse

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tracehandler/tracehandler/internal/vfs"
)

// TestAppendEvents: what was there stays, the lines come behind it, gzip stays one member, and nothing is left behind.
func TestAppendEvents(t *testing.T) {
	c := edgeCompile
	for _, e := range []struct {
		name    string
		content []byte
	}{
		{"plain.ndjson", []byte(c + "\n")},
		{"no_end.ndjson", []byte(c)},
		{"empty.ndjson", nil},
		{"members.ndjson.gz", gzipMembers(c, c)},
		{"frames.ndjson.zst", zstdFrames(c, c)},
	} {
		dir := t.TempDir()
		path, link := filepath.Join(dir, e.name), filepath.Join(dir, "link")
		if err := os.WriteFile(path, e.content, 0o640); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(path, link); err != nil {
			link = path // not everywhere allowed
		}
		want := string(decompressAny(t, e.content)) + `{"event_type":"x"}` + "\n"
		if err := AppendEvents(link, []byte(`{"event_type":"x"}`+"\n")); err != nil {
			t.Fatal(err)
		}
		if got := decompress(t, path); string(got) != want {
			t.Errorf("%s: %q, want %q", e.name, got, want)
		}
		if st, err := os.Stat(path); err != nil || st.Mode().Perm()&0o077&^0o040 != 0 {
			t.Errorf("%s: %v %v", e.name, st, err)
		}
		if entries, _ := os.ReadDir(dir); len(entries) > 2 {
			t.Errorf("%s: left behind: %v", e.name, entries)
		}
	}
}

func decompressAny(t *testing.T, content []byte) []byte {
	t.Helper()
	if len(content) == 0 {
		return nil
	}
	var all [][]byte
	path := filepath.Join(t.TempDir(), "x")
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	var rep RankReport
	err := readLines(path, &rep, nil, func(_ int64, text []byte) error {
		all = append(all, bytes.Clone(text))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return append(bytes.Join(all, []byte("\n")), '\n')
}

// TestAppendEventsRefuses: a trace that cannot be appended to stays as it is.
func TestAppendEventsRefuses(t *testing.T) {
	dir := t.TempDir()
	if _, err := Dir(context.Background(), "testdata/cases/01_example/input", filepath.Join(dir, "clp"), &Options{Output: CLP, NoSplit: true}); err != nil {
		t.Fatal(err)
	}
	archives, _ := filepath.Glob(filepath.Join(dir, "clp", "*.clp"))
	if len(archives) != 1 {
		t.Fatal(archives)
	}
	torn := filepath.Join(dir, "torn.ndjson.gz")
	z := gzipMembers(edgeCompile, edgeLaunch)
	write(t, torn, string(z[:len(z)-9]))
	partial := filepath.Join(dir, "x.ndjson.partial")
	write(t, partial, edgeCompile+"\n")
	busy := filepath.Join(dir, "busy.ndjson")
	write(t, busy, edgeCompile+"\n")
	f, err := vfs.OS.OpenFile(busy, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := f.TryLock(); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{archives[0], torn, partial, busy, filepath.Join(dir, "none")} {
		before, _ := os.ReadFile(path)
		if err := AppendEvents(path, []byte("{}\n")); err == nil || !strings.Contains(err.Error(), filepath.Base(path)) {
			t.Errorf("%s: %v", filepath.Base(path), err)
		}
		if after, _ := os.ReadFile(path); !bytes.Equal(before, after) {
			t.Errorf("%s was changed", filepath.Base(path))
		}
	}
	if left, _ := filepath.Glob(filepath.Join(dir, ".*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}
