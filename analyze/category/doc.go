// Package category is the one owner of what GPU work is called: communication or compute, GEMM or attention, rewritable
// or a vendor's binary.
//
//	category.Of("ncclDevKernel_AllReduce_Sum_f32_RING_LL", "")         // Communication
//	category.Of("sm90_xmma_gemm_bf16bf16_bf16f32", "aten::mm")          // GEMM
//	ok, reason := category.Rewritable("Cijk_Ailk_Bljk_BBS_BH")          // false, "vendor backend library …"
//
// The rules are those of AMD-AGI/Hyperloom 434b26b95 for device names and ops, with what they miss added: NCCL and RCCL
// kernels, xmma, cutlass and ampere GEMMs, implicit-GEMM convolutions, batch and group norms, softmax and reductions.
// Launcher is TraceLens' own, coarser naming, kept for comparison with its reports.
package category
