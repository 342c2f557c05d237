package category

import (
	"strings"
	"sync"
)

// Category is a class of GPU work.
type Category string

const (
	MemCpy        Category = "MemCpy"
	Communication Category = "Communication"
	MoE           Category = "MoE"
	SDPA          Category = "SDPA"
	KVCacheStore  Category = "KVCacheStore"
	Normalization Category = "Normalization"
	Elementwise   Category = "Elementwise"
	Quantization  Category = "Quantization"
	Convolution   Category = "Convolution"
	GEMM          Category = "GEMM"
	Reduction     Category = "Reduction"
	Others        Category = "Others"
)

type table = []struct {
	Category Category
	Patterns string
}

// deviceRules go by the name of the device function, from the most certain to the least. Numbers are Hyperloom's
// priorities.
var deviceRules = sync.OnceValue(func() rules {
	return newRules(table{
		{Communication, `nccl rccl`}, // ours: before the ops may call them anything else
		{MemCpy, `memcpy memset`},    // 30
		{Communication, `cross_device_reduce outplace_all_reduce all_reduce allreduce allgather all_gather reg_all_gather reduce_scatter all_to_all alltoall`}, // 28
		{MoE, `swiglu fmoe kernel_moe_gemm moegemmblockscale`},                                                                        // 25
		{MoE, `fused_moe moe_gemm1 moe_gemm2 ck_moe moe_sorting moe_align topk_softmax topkgatingsoftmax grouped_topk routing`},       // 22
		{SDPA, `paged_attention pagedattention mla_decode attention_2d attention_3d unified_attention flash_attn flash_fwd fmha`},     // 20
		{KVCacheStore, `reshape_and_cache concat_and_cache`},                                                                          // 20
		{Normalization, `rmsnorm rms_norm layer_norm layernorm l2norm`},                                                               // 20
		{Normalization, `fusedlnmodulate ada_ln adaln modulate scale_shift`},                                                          // 19
		{SDPA, `_fwd_kernel _fwd_grouped_kernel _decode_grouped_att _score_kernel _combine_kernel kda_packed_decode reduce_segments`}, // 18
		{Normalization, `add_rmsnorm fused*mean*rsqrt rsqrt*mean`},                                                                    // 18
		{Elementwise, `rotary <rope>`}, // 18
		{Quantization, `per_tensor_quant per_token*quant dynamic*quant scaled_quant data_to_scale initializescale`},                                       // 18
		{Convolution, `conv2d conv_2d conv_fwd conv_bwd convolution miopen*conv cudnn*conv`},                                                              // 16
		{Elementwise, `silu swish <gelu> silu_and_mul situ_and_mul act_and_mul`},                                                                          // 15
		{Elementwise, `embedding gather_kernel vectorized_gather`},                                                                                        // 14
		{GEMM, `cijk_ wvsplitk splitkreduce hipblaslt rocblas cublas nvjet kernel_gemm_xdl_cshuffle gemm_a#w# _gemm_a16_w16 hgemm_bf16 flatmm opus_gemm`}, // 12
		{Elementwise, `elementwise index_elementwise catarraybatchedcopy direct_copy_kernel copy_ _to_copy fillfunctor`},                                  // 10
		{GEMM, `scaled_mm <gemm> <bmm> matmul`},                                                                                                           // 8
		{Quantization, `dynamic_per_token static_quant_fp8 <quant> quantize`},                                                                             // 6
		{Elementwise, `triton_poi_fused triton_red_fused triton_per_fused`},                                                                               // 3
		{Normalization, `<norm>`}, // 1
		{Elementwise, `rocprim hipcub devicescan deviceradixsort devicereduce`}, // 1
	})
})

// opRules go by the name of the launching op, where the device name says nothing.
var opRules = sync.OnceValue(func() rules {
	return newRules(table{
		{Communication, `nccl rccl cross_device_reduce outplace_all_reduce all_reduce allreduce allgather all_gather reduce_scatter all_to_all alltoall record_param_comms`},
		{Convolution, `convolution conv1d conv2d conv3d conv_transpose`},
		{SDPA, `scaled_dot_product_attention scaled_dot_product efficient_attention flash_attention memory_efficient_attention sdpa _attention_forward multi_head_attention unified_attention paged_attention`},
		{Normalization, `layer_norm layernorm rms_norm rmsnorm group_norm groupnorm batch_norm batchnorm`},
		{KVCacheStore, `reshape_and_cache concat_and_cache store_cache kv_cache`},
		{MoE, `moe topk routing expert`},
		{Quantization, `quant`},
		{GEMM, `addmm baddbmm bmm <mm> matmul linear gemm scaled_mm`},
		{Elementwise, `relu gelu silu sigmoid tanh softplus mish swish rotary rope embedding elementwise mul add sub div copy cat concat index_select slice view reshape transpose permute fill clamp to_copy`},
	})
})

// moreRules go by the device name again: what Hyperloom leaves under Others.
var moreRules = sync.OnceValue(func() rules {
	return newRules(table{
		{Convolution, `igemm_fwd igemm_bwd igemm_wrw implicit_gemm fprop dgrad wgrad winograd im2col col2im subtensorop naive_conv miopenconv xdlops_conv conv1d conv3d`},
		{SDPA, `attention attn_fwd attn_bwd sage_attn mha_ mla_ kv_indices page_indices`},
		{KVCacheStore, `kvcache kv_cache`},
		{MoE, `_moe_ moe_ matmul_ogs topk_forward bitmatrix expert_ finalize_matmul_scatter`},
		{Normalization, `batchnorm batch_norm groupnorm group_norm instance_norm instancenorm gammabeta rowwisemoments rms2d norm_fwd norm_bwd`},
		{GEMM, `xmma gemm gemv cutlass gridwisegemm ck_tile*gemm bmm_ mm_kernel splitk split_k tensorop wmma dot_kernel`},
		{Reduction, `softmax reduce_kernel reduceop segmented_reduce argmax argmin cumsum cumprod logsumexp max_pool avg_pool maxpool avgpool pool2d scan bitonic reduce`},
		{Quantization, `quant fp8_cast cast_fp8`},
		{Elementwise, `rope_ _rope multi_tensor_apply indexselect index_select index_kernel index_put scatter gather sort transpose permute castt cast tensor_copy fillbuffer fill_ dropout upsample interpolate masked arange where_ clamp topk histc histogram roll pad_ triton_ distribution philox random copy elemwise unrolled vectorized add_ mul_ dev_random compare bincount unique nonzero position_kernel token_ids compute_position`},
	})
})

// lastRules go by the op, for kernels whose name says nothing at all.
var lastRules = sync.OnceValue(func() rules {
	return newRules(table{
		{Reduction, `softmax ::sum ::mean ::max ::min ::argmax ::argmin ::cumsum ::all ::any ::norm ::amax pool`},
		{Elementwise, `aten:: prims::`},
	})
})

// Of is the category of a GPU event: by device name, then by the name of the launching op ("" if unknown), then by what
// else the device name holds. A GEMM under a convolution or attention op takes the op's category.
func Of(device, op string) Category {
	name := strings.ToLower(device)
	opName := strings.ToLower(op)
	c, ok := deviceRules().first(name)
	if ok && c != GEMM {
		return c
	}
	opCategory, opOK := opRules().first(opName)
	if ok {
		if opCategory == Convolution || opCategory == SDPA {
			return opCategory
		}
		return c
	}
	if opOK {
		return opCategory
	}
	if c, ok = moreRules().first(name); ok {
		return c
	}
	if c, ok = lastRules().first(opName); !ok && HasCollectiveToken(device) {
		return Communication
	}
	return c
}

// Reasons why a kernel is not for rewriting.
const (
	ReasonMemory     = "device memcpy/memset (not a rewritable kernel)"
	ReasonCollective = "collective/communication primitive (not a rewritable kernel)"
	ReasonVendor     = "vendor backend library (precompiled binary, no rewritable source)"
	ReasonUnresolved = "source file not resolved"
)

var (
	vendorRules = sync.OnceValue(func() rules {
		return newRules(table{{Others, `cijk_ wvsplitk splitkreduce hipblaslt rocblas cublas nvjet_tst miopen cudnn`}})
	})
	rewritableRules = sync.OnceValue(func() rules {
		return newRules(table{{Others, `triton_ ^_fwd_kernel _fwd_grouped_kernel _decode_grouped_att _score_kernel _combine_kernel kda_packed_decode reduce_segments
			aiter ck_tile paged_attention mla_decode reshape_and_cache rmsnorm rms_norm silu _and_mul
			per_tensor_quant per_token*quant dynamic*quant scaled_quant fusedlnmodulate ada_ln adaln modulate scale_shift`}})
	})
)

// Rewritable says by the device name alone whether a kernel's source may be found and changed, and if not, why.
func Rewritable(device string) (ok bool, reason string) {
	name := strings.ToLower(device)
	switch c, _ := deviceRules().first(name); {
	case c == MemCpy:
		return false, ReasonMemory
	case c == Communication:
		return false, ReasonCollective
	}
	if _, vendor := vendorRules().first(name); vendor {
		return false, ReasonVendor
	}
	if _, ok := rewritableRules().first(name); ok {
		return true, ""
	}
	return false, ReasonUnresolved
}

// Canonical is the label under which reports show a raw category of any tool; "" for "". An unknown one stays as it is.
func Canonical(raw string) string {
	key := strings.Map(func(r rune) rune {
		switch r {
		case ' ', '-', '/', '.':
			return '_'
		}
		return r
	}, strings.ToLower(strings.TrimSpace(raw)))
	has := func(prefixes ...string) bool {
		for _, p := range prefixes {
			if strings.HasPrefix(key, p) {
				return true
			}
		}
		return false
	}
	switch {
	case key == "":
		return ""
	case has("gemm", "grouped_gemm", "groupedgemm", "matmul", "bmm"):
		return "GEMM"
	case has("sdpa", "attention", "inferenceattention", "inference_attention"):
		return "SDPA"
	case has("moe"):
		return "MoE"
	case has("elementwise"):
		return "Elementwise"
	case has("norm", "layernorm", "rmsnorm"):
		return "Normalization"
	case has("conv"):
		return "Convolution"
	case has("quant"):
		return "Quantization"
	case has("kvcachestore"):
		return "KVCacheStore"
	case has("reduc"):
		return "Reduction"
	case has("communication", "customcollective"):
		return "Communication"
	case has("triton"):
		return "Triton"
	case has("flydsl"):
		return "FlyDSL"
	case has("memcpy"):
		return "MemCpy"
	case key == "other" || key == "others" || key == "cpu_idle" || key == "unknown":
		return "Other"
	}
	return raw
}
