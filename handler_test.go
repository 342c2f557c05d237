package tracehandler_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/slogtest"

	"github.com/tracehandler/tracehandler"
	"github.com/tracehandler/tracehandler/event"
	"github.com/tracehandler/tracehandler/naming"
	"github.com/tracehandler/tracehandler/reader"
	"github.com/tracehandler/tracehandler/sink"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// formats are those that can be written; what a user relies on must hold for each.
var formats = []tracehandler.Format{tracehandler.Plain, tracehandler.Gzip, tracehandler.Zstd, tracehandler.CLP, tracehandler.CLPIR}

// read returns all events of a finished trace.
func read(t testing.TB, path string) []event.Event {
	t.Helper()
	all, torn := readPartial(t, path)
	if torn != nil {
		t.Fatal(torn)
	}
	return all
}

// readPartial returns all events of a trace, and the report that it ends early.
func readPartial(t testing.TB, path string) ([]event.Event, *reader.TornError) {
	t.Helper()
	r, err := reader.Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var all []event.Event
	var torn *reader.TornError
	for e, err := range r.Events() {
		switch {
		case err == nil:
			all = append(all, e.Clone())
		case !errors.As(err, &torn):
			t.Fatal(err)
		}
	}
	return all, torn
}

// asMap is an event as slogtest wants it.
func asMap(t testing.TB, attrs []slog.Attr) map[string]any {
	m := map[string]any{}
	for _, a := range attrs {
		if a.Value.Kind() == slog.KindGroup {
			m[a.Key] = asMap(t, a.Value.Group())
			continue
		}
		m[a.Key] = a.Value.Any()
	}
	return m
}

func TestSlogtest(t *testing.T) {
	for _, f := range formats {
		t.Run(f.String(), func(t *testing.T) {
			var h *tracehandler.Handler
			var path string
			slogtest.Run(t, func(t *testing.T) slog.Handler {
				path = filepath.Join(t.TempDir(), "trace"+f.Suffix())
				h = tracehandler.New(tracehandler.File(path, f), nil)
				return h
			}, func(t *testing.T) map[string]any {
				if err := h.Close(); err != nil {
					t.Fatal(err)
				}
				events := read(t, path)
				if len(events) != 1 {
					t.Fatalf("%d events, want 1", len(events))
				}
				attrs, err := events[0].Attrs()
				if err != nil {
					t.Fatal(err)
				}
				return asMap(t, attrs)
			})
		})
	}
}

func TestNothingIsMadeWithoutRecords(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "d")
	h := tracehandler.New(tracehandler.Dir(dir, tracehandler.Zstd), nil)
	slog.New(h).Debug("not enabled")
	if err := h.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the directory was made for no event: %v", err)
	}
}

func TestPartialUntilClose(t *testing.T) {
	for _, f := range formats {
		t.Run(f.String(), func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "trace"+f.Suffix())
			h := tracehandler.New(tracehandler.File(path, f), nil)
			slog.New(h).Info("one")
			if err := h.Flush(); err != nil {
				t.Fatal(err)
			}
			if _, err := os.Lstat(path); err == nil {
				t.Error("the trace has its name before Close")
			}
			if events, _ := readPartial(t, path+naming.PartialSuffix); len(events) != 1 {
				t.Errorf("the flushed partial holds %d events, want 1", len(events))
			}
			if err := h.Close(); err != nil {
				t.Fatal(err)
			}
			if n := len(read(t, path)); n != 1 {
				t.Errorf("the trace holds %d events, want 1", n)
			}
			if _, err := os.Lstat(path + naming.PartialSuffix); err == nil {
				t.Error("the partial is there after Close")
			}
			if fi, err := os.Stat(path); err != nil || fi.Mode().Perm()&0o077 != 0 && os.PathSeparator == '/' {
				t.Errorf("mode %v, %v: others may read the trace", fi.Mode(), err)
			}
		})
	}
}

func TestUnwritablePathIsAnErrorNotACrash(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	var heard error
	h := tracehandler.New(tracehandler.File(filepath.Join(file, "trace.ndjson"), tracehandler.Plain),
		&tracehandler.Options{OnError: func(err error) { heard = err }})
	r := slog.Record{Message: "m"}
	err := h.Handle(context.Background(), r)
	if err == nil || !strings.Contains(err.Error(), file) {
		t.Errorf("Handle: %v, want an error with the path", err)
	}
	if heard == nil {
		t.Error("OnError heard nothing")
	}
	if h.Close() == nil {
		t.Error("Close forgot the error")
	}
}

func TestFromEnv(t *testing.T) {
	dir := t.TempDir()
	tests := []struct {
		name string
		env  map[string]string
		want string // part of the error
	}{
		{"off", map[string]string{tracehandler.EnvDir: ""}, "off"},
		{"defaults", map[string]string{}, ""},
		{"all", map[string]string{tracehandler.EnvFormat: "gzip", tracehandler.EnvLevel: "warn+1", tracehandler.EnvSource: "true"}, ""},
		{"archive", map[string]string{tracehandler.EnvFormat: "clp"}, ""},
		{"unknown format", map[string]string{tracehandler.EnvFormat: "zip"}, `TRACEHANDLER_FORMAT="zip"`},
		{"unknown level", map[string]string{tracehandler.EnvLevel: "loud"}, `TRACEHANDLER_LEVEL="loud"`},
		{"unknown source", map[string]string{tracehandler.EnvSource: "yes"}, `TRACEHANDLER_SOURCE="yes"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Setenv(tracehandler.EnvDir, dir)
			for k, v := range tt.env {
				t.Setenv(k, v)
			}
			h, err := tracehandler.FromEnv(nil)
			if tt.want != "" {
				if h != nil || err == nil || !strings.Contains(err.Error(), tt.want) {
					t.Fatalf("%v, %v; want an error with %q", h, err, tt.want)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			slog.New(h).Error("m")
			if err := h.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestScope(t *testing.T) {
	bodyErr, consumeErr := errors.New("body failed"), errors.New("consumer failed")
	run := func(t *testing.T, ctx context.Context, body func(context.Context, *tracehandler.Handler) error, consume error) (dir string, events int, err error) {
		defer func() {
			if p := recover(); p != nil {
				err = fmt.Errorf("panic: %v", p)
			}
		}()
		err = tracehandler.Scope(ctx, tracehandler.ScopeOptions{Sink: sink.Options{Format: tracehandler.Gzip}},
			func(ctx context.Context, h *tracehandler.Handler) error {
				slog.New(h).InfoContext(ctx, "in scope")
				return body(ctx, h)
			},
			func(ctx context.Context, tr tracehandler.Traces) error {
				dir = tr.Dir
				for _, f := range tr.Files {
					events += len(read(t, f))
				}
				return consume
			})
		return dir, events, err
	}
	cancelled, cancel := context.WithCancel(context.Background())
	cancel()
	tests := []struct {
		name    string
		ctx     context.Context
		body    func(context.Context, *tracehandler.Handler) error
		consume error
		want    []error
	}{
		{"good", context.Background(), func(context.Context, *tracehandler.Handler) error { return nil }, nil, nil},
		{"body fails", context.Background(), func(context.Context, *tracehandler.Handler) error { return bodyErr }, nil, []error{bodyErr}},
		{"both fail", context.Background(), func(context.Context, *tracehandler.Handler) error { return bodyErr }, consumeErr, []error{bodyErr, consumeErr}},
		{"cancelled", cancelled, func(ctx context.Context, _ *tracehandler.Handler) error { return ctx.Err() }, nil, []error{context.Canceled}},
		{"panics", context.Background(), func(context.Context, *tracehandler.Handler) error { panic("boom") }, nil, []error{nil}},
		{"closes itself", context.Background(), func(_ context.Context, h *tracehandler.Handler) error { return h.Close() }, nil, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir, events, err := run(t, tt.ctx, tt.body, tt.consume)
			if events != 1 {
				t.Errorf("the consumer read %d events, want 1", events)
			}
			if (err != nil) != (len(tt.want) > 0) {
				t.Errorf("error %v, want %v", err, tt.want)
			}
			for _, w := range tt.want {
				if w != nil && !errors.Is(err, w) {
					t.Errorf("error %v does not hold %v", err, w)
				}
			}
			if _, statErr := os.Stat(dir); !errors.Is(statErr, fs.ErrNotExist) {
				t.Errorf("the temporary directory is still there: %v", statErr)
			}
		})
	}
}

func TestScopeKeepsAGivenDirectory(t *testing.T) {
	dir := t.TempDir()
	others := []string{"README.md", naming.Scheme{PID: os.Getpid() + 1}.FileName(0, tracehandler.Plain), "x.ndjson.partial"}
	for _, name := range others {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var files []string
	err := tracehandler.Scope(context.Background(), tracehandler.ScopeOptions{Dir: dir},
		func(_ context.Context, h *tracehandler.Handler) error {
			slog.New(h).Info("m")
			if err := h.Rotate(); err != nil {
				return err
			}
			slog.New(h).Info("m")
			return nil
		},
		func(_ context.Context, t tracehandler.Traces) error { files = t.Files; return nil })
	if err != nil {
		t.Fatal(err)
	}
	if len(files) != 2 {
		t.Errorf("the consumer got %q, want the rotated and the last trace of this process", files)
	}
	for _, f := range files {
		if _, err := os.Stat(f); err != nil {
			t.Error(err)
		}
		if n := naming.Parse(filepath.Base(f)); n.Rank != naming.NoRank {
			t.Errorf("name %q says rank %d", f, n.Rank)
		}
	}
}
