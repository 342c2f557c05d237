package candidate_test

import (
	"fmt"

	"github.com/tracehandler/tracehandler/analyze/candidate"
	"github.com/tracehandler/tracehandler/analyze/kineto"
	"github.com/tracehandler/tracehandler/analyze/link"
	"github.com/tracehandler/tracehandler/analyze/roofline"
)

func ExampleBuild() {
	t, err := kineto.Open("../testdata/kineto/h100_bert_small.json.gz", nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	spec, known := roofline.DeviceSpec("NVIDIA H100 80GB HBM3")
	if !known {
		fmt.Println("unknown device")
		return
	}
	set := candidate.Build([]candidate.Source{{Trace: t, Links: link.New(t)}}, candidate.Options{Spec: &spec})
	for _, r := range set.Rows[:3] {
		fmt.Printf("%s %d ns, %.1f %% of what the device can do\n", r.Name, r.Time, r.Efficiency)
	}
	// Output:
	// aten::addmm 98718 ns, 4.2 % of what the device can do
	// aten::addmm 41280 ns, 29.0 % of what the device can do
	// aten::_scaled_dot_product_flash_attention 37408 ns, 1.8 % of what the device can do
}
