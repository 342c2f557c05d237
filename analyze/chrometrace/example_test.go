package chrometrace_test

import (
	"fmt"
	"strings"

	"github.com/tracehandler/tracehandler/analyze/chrometrace"
)

func ExampleScanner() {
	s := chrometrace.NewScanner(strings.NewReader(`{"traceEvents": [
		{"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": 10.5, "dur": 2.125, "args": {"correlation": 42}},
		{"ph": "X", "cat": "kernel", "name": "cut`))
	for s.Scan() {
		ev := s.Event()
		for a := ev.Arguments(); a.Next(); {
			fmt.Printf("%s at %d ns for %d ns, %s %s\n", ev.Name, ev.TS, ev.Dur, a.Key, a.Value)
		}
	}
	for _, err := range s.Errors() {
		fmt.Println(err)
	}
	// Output:
	// gemm at 10500 ns for 2125 ns, correlation 42
	// chrometrace: traceEvents object truncated after 1 event(s): unterminated object (byte 143)
}
