package reader

import (
	"bytes"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/tracehandler/tracehandler/event"
	"github.com/tracehandler/tracehandler/format"
	"github.com/tracehandler/tracehandler/internal/corpus"
	"github.com/tracehandler/tracehandler/internal/frame"
)

// benchText returns about size bytes of lines like those of a service.
func benchText(b *testing.B, size int) []byte {
	b.Helper()
	var text bytes.Buffer
	if _, err := corpus.WriteNDJSON(&text, corpus.Service, 1, size/300); err != nil {
		b.Fatal(err)
	}
	return text.Bytes()
}

// benchFile writes text in format f and returns the path.
func benchFile(b *testing.B, text []byte, f format.Format) string {
	b.Helper()
	enc, err := frame.NewEncoder(f, 0)
	if err != nil {
		b.Fatal(err)
	}
	var out []byte
	for len(text) > 0 {
		n := min(frame.BlockSize(f), len(text))
		n += bytes.IndexByte(text[n-1:], '\n')
		if out, err = enc.AppendFrame(out, text[:n]); err != nil {
			b.Fatal(err)
		}
		text = text[n:]
	}
	path := filepath.Join(b.TempDir(), "trace"+f.Suffix())
	if err := os.WriteFile(path, out, 0o600); err != nil {
		b.Fatal(err)
	}
	return path
}

var sinkBytes int

// BenchmarkRead reads one file by lines and by events. Run it with -cpu 1,2: MB/s are of text. The first case is the
// decoder alone, with its own goroutines if there are cores for them.
func BenchmarkRead(b *testing.B) {
	text := benchText(b, 32<<20)
	b.Run("zstd/decoder alone", func(b *testing.B) {
		path := benchFile(b, text, format.Zstd)
		b.SetBytes(int64(len(text)))
		for b.Loop() {
			f, err := os.Open(path)
			if err != nil {
				b.Fatal(err)
			}
			d, err := zstd.NewReader(f)
			if err != nil {
				b.Fatal(err)
			}
			n, err := io.Copy(io.Discard, d)
			if err != nil || n != int64(len(text)) {
				b.Fatal(n, err)
			}
			d.Close()
			f.Close()
		}
	})
	for _, f := range []format.Format{format.Plain, format.Gzip, format.Zstd} {
		path := benchFile(b, text, f)
		for _, parallel := range []int{1, 0} {
			if parallel == 0 && runtime.GOMAXPROCS(0) == 1 {
				continue
			}
			o := Options{Parallel: parallel}
			b.Run(fmt.Sprintf("%v/lines/parallel=%d", f, parallel), func(b *testing.B) {
				benchEach(b, len(text), path, &o, (*Reader).Lines, func(l Line) { sinkBytes += len(l.Raw) })
			})
			b.Run(fmt.Sprintf("%v/events/parallel=%d", f, parallel), func(b *testing.B) {
				benchEach(b, len(text), path, &o, (*Reader).Events, func(e event.Event) { sinkBytes += len(e.Line()) })
			})
		}
	}
}

// benchEach reads the trace at path, whose text has size bytes.
func benchEach[T any](b *testing.B, size int, path string, o *Options, all func(*Reader) iter.Seq2[T, error], use func(T)) {
	b.SetBytes(int64(size))
	b.ReportAllocs()
	for b.Loop() {
		r, err := Open(path, o)
		if err != nil {
			b.Fatal(err)
		}
		for item, err := range all(r) {
			if err != nil {
				b.Fatal(err)
			}
			use(item)
		}
		r.Close()
	}
}
