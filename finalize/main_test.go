package finalize

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"go.uber.org/goleak"

	"github.com/tracehandler/tracehandler/format"
	"github.com/tracehandler/tracehandler/internal/frame"
	"github.com/tracehandler/tracehandler/internal/vfs"
	"github.com/tracehandler/tracehandler/internal/vfs/crashfs"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var formats = []format.Format{format.Plain, format.Gzip, format.Zstd}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// stride is the distance of the bytes that tests of every byte look at. With -short, as under the race detector, it is a
// prime that visits all parts of a frame.
func stride() int {
	if testing.Short() {
		return 7
	}
	return 1
}

func line(i int) string { return fmt.Sprintf(`{"i":%d,"msg":"event number %d"}`+"\n", i, i*i*7919) }

func lines(from, to int) string {
	var b strings.Builder
	for i := from; i < to; i++ {
		b.WriteString(line(i))
	}
	return b.String()
}

// encode returns one frame for each text.
func encode(t testing.TB, f format.Format, texts ...string) []byte {
	t.Helper()
	enc, err := frame.NewEncoder(f, 0)
	must(t, err)
	var b []byte
	for _, s := range texts {
		b, err = enc.AppendFrame(b, []byte(s))
		must(t, err)
	}
	return b
}

// decode returns the text of a whole file, as any reader of its format sees it.
func decode(t testing.TB, b []byte) string {
	t.Helper()
	var r io.Reader = bytes.NewReader(b)
	switch format.Detect(b) {
	case format.GzipMagic:
		z, err := gzip.NewReader(r)
		must(t, err)
		r = z
	case format.ZstdMagic:
		z, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1))
		must(t, err)
		defer z.Close()
		r = z
	}
	text, err := io.ReadAll(r)
	must(t, err)
	return string(text)
}

// disk returns a file system that holds one file, durably.
func disk(t testing.TB, name string, b []byte) *crashfs.FS {
	t.Helper()
	fsys := crashfs.New()
	put(t, fsys, name, b)
	return fsys
}

func put(t testing.TB, fsys vfs.FS, name string, b []byte) {
	t.Helper()
	must(t, fsys.MkdirAll(dirOf(name), 0o700))
	f, err := fsys.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	must(t, err)
	_, err = f.Write(b)
	must(t, err)
	must(t, f.Sync())
	must(t, f.Close())
	for d := dirOf(name); ; d = dirOf(d) {
		must(t, fsys.SyncDir(d))
		if d == dirOf(d) {
			return
		}
	}
}

// get returns the content of a file, nil if there is none.
func get(t testing.TB, fsys vfs.FS, name string) []byte {
	t.Helper()
	f, err := fsys.OpenFile(name, os.O_RDONLY, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	must(t, err)
	defer f.Close()
	b, err := io.ReadAll(f)
	must(t, err)
	return b
}

// names lists the files in a directory.
func names(t testing.TB, fsys vfs.FS, dir string) []string {
	t.Helper()
	entries, err := fsys.ReadDir(dir)
	must(t, err)
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}
