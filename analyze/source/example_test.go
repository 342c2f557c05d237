package source_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/tracehandler/tracehandler/analyze/source"
)

func Example() {
	fmt.Println(source.ParseLocation("ops/norm.py(12): forward"))
	fmt.Println(source.IsEditable("csrc/norm.cu", ""), source.IsEditable("/tmp/torchinductor_me/ab/c.py", ""))
	fmt.Println(source.BaseSymbol("void vllm::rms_norm_kernel<c10::BFloat16>(c10::BFloat16*)"))
	fmt.Println(source.GlobalDefs("template <int N>\n__global__ void __launch_bounds__(256) scale(float* x) {\n}\n"))
	// Output:
	// {ops/norm.py 12 forward}
	// true false
	// rms_norm_kernel
	// [{scale 2}]
}

// An index of source trees tells where kernels are defined. CachedIndex keeps it until a file changes.
func ExampleBuildIndex() {
	dir, err := os.MkdirTemp("", "csrc")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	if err := os.WriteFile(filepath.Join(dir, "norm.cu"), []byte("template <int N>\n__global__ void rms_norm_kernel(float* x) {\n}\n"), 0o600); err != nil {
		fmt.Println(err)
		return
	}
	roots := []source.Root{{Dir: dir, Framework: "vllm"}}
	index, err := source.BuildIndex(context.Background(), roots)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, d := range index.Lookup("void vllm::rms_norm_kernel<8>(float*)", "vllm", "") {
		fmt.Println(filepath.Base(d.File), d.Line, d.Framework)
	}
	again, err := source.CachedIndex(context.Background(), roots, filepath.Join(dir, "cache"))
	fmt.Println(len(again.Lookup("rms_norm_kernel", "", "")), err)
	// Output:
	// norm.cu 2 vllm
	// 1 <nil>
}

// A Triton kernel is found in the python file that the trace names, without running it.
func ExampleTritonDefLine() {
	f, err := os.CreateTemp("", "*.py")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.Remove(f.Name())
	fmt.Fprint(f, "import triton\n\n@triton.jit\ndef _layer_norm_fwd(X, Y):\n    pass\n")
	if err := f.Close(); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(source.TritonDefLine(f.Name(), "", "_layer_norm_fwd_0d1d", true))
	fmt.Println(source.SymbolCore("_layer_norm_fwd_0d1d"))
	fmt.Println(source.IsPath("Not found"), source.IsPath("ops/norm.py"))
	// Output:
	// 4 true
	// layer_norm_fwd
	// false true
}

// Kernels are matched by name as far as that is certain; some come from libraries whose sources are generated.
func ExampleMatchKernel() {
	fmt.Println(source.MatchKernel("void flash::flash_fwd_kernel<128>(Params)", []string{"flash_fwd_kernel", "softmax"}))
	fmt.Println(source.NonPatchable("void ck::kernel_gemm_xdl_cshuffle_v1<int>"))
	// Output:
	// flash_fwd_kernel true
	// aiter_ck
}
