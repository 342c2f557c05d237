package candidate

import (
	"cmp"
	"slices"

	"github.com/tracehandler/tracehandler/analyze/kineto"
	"github.com/tracehandler/tracehandler/analyze/roofline"
	"github.com/tracehandler/tracehandler/analyze/steps"
)

// pagedWork sums the work of a row's calls, if the row is an attention over a paged cache. Its calls differ: an operand tells the
// number of tokens, and only the iteration around the call how long their sequences are.
type pagedWork struct {
	sum   roofline.Work
	calls int // whose work is known
}

// mean is the work of the mean call; false if that of some call is not known.
func (p *pagedWork) mean(calls int) (roofline.Work, bool) {
	if p.calls == 0 || p.calls != calls {
		return roofline.Work{}, false
	}
	w := p.sum
	w.FLOPs /= float64(calls)
	w.Bytes /= float64(calls)
	return w, true
}

// paged finds the iteration of a call.
type paged struct {
	trace *kineto.Trace
	roots map[int32][]steps.Root // by thread, in order
}

func newPaged(src Source) paged {
	p := paged{src.Trace, map[int32][]steps.Root{}}
	for _, r := range src.Steps {
		if r.Detailed {
			p.roots[r.Thread] = append(p.roots[r.Thread], r)
		}
	}
	return p
}

// add adds the work of one call of the row's op, made by a launch.
func (p paged) add(row *Row, launch int32) {
	if len(p.roots) == 0 || launch < 0 || !roofline.IsPaged(row.Op) {
		return
	}
	la := &p.trace.Launches[launch]
	roots := p.roots[la.Thread]
	i, found := slices.BinarySearchFunc(roots, la.TS, func(r steps.Root, ts int64) int { return cmp.Compare(r.TS, ts) })
	if !found {
		i--
	}
	if i < 0 || la.TS >= roots[i].TS+roots[i].Dur {
		return
	}
	w, ok := roofline.Paged(row.Op, roofline.ParseShape(row.Dims, row.Types, row.Concrete), roots[i].Prefill, roots[i].Decode)
	if !ok {
		return
	}
	row.paged.calls++
	row.paged.sum.FLOPs += w.FLOPs
	row.paged.sum.Bytes += w.Bytes
	row.paged.sum.Matrix, row.paged.sum.Precision = w.Matrix, w.Precision
}
