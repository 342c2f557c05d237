package spans_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"strings"

	"github.com/tracehandler/tracehandler/analyze/spans"
	"github.com/tracehandler/tracehandler/event"
)

func ExampleWriteChrome() {
	log := `{"time":"2026-11-30T10:00:00.000009Z","level":"INFO","msg":"query","start":"2026-11-30T10:00:00.000002Z","duration":7000}`
	events := func(yield func(event.Event, error) bool) {
		for l := range strings.Lines(log) {
			if !yield(event.Parse([]byte(l))) {
				return
			}
		}
	}
	rep, err := spans.WriteChrome(os.Stdout, events, spans.Options{})
	fmt.Println(rep.Spans, err)
	// Output:
	// {"schemaVersion": 1, "displayTimeUnit": "ms", "baseTimeNanoseconds": 1796032800000002000, "traceEvents": [
	// {"ph": "M", "name": "process_name", "ts": 0, "pid": 0, "tid": 0, "args": {"name": "go"}},
	// {"ph": "X", "cat": "cpu_op", "name": "query", "pid": 0, "tid": 0, "ts": 0.000, "dur": 7.000, "args": {"time":"2026-11-30T10:00:00.000009Z","level":"INFO","msg":"query","start":"2026-11-30T10:00:00.000002Z","duration":7000}}
	// ]}
	// 1 <nil>
}

// Spans of a program are events of its log: one when a span ends, with its start, duration and parent.
func ExampleStart() {
	logger := slog.New(slog.NewJSONHandler(os.Stdout, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		switch a.Key {
		case slog.TimeKey, spans.KeyStart, spans.KeyDuration, spans.KeySpan, spans.KeyParent:
			return slog.Attr{} // they differ from run to run
		}
		return a
	}}))
	ctx, request := spans.Start(context.Background(), logger, "request", "path", "/cart")
	_, query := spans.Start(ctx, logger, "query")
	query.End("rows", 3)
	request.End()
	// Output:
	// {"level":"INFO","msg":"query","rows":3}
	// {"level":"INFO","msg":"request","path":"/cart"}
}
