package collective_test

import (
	"fmt"

	"github.com/tracehandler/tracehandler/analyze/collective"
	"github.com/tracehandler/tracehandler/analyze/kineto"
	"github.com/tracehandler/tracehandler/analyze/link"
)

func ExampleAnalyze() {
	var ranks []collective.Rank
	for i := range 8 {
		t, err := kineto.Open(fmt.Sprintf("../testdata/kineto/multirank_synthetic/rank%d_trace.json.gz", i), nil)
		if err != nil {
			fmt.Println(err)
			return
		}
		ranks = append(ranks, collective.Rank{ID: i, Trace: t, Links: link.New(t)})
	}
	s := collective.Analyze(ranks, collective.Options{}).Stragglers[0]
	fmt.Println("rank", s.Rank, "came last", s.Last, "times and waited", s.TotalWait, "ns")
	// Output:
	// rank 5 came last 3 times and waited 333707 ns
}
