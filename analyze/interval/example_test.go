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
