package roofline

import (
	"slices"
	"strings"
)

// Work is what one call of an op does.
type Work struct {
	FLOPs     float64
	Bytes     float64 // 0 if a type's size is unknown
	Precision string  // of the first operand: bf16, fp16, fp8, fp4, int8, fp32, fp64, or "" if unknown
	Matrix    bool    // the matrix units' peak applies, else the vector units'
}

// Intensity is FLOPs per byte, 0 if unknown.
func (w Work) Intensity() float64 {
	if w.Bytes == 0 {
		return 0
	}
	return w.FLOPs / w.Bytes
}

// model computes the work of an op from its operands; false if they do not fit.
type model func(sh Shape) (Work, bool)

// HasModel reports whether an op of a library has a model. Inductor's own kernels, which launch no further op, have one too.
func HasModel(op string) bool { return models[op] != nil }

// Model is the work of one call. ok is false if the op has no model or its operands were not recorded.
func Model(op string, sh Shape) (w Work, ok bool) {
	if len(sh) == 0 {
		return Work{}, false
	}
	if m := models[op]; m != nil {
		w, ok = m(sh)
	} else {
		w, ok = triton(op, sh)
	}
	if !ok {
		return Work{}, false
	}
	if w.Precision == "" {
		w.Precision = sh[0].precision()
	}
	return w, true
}

var models = func() map[string]model {
	m := map[string]model{
		"aten::mm":                     func(sh Shape) (Work, bool) { return gemm(sh.at(0), sh.at(1), Operand{}, false) },
		"aten::addmm":                  func(sh Shape) (Work, bool) { return gemm(sh.at(1), sh.at(2), sh.at(0), false) },
		"aten::bmm":                    func(sh Shape) (Work, bool) { return gemm(sh.at(0), sh.at(1), Operand{}, false) },
		"aten::baddbmm":                func(sh Shape) (Work, bool) { return gemm(sh.at(1), sh.at(2), sh.at(0), false) },
		"aten::_scaled_mm":             scaledMM,
		"aiter::gemm_a16w16":           func(sh Shape) (Work, bool) { return gemm(sh.at(0), sh.at(1), Operand{}, true) },
		"vllm::rocm_unquantized_gemm":  func(sh Shape) (Work, bool) { return gemm(sh.at(0), sh.at(1), sh.at(2), true) },
		"aten::convolution":            convolution,
		"aten::convolution_backward":   convolutionBackward,
		"aten::copy_":                  func(sh Shape) (Work, bool) { return unary(sh.at(1), sh.at(0)) },
		"aten::cumprod":                func(sh Shape) (Work, bool) { return unary(sh.at(0), sh.at(0)) },
		"aten::cumsum":                 func(sh Shape) (Work, bool) { return unary(sh.at(0), sh.at(0)) },
		"aiter::rms_norm":              func(sh Shape) (Work, bool) { return rmsnorm(sh, 1, 2, 4) },
		"aiter::rmsnorm2d_fwd_ck":      func(sh Shape) (Work, bool) { return rmsnorm(sh, 1, 2, 4) },
		"aiter::rmsnorm":               func(sh Shape) (Work, bool) { return rmsnorm(sh, 2, 2, 4) },
		"aiter::_groupnorm_run":        channelNorm,
		"sgl_kernel::silu_and_mul":     siluAndMul,
		"sgl_kernel::rotary_embedding": rotary,
		"sglang::store_cache":          storeCache,
	}
	for _, op := range []string{"aiter::add_rmsnorm", "aiter::rmsnorm2d_fwd_with_add_ck"} {
		m[op] = func(sh Shape) (Work, bool) { return rmsnorm(sh, 4, 4, 5) }
	}
	addAttention(m)
	addGroupedGEMM(m)
	for _, library := range []string{"", "native_", "miopen_", "cudnn_"} {
		for _, kind := range []string{"batch_norm", "group_norm", "instance_norm"} {
			m["aten::"+library+kind] = channelNorm
		}
		m["aten::"+library+"layer_norm"] = layerNorm
		m["aten::"+library+"layer_norm_backward"] = layerNormBackward
		m["aten::"+library+"group_norm_backward"] = groupNormBackward
		m["aten::"+library+"batch_norm_backward"] = batchNormBackward
	}
	m["aten::miopen_batch_norm_backward"], m["aten::cudnn_batch_norm_backward"] = libraryNormBackward, libraryNormBackward
	m["aten::_fused_rms_norm"], m["aten::_fused_rms_norm_backward"] = fusedRMSNorm, fusedRMSNormBackward
	for op := range strings.FieldsSeq(`pow silu silu_ neg rsqrt clamp_min_ clamp_min clamp_max clamp_max_ relu relu_ gelu tanh sigmoid cos sin exp sqrt reciprocal abs clamp`) {
		m["aten::"+op] = func(sh Shape) (Work, bool) { return unary(sh.at(0), sh.at(0)) }
	}
	for op := range strings.FieldsSeq(`add add_ mul mul_ sub sub_ div div_ threshold_backward sigmoid_backward`) {
		m["aten::"+op] = func(sh Shape) (Work, bool) { return binary(sh.at(0), sh.at(1), sh.at(2)) }
	}
	for op := range strings.FieldsSeq(`sum mean max min norm linalg_norm std var logsumexp amin amax`) {
		m["aten::"+op] = reduce
	}
	for _, dims := range []string{"1d", "2d", "3d"} {
		m["aten::replication_pad"+dims] = replicationPad
		m["aten::upsample_nearest"+dims] = upsampleNearest
	}
	return m
}()

// gemm is A[…,M,K] · B[…,K,N], or B[N,K] if transposed: 2·M·N·K operations and M·N for a bias.
func gemm(a, b, bias Operand, transposed bool) (Work, bool) {
	if len(a.Dims) < 2 || len(b.Dims) < 2 {
		return Work{}, false
	}
	m, k := float64(a.Dims[len(a.Dims)-2]), float64(a.Dims[len(a.Dims)-1])
	n, kb := float64(b.Dims[len(b.Dims)-1]), float64(b.Dims[len(b.Dims)-2])
	if transposed {
		n, kb = kb, n
	}
	if k != kb {
		return Work{}, false
	}
	batch := 1.0
	for _, d := range a.Dims[:len(a.Dims)-2] {
		batch *= float64(d)
	}
	out := batch * m * n
	w := Work{FLOPs: 2 * out * k, Matrix: true, Precision: a.precision()}
	if a.size() > 0 && b.size() > 0 {
		w.Bytes = a.bytes() + b.bytes() + out*a.size()
	}
	if bias.tensor() {
		w.FLOPs += out
		if w.Bytes > 0 {
			w.Bytes += bias.bytes()
		}
	}
	if w.Precision == "fp4" {
		w.FLOPs *= 2 // two values to a byte along K
	}
	return w, true
}

func scaledMM(sh Shape) (Work, bool) {
	w, ok := gemm(sh.at(0), sh.at(1), Operand{}, false)
	if ok && w.Bytes > 0 {
		out := float64(sh[0].Dims[0]) * float64(sh[1].Dims[1])
		w.Bytes += out * (2 - sh[0].size()) // the result has 2 bytes an element
	}
	return w, ok
}

// outputDims is the output shape of a convolution.
func outputDims(in, weight []int64, stride, padding, dilation, outputPadding []int64, transposed bool, groups int64) []int64 {
	pick := func(v []int64, i int, otherwise int64) int64 {
		switch {
		case len(v) == 1:
			return v[0]
		case i < len(v):
			return v[i]
		}
		return otherwise
	}
	out := []int64{in[0], weight[0]}
	if transposed {
		out[1] = weight[1] * max(groups, 1)
	}
	for i := 2; i < len(in); i++ {
		s, p, d := pick(stride, i-2, 1), pick(padding, i-2, 0), pick(dilation, i-2, 1)
		if s <= 0 {
			return nil
		}
		if transposed {
			out = append(out, (in[i]-1)*s-2*p+d*(weight[i]-1)+pick(outputPadding, i-2, 0)+1)
		} else {
			out = append(out, (in[i]+2*p-d*(weight[i]-1)-1)/s+1)
		}
	}
	return out
}

// convolution(input, weight, bias, stride, padding, dilation, transposed, output_padding, groups). weight[1] already is
// C_in/groups. The bias is left out, as in the reference's figures.
func convolution(sh Shape) (Work, bool) {
	in, weight := sh.at(0), sh.at(1)
	if len(in.Dims) < 3 || len(weight.Dims) != len(in.Dims) || sh.at(3).ints() == nil {
		return Work{}, false
	}
	transposed := sh.at(6).truth()
	groups, ok := sh.at(8).integer()
	if !ok {
		groups = 1
	}
	dims := outputDims(in.Dims, weight.Dims, sh.at(3).ints(), sh.at(4).ints(), sh.at(5).ints(), sh.at(7).ints(), transposed, groups)
	if dims == nil {
		return Work{}, false
	}
	out := Operand{Dims: dims, Type: in.Type}
	return conv(in, weight, out, transposed), true
}

func conv(in, weight, out Operand, transposed bool) Work {
	per := float64(numel(weight.Dims[1:]))
	w := Work{FLOPs: 2 * per * out.n(), Matrix: true, Precision: in.precision()}
	if transposed {
		w.FLOPs = 2 * per * in.n()
	}
	w.Bytes = (in.n() + weight.n() + out.n()) * in.size()
	return w
}

// convolutionBackward(grad_output, input, weight, …) is two convolutions: for the input's gradient and the weight's.
// Both count even if the output mask asks for one only, as in the reference's figures.
func convolutionBackward(sh Shape) (Work, bool) {
	grad, in, weight := sh.at(0), sh.at(1), sh.at(2)
	if len(in.Dims) < 3 || len(weight.Dims) != len(in.Dims) || len(grad.Dims) != len(in.Dims) {
		return Work{}, false
	}
	w := conv(in, weight, grad, sh.at(7).truth())
	w.FLOPs *= 2
	w.Bytes *= 2
	return w, true
}

func unary(in, out Operand) (Work, bool) {
	if in.Type == "" || out.Type == "" {
		return Work{}, false
	}
	n := out.n()
	w := Work{FLOPs: n, Precision: out.precision()}
	if in.size() > 0 && out.size() > 0 {
		w.Bytes = n*in.size() + n*out.size()
	}
	return w, true
}

// binary broadcasts its operands, aligned at the right. The result is of the type of out, if that is a tensor; of two tensors it
// has the longer type, of a tensor and a scalar the tensor's.
func binary(a, b, out Operand) (Work, bool) {
	if a.Type == "" || b.Type == "" {
		return Work{}, false
	}
	long, other := a.Dims, b.Dims
	if len(other) > len(long) {
		long, other = other, long
	}
	n := 1.0
	for i, d := range long {
		if j := i - (len(long) - len(other)); j >= 0 {
			d = max(d, other[j])
		}
		n *= float64(d)
	}
	size := a.size()
	switch {
	case out.tensor():
		size = out.size()
	case a.tensor() && b.tensor():
		size = max(size, b.size())
	}
	w := Work{FLOPs: n, Precision: a.precision()}
	if a.size() > 0 && b.size() > 0 && size > 0 {
		w.Bytes = a.bytes() + b.bytes() + n*size
	}
	return w, true
}

// replicationPad(input, padding): a pair of lengths for each of the last dimensions, the last one first.
func replicationPad(sh Shape) (Work, bool) {
	in, padding := sh.at(0), sh.at(1).ints()
	if !in.tensor() || len(padding) == 0 || len(padding)%2 != 0 || len(padding)/2 > len(in.Dims) {
		return Work{}, false
	}
	out := Operand{Dims: slices.Clone(in.Dims), Type: in.Type}
	for i := 0; i < len(padding); i += 2 {
		out.Dims[len(in.Dims)-1-i/2] += padding[i] + padding[i+1]
	}
	return resized(in, out), true
}

// upsampleNearest(input, output_size, …).
func upsampleNearest(sh Shape) (Work, bool) {
	in, size := sh.at(0), sh.at(1).ints()
	if len(in.Dims) < 3 || len(size) != len(in.Dims)-2 {
		return Work{}, false
	}
	return resized(in, Operand{Dims: append(slices.Clone(in.Dims[:2]), size...), Type: in.Type}), true
}

// resized reads in and writes out, one operation an element.
func resized(in, out Operand) Work {
	return Work{FLOPs: out.n(), Bytes: in.bytes() + out.bytes(), Precision: in.precision()}
}

// reduce counts the result as one element, since the reduced dimensions are not among the shapes.
func reduce(sh Shape) (Work, bool) {
	in := sh.at(0)
	if in.Type == "" {
		return Work{}, false
	}
	return Work{FLOPs: in.n(), Bytes: in.bytes() + in.size(), Precision: in.precision()}, true
}

// rmsnorm moves tensors of [rows, C], of which those that are operands come first, and a weight of [C] behind these.
func rmsnorm(sh Shape, operands int, tensors, perElement float64) (Work, bool) {
	x, weight := sh.at(0), sh.at(operands)
	if !x.tensor() || !weight.tensor() {
		return Work{}, false
	}
	rows := x.n() / float64(x.Dims[len(x.Dims)-1])
	return Work{FLOPs: perElement*x.n() + 2*rows, Bytes: tensors*x.bytes() + weight.bytes(), Precision: x.precision()}, true
}

func siluAndMul(sh Shape) (Work, bool) {
	out, in := sh.at(0), sh.at(1)
	if !out.tensor() || !in.tensor() {
		return Work{}, false
	}
	return Work{FLOPs: 5 * out.n(), Bytes: out.bytes() + in.bytes(), Precision: out.precision()}, true
}

func rotary(sh Shape) (Work, bool) {
	q, k := sh.at(1), sh.at(2)
	if !q.tensor() || !k.tensor() {
		return Work{}, false
	}
	return Work{FLOPs: 3 * (q.n() + k.n()), Bytes: 2 * (q.bytes() + k.bytes()), Precision: q.precision()}, true
}

func storeCache(sh Shape) (Work, bool) {
	k, v := sh.at(0), sh.at(1)
	if !k.tensor() || !v.tensor() {
		return Work{}, false
	}
	return Work{Bytes: 2 * (k.bytes() + v.bytes()), Precision: k.precision()}, true
}
