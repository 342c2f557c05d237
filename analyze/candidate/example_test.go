package candidate_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/tracehandler/tracehandler/analyze/candidate"
	"github.com/tracehandler/tracehandler/analyze/kineto"
	"github.com/tracehandler/tracehandler/analyze/link"
	"github.com/tracehandler/tracehandler/analyze/roofline"
	"github.com/tracehandler/tracehandler/analyze/source"
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

// Sources are looked for in an index of source trees; shapes are shown as reports have them.
func ExampleIndexFinder() {
	dir, err := os.MkdirTemp("", "csrc")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	if err := os.WriteFile(filepath.Join(dir, "norm.cu"), []byte("__global__ void rms_norm_kernel(float* x) {\n}\n"), 0o600); err != nil {
		fmt.Println(err)
		return
	}
	index, err := source.BuildIndex(context.Background(), []source.Root{{Dir: dir, Framework: "vllm"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	loc := candidate.IndexFinder{Index: index, Framework: "vllm"}.Find("void vllm::rms_norm_kernel(float*)", "")
	fmt.Println(filepath.Base(loc.File), loc.Line, loc.Method, loc.Kind)
	fmt.Println(candidate.ShapeText("[[8944,1024],[1024,2816],[]]", `["c10::BFloat16","c10::BFloat16","Scalar"]`))
	// Output:
	// norm.cu 1 symbol_index native
	// (8944,1024) bf16<br>(1024,2816) bf16
}
