package input_test

import (
	"fmt"
	"path/filepath"

	"github.com/tracehandler/tracehandler/analyze/input"
)

func ExampleDiscover() {
	sel, err := input.Discover("../testdata/kineto/multirank_synthetic")
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, f := range sel.Traces[:2] {
		fmt.Println(filepath.Base(f.Path), f.Class, f.NameRank)
	}
	fmt.Println(len(sel.Traces), "traces,", len(sel.Captures), "captures")
	// Output:
	// rank0_trace.json.gz ordinary 0
	// rank1_trace.json.gz ordinary 1
	// 8 traces, 0 captures
}

// What a file is its name and its place below the directory given tell.
func ExampleClassify() {
	for _, path := range []string{"job/rank3.pt.trace.json.gz", "job/capture_traces/bs_32_rank0.json.gz", "job/merged-all.json", "job/trace_split/x.json"} {
		fmt.Println(input.Classify(path, "job"), input.IsCapture(path, "job"), path)
	}
	fmt.Println(input.Classify("capture_traces/rank0.json", "capture_traces")) // a directory above does not count
	// Output:
	// ordinary false job/rank3.pt.trace.json.gz
	// capture true job/capture_traces/bs_32_rank0.json.gz
	// merged false job/merged-all.json
	// derived false job/trace_split/x.json
	// ordinary
}
