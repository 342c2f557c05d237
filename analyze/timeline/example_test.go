package timeline_test

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tracehandler/tracehandler/analyze/chrometrace"
	"github.com/tracehandler/tracehandler/analyze/kineto"
	"github.com/tracehandler/tracehandler/analyze/timeline"
)

func Example() {
	t, err := kineto.Open("../testdata/kineto/h100_bert_small.json.gz", nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	tl := timeline.New(t, timeline.Options{})
	fmt.Println(tl.Total, "ns, idle", tl.Idle)
	fmt.Println(tl.Computation+tl.ExposedComm+tl.ExposedMemcpy+tl.Idle == tl.Total)
	// Output:
	// 3907825 ns, idle 3598388
	// true
}

// A stream does one thing at a time: an event that lasts beyond the next one's start has a wrong duration, and is left out.
func ExampleFindImpossible() {
	t := kineto.Load(chrometrace.NewScanner(strings.NewReader(`[
		{"ph": "X", "cat": "kernel", "name": "corrupt", "pid": 0, "tid": 7, "ts": 0, "dur": 250000},
		{"ph": "X", "cat": "kernel", "name": "next", "pid": 0, "tid": 7, "ts": 20, "dur": 10}]`)), nil)
	bad := timeline.FindImpossible(t)
	fmt.Println(bad.Events, bad.Excess, bad.Severe)
	tl := timeline.New(t, timeline.Options{Keep: func(i int) bool { return !slices.Contains(bad.Events, i) }})
	fmt.Println(tl.Total)
	// Output:
	// [0] 249980000 true
	// 10000
}
