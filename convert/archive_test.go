package convert

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/tracehandler/tracehandler/clp/archive"
	"github.com/tracehandler/tracehandler/clp/kql"
	"github.com/tracehandler/tracehandler/event"
	"github.com/tracehandler/tracehandler/format"
	"github.com/tracehandler/tracehandler/internal/vfs"
	"github.com/tracehandler/tracehandler/naming"
	"github.com/tracehandler/tracehandler/reader"
)

// lines returns n lines of events, all with the same members.
func lines(n int) (text string) {
	random := rand.New(rand.NewPCG(3, 4))
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `{"time":"2026-01-02T03:%02d:%02d.%09dZ","level":"INFO","msg":"took %d ms for id=%x","f":%g,"tags":["a b",{"n":%d}],"none":null}`+"\n",
			i/60%60, i%60, i*7, random.IntN(5000), random.Uint64(), random.Float64(), i)
	}
	return b.String()
}

// TestArchive converts from each format to an archive, and back to each.
func TestArchive(t *testing.T) {
	dir := t.TempDir()
	text := lines(700)
	src := filepath.Join(dir, "app.ndjson")
	write(t, src, text)
	for _, from := range format.All() {
		in := filepath.Join(dir, "in"+from.Suffix())
		if _, err := File(t.Context(), src, in, from, nil); err != nil {
			t.Fatal(from, err)
		}
		out := filepath.Join(dir, "from-"+from.String()+".clp")
		read := int64(0)
		rep, err := File(t.Context(), in, out, format.CLP, &Options{Level: 5, Progress: func(n int64) { read = n }})
		if err != nil {
			t.Fatal(from, err)
		}
		if rep.Lines != 700 || rep.Bad != 0 || rep.Text != int64(len(text)) || rep.DstSize == 0 || read == 0 || rep.Parts != nil {
			t.Errorf("%v: %+v, %d read", from, rep, read)
		}
		if got := content(t, out); got != text {
			t.Errorf("%v: other lines", from)
		}
	}
	r, err := reader.Open(filepath.Join(dir, "in.clp"), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if r.TimeKey() != "time" {
		t.Errorf("the key of the time is %q", r.TimeKey())
	}
	for query, want := range map[string]int64{"$_filename: app.ndjson": 700, "$tracehandler.part: 1": 0} { // it is no part of a set
		if n := count(t, filepath.Join(dir, "in.clp"), query); n != want {
			t.Errorf("%s finds %d events, want %d", query, n, want)
		}
	}
}

// count returns how many events of the trace at path a query finds.
func count(t *testing.T, path, query string) int64 {
	t.Helper()
	r, err := reader.Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	q, err := kql.Parse(query, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Select(q)
	for range r.Events() {
	}
	return r.Stats().Events
}

// TestArchiveSet has an archive become several, which are read as one, and converted again.
func TestArchiveSet(t *testing.T) {
	dir := t.TempDir()
	text := lines(3000)
	src, dst := filepath.Join(dir, "app.ndjson"), filepath.Join(dir, "app.clp")
	write(t, src, text)
	rep, err := File(t.Context(), src, dst, format.CLP, &Options{Memory: 200 << 10})
	if err != nil {
		t.Fatal(err)
	}
	if len(rep.Parts) < 3 || rep.Parts[len(rep.Parts)-1] != dst || rep.Lines != 3000 {
		t.Fatalf("%+v", rep)
	}
	if got := content(t, dst); got != text {
		t.Error("other lines")
	}
	if got := names(t, dir); len(got) != len(rep.Parts)+1 {
		t.Errorf("there are %q", got)
	}
	back := filepath.Join(dir, "back.ndjson.zst")
	if _, err := File(t.Context(), dst, back, format.Zstd, nil); err != nil {
		t.Fatal(err)
	}
	if got := content(t, back); got != text {
		t.Error("other lines")
	}
	second := count(t, rep.Parts[1], "$tracehandler.part: 2")
	if err := os.Remove(rep.Parts[1]); err != nil {
		t.Fatal(err)
	}
	var damage *reader.DamageError
	if _, err := File(t.Context(), dst, filepath.Join(dir, "less.ndjson"), format.Plain, nil); !errors.As(err, &damage) || damage.Lost != second || second == 0 {
		t.Errorf("%v, of a part with %d events", err, second)
	}
}

// TestArchiveSetEnd has a trace end, or seem to go on, just where an archive is full: no archive is empty.
func TestArchiveSetEnd(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1)) // so that an archive is full at the same event each time
	dir := t.TempDir()
	src, dst := filepath.Join(dir, "app.ndjson"), filepath.Join(dir, "app.clp")
	o := &Options{Memory: 200 << 10, Salvage: true, Overwrite: true}
	text := lines(3000)
	write(t, src, text)
	rep, err := File(t.Context(), src, dst, format.CLP, o)
	if err != nil {
		t.Fatal(err)
	}
	if len(rep.Parts) == 0 {
		t.Fatal("one archive was enough")
	}
	full := int(count(t, rep.Parts[0], "*")) // lines that fit
	for _, name := range rep.Parts {
		os.Remove(name)
	}
	some := strings.Join(strings.SplitAfter(text, "\n")[:full], "")
	for _, end := range []string{"", "{no event\n", "{no event\n\n{\"a\":\n"} {
		write(t, src, some+end)
		rep, err := File(t.Context(), src, dst, format.CLP, o)
		if err != nil {
			t.Fatal(err)
		}
		if rep.Lines != int64(full) || rep.Parts != nil || rep.Damaged != int64(strings.Count(end, "{")) {
			t.Errorf("%q: %+v", end, rep)
		}
	}
}

// TestStructuredArrays takes arrays apart: the lines are the same, and the values in arrays are columns.
func TestStructuredArrays(t *testing.T) {
	dir := t.TempDir()
	text := lines(50)
	src := filepath.Join(dir, "app.ndjson")
	write(t, src, text)
	for _, structured := range []bool{false, true} {
		dst := filepath.Join(dir, fmt.Sprint(structured, ".clp"))
		if _, err := File(t.Context(), src, dst, format.CLP, &Options{StructuredArrays: structured}); err != nil {
			t.Fatal(err)
		}
		if got := content(t, dst); got != text {
			t.Errorf("structured %v: other lines", structured)
		}
		r, err := reader.Open(dst, nil)
		if err != nil {
			t.Fatal(err)
		}
		for table := range r.Archive().Tables() {
			if table.Structured != structured {
				t.Errorf("structured %v: %+v", structured, table)
			}
		}
		r.Close()
	}
}

func TestArchiveErrors(t *testing.T) {
	dir := t.TempDir()
	in := func(name, text string) string {
		write(t, filepath.Join(dir, name), text)
		return filepath.Join(dir, name)
	}
	dst := filepath.Join(dir, "dst.clp")
	var bad *reader.LineError
	if _, err := File(t.Context(), in("bad", "{\"a\":1}\nno\n{\"a\":2}\n"), dst, format.CLP, nil); !errors.As(err, &bad) || bad.Line != 2 {
		t.Error(err)
	}
	if _, err := File(t.Context(), in("empty", "\n \n"), dst, format.CLP, nil); !errors.Is(err, ErrNoEvents) {
		t.Error(err)
	}
	var syntax *kql.SyntaxError
	if _, err := File(t.Context(), in("good", lines(10)), dst, format.CLP, &Options{TimeKey: "a.*"}); !errors.As(err, &syntax) {
		t.Error(err)
	}
	if _, err := File(t.Context(), in("good", lines(10)), dst, format.CLP, &Options{Level: 20}); err == nil {
		t.Error("level 20 is taken")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := File(ctx, in("good", lines(10)), dst, format.CLP, nil); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if got := names(t, dir); len(got) != 3 {
		t.Errorf("left behind: %q", got)
	}
	rep, err := File(t.Context(), filepath.Join(dir, "bad"), dst, format.CLP, &Options{Salvage: true})
	if err != nil || rep.Lines != 2 || rep.Damaged != 1 {
		t.Errorf("%+v %v", rep, err)
	}
	if _, err := File(t.Context(), filepath.Join(dir, "good"), dst, format.CLP, nil); !errors.Is(err, os.ErrExist) {
		t.Error(err)
	}
	if _, err := File(t.Context(), filepath.Join(dir, "good"), dst, format.CLP, &Options{Overwrite: true}); err != nil || strings.Count(content(t, dst), "\n") != 10 {
		t.Error(err)
	}
}

// TestArchiveLeftovers: what a killed conversion has left is removed, what somebody writes just now is not in the way.
func TestArchiveLeftovers(t *testing.T) {
	dir := t.TempDir()
	src, dst := filepath.Join(dir, "app.ndjson"), filepath.Join(dir, "app.clp")
	write(t, src, lines(10))
	f, err := vfs.OS.OpenFile(dst+".archive-2"+naming.PartialSuffix, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := f.TryLock(); err != nil {
		t.Fatal(err)
	}
	for _, n := range []string{"1", "3"} {
		write(t, dst+".archive-"+n+naming.PartialSuffix, "left")
	}
	if _, err := File(t.Context(), src, dst, format.CLP, nil); err != nil {
		t.Fatal(err)
	}
	if got := names(t, dir); !slices.Equal(got, []string{"app.clp", "app.clp.archive-2.partial", "app.ndjson"}) {
		t.Errorf("there are %q", got)
	}
}

// TestArchiveVerify changes what was written before it is read back.
func TestArchiveVerify(t *testing.T) {
	dir := t.TempDir()
	text := lines(20)
	for name, content := range map[string]string{"fewer": lines(19), "other": strings.Replace(text, "INFO", "WARN", 1), "spelling": strings.ReplaceAll(text, "level", "l\\u0065vel")} {
		a := &archiveOut{c: &copying{ctx: t.Context(), o: &Options{}, sum: newSum()}, sources: []string{filepath.Join(dir, "src")}}
		write(t, a.sources[0], text)
		for l := range strings.Lines(text) {
			a.c.sum.add([]byte(strings.TrimSpace(l)))
		}
		f, err := os.Create(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		w, err := archive.NewWriter(f, nil)
		if err != nil {
			t.Fatal(err)
		}
		for l := range strings.Lines(content) {
			if err := w.WriteEvent(event.Lazy([]byte(strings.TrimSpace(l)))); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		a.parts = []*archivePart{{f: onDisk{f}}}
		if err := a.verify(); errors.Is(err, ErrVerify) == (name == "spelling") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// onDisk is a file that need not be locked.
type onDisk struct{ *os.File }

func (onDisk) TryLock() error { return nil }
