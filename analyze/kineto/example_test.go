package kineto_test

import (
	"fmt"
	"strings"

	"github.com/tracehandler/tracehandler/analyze/chrometrace"
	"github.com/tracehandler/tracehandler/analyze/kineto"
	"github.com/tracehandler/tracehandler/analyze/link"
)

func ExampleOpen() {
	t, err := kineto.Open("../testdata/kineto/h100_bert_small.json.gz", nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	l := link.New(t)
	g := t.GPU[0]
	fmt.Println(len(t.GPU), "GPU events of", t.Events)
	fmt.Println(g.Kind, g.Dur, "ns by", t.String(t.Ops[l.Op[0]].Name))
	// Output:
	// 61 GPU events of 2551
	// kernel 3136 ns by aten::index_select
}

// Load reads what a scanner delivers: here a text, as a server may have it.
func ExampleLoad() {
	s := chrometrace.NewScanner(strings.NewReader(`{"distributedInfo": {"rank": 3, "world_size": 8}, "deviceProperties": [{"id": 0, "name": "AMD Instinct MI300X"}, {"id": 9, "name": "AMD Radeon"}],
	"traceEvents": [{"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": 10, "dur": 2.5, "args": {"device": 0, "correlation": 1}}]}`))
	t := kineto.Load(s, nil)
	rank, ok := t.Meta.Rank()
	fmt.Println("rank", rank, ok, t.Meta.DeviceNames(), t.UsedDevices())
	gemm, ok := t.Find("gemm")
	fmt.Println(ok, t.GPU[0].Name == gemm, t.GPU[0].End(), "ns")
	time := make([]int64, t.Strings()) // by name
	for i := range t.GPU {
		time[t.GPU[i].Name] += t.GPU[i].Dur
	}
	fmt.Println(time[gemm])
	// Output:
	// rank 3 true [AMD Instinct MI300X AMD Radeon] [AMD Instinct MI300X]
	// true true 12500 ns
	// 2500
}
