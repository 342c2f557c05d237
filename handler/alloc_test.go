//go:build !race

package handler_test

import (
	"context"
	"io"
	"log/slog"
	"path/filepath"
	"testing"

	"github.com/tracehandler/tracehandler/format"
	"github.com/tracehandler/tracehandler/handler"
	"github.com/tracehandler/tracehandler/sink"
)

// Under the race detector a sync.Pool throws things away at random, so allocations are only counted without it.
func TestHandleDoesNotAllocate(t *testing.T) {
	ctx := context.Background()
	for _, f := range []format.Format{format.Plain, format.Gzip, format.Zstd, format.CLPIR, format.CLP} {
		s := sink.Writer(io.Discard, sink.Options{Format: f})
		if f == format.CLP { // which needs a file
			s = sink.File(filepath.Join(t.TempDir(), "trace.clp"), sink.Options{Format: f})
		}
		h := handler.New(s, &handler.Options{AddSource: true, FlushInterval: -1})
		derived := h.WithAttrs([]slog.Attr{slog.String("service", "shop")}).WithGroup("http")
		r := mixed()
		_ = derived.Handle(ctx, r) // opens the sink
		n := testing.AllocsPerRun(5000, func() { _ = derived.Handle(ctx, r) })
		// The helper goroutine works meanwhile, and its few allocations are counted too: less than one is none.
		if n >= 1 {
			t.Errorf("%v: Handle allocates %v times", f, n)
		}
		if err := h.Close(); err != nil {
			t.Error(err)
		}
	}
}
