package analyze_test

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/tracehandler/tracehandler/analyze"
)

// What a run found is rows, a report, a page, tables and one JSON object.
func ExampleResult() {
	o := analyze.FromEnv(func(string) string { return "" })
	window, err := analyze.ParseWindow("steady")
	if err != nil {
		fmt.Println(err)
		return
	}
	o.Window = window
	r, err := analyze.Run(context.Background(), "testdata/kineto/steady_synthetic/vllm_detailed_96steps.json.gz", o)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(r.Usable(), r.Ranks[0].WindowText())
	hot := r.Candidates().HotKernels
	fmt.Println(hot[0].Name, hot[0].CallCount, analyze.Suggestion(&r.Set.Rows[0]))
	fmt.Println(len(r.Items()), "items in", r.Document().Title)
	page, err := r.HTML()
	fmt.Println(len(page) > 0, err)
	fmt.Println(r.Summary().Status)
	for _, t := range r.Tables() {
		if t.Name != "timeline" {
			continue
		}
		text, err := t.CSV()
		fmt.Println(t.Name, len(text) > 0, err)
	}
	// Output:
	// true 32 iteration(s) of 96, from execute_64_context_0(sq0sk0sqsq0sqsk0)_generation_64(sq64sk83200sqsq64sqsk83200) to execute_64_context_0(sq0sk0sqsq0sqsk0)_generation_64(sq64sk83200sqsq64sqsk83200)
	// _C::silu_and_mul 27 Fuse chains of elementwise ops, so that intermediates stay out of memory.
	// 15 items in Performance Analysis Report — vllm_detailed_96steps
	// true <nil>
	// ok
	// timeline true <nil>
}

// Two traces compared; the deltas of a list add up to the difference of the totals.
func ExampleCompare() {
	var results []*analyze.Result
	for _, path := range []string{"testdata/kineto/h100_bert_small.json.gz", "testdata/kineto/h100_falconsai_vit.json.gz"} {
		r, err := analyze.Run(context.Background(), path, analyze.Options{})
		if err != nil {
			fmt.Println(err)
			return
		}
		results = append(results, r)
	}
	d := analyze.Compare(results[0], results[1])
	fmt.Println(d.Ops[0].Name, d.Ops[0].CountA, d.Ops[0].CountB, d.Ops[0].Delta)
	fmt.Println("in all", d.Total.Delta)
	fmt.Println(d.Document().Title)
	// Output:
	// aten::addmm 26 73 537.439
	// in all 913.729
	// Comparison
}

// A route that does not exist is refused before anything runs.
func ExampleCheckRoute() {
	fmt.Println(analyze.CheckRoute("bypass", ""))
	err := analyze.CheckRoute("", "agnet")
	var route *analyze.RouteError
	if errors.As(err, &route) {
		fmt.Println(route.Class(), route.Requested)
	}
	// Output:
	// <nil>
	// invalid_analysis_route agnet
}

// The steady windows of a serving run become traces of their own.
func ExampleSplitSteady() {
	dir, err := os.MkdirTemp("", "windows")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	splits, err := analyze.SplitSteady(context.Background(), "testdata/kineto/steady_synthetic/vllm_detailed_96steps.json.gz", dir, 8)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, s := range splits {
		fmt.Println(s.Label, s.NumSteps, "iterations,", s.GPUEvents, "GPU events")
	}
	// Output:
	// mixed 8 iterations, 48 GPU events
	// decode_only 8 iterations, 48 GPU events
	// prefilldecode 2 iterations, 12 GPU events
}
