package link

import (
	"cmp"
	"slices"

	"github.com/tracehandler/tracehandler/analyze/kineto"
)

// ProfilerWrapper is an op that encloses others without being one: PyTorch's execution of a compiled graph.
const profilerWrapper = "execute"

// enclosing finds, for each launch, the innermost op on its thread that is running when it is called, and for each op
// the one around it. Ops named "execute" are transparent. Both lists are swept once per thread by start time.
func enclosing(t *kineto.Trace) (launch, parent []int32) {
	launch, parent = fill(len(t.Launches)), fill(len(t.Ops))
	ops := byThread(len(t.Threads), len(t.Ops), func(i int) int32 { return t.Ops[i].Thread })
	calls := byThread(len(t.Threads), len(t.Launches), func(i int) int32 { return t.Launches[i].Thread })
	wrapper, wrapped := t.Find(profilerWrapper)
	skip := func(op int32) bool { return wrapped && t.Ops[op].Name == wrapper }
	for th := range t.Threads {
		// Of ops that start together the longer is the outer one; equals keep the order of the file.
		byStart := func(a, b int32) int {
			x, y := &t.Ops[a], &t.Ops[b]
			return cmp.Or(cmp.Compare(x.TS, y.TS), cmp.Compare(y.Dur, x.Dur), cmp.Compare(a, b))
		}
		if !slices.IsSortedFunc(ops[th], byStart) {
			slices.SortFunc(ops[th], byStart)
		}
		byCall := func(a, b int32) int {
			return cmp.Or(cmp.Compare(t.Launches[a].TS, t.Launches[b].TS), cmp.Compare(a, b))
		}
		if !slices.IsSortedFunc(calls[th], byCall) {
			slices.SortFunc(calls[th], byCall)
		}
		var stack []int32
		// top pops what has ended at ts and returns the innermost running op that is not transparent.
		top := func(ts int64) int32 {
			for n := len(stack); n > 0 && ts >= t.Ops[stack[n-1]].TS+t.Ops[stack[n-1]].Dur; n = len(stack) {
				stack = stack[:n-1]
			}
			for i := len(stack) - 1; i >= 0; i-- {
				if op := stack[i]; ts < t.Ops[op].TS+t.Ops[op].Dur && !skip(op) {
					return op
				}
			}
			return -1
		}
		i := 0
		for _, c := range calls[th] {
			ts := t.Launches[c].TS
			for ; i < len(ops[th]) && t.Ops[ops[th][i]].TS <= ts; i++ {
				op := ops[th][i]
				parent[op] = top(t.Ops[op].TS)
				stack = append(stack, op)
			}
			launch[c] = top(ts)
		}
		for ; i < len(ops[th]); i++ {
			op := ops[th][i]
			parent[op] = top(t.Ops[op].TS)
			stack = append(stack, op)
		}
	}
	return launch, parent
}

// byThread sorts indices by thread, keeping their order within a thread.
func byThread(threads, n int, of func(i int) int32) [][]int32 {
	counts := make([]int, threads)
	for i := range n {
		counts[of(i)]++
	}
	all := make([]int32, 0, n)
	out := make([][]int32, threads)
	for th, c := range counts {
		out[th] = all[len(all) : len(all) : len(all)+c]
		all = all[:len(all)+c]
	}
	for i := range n {
		th := of(i)
		out[th] = append(out[th], int32(i))
	}
	return out
}
