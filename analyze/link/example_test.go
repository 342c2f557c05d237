package link_test

import (
	"fmt"

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
