// Package steps finds the iterations of a trace, the part of it that is steady, and cuts windows out as traces of their own.
//
//	roots := steps.Find(t)
//	sel := steps.Select(roots, 0)                      // windows of at most 32 steps: mixed, decode only, prefill
//	if w := sel.Mixed; w != nil {
//		part, err := steps.Extract(out, path, t, roots[w.Start:w.End])
//	}
//
// A serving framework marks an iteration with a user_annotation that says how many requests it prefills and decodes
// (vLLM, SGLang, ATOM, diffusion); a training loop with ProfilerStep#n. Where nothing is marked, Repeats finds what repeats. Rules for windows: TraceLens'
// split_inference_trace_annotation.
package steps

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/tracehandler/tracehandler/analyze/kineto"
	"github.com/tracehandler/tracehandler/analyze/roofline"
)

// Root is one iteration.
type Root struct {
	Name       string
	TS, Dur    int64
	Thread     int32            // index into the trace's Threads
	Context    int              // requests that are prefilled
	Generation int              // requests that are decoded
	Batch      int              // tokens, as far as the name tells; else requests
	Detailed   bool             // the name states the sums of lengths, too
	Training   bool             // a ProfilerStep, or found by Repeats: all threads of its process work for it, as autograd's does
	Prefill    roofline.Lengths // of the sequences that are prefilled, if Detailed
	Decode     roofline.Lengths // of those that are decoded, if Detailed
}

// Requests is the number of requests the iteration serves.
func (r Root) Requests() int { return r.Context + r.Generation }

// tier is a family of names. The first tier that matches anything is the trace's.
type tier struct {
	detailed bool
	training bool
	forms    []form
}

type form struct {
	re    *regexp.Regexp
	parse func(r *Root, m []string)
}

func atoi(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		return 0
	}
	return n
}

// bracketed reads key=value pairs, of "bs=117/128" the part before the slash.
func bracketed(s string) map[string]int {
	m := map[string]int{}
	for f := range strings.FieldsSeq(strings.ReplaceAll(s, ",", " ")) {
		if k, v, ok := strings.Cut(f, "="); ok {
			v, _, _ = strings.Cut(v, "/")
			m[k] = atoi(v)
		}
	}
	return m
}

// vllm is execute_<tokens>_context_<requests>(sq…sk…sqsq…sqsk…)_generation_<requests>(…): Q is sq, K sk, and so on.
func vllm(r *Root, m []string) {
	r.Batch, r.Context, r.Generation = atoi(m[1]), atoi(m[2]), atoi(m[7])
	r.Prefill, r.Decode = lengths(m[3:7]), lengths(m[8:12])
}

func lengths(m []string) roofline.Lengths {
	return roofline.Lengths{Q: float64(atoi(m[0])), K: float64(atoi(m[1])), QQ: float64(atoi(m[2])), QK: float64(atoi(m[3]))}
}

// sglang is step[MODE bs=… toks=…]; detailed ones have sums of lengths, c_… and g_…, and mixed ones the requests c and g.
// Mixed ones without count as prefill.
func sglang(r *Root, m []string) {
	f := bracketed(m[2])
	bs := f["bs"]
	r.Batch = cmp.Or(f["c_sq"]+f["g_sq"], f["toks"], bs)
	switch m[1] {
	case "DECODE":
		r.Generation = bs
	case "MIXED":
		r.Context, r.Generation = f["c"], f["g"]
		if r.Context+r.Generation == 0 {
			r.Context = bs
		}
	default:
		r.Context = bs
	}
	of := func(group string) roofline.Lengths {
		return roofline.Lengths{Q: float64(f[group+"_sq"]), K: float64(f[group+"_sk"]), QQ: float64(f[group+"_sqsq"]), QK: float64(f[group+"_sqsk"])}
	}
	r.Prefill, r.Decode = of("c"), of("g")
}

// atom is prefill[bs=… tok=… sk=… sqsq=… sqsk=…] or decode[…].
func atom(r *Root, m []string) {
	f := bracketed(m[2])
	r.Batch = cmp.Or(f["tok"], f["toks"], f["bs"])
	l := roofline.Lengths{Q: float64(r.Batch), K: float64(f["sk"]), QQ: float64(f["sqsq"]), QK: float64(f["sqsk"])}
	if m[1] == "decode" {
		r.Generation, r.Decode = f["bs"], l
	} else {
		r.Context, r.Prefill = f["bs"], l
	}
}

var tiers = []tier{
	{true, false, []form{
		{regexp.MustCompile(`^execute_(\d+)_context_(\d+)\(sq(\d+)sk(\d+)sqsq(\d+)sqsk(\d+)\)_generation_(\d+)\(sq(\d+)sk(\d+)sqsq(\d+)sqsk(\d+)\)`), vllm},
		{regexp.MustCompile(`^(prefill|decode)\[(.*sqsq=\d.*)\]`), atom},
		{regexp.MustCompile(`^step\[(EXTEND|DECODE|MIXED)\b([^\]]*sqsq=\d[^\]]*)\]`), sglang},
	}},
	{false, false, []form{
		{regexp.MustCompile(`^execute_context_(\d+)\((\d+)\)_generation_(\d+)\((\d+)\)`), func(r *Root, m []string) {
			r.Context, r.Generation, r.Batch = atoi(m[1]), atoi(m[3]), atoi(m[2])+atoi(m[4])
		}},
		{regexp.MustCompile(`^step\[(EXTEND|DECODE|MIXED)\b([^\]]*)\]`), sglang},
		{regexp.MustCompile(`^(prefill|decode)\[(.*)\]`), atom},
		{regexp.MustCompile(`^execute_diffusion_(\d+)_\d+x\d+`), func(r *Root, m []string) { r.Generation, r.Batch = atoi(m[1]), atoi(m[1]) }},
		{regexp.MustCompile(`^execute_new_(\d+)_cached_(\d+)`), func(r *Root, m []string) { // vLLM before it told the two apart
			r.Context, r.Generation = atoi(m[1]), atoi(m[2])
			r.Batch = r.Requests()
		}},
	}},
	{false, true, []form{
		{regexp.MustCompile(`^ProfilerStep#?\d+`), func(r *Root, _ []string) { r.Generation, r.Batch = 1, 1 }},
	}},
}

// Find lists the trace's iterations by time: those of the first family of names that occurs.
func Find(t *kineto.Trace) []Root {
	for _, tr := range tiers {
		var roots []Root
		for _, n := range t.Notes {
			name := t.String(n.Name)
			for _, f := range tr.forms {
				if m := f.re.FindStringSubmatch(name); m != nil {
					r := Root{Name: name, TS: n.TS, Dur: n.Dur, Thread: n.Thread, Detailed: tr.detailed, Training: tr.training}
					f.parse(&r, m)
					roots = append(roots, r)
					break
				}
			}
		}
		if len(roots) > 0 {
			slices.SortStableFunc(roots, func(a, b Root) int { return cmp.Compare(a.TS, b.TS) })
			return roots
		}
	}
	return nil
}
