package sink

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tracehandler/tracehandler/clp/ir"
	"github.com/tracehandler/tracehandler/event"
	"github.com/tracehandler/tracehandler/finalize"
	"github.com/tracehandler/tracehandler/format"
	"github.com/tracehandler/tracehandler/naming"
	"github.com/tracehandler/tracehandler/reader"
)

// kvRecord is the i-th record of the tests: some have keys that the others have not.
func kvRecord(i int) slog.Record {
	r := slog.NewRecord(time.Unix(1700000000, int64(i)*1000), slog.LevelInfo, fmt.Sprintf("request %d took %d.5 ms", i, i%100), 0)
	r.AddAttrs(slog.Int("i", i), slog.String(fmt.Sprint("key", i/50), "two words"), slog.Uint64("hash", ^uint64(i)))
	return r
}

// kvLine is its JSON line.
func kvLine(i int) string {
	var b event.Buffer
	event.NewJSON(event.Options{}).AppendRecord(&b, kvRecord(i), nil)
	return string(bytes.TrimSpace(b.B))
}

// kvAppend adds the records from first on to before last.
func kvAppend(t *testing.T, s Sink, first, last int) {
	t.Helper()
	enc := s.Encoder(event.Options{})
	var b event.Buffer
	for i := first; i < last; i++ {
		b.Reset()
		enc.AppendRecord(&b, kvRecord(i), nil)
		if err := s.Append(b.B); err != nil {
			t.Fatal(err)
		}
	}
}

// kvLines reads a trace, which must be whole if whole is set.
func kvLines(t *testing.T, path string, whole bool) []string {
	t.Helper()
	r, err := reader.Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var lines []string
	for e, err := range r.Events() {
		if err != nil {
			if whole {
				t.Errorf("%s: %v", path, err)
			}
			continue
		}
		lines = append(lines, string(e.Line()))
	}
	return lines
}

func kvWant(t *testing.T, got []string, first, last int) {
	t.Helper()
	var want []string
	for i := first; i < last; i++ {
		want = append(want, kvLine(i))
	}
	if !slices.Equal(got, want) {
		t.Fatalf("%d events, want %d to %d", len(got), first, last)
	}
}

func TestStreamFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "trace.clp.zst")
	o := Options{Format: format.CLPIR, BlockSize: 4096}
	s := File(path, o)
	kvAppend(t, s, 0, 500)
	if err := s.Flush(); err != nil {
		t.Fatal(err)
	}
	kvWant(t, kvLines(t, path+naming.PartialSuffix, false), 0, 500)
	kvAppend(t, s, 500, 1000)
	if err := errors.Join(s.Sync(), s.Close()); err != nil {
		t.Fatal(err)
	}
	kvWant(t, kvLines(t, path, true), 0, 1000)
	rep, err := finalize.Verify(path, nil)
	if err != nil || !rep.OK() || rep.Events != 1000 || rep.Format != format.CLPIR {
		t.Errorf("%+v, %v", rep, err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	r, err := ir.NewReader(bytes.NewReader(data), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for err == nil {
		_, err = r.Next()
	}
	if err != io.EOF {
		t.Errorf("the stream ends in %v", err)
	}

	// The trace is continued: the keys are known, the end mark goes, and comes again.
	for n := 1000; n < 1300; n += 100 {
		s = File(path, o)
		kvAppend(t, s, n, n+100)
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		kvWant(t, kvLines(t, path, true), 0, n+100)
	}
}

func TestStreamRotates(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "trace.clp.zst")
	s := File(path, Options{Format: format.CLPIR, BlockSize: 4096, Rotation: Rotation{MaxSize: 8000}})
	kvAppend(t, s, 0, 2000)
	if err := s.Rotate(); err != nil {
		t.Fatal(err)
	}
	kvAppend(t, s, 2000, 2010)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(files) < 4 {
		t.Fatalf("%q, %v", files, err)
	}
	var all []string
	for _, f := range files { // rotated names sort by time, and before the live one
		info, err := os.Stat(f)
		if err != nil || info.Size() > 8000 {
			t.Errorf("%s: %d bytes, %v", f, info.Size(), err)
		}
		all = append(all, kvLines(t, f, true)...)
	}
	kvWant(t, all, 0, 2010)
}

func TestStreamPerRecordAndWriter(t *testing.T) {
	for _, single := range []bool{false, true} {
		var out bytes.Buffer
		s := Writer(&out, Options{Format: format.CLPIR, PerRecord: single, BlockSize: 2048})
		kvAppend(t, s, 0, 100)
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), "x")
		if err := os.WriteFile(path, out.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		kvWant(t, kvLines(t, path, true), 0, 100)
		if n := bytes.Count(out.Bytes(), []byte("\x28\xb5\x2f\xfd")); single && n < 101 {
			t.Errorf("%d frames", n)
		}
	}
}

func TestStreamDir(t *testing.T) {
	dir := t.TempDir()
	s := Dir(dir, naming.Scheme{Rank: func() naming.Rank { return 3 }}, Options{Format: format.CLPIR})
	kvAppend(t, s, 0, 50)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	files, _ := filepath.Glob(filepath.Join(dir, "*"))
	if len(files) != 1 || !strings.HasSuffix(files[0], ".clp.zst") {
		t.Fatalf("%q", files)
	}
	kvWant(t, kvLines(t, files[0], true), 0, 50)
}

func TestStreamTakesNoLines(t *testing.T) {
	s := Writer(io.Discard, Options{Format: format.CLPIR})
	var drop *DropError
	for _, p := range []string{"", "{}\n", `{"time":"2026-11-30T10:46:59Z","level":"INFO","msg":"a line"}` + "\n"} {
		if err := s.Append([]byte(p)); !errors.As(err, &drop) {
			t.Errorf("%q: %v", p, err)
		}
	}
	kvAppend(t, s, 0, 3)
	if err := s.Close(); err != nil || s.Stats().WrittenEvents != 3 || s.Stats().DroppedEvents != 3 {
		t.Errorf("%+v, %v", s.Stats(), err)
	}
	if err := s.Append(nil); err != ErrClosed {
		t.Errorf("after Close: %v", err)
	}
}

func TestStreamOtherFormat(t *testing.T) {
	path := filepath.Join(t.TempDir(), "trace.zst")
	s := File(path, Options{Format: format.Zstd})
	if err := errors.Join(s.Append([]byte("{}\n")), s.Close()); err != nil {
		t.Fatal(err)
	}
	s = File(path, Options{Format: format.CLPIR})
	var b event.Buffer
	s.Encoder(event.Options{}).AppendRecord(&b, kvRecord(1), nil)
	var other *FormatError
	if err := s.Append(b.B); !errors.As(err, &other) || other.Want != format.CLPIR {
		t.Errorf("continuing lines as a stream: %v", err)
	}
	if err := s.Close(); err != nil && !errors.As(err, &other) {
		t.Error(err)
	}
}

// TestStreamFollowed follows a trace while it is written, finished and continued.
func TestStreamFollowed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "trace.clp.zst")
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	got := make(chan string, 100)
	done := make(chan error, 1)
	go func() {
		var first error
		for e, err := range reader.Follow(ctx, path, &reader.FollowOptions{Interval: 5 * time.Millisecond}) {
			if err != nil && first == nil {
				first = err
			}
			if err == nil {
				got <- string(e.Line())
			}
		}
		close(got)
		done <- first
	}()
	want := func(first, last int) {
		t.Helper()
		for i := first; i < last; i++ {
			select {
			case line := <-got:
				if line != kvLine(i) {
					t.Fatalf("event %d: %s", i, line)
				}
			case <-ctx.Done():
				t.Fatalf("event %d did not come", i)
			}
		}
	}
	s := File(path, Options{Format: format.CLPIR})
	for n := 0; n < 40; n += 10 {
		kvAppend(t, s, n, n+10)
		if err := s.Flush(); err != nil {
			t.Fatal(err)
		}
		want(n, n+10)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	select {
	case line := <-got:
		t.Errorf("after the end: %s", line)
	case <-time.After(100 * time.Millisecond):
	}
	cancel()
	for line := range got {
		t.Errorf("after the end: %s", line)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
}
