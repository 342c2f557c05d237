// Package source is the one owner of where a kernel's source is: which paths may be edited, where a Triton kernel is
// defined in a Python file, where a __global__ function is defined in a tree of C++.
//
//	line, ok := source.TritonDefLine("ops/norm.py", "", "add_rms_norm_kernel_0d1d2", false)
//	index, err := source.BuildIndex(ctx, []source.Root{{Dir: "/src/vllm/csrc", Framework: "vllm"}})
//	defs := index.Lookup("void vllm::rms_norm_kernel<c10::BFloat16>(…)")
//
// The rules are those of AMD-AGI/Hyperloom 434b26b95, with comments and strings left out of what is searched.
package source
