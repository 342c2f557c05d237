// Package steps finds the iterations of a trace, the part of it that is steady, and cuts windows out as traces of their own.
//
//	roots := steps.Find(t)
//	sel := steps.Select(roots, 0)                      // windows of at most 32 steps: mixed, decode only, prefill
//	if w := sel.Mixed; w != nil {
//		part, err := steps.Extract(out, path, t, roots[w.Start:w.End])
//	}
//
// A serving framework marks an iteration with a user_annotation that says how many requests it prefills and decodes
// (vLLM, SGLang, ATOM, diffusion); a training loop with ProfilerStep#n. Rules for windows: TraceLens'
// split_inference_trace_annotation.
package steps

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/tracehandler/tracehandler/analyze/kineto"
)

// Root is one iteration.
type Root struct {
	Name       string
	TS, Dur    int64
	Thread     int32 // index into the trace's Threads
	Context    int   // requests that are prefilled
	Generation int   // requests that are decoded
	Batch      int   // tokens, as far as the name tells; else requests
	Detailed   bool  // the name states the sums of lengths, too
	Training   bool  // a ProfilerStep: all threads of its process work for it, as autograd's does
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
	parse func(m []string) (context, generation, batch int)
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

func sglang(m []string) (context, generation, batch int) {
	f := bracketed(m[2])
	bs := f["bs"]
	batch = bs
	if toks, ok := f["toks"]; ok {
		batch = toks
	}
	switch {
	case m[1] == "DECODE":
		return 0, bs, batch
	case m[1] == "MIXED" && strings.Contains(m[2], "dec="):
		return max(bs-f["dec"], 0), f["dec"], batch
	}
	return bs, 0, batch
}

func atom(m []string) (context, generation, batch int) {
	f := bracketed(m[2])
	bs := f["bs"]
	batch = bs
	if toks, ok := f["toks"]; ok {
		batch = toks
	}
	if m[1] == "decode" {
		return 0, bs, batch
	}
	return bs, 0, batch
}

var tiers = []tier{
	{true, false, []form{
		{regexp.MustCompile(`^execute_(\d+)_context_(\d+)\(sq\d+sk\d+sqsq\d+sqsk\d+\)_generation_(\d+)\(sq\d+sk\d+sqsq\d+sqsk\d+\)`), func(m []string) (int, int, int) {
			return atoi(m[2]), atoi(m[3]), atoi(m[1])
		}},
		{regexp.MustCompile(`^(prefill|decode)\[([^\]]*sqsq=[^\]]*)\]`), atom},
		{regexp.MustCompile(`^step\[(EXTEND|DECODE|MIXED)\s+([^\]]*sqsq=[^\]]*)\]`), sglang},
	}},
	{false, false, []form{
		{regexp.MustCompile(`^execute_context_(\d+)\((\d+)\)_generation_(\d+)\((\d+)\)`), func(m []string) (int, int, int) {
			return atoi(m[1]), atoi(m[3]), atoi(m[2]) + atoi(m[4])
		}},
		{regexp.MustCompile(`^step\[(EXTEND|DECODE|MIXED)\s*([^\]]*)\]`), sglang},
		{regexp.MustCompile(`^(prefill|decode)\[([^\]]*)\]`), atom},
		{regexp.MustCompile(`^execute_diffusion_(\d+)_\d+x\d+`), func(m []string) (int, int, int) { return 0, atoi(m[1]), atoi(m[1]) }},
	}},
	{false, true, []form{
		{regexp.MustCompile(`^ProfilerStep#?\d+`), func([]string) (int, int, int) { return 0, 1, 1 }},
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
					r.Context, r.Generation, r.Batch = f.parse(m)
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
