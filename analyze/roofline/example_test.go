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

// A device that is not known here can be described.
func ExampleParseSpecs() {
	mine, err := roofline.ParseSpecs([]byte(`[{"name": "MI210", "match": ["mi210"], "hbm_gbps": 1600, "matrix": {"bf16": 181, "fp32": 45}, "vector": {"fp32": 22.6}}]`))
	if err != nil {
		fmt.Println(err)
		return
	}
	spec, _ := roofline.DeviceSpec("AMD Instinct MI210", mine...)
	w, _ := roofline.Model("aten::add", roofline.ParseShape("[[1024,1024],[1024,1024]]", `["float","float"]`, ""))
	e, ok := w.On(spec)
	fmt.Printf("%s: %.3f operations a byte, %.2f us, %s %v\n", spec.Name, w.Intensity(), e.Nanoseconds/1e3, e.Bound, ok)
	fmt.Println(roofline.HasModel("aten::add"), roofline.HasModel("aten::nonzero"))
	// On NVIDIA's devices a product of fp32 may be done in tf32: the kernel's name tells.
	mm := roofline.Work{FLOPs: 1e12, Bytes: 1e9, Precision: "fp32", Matrix: true}
	fmt.Println(mm.By("sm80_xmma_gemm_f32f32_tf32f32_f32_tn_n").Precision)
	// Output:
	// MI210: 0.083 operations a byte, 7.86 us, memory_bound true
	// true false
	// tf32
}

// Attention over a paged cache: 32 requests decode one token each, with 55,086 keys in the cache together.
func ExamplePaged() {
	shape := roofline.ParseShape("[[32,64,64],[32,8,64],[32,8,64],[32,64,64]]", `["c10::BFloat16","c10::BFloat16","c10::BFloat16","c10::BFloat16"]`, "")
	decode := roofline.Lengths{Q: 32, K: 55086, QQ: 32, QK: 55086}
	w, ok := roofline.Paged("vllm::unified_attention_with_output", shape, roofline.Lengths{}, decode)
	fmt.Println(roofline.IsPaged("vllm::unified_attention_with_output"), ok)
	fmt.Printf("%.3f GFLOP, %.1f MB\n", w.FLOPs/1e9, w.Bytes/(1<<20))
	// Output:
	// true true
	// 0.903 GFLOP, 108.1 MB
}
