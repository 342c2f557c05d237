package analyze_test

import (
	"context"
	"fmt"

	"github.com/tracehandler/tracehandler/analyze"
)

func ExampleRun() {
	r, err := analyze.Run(context.Background(), "testdata/kineto/torch_compile_triton.json.gz", analyze.Options{Device: "AMD Instinct MI300X"})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("level %d: %s\n", r.Level, r.Level)
	fmt.Printf("computing for %.1f %% of %.3f ms\n", 100*float64(r.Timeline.Computation)/float64(r.Timeline.Total), float64(r.Timeline.Total)/1e6)
	for _, row := range r.Set.Rows[:3] {
		fmt.Printf("%5.2f %% %s\n", row.Percent, row.Name)
	}
	// Output:
	// level 1: per-argument rows with shapes; no python stacks
	// computing for 100.0 % of 12.549 ms
	// 29.88 % aten::mm
	// 29.35 % aten::_scaled_dot_product_flash_attention
	// 17.90 % aten::mm
}
