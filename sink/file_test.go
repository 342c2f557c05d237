package sink

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/tracehandler/tracehandler/finalize"
	"github.com/tracehandler/tracehandler/format"
)

var formats = []format.Format{format.Plain, format.Gzip, format.Zstd}

// unpack returns the text of a file as any reader of its format sees it.
func unpack(t testing.TB, b []byte) string {
	t.Helper()
	var r io.Reader = bytes.NewReader(b)
	switch format.Detect(b) {
	case format.GzipMagic:
		z, err := gzip.NewReader(r)
		if err != nil {
			t.Fatal(err)
		}
		r = z
	case format.ZstdMagic:
		z, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1))
		if err != nil {
			t.Fatal(err)
		}
		defer z.Close()
		r = z
	}
	text, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func readFile(t testing.TB, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return unpack(t, b)
}

func line(i int) string { return fmt.Sprintf(`{"i":%d,"msg":"event number %d"}`+"\n", i, i) }

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestFileRoundTrip(t *testing.T) {
	for _, f := range formats {
		for _, perRecord := range []bool{false, true} {
			t.Run(fmt.Sprintf("%v/perRecord=%v", f, perRecord), func(t *testing.T) {
				path := filepath.Join(t.TempDir(), "a", "b", "trace"+f.Suffix())
				var want string
				for run := range 3 {
					s := File(path, Options{Format: f, PerRecord: perRecord, BlockSize: 10000})
					for i := range 1000 {
						l := line(run*1000 + i)
						must(t, s.Append([]byte(l)))
						want += l
						if i%300 == 299 {
							must(t, s.Flush())
							if got := readFile(t, path+".partial"); got != want {
								t.Fatalf("after Flush: %d bytes, want %d", len(got), len(want))
							}
						}
					}
					must(t, s.Sync())
					must(t, s.Close())
					must(t, s.Close())
					if got := readFile(t, path); got != want {
						t.Fatalf("run %d: read %d bytes, want %d", run, len(got), len(want))
					}
					if err := s.Append([]byte("x")); err != ErrClosed {
						t.Fatalf("Append after Close: %v", err)
					}
					st := s.Stats()
					if st.Events != 1000 || st.WrittenEvents != 1000 || st.Bytes != st.WrittenBytes || st.Published != 1 || st.TornBytes != 0 {
						t.Errorf("stats: %+v", st)
					}
				}
				rep, err := finalize.Verify(path, nil)
				must(t, err)
				if !rep.OK() || rep.Events != 3000 || rep.Format != f {
					t.Errorf("verify: %+v", rep)
				}
				info, err := os.Stat(path)
				must(t, err)
				if info.Mode().Perm() != 0o600 {
					t.Errorf("mode %v", info.Mode())
				}
			})
		}
	}
}
