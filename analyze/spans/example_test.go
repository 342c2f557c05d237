package spans_test

import (
	"fmt"
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
