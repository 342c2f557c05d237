package analyze

import (
	"fmt"

	"github.com/tracehandler/tracehandler/analyze/steps"
	"github.com/tracehandler/tracehandler/analyze/timeline"
)

// A window in which the GPU is busy for less than lowBusy percent tells little; another must be betterBusy points better
// to be taken instead.
const (
	lowBusy    = 5.0
	betterBusy = 10.0
)

// excerpt is a window with the GPU work that was launched in it.
type excerpt struct {
	kind   Window
	window *steps.Window
	gpu    []bool  // by GPU event; nil if there is none
	busy   float64 // percent of the time from the first GPU event to the last
}

func (r *Result) excerpt(k *Rank, kind Window, w *steps.Window) excerpt {
	x := excerpt{kind: kind, window: w}
	if w == nil {
		return x
	}
	part := steps.Of(k.Trace, k.Roots[w.Start:w.End])
	if len(part.GPU) == 0 {
		return x
	}
	x.gpu = make([]bool, len(k.Trace.GPU))
	for _, i := range part.GPU {
		x.gpu[i] = true
	}
	t := timeline.New(k.Trace, timeline.Options{Keep: func(i int) bool { return x.gpu[i] }})
	x.busy = share(t.Busy, t.Total)
	return x
}

// choose narrows a rank to the window asked for. A steady window that is empty, or in which next to nothing runs, gives
// way to a better one.
func (r *Result) choose(k *Rank) {
	k.Roots = steps.Find(k.Trace)
	if r.Options.Window == WindowAll {
		return
	}
	if len(k.Roots) == 0 {
		if k.Roots = steps.Repeats(k.Trace); len(k.Roots) > 0 {
			r.warn("iterations_by_pattern", "info", "%s: no iterations are marked; %d were found by what repeats, the first is %s", k.File.Path, len(k.Roots), k.Roots[0].Name)
		}
	}
	sel := steps.Select(k.Roots, r.Options.Steps)
	var x excerpt
	var others []excerpt
	training := len(k.Roots) > 1 && k.Roots[0].Training
	switch {
	case r.Options.Window == WindowDecode:
		x = r.excerpt(k, WindowDecode, sel.Decode)
	case r.Options.Window == WindowPrefill:
		x = r.excerpt(k, WindowPrefill, sel.Prefill)
	case r.Options.Window == WindowSteady && training:
		x = r.excerpt(k, WindowSteady, &steps.Window{Start: 1, End: len(k.Roots)}) // the first iteration warms up
	default:
		if x = r.excerpt(k, WindowMixed, sel.Mixed); x.gpu == nil || x.busy < lowBusy {
			others = []excerpt{r.excerpt(k, WindowDecode, sel.Decode), r.excerpt(k, WindowPrefill, sel.Prefill)}
		}
	}
	if !training && x.gpu != nil && len(sel.Regions) == 0 {
		r.warn("trace_split_no_steady_state", "info", "%s: the number of requests is nowhere steady; the middle of the trace stands for it", k.File.Path)
	}
	best := x
	for _, o := range others {
		if o.gpu != nil && (best.gpu == nil || o.busy >= best.busy+betterBusy) {
			best = o
		}
	}
	switch {
	case best.gpu == nil:
		r.warn("bypass_steady_fallback_full_trace", "warning", "%s: no %s window with GPU work; the whole trace is analysed", k.File.Path, r.Options.Window)
		return
	case x.gpu == nil && x.window != nil:
		r.warn("steady_state_chunk_empty", "warning", "%s: nothing runs on the GPU in the %s window; %s is taken instead", k.File.Path, x.kind, best.kind)
	case best.kind != x.kind:
		r.warn("steady_state_chunk_low_quality", "warning", "%s: the GPU is busy for %.2f %% of the %s window; %s, with %.2f %%, is taken instead", k.File.Path, x.busy, x.kind, best.kind, best.busy)
	case x.busy < lowBusy:
		r.warn("steady_state_chunk_low_quality", "warning", "%s: the GPU is busy for %.2f %% of the %s window", k.File.Path, x.busy, x.kind)
	}
	k.Window, k.part = best.window, best.gpu
}

// WindowText says which iterations were looked at, or "" if it was the whole trace.
func (k *Rank) WindowText() string {
	w := k.Window
	if w == nil {
		return ""
	}
	return fmt.Sprintf("%d iteration(s) of %d, from %s to %s", w.End-w.Start, len(k.Roots), k.Roots[w.Start].Name, k.Roots[w.End-1].Name)
}
