package convert

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tracehandler/tracehandler/clp/ir"
	"github.com/tracehandler/tracehandler/clp/kql"
	"github.com/tracehandler/tracehandler/event"
	"github.com/tracehandler/tracehandler/format"
	"github.com/tracehandler/tracehandler/reader"
)

// foreign returns a stream of n events as another library writes it, with metadata.
func foreign(t testing.TB, n int) []byte {
	t.Helper()
	var out bytes.Buffer
	w, err := ir.NewKVWriter(&out, &ir.KVOptions{User: []byte(`{"host":"node-07","run":{"id":42,"tag":null},"tracehandler":"not ours"}`)})
	if err != nil {
		t.Fatal(err)
	}
	for i := range n {
		var b ir.Builder
		b.Open("timestamp")
		b.Int("unix_millisecs", 1700000000000+int64(i))
		b.Close()
		b.Open("level")
		b.String("name", []string{"INFO", "WARN"}[i%2])
		b.Int("num", int64(20+10*(i%2)))
		b.Close()
		b.User()
		b.String("message", fmt.Sprintf("took %d ms for %x", i, i*7919))
		b.Float("f", float64(i)/2)
		if err := w.Write(&b); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// events returns the events of a trace, and the fields of where they come from.
func events(t testing.TB, path string) (list []string, fields []string) {
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
		list = append(list, string(e.AppendJSON(nil)))
	}
	if a := r.Archive(); a != nil {
		for _, part := range a.Ranges() {
			fields = append(fields, fmt.Sprintf("%d %d %s", part.Start, part.End, part.Fields.AppendJSON(nil)))
		}
	}
	return list, fields
}

// TestForeign makes archives of streams of another library: their keys and metadata stay what they are.
func TestForeign(t *testing.T) {
	dir := t.TempDir()
	src, dst := filepath.Join(dir, "other.clp.zst"), filepath.Join(dir, "other.clp")
	write(t, src, string(foreign(t, 400)))
	want, _ := events(t, src)
	if want[1] != `{"time":"2023-11-14T22:13:20.001Z","level":"WARN","message":"took 1 ms for 1eef","f":0.5,"@":{"level":{"num":30}}}` {
		t.Error(want[1])
	}
	for _, o := range []*Options{nil, {TimeKey: "@timestamp.unix_millisecs"}} {
		if _, err := File(t.Context(), src, dst, format.CLP, o); err != nil {
			t.Fatal(err)
		}
		got, fields := events(t, dst)
		if !slices.Equal(got, want) {
			t.Error("other events")
		}
		if wantFields := []string{`0 400 {"_filename":"other.clp.zst","host":"node-07","run":{"id":42,"tag":null},"tracehandler":{"stream":true}}`}; !slices.Equal(fields, wantFields) {
			t.Errorf("fields %q", fields)
		}
		for query, n := range map[string]int64{"@level.name: WARN": 200, "level: WARN": 200, "$run.id: 42": 400, "$host: x": 0, "@level.num > 20 AND f < 10": 10, `\@.level.num: 30`: 200, "message: *1eef": 1} {
			if got := count(t, dst, query); got != n {
				t.Errorf("%s finds %d, want %d", query, got, n)
			}
		}
		again := filepath.Join(dir, "again.clp") // an archive of the archive
		if _, err := File(t.Context(), dst, again, format.CLP, &Options{Overwrite: true}); err != nil {
			t.Fatal(err)
		}
		if got, _ := events(t, again); !slices.Equal(got, want) {
			t.Error("other events in the archive of the archive")
		}
		if n := count(t, again, "@level.name: WARN"); n != 200 {
			t.Errorf("%d warnings in the archive of the archive", n)
		}
		if err := os.Remove(dst); err != nil {
			t.Fatal(err)
		}
	}
	rep, err := File(t.Context(), src, dst, format.CLP, &Options{Memory: 100 << 10})
	if err != nil {
		t.Fatal(err)
	}
	if got, _ := events(t, dst); len(rep.Parts) < 2 || !slices.Equal(got, want) {
		t.Errorf("%d parts, or other events", len(rep.Parts))
	}
	if n := count(t, dst, "@level.name: WARN AND $host: node-07"); n != 200 {
		t.Errorf("%d warnings in the set", n)
	}
	var syntax *kql.SyntaxError
	plain := filepath.Join(dir, "plain.ndjson")
	write(t, plain, `{"a":1}`)
	if _, err := File(t.Context(), plain, filepath.Join(dir, "x.clp"), format.CLP, &Options{TimeKey: "@ts"}); !errors.As(err, &syntax) {
		t.Errorf("a key that lines have not: %v", err)
	}
}

// TestFiles makes one archive of several traces.
func TestFiles(t *testing.T) {
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	write(t, path("a.ndjson"), lines(100))
	write(t, path("empty.ndjson"), "")
	write(t, path("b.clp.zst"), string(foreign(t, 50)))
	write(t, path("c.ndjson"), lines(500))
	srcs := []string{path("a.ndjson"), path("empty.ndjson"), path("b.clp.zst"), path("c.ndjson")}
	var want []string
	size := int64(0)
	for _, src := range srcs {
		list, _ := events(t, src)
		want = append(want, list...)
		info, err := os.Stat(src)
		if err != nil {
			t.Fatal(err)
		}
		size += info.Size()
	}
	for _, memory := range []int64{0, 100 << 10} {
		dst := path(fmt.Sprintf("all-%d.clp", memory))
		rep, err := Files(t.Context(), srcs, dst, &Options{Memory: memory})
		if err != nil {
			t.Fatal(err)
		}
		if rep.Lines != 650 || rep.SrcSize != size || (len(rep.Parts) > 0) != (memory > 0) {
			t.Errorf("%+v, of %d bytes", rep, size)
		}
		got, fields := events(t, dst)
		if !slices.Equal(got, want) {
			t.Error("other events")
		}
		if memory == 0 {
			names := ""
			for _, f := range fields {
				e := event.Lazy([]byte(f[strings.IndexByte(f, '{'):]))
				name, _ := e.Get("_filename")
				stream, _ := e.Get("tracehandler", "stream")
				_, id := e.Get("_archive_creator_id")
				names += fmt.Sprint(f[:strings.IndexByte(f, '{')], name, " ", stream, " ", id, "\n")
			}
			if wantNames := "0 100 a.ndjson <nil> true\n100 150 b.clp.zst true true\n150 650 c.ndjson <nil> true\n"; names != wantNames {
				t.Errorf("sources\n%s, want\n%s", names, wantNames)
			}
		}
		for query, n := range map[string]int64{"$_filename: b*": 50, "$_filename: *.ndjson": 600, "NOT $_filename: c.ndjson": 150, "@level.name: INFO": 625, "$host: node-07": 50, "level: INFO": 625} {
			if got := count(t, dst, query); got != n {
				t.Errorf("%d: %s finds %d, want %d", memory, query, got, n)
			}
		}
		again := path(fmt.Sprintf("again-%d.clp", memory)) // which comes from the same files
		if _, err := File(t.Context(), dst, again, format.CLP, nil); err != nil {
			t.Fatal(err)
		}
		if _, got := events(t, again); len(got) != 3 {
			t.Errorf("the archive of the archive comes from %q", got)
		}
		for query, n := range map[string]int64{"$_filename: b*": 50, "$_filename: *.ndjson": 600, "@level.name: INFO": 625, "$host: node-07": 50} {
			if got := count(t, again, query); got != n {
				t.Errorf("%d, again: %s finds %d, want %d", memory, query, got, n)
			}
		}
		if n := count(t, dst, "$_file_split_number: 0 AND $_filename: a.ndjson"); n != 100 && memory == 0 || n == 0 {
			t.Errorf("%d events of the first archive of a file", n)
		}
		if n := count(t, dst, "$_file_split_number > 0"); (n > 0) != (memory > 0) {
			t.Errorf("%d events of later ones", n)
		}
	}
	if _, err := Files(t.Context(), nil, path("none.clp"), nil); !errors.Is(err, ErrNoEvents) {
		t.Error(err)
	}
	if _, err := Files(t.Context(), []string{srcs[0], path("missing")}, path("none.clp"), nil); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
	for _, name := range names(t, dir) {
		if strings.HasPrefix(name, "none") {
			t.Errorf("%s is left", name)
		}
	}
}

func ExampleFiles() {
	dir, err := os.MkdirTemp("", "convert")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	var srcs []string
	for _, name := range []string{"a.ndjson", "b.ndjson"} {
		srcs = append(srcs, filepath.Join(dir, name))
		if err := os.WriteFile(srcs[len(srcs)-1], []byte(`{"msg":"from `+name+`"}`+"\n"), 0o600); err != nil {
			fmt.Println(err)
			return
		}
	}
	dst := filepath.Join(dir, "both.clp")
	rep, err := Files(context.Background(), srcs, dst, nil)
	fmt.Println(rep.Lines, err)
	r, err := reader.Open(dst, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer r.Close()
	q, err := kql.Parse("$_filename: b.ndjson", nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	r.Select(q)
	for e, err := range r.Events() {
		fmt.Println(string(e.AppendJSON(nil)), err)
	}
	// Output:
	// 2 <nil>
	// {"msg":"from b.ndjson"} <nil>
}
