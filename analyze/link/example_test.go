package link_test

import (
	"fmt"
	"strings"

	"github.com/tracehandler/tracehandler/analyze/chrometrace"
	"github.com/tracehandler/tracehandler/analyze/kineto"
	"github.com/tracehandler/tracehandler/analyze/link"
)

func Example() {
	t, err := kineto.Open("../testdata/kineto/h100_bert_small.json.gz", nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	l := link.New(t)
	for i := range t.GPU[:2] {
		fmt.Println(t.String(t.Launches[l.Launch[i]].Name), "by", t.String(t.Ops[l.Op[i]].Name))
	}
	// Output:
	// cudaLaunchKernel by aten::index_select
	// cudaLaunchKernel by aten::index_select
}

// A backward op belongs to the forward op that made its node of autograd's graph: they share a sequence number.
func ExampleForward() {
	t := kineto.Load(chrometrace.NewScanner(strings.NewReader(`[
		{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": 10, "dur": 5, "args": {"Sequence number": 7}},
		{"ph": "X", "cat": "cpu_op", "name": "MmBackward0", "pid": 1, "tid": 2, "ts": 90, "dur": 5, "args": {"Sequence number": 7, "Fwd thread id": 1}}]`)), nil)
	forward := link.Forward(t)
	fmt.Println(t.String(t.Ops[1].Name), "is the gradient of", t.String(t.Ops[forward[1]].Name))
	// Output:
	// MmBackward0 is the gradient of aten::mm
}

// Of twenty replays of a graph the profiler kept the kernels of two: what looks idle is not.
func ExampleGraphStats_UnderRecorded() {
	s := link.GraphStats{Launches: 20, LaunchesWithKernels: 2, Kernels: 30}
	fmt.Println(s.UnderRecorded(), link.IsGraphLaunch("hipGraphLaunch"))
	// Output:
	// true true
}
