package roofline

// addGroupedGEMM adds the products of groups of rows with a matrix each, as of the experts of a mixture.
func addGroupedGEMM(m map[string]model) {
	for _, op := range []string{"primus_turbo::grouped_gemm", "primus_turbo::grouped_gemm_impl", "primus_turbo_cpp_extension::grouped_gemm",
		"primus_turbo_cpp_extension::ck_grouped_gemm", "aten::_grouped_mm"} {
		m[op] = groupedGEMM
	}
}

// groupedGEMM is X[M, K] · W[G, K, N] or W[G, N, K]: every row meets one group's matrix, so 2·M·K·N operations whatever the
// groups' sizes. All matrices are read.
func groupedGEMM(sh Shape) (Work, bool) {
	x, weight := sh.at(0), sh.at(1)
	if len(x.Dims) != 2 || len(weight.Dims) != 3 {
		return Work{}, false
	}
	k, n := x.Dims[1], weight.Dims[2]
	if weight.Dims[1] != k {
		if n = weight.Dims[1]; weight.Dims[2] != k {
			return Work{}, false
		}
	}
	rows := float64(x.Dims[0])
	w := Work{FLOPs: 2 * rows * float64(k) * float64(n), Matrix: true, Precision: x.precision()}
	if x.size() > 0 && weight.size() > 0 {
		w.Bytes = x.bytes() + weight.bytes() + rows*float64(n)*x.size()
	}
	return w, true
}
