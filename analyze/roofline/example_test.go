package roofline_test

import (
	"fmt"

	"github.com/tracehandler/tracehandler/analyze/roofline"
)

func Example() {
	shape := roofline.ParseShape("[[8944,1024],[1024,2816]]", `["c10::BFloat16","c10::BFloat16"]`, "")
	w, _ := roofline.Model("aten::mm", shape)
	spec, known := roofline.DeviceSpec("AMD Instinct MI300X")
	e, _ := w.On(spec)
	fmt.Printf("%.3f GFLOP, %.1f MB, at least %.1f us, %s\n", w.FLOPs/1e9, w.Bytes/(1<<20), e.Nanoseconds/1e3, e.Bound)
	_, known = roofline.DeviceSpec("something new")
	fmt.Println(known)
	// Output:
	// 51.582 GFLOP, 71.0 MB, at least 72.9 us, compute_bound
	// false
}
