package link

import "github.com/tracehandler/tracehandler/analyze/kineto"

// Forward finds, for each backward op, the forward op it belongs to: the one with its sequence number on the thread that
// autograd names. -1 stands for none, as for all other ops.
func Forward(t *kineto.Trace) []int32 {
	forward := fill(len(t.Ops))
	bySequence := map[int64]int32{}
	for i := range t.Ops {
		op := &t.Ops[i]
		if op.Sequence < 0 || op.FwdThread > 0 {
			continue
		}
		// Of nested ops with one number the innermost made the graph's node; it starts last.
		if old, ok := bySequence[op.Sequence]; !ok || op.TS >= t.Ops[old].TS {
			bySequence[op.Sequence] = int32(i)
		}
	}
	for i := range t.Ops {
		if op := &t.Ops[i]; op.Sequence >= 0 && op.FwdThread > 0 {
			if f, ok := bySequence[op.Sequence]; ok && t.Ops[f].TS <= op.TS {
				forward[i] = f
			}
		}
	}
	return forward
}
