package category

import (
	"strings"
	"sync"
)

// Launcher is TraceLens' category of a launcher (an op, or a runtime call without one): by its registry of ops, then by
// the op's name, then by the first kernel it launches.
func Launcher(op, firstKernel string) string {
	if c, ok := launchers()[op]; ok {
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

// launchers is TraceLens' registry, but for the ops that it makes up itself (AMD-AGI/TraceLens 171dd747,
// TraceLens/PerfModel/torch_op_mapping.py and extensions/pseudo_ops_perf_utils.py).
var launchers = sync.OnceValue(func() map[string]string {
	m := map[string]string{}
	for category, ops := range map[string]string{
		"GEMM": `aten::mm aten::addmm aten::_scaled_mm trtllm::cublas_scaled_mm bitsandbytes::int8_linear_matmul aten::bmm
			tex_ts::te_gemm_ts aten::baddbmm vllm::gemm_with_dynamic_quant _Linear_yfwd_mm _LinearBackward_xgrad_mm
			_LinearBackward_wgrad_mm _LayerNormLinear_yfwd_mm _LayerNormLinearBackward_xgrad_mm _LayerNormLinearBackward_wgrad_mm
			primus_turbo_cpp_extension::hipblaslt_gemm_fp8 primus_turbo::hipblaslt_gemm_fp8
			primus_turbo_cpp_extension::hipblaslt_gemm_fp4 primus_turbo::hipblaslt_gemm_fp4 aiter::gemm_a4w4 aiter::_gemm_a4w4_asm
			aiter::batched_gemm_a16wfp4_ sglang_profiler::fp8_utils_gemm_a8w8_blockscale
			sglang_profiler::gemm_a8w8_blockscale_gemm_a8w8_blockscale vllm::rocm_aiter_triton_gemm_a8w8_blockscale
			aiter::gemm_a8w8_blockscale_ck aiter::gemm_a8w8_blockscale_cktile aiter::gemm_a8w8_blockscale_bpreshuffle_ck
			aiter::gemm_a8w8_blockscale_bpreshuffle_cktile aiter::flatmm_a8w8_blockscale_asm aiter::gfx950_a8w8_blockscale_asm
			aiter::gemm_a8w8_ck aiter::gemm_a8w8_bpreshuffle_ck aiter::gemm_a8w8_bpreshuffle
			vllm::_rocm_aiter_preshuffled_per_token_w8a8_gemm vllm::rocm_unquantized_gemm aiter::gemm_a16w16
			aiter::gemm_a16w16_atomic_ aiter::_gemm_a16w16_asm sglang_profiler::gemm_kernels_flydsl_hgemm aiter::gemm_afp4wfp4_
			sglang_profiler::batched_gemm_a8w8_a_per_token_group_prequant_w_per_batched_tensor_quant_batched_gemm_a8w8_a_per_token_group_prequant_w_per_batched_tensor_quant
			aiter::_gemm_a8w8_blockscale_bpreshuffle_asm`,
		"SDPA_fwd": `FlashAttnFunc flash_attn::_flash_attn_forward flash_attn::_flash_attn_varlen_forward
			aten::_scaled_dot_product_cudnn_attention aten::_scaled_dot_product_efficient_attention
			aten::_scaled_dot_product_flash_attention aiter::_flash_attn_forward aiter::wrapper_fmha_v3_fwd aiter::mha_fwd
			aiter::fmha_v3_fwd flash_attn_3::fwd EvoformerAttention aten::_efficient_attention_forward`,
		"SDPA_bwd": `flash_attn::_flash_attn_backward flash_attn::_flash_attn_varlen_backward aiter::_flash_attn_backward
			aiter::wrapper_fmha_v3_bwd aiter::mha_bwd FlashAttnFuncBackward FusedAttnFuncBackward
			aten::_scaled_dot_product_cudnn_attention_backward aten::_scaled_dot_product_efficient_attention_backward
			aten::_scaled_dot_product_flash_attention_backward aten::_efficient_attention_backward`,
		"CONV_fwd": `aten::convolution ConvBias_ ConvBiasReLU_ aten::miopen_convolution aten::cudnn_convolution`,
		"CONV_bwd": `aten::convolution_backward ConvBias_Backward ConvBiasReLU_Backward`,
		"InferenceAttention": `vllm::unified_attention_with_output aiter::mha_varlen_fwd aiter::fmha_v3_varlen_fwd aiter::mha_batch_prefill
			sglang_profiler::attention_paged_attention_ragged aiter::pa_decode_gluon aiter::pa_sparse_prefill_opus_fwd
			sglang_profiler::tilelang_kernel_tilelang_sparse_fwd vllm::gdn_attention_core aiter::linear_attention_with_output_base
			sglang::store_cache _C_cache_ops::reshape_and_cache_flash _C_cache_ops::concat_and_cache_mla aiter::get_mla_metadata_v1
			aiter::indexer_score_topk`,
		"elementwise": `LigerSiLUMulFunction primus_turbo_cpp_extension::quantize_fp8_tensorwise primus_turbo::quantize_fp8_tensorwise
			primus_turbo_cpp_extension::quantize_mxfp4_dual primus_turbo::quantize_mxfp4_dual primus::quantize_mxfp4_dual
			aiter::mixed_sample_outer_exponential aiter::silu_and_mul _C::silu_and_mul sgl_kernel::silu_and_mul aiter::gelu_and_mul
			aiter::gelu_tanh_and_mul aten::copy aten::copy_ aten::clamp_min aten::clamp_min_ aten::clamp_max aten::clamp_max_
			aten::sigmoid aten::rsqrt aten::silu aten::neg aten::pow aten::div aten::div_ aten::mul aten::mul_ aten::add aten::add_
			aten::sigmoid_backward aten::threshold_backward aten::replication_pad1d aten::replication_pad2d aten::replication_pad3d
			aten::upsample_nearest1d aten::upsample_nearest2d aten::upsample_nearest3d`,
		"GroupedGEMM_fwd": `primus_turbo::grouped_gemm primus_turbo::grouped_gemm_impl primus_turbo_cpp_extension::grouped_gemm
			primus_turbo::grouped_gemm_variable_k primus_turbo::grouped_gemm_variable_k_impl
			primus_turbo_cpp_extension::grouped_gemm_variable_k primus_turbo_cpp_extension::ck_grouped_gemm
			primus_turbo_cpp_extension::ck_grouped_gemm_variable_k`,
		"MoE_comm_fwd": `MoEDispatch MoECombine TokenPermuteMaskMap _OperationFuserAutogradFunction`,
		"SSM_fwd":      `DaoAILab::_causal_conv1d_fwd_cpp MambaSplitConv1dScanCombinedFn`,
		"RoPE_fwd": `FusedRoPEFunc aiter::fused_qk_rope_concat_and_cache_mla aiter::rope_cached_positions_2c_fwd_impl
			sgl_kernel::rotary_embedding aiter::fused_qk_rope_cat_and_cache_mla`,
		"CrossEntropy_fwd": `CrossEntropyFunction`,
		"MoE_unfused": `aiter::moe_cktile2stages_gemm1_ck aiter::moe_cktile2stages_gemm2_ck aiter::ck_moe_stage1 aiter::ck_moe_stage2
			sglang_profiler::fused_moe_triton_kernels_invoke_fused_moe_kernel`,
		"MoE_fused": `aiter::fmoe_fp8_blockscale_g1u1 aiter::fmoe_g1u1`,
		"MoE_aux": `aiter::biased_grouped_topk_hip aiter::moe_sorting_fwd aiter::mxfp4_moe_sort_hip
			sglang_profiler::fused_moe_triton_kernels_fused_append_shared_experts aiter::fused_dynamic_mxfp4_quant_moe_sort_hip
			aiter::topk_softplus aiter::moe_sorting_opus_fwd aiter::moe_align_block_size _moe_C::moe_align_block_size aiter::moe_sum
			aiter::topk_softmax aiter::topk_softmax_asm aiter::topk_sigmoid aiter::grouped_topk aiter::moe_fused_gate`,
		"GroupQuant": `aiter::dynamic_per_token_scaled_quant aiter::dynamic_per_group_scaled_quant aiter::fused_dynamic_mx_quant_moe_sort_hip
			vllm::triton_per_token_group_quant_fp8 sglang_profiler::fused_mxfp4_quant_fused_flatten_mxfp4_quant
			aiter::dynamic_per_tensor_quant sglang_profiler::quant_dynamic_mxfp4_quant aiter::dynamic_per_group_scaled_quant_fp4`,
		"RMSNorm": `aiter::fused_add_rmsnorm_pad_ aiter::rms_norm aiter::rmsnorm aiter::rmsnorm2d_fwd_ck aiter::rmsnorm2d_fwd_with_add_ck
			aiter::add_rmsnorm aiter::rmsnorm2d_fwd_with_dynamicquant_ck vllm::rocm_aiter_rmsnorm_fp8_group_quant
			vllm::rocm_aiter_rmsnorm_with_add_fp8_group_quant vllm::rocm_aiter_triton_add_rmsnorm_pad
			sglang_profiler::fused_mxfp4_quant_fused_rms_mxfp4_quant aiter::_fuse_rmsnorm_fp4_quant aiter::rmsnorm_quant`,
		"CustomCollective": `aiter::fused_allreduce_rmsnorm aiter::fused_allreduce_rmsnorm_ _C_custom_ar::all_reduce aiter::reduce_scatter
			aiter::all_gather_reg sgl_kernel::all_reduce_reg sgl_kernel::qr_all_reduce sglang::reg_all_gather_into_tensor
			_C_custom_ar::qr_all_reduce`,
		"mHC": `aiter::mhc_post aiter::mhc_pre_gemm_sqrsum aiter::mhc_pre_big_fuse_rmsnorm aiter::mhc_fused_post_pre_gemm_sqrsum`,
		"NORM_fwd": `aiter::_groupnorm_run aten::batch_norm aten::native_batch_norm aten::miopen_batch_norm aten::cudnn_batch_norm
			aten::layer_norm aten::native_layer_norm aten::miopen_layer_norm aten::cudnn_layer_norm aten::group_norm
			aten::native_group_norm aten::miopen_group_norm aten::cudnn_group_norm aten::instance_norm aten::native_instance_norm
			aten::miopen_instance_norm aten::cudnn_instance_norm aten::_fused_rms_norm primus::fused_ln_modulate`,
		"NORM_bwd": `aten::batch_norm_backward aten::native_batch_norm_backward aten::miopen_batch_norm_backward
			aten::cudnn_batch_norm_backward aten::layer_norm_backward aten::native_layer_norm_backward
			aten::miopen_layer_norm_backward aten::cudnn_layer_norm_backward aten::group_norm_backward
			aten::native_group_norm_backward aten::miopen_group_norm_backward aten::cudnn_group_norm_backward
			aten::instance_norm_backward aten::native_instance_norm_backward aten::miopen_instance_norm_backward
			aten::cudnn_instance_norm_backward aten::rms_norm_backward aten::native_rms_norm_backward aten::miopen_rms_norm_backward
			aten::cudnn_rms_norm_backward aten::_fused_rms_norm_backward primus::fused_ln_modulate_backward`,
		"reduce": `aten::sum aten::mean aten::max aten::min aten::norm aten::linalg_norm aten::std aten::var aten::logsumexp aten::cumsum
			aten::cumprod aten::amin aten::amax`,
		"SSM_bwd":          `MambaSplitConv1dScanCombinedFnBackward DaoAILab::_causal_conv1d_bwd_cpp`,
		"MoE_comm_bwd":     `MoEDispatchBackward MoECombineBackward TokenPermuteMaskMapBackward _OperationFuserAutogradFunctionBackward`,
		"RoPE_bwd":         `FusedRoPEFuncBackward`,
		"CrossEntropy_bwd": `CrossEntropyFunctionBackward`,
	} {
		for op := range strings.FieldsSeq(ops) {
			m[op] = category
		}
	}
	return m
})
