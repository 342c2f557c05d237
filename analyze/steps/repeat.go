package steps

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/tracehandler/tracehandler/analyze/kineto"
)

// fewest is how often something must happen to be an iteration.
const fewest = 3

// covering is the share of the GPU's time, by what is launched in them, that iterations found by Repeats hold at least.
const covering = 0.5

// Repeats looks for iterations in a trace that Find finds none in: annotations that differ in a number at their end only, such
// as denoise_step_7, or else a sequence of ops that repeats on the thread that launches most of the work. Of annotations those
// count in which most GPU time is launched, by any thread of their process; of these the longest. Each iteration counts as one
// decoded request. It returns nil if nothing repeats three times and covers half of the GPU's time.
func Repeats(t *kineto.Trace) []Root {
	r := newRepeats(t)
	if roots := r.notes(); roots != nil {
		return roots
	}
	return r.ops()
}

type repeats struct {
	t     *kineto.Trace
	calls []call // that launch GPU work, by time
	total int64
}

type call struct {
	ts, gpu int64 // gpu is the summed duration of what is launched
	thread  int32
}

func newRepeats(t *kineto.Trace) *repeats {
	r := &repeats{t: t}
	work := map[int64]int64{}
	for i := range t.GPU {
		if g := &t.GPU[i]; g.Linked {
			work[g.Correlation] += g.Dur
		}
	}
	for i := range t.Launches {
		la := &t.Launches[i]
		if gpu := work[la.Correlation]; la.HasCorr && gpu > 0 {
			r.calls = append(r.calls, call{la.TS, gpu, la.Thread})
			r.total += gpu
		}
	}
	slices.SortFunc(r.calls, func(a, b call) int { return cmp.Compare(a.ts, b.ts) })
	return r
}

// launched is the GPU time launched within roots, which are in order and do not overlap.
func (r *repeats) launched(roots []Root) (gpu int64) {
	process := r.t.Threads[roots[0].Thread].PID
	i := 0
	for _, c := range r.calls {
		for i < len(roots) && roots[i].TS+roots[i].Dur <= c.ts {
			i++
		}
		if i == len(roots) {
			break
		}
		if roots[i].TS <= c.ts && r.t.Threads[c.thread].PID == process {
			gpu += c.gpu
		}
	}
	return gpu
}

func (r *repeats) enough(gpu int64) bool {
	return r.total > 0 && float64(gpu) >= covering*float64(r.total)
}

// notes groups annotations by thread and by name without the number at its end.
func (r *repeats) notes() []Root {
	type key struct {
		thread int32
		name   string
	}
	groups := map[key][]Root{}
	var keys []key
	for _, n := range r.t.Notes {
		name := r.t.String(n.Name)
		k := key{n.Thread, strings.TrimRight(strings.TrimRight(name, "0123456789"), "#_ -")}
		if groups[k] == nil {
			keys = append(keys, k)
		}
		groups[k] = append(groups[k], Root{Name: name, TS: n.TS, Dur: n.Dur, Thread: n.Thread, Generation: 1, Batch: 1, Training: true})
	}
	var best []Root
	var bestGPU, bestLength int64
	for _, k := range keys {
		roots := groups[k]
		slices.SortStableFunc(roots, func(a, b Root) int { return cmp.Compare(a.TS, b.TS) })
		if len(roots) < fewest || overlap(roots) {
			continue
		}
		gpu, length := r.launched(roots), int64(0)
		for _, root := range roots {
			length += root.Dur
		}
		if r.enough(gpu) && (gpu > bestGPU || gpu == bestGPU && length > bestLength) {
			best, bestGPU, bestLength = roots, gpu, length
		}
	}
	return best
}

func overlap(roots []Root) bool {
	for i := 1; i < len(roots); i++ {
		if roots[i].TS < roots[i-1].TS+roots[i-1].Dur {
			return true
		}
	}
	return false
}

// ops finds the longest period of the outermost ops on the thread that launches most.
func (r *repeats) ops() []Root {
	byThread := map[int32]int64{}
	thread := int32(-1)
	for _, c := range r.calls {
		if byThread[c.thread] += c.gpu; thread < 0 || byThread[c.thread] > byThread[thread] {
			thread = c.thread
		}
	}
	if thread < 0 {
		return nil
	}
	outer := outermost(r.t, thread)
	for _, period := range periods(outer) {
		start := begin(outer, period)
		count := 0
		for at := start; at+period <= len(outer) && same(outer[start:start+period], outer[at:at+period]); at += period {
			count++
		}
		if count < fewest {
			continue
		}
		roots := make([]Root, count)
		for i := range roots {
			first := outer[start+i*period]
			last := outer[start+(i+1)*period-1]
			end := last.TS + last.Dur
			if next := start + (i+1)*period; next < len(outer) && i+1 < count {
				end = outer[next].TS // what lies between belongs to the iteration before
			}
			roots[i] = Root{Name: fmt.Sprintf("iteration#%d %s", i, r.t.String(first.Name)), TS: first.TS, Dur: end - first.TS, Thread: thread, Generation: 1, Batch: 1, Training: true}
		}
		if r.enough(r.launched(roots)) {
			return roots
		}
	}
	return nil
}

// outermost lists the ops of a thread that no other op is around, in order.
func outermost(t *kineto.Trace, thread int32) []kineto.Op {
	var ops []kineto.Op
	for i := range t.Ops {
		if t.Ops[i].Thread == thread {
			ops = append(ops, t.Ops[i])
		}
	}
	slices.SortStableFunc(ops, func(a, b kineto.Op) int { return cmp.Or(cmp.Compare(a.TS, b.TS), cmp.Compare(b.Dur, a.Dur)) })
	out := ops[:0]
	end := int64(0)
	for i, op := range ops {
		if i == 0 || op.TS >= end {
			out = append(out, op)
			end = op.TS + op.Dur
		}
	}
	return out
}

// periods lists the distances at which some op comes back, every time but the first and the last one; the longest first.
func periods(ops []kineto.Op) []int {
	places := map[kineto.Str][]int{}
	for i := range ops {
		places[ops[i].Name] = append(places[ops[i].Name], i)
	}
	found := map[int]bool{}
	for _, p := range places {
		if len(p) < fewest {
			continue
		}
		gap, regular := p[len(p)/2]-p[len(p)/2-1], true
		for i := 2; i < len(p)-1; i++ {
			regular = regular && p[i]-p[i-1] == gap
		}
		if regular {
			found[gap] = true
		}
	}
	var out []int
	for p := range found {
		out = append(out, p)
	}
	slices.SortFunc(out, func(a, b int) int { return cmp.Compare(b, a) })
	return out
}

// begin is where the first period begins that is followed by its like.
func begin(ops []kineto.Op, period int) int {
	run := 0
	for i := 0; i+period < len(ops); i++ {
		if run++; ops[i].Name != ops[i+period].Name {
			run = 0
		}
		if run == period {
			return i + 1 - period
		}
	}
	return len(ops)
}

func same(a, b []kineto.Op) bool {
	return slices.EqualFunc(a, b, func(x, y kineto.Op) bool { return x.Name == y.Name })
}
