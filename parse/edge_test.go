package parse

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/tracehandler/tracehandler/parse/internal/js"
)

const (
	edgeCompile = `{"event_type":"compilation","pid":1,"stack":[{"line":1,"name":"f","filename":"/u/a.py","loc":""}],"timestamp":"2026-05-06T00:00:00.%fZ","payload":{"metadata":{"hash":"h1","name":"k"},"file_path":{},"file_content":{}}}`
	edgeLaunch  = `{"event_type":"launch","pid":1,"name":"k","function":null,"stream":0,"grid":[1],"compilation_metadata":{"hash":"h1","name":"k"},"extracted_args":{"n":{"type":"int","value":1}},"stack":[{"line":2,"name":"g","filename":"/u/a.py","loc":""}],"timestamp":"t"}`
)

func gzipMembers(lines ...string) []byte {
	var b bytes.Buffer
	for _, l := range lines {
		w := gzip.NewWriter(&b)
		_, _ = w.Write([]byte(l + "\n"))
		_ = w.Close()
	}
	return b.Bytes()
}

func zstdFrames(lines ...string) []byte {
	w, _ := zstd.NewWriter(nil)
	var b []byte
	for _, l := range lines {
		b = w.EncodeAll([]byte(l+"\n"), b)
	}
	return b
}

// TestEdges: one oddity each. What the reference dies of costs one line here, and is reported.
func TestEdges(t *testing.T) {
	c, l := edgeCompile, edgeLaunch
	good := "compilation,launch,launch_diff"
	twice := "compilation,launch,launch,launch_diff"
	in := func(lines ...string) []byte { return []byte(strings.Join(lines, "\n") + "\n") }
	change := func(s, old, new string) string {
		if !strings.Contains(s, old) {
			t.Fatalf("%q is not in the record", old)
		}
		return strings.Replace(s, old, new, 1)
	}
	cut := func(b []byte, n int) []byte { return b[:len(b)-n] }
	flip := func(b []byte, at int) []byte { b = slices.Clone(b); b[at] ^= 0xff; return b }
	for _, e := range []struct {
		name     string
		content  []byte
		want     string
		problems int64
	}{
		{"baseline", in(c, l), good, 0},
		{"array", in(c, `[1]`, l), good, 1},
		{"scalar", in(`5`, c, l), good, 1},
		{"string", in(c, l, `"x"`), good, 1},
		{"null", in(`null`, c, l), good, 1},
		{"torn line", in(c, l, l[:40], l), twice, 1},
		{"torn last line", []byte(c + "\n" + l + "\n" + l[:40]), good, 1},
		{"garbage", in("garbage", c, l), good, 1},
		{"invalid UTF-8", in(c, l, `{"event_type":"launch","x":"`+"\xff"+`"}`), good, 1},
		{"byte order mark", append([]byte("\xef\xbb\xbf"), in(c, l)...), good, 0},
		{"CRLF", []byte(c + "\r\n" + l + "\r\n"), good, 0},
		{"CR", []byte(c + "\r" + l + "\r"), good, 0},
		{"no newline at the end", []byte(c + "\n" + l), good, 0},
		{"blank lines", in("", "  ", c, "\t", l, ""), good, 0},
		{"empty file", nil, "", 0},
		{"payload null", in(`{"event_type":"compilation","payload":null}`, c, l), good, 0},
		{"metadata null", in(`{"event_type":"compilation","payload":{"metadata":null}}`, c, l), good, 0},
		{"stack null", in(change(c, `[{"line":1,"name":"f","filename":"/u/a.py","loc":""}]`, `null`), change(l, `[{"line":2,"name":"g","filename":"/u/a.py","loc":""}]`, `null`)), good, 0},
		{"frame without file", in(c, change(l, `"/u/a.py"`, `null`)), good, 0},
		{"frame that is a number", in(c, change(l, `"stack":[`, `"stack":[7,`)), good, 0},
		{"launch without metadata", in(c, l, change(l, `"compilation_metadata"`, `"other"`)), good, 0},
		{"launch with metadata null", in(c, l, change(l, `{"hash":"h1","name":"k"}`, `null`)), good, 0},
		{"arguments null", in(c, change(l, `{"n":{"type":"int","value":1}}`, `null`)), good, 0},
		{"argument is a number", in(c, change(l, `{"type":"int","value":1}`, `3`), l), twice, 0},
		{"arguments are a note", in(c, change(l, `{"n":{"type":"int","value":1}}`, `{"_note":"captured"}`), l), twice, 0},
		{"hash is a number", in(change(c, `"h1"`, `17`), change(l, `"h1"`, `17`)), good, 0},
		{"hash is a list", in(c, l, change(l, `"h1"`, `[1]`)), good, 0},
		{"NaN", in(c, l, `{"event_type":"launch","x":NaN}`), good, 1},
		{"1e999", in(c, l, `{"event_type":"launch","x":1e999}`), good, 1},
		{"2^70", in(c, l, change(l, `"stream":0`, `"stream":1180591620717411303424`)), twice, 0},
		{"u64", in(c, l, change(l, `"stream":0`, `"stream":18446744073709551615`)), twice, 0},
		{"floats", in(c, l, change(l, `"stream":0`, `"stream":[1.0,1e16,1.5e-7,-0.0]`)), twice, 0},
		{"lone surrogate", in(c, l, `{"event_type":"launch","x":"\ud800"}`), good, 1},
		{"repeated keys", in(c, l, change(l, `"stream":0`, `"stream":0,"stream":5,"compilation_metadata":{"hash":"zz"}`)), twice, 0},
		{"control character", in(c, l, "{\"event_type\":\"launch\",\"x\":\"\x01\"}"), good, 1},
		{"2000 levels", in(c, l, `{"event_type":"launch","x":`+strings.Repeat("[", 2000)+strings.Repeat("]", 2000)+`}`), good, 1},
		{"900 levels", in(c, l, change(l, `"stream":0`, `"stream":`+strings.Repeat("[", 900)+strings.Repeat("]", 900))), twice, 0},
		{"unknown type", in(c, `{"event_type":"new"}`, `{"x":1}`, l), good, 0},
		{"NUL bytes", in("\x00\x00", c, l), good, 1},
		{"gzip members", gzipMembers(c, l), good, 0},
		{"gzip cut", cut(gzipMembers(c, l, l), 60), good, 1},
		{"gzip and zeros", append(gzipMembers(c, l), make([]byte, 64)...), good, 0},
		{"gzip and garbage", append(gzipMembers(c, l), "garbage, not gzip"...), good, 1},
		{"gzip damaged", append(flip(gzipMembers(strings.Repeat("x", 100)), 14), gzipMembers(c, l)...), good, -1},
		{"zstd frames", zstdFrames(c, l), good, 0},
		{"zstd cut", cut(zstdFrames(c, l, l), 9), good, 1},
		{"zstd and garbage", append(zstdFrames(c, l), "garbage, not zstd"...), good, 1},
		{"zstd skippable first", append([]byte{0x50, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 1, 2, 3}, zstdFrames(c, l)...), good, 0},
		{"parsed again", in(c, change(l, `"stream":0`, `"stream":0,"launch_group_hash":"x","occurrence_id":9,"autotune_launch_type":"y"`)), good, 0},
	} {
		t.Run(e.name, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "dedicated_log_triton_trace_u_.ndjson"), e.content, 0o600); err != nil {
				t.Fatal(err)
			}
			rep, err := Dir(context.Background(), dir, filepath.Join(dir, "out"), nil)
			if err != nil {
				t.Fatal(err)
			}
			var kinds []string
			for name, lines := range readTree(t, filepath.Join(dir, "out")) {
				if name == listName {
					continue
				}
				for _, line := range lines {
					var d js.Doc
					if err := d.Parse(line); err != nil {
						t.Fatalf("output is not JSON: %v", err)
					}
					kinds = append(kinds, d.Root().Get("event_type").Str())
				}
			}
			if got := strings.Join(kinds, ","); got != e.want {
				t.Errorf("events %s, want %s", got, e.want)
			}
			p := rep.Ranks[0].Problems
			if e.problems >= 0 && p != e.problems || e.problems < 0 && p == 0 {
				t.Errorf("%d problems, want %d: %v", p, e.problems, rep.Ranks[0].Details)
			}
			for _, d := range rep.Ranks[0].Details {
				if !strings.Contains(d.String(), "dedicated_log") {
					t.Errorf("problem without a place: %s", d)
				}
			}
		})
	}
}

func TestDirRefuses(t *testing.T) {
	dir := t.TempDir()
	src := filepath.Join(dir, "logs")
	trace := filepath.Join(src, "dedicated_log_triton_trace_u_rank_2_.ndjson")
	write(t, trace, edgeCompile+"\n")
	write(t, filepath.Join(src, "dedicated_log_triton_trace_u_.clp.bak"), "x")
	write(t, filepath.Join(src, "dedicated_log_triton_trace_u_.ndjson.partial"), edgeCompile+"\n")
	write(t, filepath.Join(dir, "other/file"), "precious")
	write(t, filepath.Join(dir, "empty/notes.txt"), "")
	file := filepath.Join(dir, "plainfile")
	write(t, file, "")
	for _, c := range []struct {
		name, src, out string
		opts           Options
		want           string
	}{
		{"no source", filepath.Join(dir, "none"), filepath.Join(dir, "o"), Options{}, "no such file"},
		{"no traces", filepath.Join(dir, "empty"), filepath.Join(dir, "o"), Options{}, "no traces"},
		{"rank", src, filepath.Join(dir, "o"), Options{Ranks: OneRank(7)}, "rank 7 not found; available ranks: [2]"},
		{"out is the source", src, src, Options{Overwrite: true}, "is the source"},
		{"out holds the source", src, dir, Options{Overwrite: true}, "is the source or holds it"},
		{"out exists", src, filepath.Join(dir, "other"), Options{}, "exists"},
		{"out is no output", src, filepath.Join(dir, "other"), Options{Overwrite: true}, "not the output of a parse"},
		{"out is a file", src, file, Options{Overwrite: true}, "not a folder"},
		{"analysis", src, filepath.Join(dir, "o"), Options{Analyses: []string{"x"}}, "unknown analysis"},
		{"checks", src, filepath.Join(dir, "o"), Options{ProcedureChecks: []byte("{")}, "procedure checks"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Dir(context.Background(), c.src, c.out, &c.opts)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %q", err, c.want)
			}
		})
	}
	if b, err := os.ReadFile(filepath.Join(dir, "other/file")); err != nil || string(b) != "precious" {
		t.Error("a refused parse changed the output folder")
	}
	// Neither staging nor old folders are left.
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") {
			t.Errorf("left behind: %s", e.Name())
		}
	}
	rep, err := Dir(context.Background(), src, filepath.Join(dir, "o"), nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(rep.Skipped) != 2 {
		t.Errorf("skipped %v", rep.Skipped)
	}
}

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

func tree(t *testing.T, dir string) string {
	t.Helper()
	var s []string
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			b, e := os.ReadFile(path)
			s, err = append(s, fmt.Sprintf("%s %x", path, b)), e
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(s, "\n")
}

// TestInterrupted: whatever ends a parse early leaves the old output as it was and no folder behind.
func TestInterrupted(t *testing.T) {
	dir := t.TempDir()
	src, out := filepath.Join(dir, "logs"), filepath.Join(dir, "out")
	if err := os.Mkdir(src, 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(src, "dedicated_log_triton_trace_u_.ndjson"), strings.Repeat(edgeCompile+"\n"+edgeLaunch+"\n", 200))
	if _, err := Dir(context.Background(), src, out, nil); err != nil {
		t.Fatal(err)
	}
	before := tree(t, out)

	ctx, cancel := context.WithCancel(context.Background())
	o := Options{Overwrite: true, Progress: func(int64, int64) { cancel() }}
	if _, err := Dir(ctx, src, out, &o); err == nil {
		t.Fatal("a cancelled parse succeeded")
	}
	if tree(t, out) != before {
		t.Error("a cancelled parse changed the output")
	}

	// What a killed run leaves: a staging folder with half an output, in whose place the next run works.
	write(t, filepath.Join(dir, ".out.parsing/rank_0/half.ndjson.gz"), "half")
	if _, err := Dir(context.Background(), src, out, &Options{Overwrite: true}); err != nil {
		t.Fatal(err)
	}
	if tree(t, out) != before {
		t.Error("the output differs after a killed run")
	}

	// Killed between the two renames where names cannot be exchanged: the old output is brought back.
	if err := os.Rename(out, filepath.Join(dir, ".out.old")); err != nil {
		t.Fatal(err)
	}
	if _, err := Dir(context.Background(), src, out, nil); err == nil {
		t.Error("the output that was brought back was replaced without leave")
	}
	if tree(t, out) != before {
		t.Error("the old output was not brought back")
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(entries) != 2 {
		t.Errorf("left behind: %v", entries)
	}

	// A live run keeps others out.
	st, err := openStaging(src, out, true)
	if err != nil {
		t.Fatal(err)
	}
	var busy *BusyError
	if _, err := Dir(context.Background(), src, out, &Options{Overwrite: true}); !asError(err, &busy) {
		t.Errorf("second run beside a live one: %v", err)
	}
	st.abort()
}

func asError[E error](err error, target *E) bool { return errors.As(err, target) }

// TestParts: with a size limit an output is continued, no part is larger, and a kernel that fits is in one part.
func TestParts(t *testing.T) {
	dir := t.TempDir()
	src := filepath.Join(dir, "logs")
	var b strings.Builder
	for k := range 40 {
		hash := fmt.Sprintf(`"hash%d"`, k)
		fmt.Fprintln(&b, strings.Replace(edgeCompile, `"h1"`, hash, 1))
		n := 3
		if k == 20 {
			n = 4000
		}
		for i := range n {
			l := strings.Replace(edgeLaunch, `"h1"`, hash, 1)
			fmt.Fprintln(&b, strings.Replace(l, `"value":1`, fmt.Sprintf(`"value":%d`, i*7919%1009), 1))
		}
	}
	write(t, filepath.Join(src, "dedicated_log_triton_trace_u_.ndjson"), b.String())
	const limit = 30_000
	for _, form := range []Output{Gzip, Zstd, Plain} {
		out := filepath.Join(dir, form.String())
		max := int64(limit)
		if form == Plain {
			max = 300_000
		}
		rep, err := Dir(context.Background(), src, out, &Options{Output: form, MaxOutputSize: max, Memory: 64 << 10})
		if err != nil {
			t.Fatal(err)
		}
		files := rep.Ranks[0].Files
		if len(files) < 2 {
			t.Errorf("%s: %d files", form, len(files))
		}
		counts := map[string]int64{}
		home := map[string]string{}
		for _, f := range files {
			path := filepath.Join(out, f.Path)
			st, err := os.Stat(path)
			if err != nil {
				t.Fatal(err)
			}
			if st.Size() != f.Size || st.Size() > max {
				t.Errorf("%s: %d bytes, reported %d, limit %d", f.Path, st.Size(), f.Size, max)
			}
			for _, line := range bytes.Split(bytes.TrimSpace(decompress(t, path)), []byte{'\n'}) {
				var d js.Doc
				if err := d.Parse(line); err != nil {
					t.Fatal(err)
				}
				kind := d.Root().Get("event_type").Str()
				counts[kind]++
				hash := d.Root().Get("hash").Str()
				if kind == "compilation" {
					home[d.Root().Get("payload").Get("metadata").Get("hash").Str()] = f.Path
				} else if kind == "launch_diff" && home[hash] != f.Path {
					t.Errorf("launch_diff of %s is not in the file of its compilation", hash)
				}
			}
		}
		for kind, n := range rep.Events() {
			if counts[kind] != n {
				t.Errorf("%s: %d events of %s, reported %d", form, counts[kind], kind, n)
			}
		}
		if counts["launch"] != 39*3+4000 || counts["compilation"] != 40 {
			t.Errorf("%s: %v", form, counts)
		}
	}
}
