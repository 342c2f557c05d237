package convert

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tracehandler/tracehandler/event"
	"github.com/tracehandler/tracehandler/format"
	"github.com/tracehandler/tracehandler/internal/corpus"
	"github.com/tracehandler/tracehandler/reader"
)

// linesOf reads all lines of a trace.
func linesOf(t *testing.T, path string) (lines []string) {
	t.Helper()
	r, err := reader.Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for l, err := range r.Lines() {
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, string(l.Raw))
	}
	return lines
}

func TestStreamAndBack(t *testing.T) {
	dir := t.TempDir()
	src := filepath.Join(dir, "src.ndjson")
	var b bytes.Buffer
	for _, k := range corpus.Kinds() {
		if _, err := corpus.WriteNDJSON(&b, k, 1, 500); err != nil {
			t.Fatal(err)
		}
	}
	b.WriteString("\n" + `{"a":1,"a":2, "f":1.0,"big":18446744073709551615,"o":{},"deep":[1,{"x":[]}]}` + "\n" + `{"time":"x","msg":1}`)
	write(t, src, b.String())
	kv := filepath.Join(dir, "kv.clp.zst")
	rep, err := File(t.Context(), src, kv, format.CLPIR, nil)
	if err != nil || rep.Lines != 1502 || rep.SrcSize != int64(b.Len()) || rep.DstSize == 0 || rep.Bad != 0 {
		t.Fatalf("%+v, %v", rep, err)
	}
	again := filepath.Join(dir, "again.clp.zst")
	if _, err := File(t.Context(), kv, again, format.CLPIR, nil); err != nil {
		t.Fatal(err)
	}
	back := filepath.Join(dir, "back.ndjson.gz")
	if _, err := File(t.Context(), again, back, format.Gzip, nil); err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, l := range linesOf(t, src) {
		if l != "" {
			want = append(want, l)
		}
	}
	got := linesOf(t, back)
	if len(got) != len(want) {
		t.Fatalf("%d lines, want %d", len(got), len(want))
	}
	for i := range got {
		if !event.Equal(event.Lazy([]byte(got[i])), event.Lazy([]byte(want[i]))) {
			t.Errorf("line %d:\n got %s\nwant %s", i, got[i], want[i])
		}
	}
}

func TestStreamOfBadLines(t *testing.T) {
	dir := t.TempDir()
	src, dst := filepath.Join(dir, "src"), filepath.Join(dir, "dst.clp.zst")
	write(t, src, "{\"a\":1}\nno event\n{\"b\":2}\n")
	var bad *reader.LineError
	if _, err := File(t.Context(), src, dst, format.CLPIR, nil); !errors.As(err, &bad) || bad.Line != 2 {
		t.Errorf("a line that is no event: %v", err)
	}
	rep, err := File(t.Context(), src, dst, format.CLPIR, &Options{Salvage: true})
	if err != nil || rep.Lines != 2 || rep.Damaged != 1 {
		t.Errorf("%+v, %v", rep, err)
	}
	if got := strings.Join(linesOf(t, dst), " "); got != `{"a":1} {"b":2}` {
		t.Error(got)
	}
}

func TestEmptyStream(t *testing.T) {
	dir := t.TempDir()
	src, dst := filepath.Join(dir, "src"), filepath.Join(dir, "dst.clp.zst")
	write(t, src, "\n")
	if _, err := File(t.Context(), src, dst, format.CLPIR, nil); err != nil {
		t.Fatal(err)
	}
	r, err := reader.Open(dst, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if got := linesOf(t, dst); len(got) != 0 || r.Kind() != reader.CLPKeyValue {
		t.Errorf("%q, %v", got, r.Kind())
	}
}

func TestTextLog(t *testing.T) {
	dir := t.TempDir()
	src, dst := filepath.Join(dir, "app.log"), filepath.Join(dir, "app.clp.zst")
	write(t, src, "2026-11-30 10:46:59,123 INFO started with 4 workers\n2026-11-30 10:47:00,001 ERROR no disk\n  at main.go:7\n\n2026-11-30 10:47:00,002 bye")
	rep, err := File(t.Context(), src, dst, format.CLPIR, nil)
	if err != nil || rep.Lines != 3 {
		t.Fatalf("%+v, %v", rep, err)
	}
	want := []string{
		`{"time":"2026-11-30T10:46:59.123Z","level":"INFO","msg":" INFO started with 4 workers"}`,
		`{"time":"2026-11-30T10:47:00.001Z","level":"ERROR","msg":" ERROR no disk\n  at main.go:7\n"}`,
		`{"time":"2026-11-30T10:47:00.002Z","msg":" bye"}`,
	}
	if got := linesOf(t, dst); strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got %s", strings.Join(got, "\n"))
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 2 {
		t.Errorf("left behind: %v, %v", entries, err)
	}
	if _, err := File(t.Context(), src, dst, format.CLPIR, nil); !errors.Is(err, os.ErrExist) {
		t.Errorf("an existing file: %v", err)
	}
	if _, err := File(t.Context(), src, dst, format.CLPIR, &Options{Overwrite: true}); err != nil {
		t.Error(err)
	}
}
