package category

import "strings"

// Launcher is TraceLens' category of a launcher (an op, or a runtime call without one): by its registry of ops, then by
// the op's name, then by the first kernel it launches.
func Launcher(op, firstKernel string) string {
	if c, ok := launchers[op]; ok {
		return c
	}
	switch {
	case strings.HasPrefix(op, "triton"):
		return "triton"
	case strings.HasPrefix(op, "record_param_comms"):
		return "record_param_comms"
	case strings.HasPrefix(firstKernel, "void at::native"):
		switch {
		case strings.Contains(firstKernel, "elementwise"):
			return "elementwise"
		case strings.Contains(firstKernel, "reduce"):
			return "reduce"
		case strings.Contains(firstKernel, "multi_tensor_apply"):
			return "multi_tensor_apply"
		}
	}
	return "other"
}

// launchers is the part of TraceLens' registry that names PyTorch's, vLLM's, SGLang's and aiter's ops.
var launchers = func() map[string]string {
	m := map[string]string{}
	for category, ops := range map[string]string{
		"GEMM": `aten::mm aten::addmm aten::bmm aten::baddbmm aten::linear aten::matmul aten::_scaled_mm aten::scaled_mm
			aiter::gemm_a16w16 aiter::gemm_a8w8 vllm::rocm_unquantized_gemm`,
		"CONV_fwd": `aten::convolution aten::miopen_convolution aten::cudnn_convolution aten::miopen_depthwise_convolution`,
		"CONV_bwd": `aten::convolution_backward`,
		"NORM_fwd": `aten::layer_norm aten::native_layer_norm aten::batch_norm aten::native_batch_norm aten::cudnn_batch_norm
			aten::miopen_batch_norm aten::group_norm aten::native_group_norm aten::instance_norm`,
		"NORM_bwd": `aten::native_layer_norm_backward aten::native_batch_norm_backward aten::cudnn_batch_norm_backward
			aten::miopen_batch_norm_backward aten::native_group_norm_backward`,
		"SDPA_fwd": `aten::_scaled_dot_product_flash_attention aten::_scaled_dot_product_efficient_attention
			aten::_scaled_dot_product_cudnn_attention aten::scaled_dot_product_attention flash_attn::_flash_attn_forward`,
		"SDPA_bwd": `aten::_scaled_dot_product_flash_attention_backward aten::_scaled_dot_product_efficient_attention_backward
			flash_attn::_flash_attn_backward`,
		"InferenceAttention": `vllm::unified_attention_with_output _C_cache_ops::reshape_and_cache_flash
			aiter::mha_batch_prefill sglang::store_cache`,
		"RMSNorm":  `aiter::rms_norm aiter::rmsnorm aiter::add_rmsnorm aiter::rmsnorm2d_fwd_with_add_ck aten::rms_norm`,
		"RoPE_fwd": `sgl_kernel::rotary_embedding`,
		"elementwise": `aten::copy_ aten::fill_ sgl_kernel::silu_and_mul aten::add aten::add_ aten::mul aten::mul_ aten::sub aten::sub_
			aten::div aten::div_ aten::gelu aten::silu aten::tanh aten::sigmoid aten::neg aten::pow aten::cos aten::sin
			aten::rsqrt aten::sqrt aten::clamp_min_ aten::threshold_backward`,
		"reduce": `aten::sum aten::mean aten::max aten::argmax aten::cumsum`,
	} {
		for op := range strings.FieldsSeq(ops) {
			m[op] = category
		}
	}
	return m
}()
