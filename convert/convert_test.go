package convert

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/tracehandler/tracehandler/event"
	"github.com/tracehandler/tracehandler/format"
	"github.com/tracehandler/tracehandler/naming"
	"github.com/tracehandler/tracehandler/reader"
)

var formats = []format.Format{format.Plain, format.Gzip, format.Zstd}

// inputs are texts whose lines must come through unchanged.
var inputs = map[string]string{
	"events":      "{\"n\":1}\n{\"n\":2}\n",
	"no line end": "{\"n\":1}\n{\"n\":2}",
	"not events":  "\n\r\n \t\nbad\n[1]\n5\n{\"n\":NaN}\n\xff\xfe{\x00}\n{\"n\":1}\r\n{\"a\":\r1}\n\n",
	"mark":        "\xef\xbb\xbf{\"n\":1}\n",
	"blank":       "\n\n\n",
	"empty":       "",
	"long":        "{\"s\":\"" + string(bytes.Repeat([]byte("x"), 3<<20)) + "\"}\n{\"n\":1}\n",
}

// content returns the whole text of the trace at path, each line ended.
func content(t testing.TB, path string) string {
	t.Helper()
	r, err := reader.Open(path, &reader.Options{Newlines: reader.LF})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var b bytes.Buffer
	for l, err := range r.Lines() {
		if err != nil {
			t.Fatal(err)
		}
		b.Write(l.Raw)
		b.WriteByte('\n')
	}
	return b.String()
}

func write(t testing.TB, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

// names returns the names in dir.
func names(t testing.TB, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func TestThereAndBack(t *testing.T) {
	for name, in := range inputs {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			src := filepath.Join(dir, "src")
			write(t, src, in)
			want := content(t, src)
			for _, there := range formats {
				for _, back := range formats {
					a, b := filepath.Join(dir, "a"), filepath.Join(dir, "b")
					rep, err := File(t.Context(), src, a, there, &Options{Overwrite: true})
					if err != nil {
						t.Fatal(err)
					}
					if lines := int64(bytes.Count([]byte(want), []byte("\n"))); rep.Lines != lines || rep.Text != int64(len(want)) {
						t.Errorf("reports %d lines of %d bytes, want %d of %d", rep.Lines, rep.Text, lines, len(want))
					}
					if _, err := File(t.Context(), a, b, back, &Options{Overwrite: true}); err != nil {
						t.Fatal(err)
					}
					if got := content(t, b); got != want {
						t.Fatalf("%v to %v: got %.200q, want %.200q", there, back, got, want)
					}
				}
			}
		})
	}
}

func TestBadLinesAreCounted(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "src"), inputs["not events"])
	rep, err := File(t.Context(), filepath.Join(dir, "src"), filepath.Join(dir, "dst"), format.Zstd, nil)
	if err != nil || rep.Lines != 11 || rep.Bad != 5 {
		t.Fatalf("%+v, %v", rep, err)
	}
}

func TestExisting(t *testing.T) {
	dir := t.TempDir()
	src, dst := filepath.Join(dir, "src"), filepath.Join(dir, "dst")
	write(t, src, "{\"n\":1}\n")
	write(t, dst, "{\"n\":2}\n")
	if _, err := File(t.Context(), src, dst, format.Zstd, nil); !errors.Is(err, fs.ErrExist) {
		t.Fatal("an existing file is in the way: ", err)
	}
	if _, err := File(t.Context(), src, src, format.Zstd, nil); !errors.Is(err, fs.ErrExist) {
		t.Fatal("the source is in the way: ", err)
	}
	if got := content(t, dst); got != "{\"n\":2}\n" {
		t.Fatalf("dst is now %q", got)
	}
	if _, err := File(t.Context(), src, src, format.Zstd, &Options{Overwrite: true}); err != nil {
		t.Fatal(err)
	}
	if got := content(t, src); got != "{\"n\":1}\n" {
		t.Fatalf("src is now %q", got)
	}
	write(t, dst+naming.PartialSuffix, "{\"n\":3}\n")
	if _, err := File(t.Context(), src, dst, format.Zstd, &Options{Overwrite: true}); !errors.Is(err, fs.ErrExist) {
		t.Fatal("somebody's partial is in the way: ", err)
	}
	if got := content(t, dst+naming.PartialSuffix); got != "{\"n\":3}\n" {
		t.Fatalf("the partial is now %q", got)
	}
}

func TestDamagedSource(t *testing.T) {
	dir := t.TempDir()
	src, dst := filepath.Join(dir, "src"), filepath.Join(dir, "dst")
	write(t, src, "{\"n\":1}\n{\"n\":2}\n")
	if _, err := File(t.Context(), src, dst, format.Gzip, nil); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(dst)
	if err != nil {
		t.Fatal(err)
	}
	write(t, src, string(b)+string(b[:len(b)-5]))
	dst += "2"
	var torn *reader.TornError
	if _, err := File(t.Context(), src, dst, format.Zstd, nil); !errors.As(err, &torn) {
		t.Fatal("a torn source converts without a word: ", err)
	}
	if got := names(t, dir); len(got) != 2 {
		t.Fatalf("left behind: %q", got)
	}
	rep, err := File(t.Context(), src, dst, format.Zstd, &Options{Salvage: true})
	if err != nil || rep.Damaged != 1 || len(rep.Damage) != 1 || !errors.As(rep.Damage[0], &torn) {
		t.Fatalf("%+v, %v", rep, err)
	}
	if got := content(t, dst); got != "{\"n\":1}\n{\"n\":2}\n{\"n\":1}\n{\"n\":2}\n" {
		t.Fatalf("salvaged %q", got)
	}
}

func TestCancel(t *testing.T) {
	dir := t.TempDir()
	src, dst := filepath.Join(dir, "src"), filepath.Join(dir, "dst")
	var b bytes.Buffer
	for i := range 200_000 {
		fmt.Fprintf(&b, "{\"msg\":\"event\",\"n\":%d}\n", i)
	}
	write(t, src, b.String())
	stop := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	calls := 0
	_, err := File(ctx, src, dst, format.Zstd, &Options{Progress: func(read int64) {
		if calls++; read <= 0 || read > int64(b.Len()) {
			t.Errorf("read %d bytes of %d", read, b.Len())
		}
		if calls == 3 {
			cancel(stop)
		}
	}})
	if !errors.Is(err, stop) {
		t.Fatal(err)
	}
	if got := names(t, dir); len(got) != 1 {
		t.Fatalf("left behind: %q", got)
	}
}

func TestUnreadable(t *testing.T) {
	dir := t.TempDir()
	if _, err := File(t.Context(), filepath.Join(dir, "none"), filepath.Join(dir, "dst"), format.Zstd, nil); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	write(t, filepath.Join(dir, "a"), "\xfd\x2f\xc5\x30 an archive")
	var torn *reader.TornError
	if _, err := File(t.Context(), filepath.Join(dir, "a"), filepath.Join(dir, "dst"), format.Zstd, nil); !errors.As(err, &torn) {
		t.Error(err)
	}
	write(t, filepath.Join(dir, "b"), "{}\n")
	if _, err := File(t.Context(), filepath.Join(dir, "b"), filepath.Join(dir, "dst"), format.Format(77), nil); err == nil {
		t.Error("format 77 can be written")
	}
	if _, err := File(t.Context(), filepath.Join(dir, "b"), filepath.Join(dir, "dst"), format.Zstd, &Options{Level: 99}); err == nil {
		t.Error("zstd has a level 99")
	}
	if got := names(t, dir); len(got) != 2 {
		t.Fatalf("left behind: %q", got)
	}
}

// TestVerify changes the copy behind the back of the conversion: it must not be published.
func TestVerify(t *testing.T) {
	dir := t.TempDir()
	src, partial := filepath.Join(dir, "src"), filepath.Join(dir, "partial")
	write(t, src, "{\"n\":1}\n{\"n\":2}\n")
	for name, content := range map[string]string{
		"other": "{\"n\":1}\n{\"n\":3}\n", "order": "{\"n\":2}\n{\"n\":1}\n", "fewer": "{\"n\":1}\n", "split": "{\"n\":1}\n{\"n\":\n2}\n",
		"more": "{\"n\":1}\n{\"n\":2}\n\n", "torn": "\x1f\x8b\x08",
	} {
		write(t, partial, content)
		c := &copying{ctx: t.Context(), o: &Options{}, sum: newSum()}
		c.sum.add([]byte(`{"n":1}`))
		c.sum.add([]byte(`{"n":2}`))
		if err := c.verify(partial); !errors.Is(err, ErrVerify) {
			t.Errorf("%s: %v", name, err)
		}
		if write(t, partial, inputs["events"]); c.verify(partial) != nil {
			t.Errorf("%s: the right copy is refused", name)
		}
	}
}

func ExampleFile() {
	dir, err := os.MkdirTemp("", "convert")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	src, dst := filepath.Join(dir, "trace.ndjson"), filepath.Join(dir, "trace.ndjson.zst")
	line := event.New().AppendJSON(nil)
	if err := os.WriteFile(src, append(line, '\n'), 0o600); err != nil {
		fmt.Println(err)
		return
	}
	rep, err := File(context.Background(), src, dst, format.Zstd, nil)
	fmt.Println(rep.Lines, "line,", rep.Bad, "bad", err)
	// Output: 1 line, 0 bad <nil>
}
