package category_test

import (
	"fmt"

	"github.com/tracehandler/tracehandler/analyze/category"
)

func ExampleOf() {
	fmt.Println(category.Of("ncclDevKernel_AllReduce_Sum_f32_RING_LL", ""))
	fmt.Println(category.Of("sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n", "aten::mm"))
	fmt.Println(category.Of("sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n", "aten::convolution"))
	fmt.Println(category.Rewritable("Cijk_Ailk_Bljk_BBS_BH"))
	// Output:
	// Communication
	// GEMM
	// Convolution
	// false vendor backend library (precompiled binary, no rewritable source)
}
