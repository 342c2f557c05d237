package kineto_test

import (
	"fmt"

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
