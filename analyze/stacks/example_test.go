package stacks_test

import (
	"fmt"

	"github.com/tracehandler/tracehandler/analyze/kineto"
	"github.com/tracehandler/tracehandler/analyze/link"
	"github.com/tracehandler/tracehandler/analyze/stacks"
)

func ExampleRead() {
	const path = "../testdata/kineto/h100_bert_small.json.gz"
	t, err := kineto.Open(path, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	l := link.New(t)
	st, err := stacks.Read(path, t, l)
	if err != nil {
		fmt.Println(err)
		return
	}
	node := st.Node(l.Launch[len(t.GPU)-1])
	fmt.Println(st.Modules(node))
	fmt.Println(st.Frame(node))
	// Output:
	// BertLMHeadModel_0/BertOnlyMLMHead_0/BertLMPredictionHead_0/Linear_25
	// torch/nn/modules/linear.py(124): forward
}

// A stack is whole, the outermost frame first.
func ExampleStacks_Stack() {
	const path = "../testdata/kineto/h100_bert_small.json.gz"
	t, err := kineto.Open(path, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	l := link.New(t)
	st, err := stacks.Read(path, t, l)
	if err != nil {
		fmt.Println(err)
		return
	}
	frames := st.Stack(st.Node(l.Launch[0]))
	fmt.Println(len(frames), "frames, the first one", frames[0])
	// Output:
	// 26 frames, the first one <string>(1): <module>
}
