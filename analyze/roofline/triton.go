package roofline

import "strings"

// tritonOps is the arithmetic that Inductor's kernels name, in operations an element. What is not here moves data only.
var tritonOps = map[string]float64{
	"add": 1, "sub": 1, "mul": 1, "div": 1, "relu": 1, "mean": 1, "sum": 1, "abs": 1, "neg": 1, "ne": 1, "eq": 1, "lt": 1, "gt": 1,
	"pow": 2, "sqrt": 2, "rsqrt": 2, "var": 2, "reciprocal": 2,
	"exp": 4, "log": 4, "sigmoid": 4, "tanh": 4, "silu": 4, "gelu": 8,
}

// longNames are ops whose name holds the name of another.
var longNames = []string{"var_mean", "std_mean", "log_softmax", "log_sigmoid", "sum_to_size"}

// fusedOps returns the kind of one of Inductor's kernels (poi, red or per) and the operations an element of it: the ops it
// fuses are joined by underscores in its name, as in triton_red_fused_add_mean_mul_pow_rsqrt_0.
func fusedOps(name string) (kind string, perElement float64, ok bool) {
	rest, ok := strings.CutPrefix(name, "triton_")
	if !ok {
		return "", 0, false
	}
	kind, rest, ok = strings.Cut(rest, "_fused_")
	if !ok || kind != "poi" && kind != "red" && kind != "per" {
		return "", 0, false
	}
	if i := strings.LastIndexByte(rest, '_'); i >= 0 {
		rest = rest[:i] // the number that tells kernels of a graph apart
	}
	rest = "_" + rest + "_"
	for _, long := range longNames {
		rest = strings.ReplaceAll(rest, "_"+long+"_", "__")
	}
	words := strings.Split(rest, "_")
	for i, w := range words {
		if i+1 < len(words) && words[i+1] == "backward" {
			continue
		}
		perElement += tritonOps[w]
	}
	return kind, perElement, true
}

// triton is the work of one of Inductor's kernels. Its last concrete inputs are the numbers of elements: of the rows and in
// a row for a reduction, of all for others. Every tensor moves once; a pointwise kernel writes its first one, too, as its
// output is listed only once. Among tensors of c10 types those of plain ones, such as float, are left out, as in the
// reference's figures: they are statistics, mostly.
func triton(name string, sh Shape) (Work, bool) {
	kind, perElement, ok := fusedOps(name)
	if !ok {
		return Work{}, false
	}
	var scalars []float64
	var tensors Shape
	c10 := false
	for _, o := range sh {
		if n, ok := o.integer(); ok {
			scalars = append(scalars, float64(n))
		}
		if o.Type != "Scalar" && o.tensor() {
			tensors = append(tensors, o)
			c10 = c10 || strings.HasPrefix(o.Type, "c10::")
		}
	}
	n := len(scalars)
	if n == 0 {
		return Work{}, false
	}
	last := scalars[n-1]
	w := Work{FLOPs: perElement * last}
	if kind != "poi" && n >= 2 {
		w.FLOPs = perElement * scalars[n-2] * last
	}
	for i, o := range tensors {
		if c10 && !strings.HasPrefix(o.Type, "c10::") {
			continue
		}
		if o.size() == 0 {
			w.Bytes = 0
			break
		}
		if w.Precision == "" {
			w.Precision = o.precision()
		}
		w.Bytes += o.bytes()
		if i == 0 && kind == "poi" {
			w.Bytes += o.size() * last
		}
	}
	return w, true
}
