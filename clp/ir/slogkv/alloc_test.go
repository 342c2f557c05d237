//go:build !race

package slogkv

import (
	"log/slog"
	"testing"

	"github.com/tracehandler/tracehandler/event"
)

// The race detector makes sync.Pool forget things, so that layouts are allocated anew.

func TestAllocations(t *testing.T) {
	var enc event.Encoder = NewEncoder(event.Options{AddSource: true})
	enc = enc.WithAttrs([]slog.Attr{slog.String("service", "api"), slog.Int("pid", 1)}).WithGroup("request")
	rec := tenAttrs()
	s := newStream(t)
	var b event.Buffer
	if n := testing.AllocsPerRun(1000, func() {
		b.Reset()
		enc.AppendRecord(&b, rec, nil)
		s.out, _ = s.w.Append(s.out[:0], b.B)
	}); n != 0 {
		t.Errorf("%v allocations a record", n)
	}
}
