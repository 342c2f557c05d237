package capture_test

import (
	"fmt"
	"strings"

	"github.com/tracehandler/tracehandler/analyze/capture"
	"github.com/tracehandler/tracehandler/analyze/chrometrace"
	"github.com/tracehandler/tracehandler/analyze/kineto"
	"github.com/tracehandler/tracehandler/analyze/link"
)

func Example() {
	sidecar := load(`[
		{"ph": "X", "cat": "user_annotation", "name": "capture_8_FULL", "pid": 1, "tid": 1, "ts": 0, "dur": 90},
		{"ph": "X", "cat": "cuda_runtime", "name": "hipStreamBeginCapture", "pid": 1, "tid": 1, "ts": 1, "dur": 1},
		{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": 10, "dur": 9},
		{"ph": "X", "cat": "cuda_runtime", "name": "hipLaunchKernel", "pid": 1, "tid": 1, "ts": 11, "dur": 1, "args": {"kernel": "Cijk_A"}},
		{"ph": "X", "cat": "cuda_runtime", "name": "hipStreamEndCapture", "pid": 1, "tid": 1, "ts": 80, "dur": 1}]`)
	workload := load(`[
		{"ph": "X", "cat": "cuda_runtime", "name": "hipGraphLaunch", "pid": 1, "tid": 1, "ts": 5, "dur": 1, "args": {"correlation": 7}},
		{"ph": "X", "cat": "kernel", "name": "Cijk_A", "pid": 0, "tid": 3, "ts": 20, "dur": 5, "args": {"correlation": 7}}]`)
	m := capture.Merge(workload, link.New(workload), capture.Graphs(sidecar))
	if g, op, ok := m.Op(0); ok {
		fmt.Println(workload.String(workload.GPU[0].Name), "by", g.Trace.String(g.Trace.Ops[op].Name), "of the graph captured for", g.Batch)
	}
	// Output:
	// Cijk_A by aten::mm of the graph captured for 8
}

func load(events string) *kineto.Trace {
	return kineto.Load(chrometrace.NewScanner(strings.NewReader(events)), nil)
}

// Of the launches of a capture only those count that put work into the graph.
func ExampleIsWork() {
	for _, call := range []string{"hipLaunchKernel", "cudaMemcpyAsync", "hipStreamBeginCapture", "cudaStreamIsCapturing"} {
		fmt.Println(call, capture.IsWork(call))
	}
	// Output:
	// hipLaunchKernel true
	// cudaMemcpyAsync true
	// hipStreamBeginCapture false
	// cudaStreamIsCapturing false
}
