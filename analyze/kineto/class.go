package kineto

// class is what the loader does with a category.
type class uint8

const (
	other class = iota
	opClass
	runtimeClass
	driverClass
	kernelClass
	memcpyClass
	memsetClass
	noteClass
	gpuNoteClass
	ac2gClass
	fwdbwdClass
)

// classOf knows the names of today and those that PyTorch before 1.13 wrote.
func classOf(phase byte, category []byte) class {
	if phase == 'X' {
		switch string(category) {
		case "cpu_op", "Operator":
			return opClass
		case "cuda_runtime", "Runtime", "xpu_runtime", "mtia_runtime", "privateuse1_runtime":
			return runtimeClass
		case "cuda_driver", "xpu_driver", "privateuse1_driver":
			return driverClass
		case "kernel", "Kernel":
			return kernelClass
		case "gpu_memcpy", "Memcpy":
			return memcpyClass
		case "gpu_memset", "Memset":
			return memsetClass
		case "user_annotation":
			return noteClass
		case "gpu_user_annotation":
			return gpuNoteClass
		}
		return other
	}
	if phase == 's' || phase == 'f' {
		switch string(category) {
		case "ac2g", "async_cpu_to_gpu":
			return ac2gClass
		case "fwdbwd":
			return fwdbwdClass
		}
	}
	return other
}
