package tables_test

import (
	"fmt"

	"github.com/tracehandler/tracehandler/analyze/kineto"
	"github.com/tracehandler/tracehandler/analyze/link"
	"github.com/tracehandler/tracehandler/analyze/tables"
	"github.com/tracehandler/tracehandler/analyze/timeline"
)

func Example() {
	t, err := kineto.Open("../testdata/kineto/h100_bert_small.json.gz", nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, row := range tables.Launchers(t, link.New(t), tables.ByName, tables.LauncherOptions{})[:3] {
		fmt.Println(row.Name, row.Instances, row.Direct, "ns")
	}
	// Output:
	// aten::addmm 26 197598 ns
	// aten::_flash_attention_forward 4 37408 ns
	// aten::native_layer_norm 10 30912 ns
}

// Tables of one trace: kernels and copies by name, streams, Hyperloom's attribution, collectives, and the report of last resort.
func ExampleKernels() {
	t, err := kineto.Open("../testdata/kineto/multirank_synthetic/rank0_trace.json.gz", nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	k := tables.Kernels(t, nil)[0]
	fmt.Println(k.Name[:24], k.Count, k.Total)
	fmt.Println(len(tables.Memory(t, nil)), "kinds of copies", tables.IsPlumbing("Memcpy HtoD (Host -> Device)"))
	s := tables.Streams(t, nil)[0]
	fmt.Println("stream", s.Stream, "is busy for", s.Busy)
	fmt.Println(len(tables.ByExternalID(t, link.New(t), false)), "ops")
	c := tables.Collectives(t, nil)[0]
	fmt.Println(c.Collective, c.Count, c.Total)
	rows, dropped := tables.Fallback(t, timeline.New(t, timeline.Options{}).Total, nil)
	fmt.Println(len(rows), "names,", dropped, "left out")
	// Output:
	// ncclDevKernel_Generic(nc 17 69059052
	// 0 kinds of copies true
	// stream 4 is busy for 69059052
	// 2 ops
	// allreduce 3 25973830
	// 1 names, 0 left out
}
