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

// A timeline tells communication and copies from computation by the names of events; candidates are filtered by a wider test.
func ExampleIsCollective() {
	known := category.Collectives() // remembers, by the number of a name
	for id, name := range []string{"ncclDevKernel_AllGather_RING_LL", "void vllm::cross_device_reduce_1stage<c10::BFloat16, 8>", "allreduce_fusion_kernel", "__amd_rocclr_copyBuffer.kd"} {
		fmt.Println(known(uint32(id), name) == category.IsCollective(name), category.IsCollective(name), category.HasCollectiveToken(name), category.IsCopyKernel(name), category.Normalise(name))
	}
	// Output:
	// true true true false nccl_dev_kernel_all_gather_ring_ll
	// true true false false void_vllm_cross_device_reduce_1_stage_c10_b_float16_8
	// true false true false allreduce_fusion_kernel
	// true false false true amd_rocclr_copy_buffer_kd
}

// Launcher is the category of an op's rows in TraceLens' tables, Canonical the label that reports show for any tool's word.
func ExampleLauncher() {
	for _, op := range [][2]string{
		{"aten::_scaled_dot_product_flash_attention", "fmha_fwd"},
		{"triton_poi_fused_add_0", "triton_poi_fused_add_0"},
		{"aten::masked_fill", "void at::native::vectorized_elementwise_kernel<4>"},
	} {
		raw := category.Launcher(op[0], op[1])
		fmt.Println(raw, "is shown as", category.Canonical(raw))
	}
	// Output:
	// SDPA_fwd is shown as SDPA
	// triton is shown as Triton
	// elementwise is shown as Elementwise
}
