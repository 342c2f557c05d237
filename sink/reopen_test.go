package sink

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/tracehandler/tracehandler/event"
	"github.com/tracehandler/tracehandler/finalize"
	"github.com/tracehandler/tracehandler/format"
	"github.com/tracehandler/tracehandler/internal/frame"
	"github.com/tracehandler/tracehandler/naming"
)

// streamOf returns a finished stream of n events, each in a frame of its own if single is set.
func streamOf(t *testing.T, n int, single bool) (path string, file []byte) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "trace.clp.zst")
	s := File(path, Options{Format: format.CLPIR, PerRecord: single})
	enc := s.Encoder(event.Options{})
	var b event.Buffer
	for i := range n {
		b.Reset()
		enc.AppendEvent(&b, event.Lazy([]byte(line(i))))
		must(t, s.Append(b.B))
	}
	must(t, s.Close())
	file, err := os.ReadFile(path)
	must(t, err)
	return path, file
}

// textOf returns the text in the zstd frames of b.
func textOf(t *testing.T, b []byte) []byte {
	t.Helper()
	z, err := zstd.NewReader(bytes.NewReader(b), zstd.WithDecoderConcurrency(1))
	must(t, err)
	defer z.Close()
	text, err := io.ReadAll(z)
	must(t, err)
	return text
}

// TestForeignStreamStays: a stream whose frames do not end with whole events cannot be continued. It stays as it is.
func TestForeignStreamStays(t *testing.T) {
	path, whole := streamOf(t, 20, false)
	text := textOf(t, whole)
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

	s := File(path, Options{Format: format.CLPIR})
	enc := s.Encoder(event.Options{})
	var b event.Buffer
	enc.AppendEvent(&b, event.Lazy([]byte(line(20))))
	if err := s.Append(b.B); err == nil {
		t.Error("no error")
	}
	must(t, s.Close())
	if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, foreign) {
		t.Errorf("the trace has changed: %v", err)
	}
}

// TestDamagedStream: a partial with a hole in it becomes a trace all the same; the events before the hole are counted and the
// hole is reported. So is damage of a stream in frames that are whole.
func TestDamagedStream(t *testing.T) {
	hole := func(t *testing.T, file []byte) []byte {
		clear(file[len(file)/2 : len(file)/2+200])
		return file
	}
	stream := func(t *testing.T, file []byte) []byte {
		text := textOf(t, file)
		copy(text[len(text)/2:len(text)-1], bytes.Repeat([]byte{0xff}, len(text)))
		enc, err := frame.NewEncoder(format.Zstd, 0)
		must(t, err)
		file, err = enc.AppendFrame(nil, text)
		must(t, err)
		return file
	}
	for name, damage := range map[string]func(*testing.T, []byte) []byte{"hole": hole, "stream": stream} {
		t.Run(name, func(t *testing.T) {
			path, file := streamOf(t, 100, name == "hole")
			must(t, os.Remove(path))
			must(t, os.WriteFile(path+naming.PartialSuffix, damage(t, file), 0o600))
			reports, err := finalize.Recover(path, nil)
			must(t, err)
			if r := reports[0]; !r.Published || r.OK() || r.Events < 20 || r.Events > 80 || len(r.Damage) == 0 {
				t.Errorf("recovered: %+v", r)
			}
			r, err := finalize.Verify(path, nil)
			must(t, err)
			if r.OK() || len(r.Damage) == 0 {
				t.Errorf("verified: %+v", r)
			}
		})
	}
}
