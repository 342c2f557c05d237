package steps_test

import (
	"fmt"
	"io"
	"strings"

	"github.com/tracehandler/tracehandler/analyze/chrometrace"
	"github.com/tracehandler/tracehandler/analyze/kineto"
	"github.com/tracehandler/tracehandler/analyze/steps"
)

func Example() {
	t, err := kineto.Open("../testdata/kineto/steady_synthetic/vllm_detailed_96steps.json.gz", nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	roots := steps.Find(t)
	sel := steps.Select(roots, 8)
	fmt.Println(len(roots), "iterations, steady in", sel.Regions)
	if w := sel.Mixed; w != nil {
		part, err := steps.Extract(io.Discard, "../testdata/kineto/steady_synthetic/vllm_detailed_96steps.json.gz", t, roots[w.Start:w.End])
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(*w, "has", len(part.GPU), "GPU events")
	}
	// Output:
	// 96 iterations, steady in [{11 88}]
	// {13 21} has 48 GPU events
}

// A window's phases, its GPU work, and what its trace is called.
func ExampleOf() {
	t, err := kineto.Open("../testdata/kineto/steady_synthetic/vllm_detailed_96steps.json.gz", nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	window := steps.Find(t)[20:28]
	fmt.Println(window[0].Requests(), "requests in the first iteration,", len(steps.Of(t, window).GPU), "GPU events in the window")
	fmt.Println(steps.FileName("mixed", steps.PhaseOf(window), "serving.json.gz"))
	// Output:
	// 64 requests in the first iteration, 48 GPU events in the window
	// mixed_steady_state_prefill_0_prefilldecode_2_decode_6_bs950_conc64_serving.json
}

// Nothing marks the iterations of this loop; a sequence of three ops repeats.
func ExampleRepeats() {
	var events []string
	for i, op := range strings.Fields("load embed mm head embed mm head embed mm head embed mm head") {
		events = append(events, fmt.Sprintf(`{"ph": "X", "cat": "cpu_op", "name": %q, "pid": 1, "tid": 1, "ts": %d, "dur": 8}`, op, 10*i),
			fmt.Sprintf(`{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": %d, "dur": 2, "args": {"correlation": %d}}`, 10*i+1, i),
			fmt.Sprintf(`{"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": %d, "dur": 5, "args": {"correlation": %d}}`, 10*i+4, i))
	}
	t := kineto.Load(chrometrace.NewScanner(strings.NewReader("["+strings.Join(events, ",")+"]")), nil)
	for _, r := range steps.Repeats(t)[:2] {
		fmt.Println(r.Name, r.TS, r.Dur)
	}
	// Output:
	// iteration#0 embed 10000 30000
	// iteration#1 embed 40000 30000
}
