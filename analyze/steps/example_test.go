package steps_test

import (
	"fmt"
	"io"

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
