package interval_test

import (
	"fmt"

	"github.com/tracehandler/tracehandler/analyze/interval"
)

func Example() {
	compute := interval.Union(interval.Set{{Start: 0, End: 10}, {Start: 8, End: 20}})
	comm := interval.Union(interval.Set{{Start: 15, End: 30}})
	fmt.Println(compute, interval.Measure(compute))
	fmt.Println("exposed:", interval.Measure(interval.Subtract(comm, compute)))
	fmt.Println("overlapped:", interval.Measure(interval.Intersect(comm, compute)))
	// Output:
	// [{0 20}] 20
	// exposed: 10
	// overlapped: 5
}

// Idle time is the gaps between what runs.
func ExampleGaps() {
	busy := interval.Union(interval.Set{{Start: 0, End: 10}, {Start: 12, End: 20}, {Start: 50, End: 60}})
	for _, g := range interval.Gaps(busy) {
		fmt.Println(g.Start, g.End-g.Start)
	}
	// Output:
	// 10 2
	// 20 30
}
