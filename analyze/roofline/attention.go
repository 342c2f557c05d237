package roofline

// heads is the shape of an attention: q[B, H, N, d], k[B, Hkv, Nkv, d], v[B, Hkv, Nkv, dv].
type heads struct {
	q, k, v          Operand
	b, h, hkv, d, dv float64
	nkv              float64
	pairs            float64 // of a query and a key that it sees
}

func headsOf(q, k, v Operand, causal bool) (heads, bool) {
	if len(q.Dims) != 4 || len(k.Dims) != 4 || len(v.Dims) != 4 {
		return heads{}, false
	}
	a := heads{q: q, k: k, v: v, b: float64(q.Dims[0]), h: float64(q.Dims[1]), hkv: float64(k.Dims[1]), d: float64(q.Dims[3]), dv: float64(v.Dims[3]), nkv: float64(k.Dims[2])}
	if a.d == 0 {
		return heads{}, false
	}
	nq := float64(q.Dims[2])
	a.pairs = nq * a.nkv
	if causal {
		// Half of a square; of a rectangle, what lies below the diagonal.
		if a.pairs /= 2; nq != a.nkv {
			side := min(nq, a.nkv)
			a.pairs = nq*a.nkv - side*(side-1)/2
		}
	}
	return a, true
}

// attention(q, k, v, …): the products of queries and keys, and of weights and values.
func attention(sh Shape, causal bool) (Work, bool) {
	a, ok := headsOf(sh.at(0), sh.at(1), sh.at(2), causal)
	if !ok {
		return Work{}, false
	}
	out := a.q.n() / a.d * a.dv
	return Work{FLOPs: a.b * a.h * a.pairs * 2 * (a.d + a.dv), Bytes: (a.q.n() + a.k.n() + a.v.n() + out) * a.q.size(), Matrix: true, Precision: a.q.precision()}, true
}

// attentionBackward(grad, q, k, v, …): the weights again, and the gradients of weights, queries, keys and values, summed
// over the heads that share keys; q, k, v and the output's gradient are read, and three gradients written.
func attentionBackward(sh Shape, causal bool) (Work, bool) {
	a, ok := headsOf(sh.at(1), sh.at(2), sh.at(3), causal)
	if !ok || a.hkv == 0 {
		return Work{}, false
	}
	shared := float64(int64(a.h/a.hkv) - 1)
	out := a.q.n() / a.d * a.dv
	return Work{
		FLOPs:     a.b*a.h*a.pairs*2*(3*a.d+2*a.dv) + a.b*a.nkv*(a.d+a.dv)*shared,
		Bytes:     (2*(a.q.n()+a.k.n()+a.v.n()) + out) * a.q.size(),
		Matrix:    true,
		Precision: a.q.precision(),
	}, true
}
