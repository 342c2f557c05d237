package roofline

import "strings"

// addAttention adds the models of attention ops: where the query is among the operands, keys and values behind it, and where
// is_causal is. flash_attn's and aiter's operands are [B, N, H, d], PyTorch's [B, H, N, d].
func addAttention(m map[string]model) {
	for _, op := range []struct {
		name           string
		query, causal  int
		rows, backward bool // [B, N, H, d]
	}{
		{"aten::_scaled_dot_product_flash_attention", 0, 4, false, false},
		{"aten::_scaled_dot_product_efficient_attention", 0, 6, false, false},
		{"aten::_scaled_dot_product_cudnn_attention", 0, 6, false, false},
		{"aten::_scaled_dot_product_flash_attention_backward", 1, 11, false, true},
		{"aten::_scaled_dot_product_efficient_attention_backward", 1, 11, false, true},
		{"aten::_scaled_dot_product_cudnn_attention_backward", 1, 14, false, true},
		{"FlashAttnFunc", 0, 5, true, false},
		{"flash_attn::_flash_attn_forward", 0, 5, true, false},
		{"flash_attn::_flash_attn_backward", 1, 10, true, true},
		{"flash_attn_3::fwd", 0, 24, true, false},
		{"aiter::_flash_attn_forward", 0, 5, true, false},
		{"aiter::_flash_attn_backward", 0, 12, true, true},
		{"aiter::mha_fwd", 0, 5, true, false},
		{"aiter::fmha_v3_fwd", 0, 5, true, false},
		{"aiter::mha_bwd", 1, 8, true, true},
		{"aiter::wrapper_fmha_v3_fwd", 1, 6, true, false},
		{"aiter::wrapper_fmha_v3_bwd", 1, 9, true, true},
	} {
		m[op.name] = func(sh Shape) (Work, bool) {
			q, k, v := sh.at(op.query), sh.at(op.query+1), sh.at(op.query+2)
			if op.rows {
				q, k, v = headsFirst(q), headsFirst(k), headsFirst(v)
			}
			if op.backward {
				return attentionBackward(q, k, v, sh.at(op.causal).truth())
			}
			return attention(q, k, v, sh.at(op.causal).truth())
		}
	}
}

// headsFirst is [B, N, H, d] as [B, H, N, d].
func headsFirst(o Operand) Operand {
	if len(o.Dims) == 4 {
		o.Dims = []int64{o.Dims[0], o.Dims[2], o.Dims[1], o.Dims[3]}
	}
	return o
}

// Lengths sums the lengths of a batch's sequences: of queries and of keys, over the sequences, and their products.
type Lengths struct {
	Q, K, QQ, QK float64
}

// pagedOps are attentions over a cache of keys, whose lengths no operand tells: the query, [tokens, H, d], and the new keys, whose
// last dimensions are [Hkv, d], come first, except where the number says where the keys are.
var pagedOps = map[string]struct{ query, key int }{
	"vllm::unified_attention_with_output":               {0, 1},
	"aiter::mha_batch_prefill":                          {0, 1},
	"aiter::mha_varlen_fwd":                             {0, 1},
	"aiter::fmha_v3_varlen_fwd":                         {0, 1},
	"sglang_profiler::attention_paged_attention_ragged": {0, 3},
}

// IsPaged reports whether Paged has a model of an op. Profilers may put an underscore or a number behind its name.
func IsPaged(op string) bool {
	_, ok := pagedOps[pagedName(op)]
	return ok
}

func pagedName(op string) string {
	if i := strings.LastIndexByte(op, '_'); i > 0 && strings.Trim(op[i+1:], "0123456789") == "" {
		return op[:i]
	}
	return op
}

// Paged is the work of one call of an attention over a paged cache, for the sequences that are prefilled and those that
// decode. New keys see each other as far as they are not later; all of the cache is seen. Source: TraceLens'
// InferenceAttention. ok is false if the op is no such attention, its operands were not recorded or there is no sequence.
func Paged(op string, sh Shape, prefill, decode Lengths) (w Work, ok bool) {
	at, ok := pagedOps[pagedName(op)]
	q, k := sh.at(at.query), sh.at(at.key)
	if !ok || len(q.Dims) != 3 || len(k.Dims) < 3 || prefill.Q+decode.Q <= 0 {
		return Work{}, false
	}
	h, d := float64(q.Dims[1]), float64(q.Dims[2])
	kvHeads, dv := float64(k.Dims[len(k.Dims)-2]), float64(k.Dims[len(k.Dims)-1])
	pairs := prefill.QK - prefill.QQ/2 + decode.QK
	fresh, cached := prefill.Q+decode.Q, prefill.K-prefill.Q+decode.K-decode.Q
	w = Work{FLOPs: 2 * h * pairs * (d + dv), Matrix: true, Precision: q.precision()}
	if q.size() > 0 && k.size() > 0 {
		w.Bytes = fresh*(h+kvHeads)*(d+dv)*q.size() + cached*kvHeads*(d+dv)*k.size()
	}
	return w, true
}

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

// attention is the products of queries and keys, and of weights and values.
func attention(q, k, v Operand, causal bool) (Work, bool) {
	a, ok := headsOf(q, k, v, causal)
	if !ok {
		return Work{}, false
	}
	out := a.q.n() / a.d * a.dv
	return Work{FLOPs: a.b * a.h * a.pairs * 2 * (a.d + a.dv), Bytes: (a.q.n() + a.k.n() + a.v.n() + out) * a.q.size(), Matrix: true, Precision: a.q.precision()}, true
}

// attentionBackward is the weights again, and the gradients of weights, queries, keys and values, summed
// over the heads that share keys; q, k, v and the output's gradient are read, and three gradients written.
func attentionBackward(q, k, v Operand, causal bool) (Work, bool) {
	a, ok := headsOf(q, k, v, causal)
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
