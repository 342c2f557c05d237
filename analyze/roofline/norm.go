package roofline

import "strings"

// The norms count their per-channel work and tensors alike, whether weights were given and statistics tracked or not: so
// do the reference's figures, which take an absent argument for a present one.

// forwardNorm is a norm with statistics over n elements and c channels: 6·c + 5·n operations; the activations in and out,
// and per channel mean, variance, weight, bias and two running statistics.
func forwardNorm(in Operand, c float64) (Work, bool) {
	if !in.tensor() || c <= 0 {
		return Work{}, false
	}
	n, b := in.n(), in.size()
	return Work{FLOPs: 6*c + 5*n, Bytes: 2*n*b + 6*c*b, Precision: in.precision()}, true
}

// channelNorm is batch, group and instance norm: channels are dimension 1.
func channelNorm(sh Shape) (Work, bool) {
	in := sh.at(0)
	if len(in.Dims) < 2 {
		return Work{}, false
	}
	return forwardNorm(in, float64(in.Dims[1]))
}

// layerNorm(input, normalized_shape, weight, …).
func layerNorm(sh Shape) (Work, bool) { return forwardNorm(sh.at(0), sh.normalized(1, 2)) }

// normalized is the number of elements that are normalised together: the product of the list at index list, or the size
// of the weight.
func (sh Shape) normalized(list, weight int) float64 {
	c := 1.0
	dims := sh.at(list).ints()
	for _, d := range dims {
		c *= float64(d)
	}
	if len(dims) == 0 {
		if c = 0; sh.at(weight).tensor() {
			c = sh.at(weight).n()
		}
	}
	return c
}

// mask reads an output mask such as "[True, False, True]"; a missing entry is true.
func (sh Shape) mask(i int) [3]bool {
	m := [3]bool{true, true, true}
	n := 0
	for part := range strings.SplitSeq(strings.Trim(sh.at(i).Value, "[]() "), ",") {
		if part = strings.TrimSpace(part); part != "" && n < len(m) {
			m[n] = strings.EqualFold(part, "true") || part == "1"
			n++
		}
	}
	return m
}

// backwardNorm is the gradient of a norm with statistics: four operations an element for the dot product, five more for
// the input's gradient, or two without it.
func backwardNorm(in Operand, c float64, input, affine, bias bool) (Work, bool) {
	if !in.tensor() || c <= 0 {
		return Work{}, false
	}
	n, b := in.n(), in.size()
	w := Work{FLOPs: 6 * n, Bytes: 2*n*b + c*b, Precision: in.precision()}
	if input {
		w.FLOPs, w.Bytes = 9*n, 3*n*b+c*b
	}
	if affine {
		w.Bytes += 2 * c * b
		if bias {
			w.Bytes += c * b
		}
	}
	return w, true
}

// batchNormBackward(grad, input, weight, …).
func batchNormBackward(sh Shape) (Work, bool) {
	in := sh.at(1)
	if len(in.Dims) < 2 {
		return Work{}, false
	}
	return backwardNorm(in, float64(in.Dims[1]), true, true, true)
}

// libraryNormBackward is cuDNN's and MIOpen's: the input comes first, and statistics were saved by the forward pass.
func libraryNormBackward(sh Shape) (Work, bool) {
	in := sh.at(0)
	if len(in.Dims) < 2 {
		return Work{}, false
	}
	n, c, b := in.n(), float64(in.Dims[1]), in.size()
	return Work{FLOPs: 3*c + 4*n, Bytes: 2*n*b + c*b, Precision: in.precision()}, true
}

// layerNormBackward(grad, input, normalized_shape, mean, rstd, weight, bias, output_mask).
func layerNormBackward(sh Shape) (Work, bool) {
	m := sh.mask(7)
	return backwardNorm(sh.at(1), sh.normalized(2, 5), m[0], m[1], m[2])
}

// groupNormBackward(grad, input, mean, rstd, weight, N, C, HxW, group, output_mask): channels of one group.
func groupNormBackward(sh Shape) (Work, bool) {
	in := sh.at(1)
	groups, ok := sh.at(8).integer()
	if len(in.Dims) < 2 || !ok || groups <= 0 {
		return Work{}, false
	}
	return backwardNorm(in, float64(in.Dims[1])/float64(groups), sh.mask(9)[0], true, true)
}

// fusedRMSNorm(input, normalized_shape, weight, eps): 2·c + 2 operations a row for the root, two an element to apply it
// and the weight.
func fusedRMSNorm(sh Shape) (Work, bool) {
	in, c := sh.at(0), sh.normalized(1, 2)
	if !in.tensor() || c <= 0 {
		return Work{}, false
	}
	n, b := in.n(), in.size()
	return Work{FLOPs: n/c*(2*c+2) + 2*n, Bytes: 2*n*b + c*b, Precision: in.precision()}, true
}

// fusedRMSNormBackward(grad, input, normalized_shape, rstd, weight, output_mask).
func fusedRMSNormBackward(sh Shape) (Work, bool) {
	in, c, m := sh.at(1), sh.normalized(2, 4), sh.mask(5)
	if !in.tensor() || c <= 0 {
		return Work{}, false
	}
	n, b := in.n(), in.size()
	w := Work{FLOPs: 2 * n, Bytes: 3*n*b + 2*c*b, Precision: in.precision()}
	if m[0] {
		w.FLOPs += 6 * n
	}
	if m[1] {
		w.FLOPs += n
		if n > c {
			w.FLOPs += n
		}
	}
	return w, true
}
