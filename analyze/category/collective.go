package category

import "strings"

// IsCollective reports whether a GPU event is communication by its name: TraceLens' test, by which timelines are told
// apart. All of NCCL's and RCCL's kernels have it, and vLLM's and aiter's own all-reduce.
func IsCollective(name string) bool {
	return containsFold(name, "rccl") || containsFold(name, "nccl") || containsFold(name, "cross_device_reduce")
}

// IsCopyKernel reports whether a kernel is a copy that old ROCm profilers recorded as a kernel.
func IsCopyKernel(name string) bool {
	name = strings.TrimSuffix(name, ".kd")
	switch name {
	case "MEMORY_COPY_HOST_TO_DEVICE", "MEMORY_COPY_DEVICE_TO_HOST", "MEMORY_COPY_DEVICE_TO_DEVICE":
		return true
	}
	rest, ok := strings.CutPrefix(name, "__amd_rocclr_copyBuffer")
	if !ok {
		return false
	}
	rest = strings.TrimPrefix(rest, "Rect")
	return rest == "" || rest == "Aligned"
}

// containsFold is strings.Contains without regard to ASCII case; sub is lower-case.
func containsFold(s, sub string) bool {
	for i := 0; i+len(sub) <= len(s); i++ {
		j := 0
		for j < len(sub) && lower(s[i+j]) == sub[j] {
			j++
		}
		if j == len(sub) {
			return true
		}
	}
	return false
}

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}
