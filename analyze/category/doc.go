// Package category is the one owner of what GPU work is called: communication or compute, GEMM or attention, rewritable
// or a vendor's binary.
//
//	category.IsCollective("ncclDevKernel_AllReduce_Sum_f32_RING_LL") // true
package category
