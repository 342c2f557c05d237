package sink

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/tracehandler/tracehandler/event"
	"github.com/tracehandler/tracehandler/format"
	"github.com/tracehandler/tracehandler/internal/frame"
)

// TestForeignStreamStays: a stream whose frames do not end with whole events cannot be continued. It stays as it is.
func TestForeignStreamStays(t *testing.T) {
	path := filepath.Join(t.TempDir(), "trace.clp.zst")
	s := File(path, Options{Format: format.CLPIR})
	enc := s.Encoder(event.Options{})
	var b event.Buffer
	for i := range 20 {
		b.Reset()
		enc.AppendEvent(&b, event.Lazy([]byte(line(i))))
		must(t, s.Append(b.B))
	}
	must(t, s.Close())
	whole, err := os.ReadFile(path)
	must(t, err)
	z, err := zstd.NewReader(bytes.NewReader(whole), zstd.WithDecoderConcurrency(1))
	must(t, err)
	text, err := io.ReadAll(z)
	must(t, err)
	z.Close()
	frames, err := frame.NewEncoder(format.Zstd, 0)
	must(t, err)
	half := len(text)/2 + 1
	foreign, err := frames.AppendFrame(nil, text[:half])
	must(t, err)
	first := int64(len(foreign))
	foreign, err = frames.AppendFrame(foreign, text[half:])
	must(t, err)
	foreign = frame.AppendSeekTable(foreign, []frame.Info{
		{Size: first, ContentSize: int64(half)},
		{Offset: first, Size: int64(len(foreign)) - first, ContentSize: int64(len(text) - half)},
	})
	must(t, os.WriteFile(path, foreign, 0o600))

	s = File(path, Options{Format: format.CLPIR})
	if err := s.Append(b.B); err == nil {
		t.Error("no error")
	}
	must(t, s.Close())
	if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, foreign) {
		t.Errorf("the trace has changed: %v", err)
	}
}
