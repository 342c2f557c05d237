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
