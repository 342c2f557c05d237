package timeline_test

import (
	"fmt"

	"github.com/tracehandler/tracehandler/analyze/kineto"
	"github.com/tracehandler/tracehandler/analyze/timeline"
)

func Example() {
	t, err := kineto.Open("../testdata/kineto/h100_bert_small.json.gz", nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	tl := timeline.New(t, timeline.Options{})
	fmt.Println(tl.Total, "ns, idle", tl.Idle)
	fmt.Println(tl.Computation+tl.ExposedComm+tl.ExposedMemcpy+tl.Idle == tl.Total)
	// Output:
	// 3907825 ns, idle 3598388
	// true
}
