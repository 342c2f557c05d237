package source_test

import (
	"fmt"

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
