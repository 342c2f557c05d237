package analyze

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tracehandler/tracehandler/analyze/candidate"
	"github.com/tracehandler/tracehandler/analyze/capture"
	"github.com/tracehandler/tracehandler/analyze/category"
	"github.com/tracehandler/tracehandler/analyze/chrometrace"
	"github.com/tracehandler/tracehandler/analyze/collective"
	"github.com/tracehandler/tracehandler/analyze/input"
	"github.com/tracehandler/tracehandler/analyze/kineto"
	"github.com/tracehandler/tracehandler/analyze/link"
	"github.com/tracehandler/tracehandler/analyze/roofline"
	"github.com/tracehandler/tracehandler/analyze/source"
	"github.com/tracehandler/tracehandler/analyze/stacks"
	"github.com/tracehandler/tracehandler/analyze/steps"
	"github.com/tracehandler/tracehandler/analyze/tables"
	"github.com/tracehandler/tracehandler/analyze/timeline"
)

// Run analyses a trace, or all the traces of a directory together. The error is for input that is not there at all; a
// trace that is damaged, or holds no kernels, gives a Result that says so.
func Run(ctx context.Context, path string, o Options) (*Result, error) {
	if o.TopK == 0 {
		o.TopK = DefaultTopK
	}
	r := &Result{Input: path, Options: o}
	sel, err := input.Discover(path)
	if errors.Is(err, input.ErrCaptureOnly) {
		r.warn("trace_input_capture_only", "error", "every trace here was recorded while graphs were captured; none is of the workload")
		sel.Traces, err = sel.Captures, nil
	}
	if err != nil {
		return nil, fmt.Errorf("analyze: %w", err)
	}
	r.Captures = sel.Captures
	for i, f := range sel.Traces {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err := r.load(f, i); err != nil {
			if len(sel.Traces) == 1 {
				return nil, err
			}
			r.warn("trace_unreadable", "warning", "%v", err)
		}
	}
	if len(r.Ranks) == 0 {
		return nil, fmt.Errorf("analyze: %s: no trace could be read", path)
	}
	r.discard()
	slices.SortStableFunc(r.Ranks, func(a, b Rank) int { return cmp.Compare(a.Rank, b.Rank) })
	if err := r.analyze(ctx); err != nil {
		return nil, err
	}
	return r, nil
}

func (r *Result) warn(code, severity, format string, args ...any) {
	r.Warnings = append(r.Warnings, Warning{Code: code, Severity: severity, Message: fmt.Sprintf(format, args...)})
}

func (r *Result) load(f input.File, position int) error {
	ko := &kineto.Options{}
	if r.Options.Progress != nil {
		ko.Progress = func(n int64) { r.Options.Progress(f.Path, n) }
	}
	t, err := kineto.Open(f.Path, ko)
	if err != nil {
		return fmt.Errorf("analyze: %w", err)
	}
	rank := Rank{File: f, Rank: position, RankFrom: "order", Trace: t, Links: link.New(t), Bad: timeline.FindImpossible(t)}
	if n, ok := t.Meta.Rank(); ok {
		rank.Rank, rank.RankFrom = n, "metadata"
	} else if f.NameRank >= 0 {
		rank.Rank, rank.RankFrom = f.NameRank, "name"
	}
	r.choose(&rank)
	if r.Options.Stacks {
		if rank.Stacks, err = stacks.Read(f.Path, t, rank.Links); err != nil {
			return fmt.Errorf("analyze: %w", err)
		}
	}
	rank.All = timeline.New(t, timeline.Options{Keep: rank.keep, MicroGap: r.Options.MicroGap})
	rank.Linked = timeline.New(t, timeline.Options{MicroGap: r.Options.MicroGap, Keep: func(i int) bool {
		return rank.keep(i) && rank.Links.Launch[i] >= 0
	}})
	for _, i := range rank.Bad.Events {
		g := &t.GPU[i]
		r.Excluded = append(r.Excluded, ExcludedEvent{Rank: rank.Rank, Name: t.String(g.Name), Start: g.TS, Duration: g.Dur})
	}
	r.Ranks = append(r.Ranks, rank)
	return nil
}

// discard takes out what is no trace, and what has no kernels beside others that have: of a folder, not all is profiles.
func (r *Result) discard() {
	some := false
	for i := range r.Ranks {
		some = some || r.Ranks[i].kernels() > 0
	}
	if !some || len(r.Ranks) == 1 {
		return
	}
	r.Ranks = slices.DeleteFunc(r.Ranks, func(k Rank) bool {
		switch {
		case k.kernels() > 0:
			return false
		case k.Trace.Events == 0 && k.Trace.Degraded:
			r.warn("not_a_trace", "info", "%s: no traceEvents; left out", k.File.Path)
		default:
			r.warn("trace_without_kernels", "warning", "%s: no GPU kernels; left out", k.File.Path)
		}
		return true
	})
}

func (k *Rank) kernels() (n int) {
	for i := range k.Trace.GPU {
		if k.Trace.GPU[i].Kind == kineto.Kernel {
			n++
		}
	}
	return n
}

// choose narrows a rank to the window asked for.
func (r *Result) choose(k *Rank) {
	k.Roots = steps.Find(k.Trace)
	if r.Options.Window == WindowAll {
		return
	}
	sel := steps.Select(k.Roots, r.Options.Steps)
	w := sel.Mixed
	switch r.Options.Window {
	case WindowDecode:
		w = sel.Decode
	case WindowPrefill:
		w = sel.Prefill
	case WindowSteady:
		if n := len(k.Roots); n > 1 && strings.HasPrefix(k.Roots[0].Name, "ProfilerStep") {
			w = &steps.Window{Start: 1, End: n} // the first iteration warms up
		}
	}
	var part *steps.Part
	if w != nil {
		part = steps.Of(k.Trace, k.Roots[w.Start:w.End])
	}
	if part == nil || len(part.GPU) == 0 {
		r.warn("bypass_steady_fallback_full_trace", "warning", "%s: no %s window with GPU work; the whole trace is analysed", k.File.Path, r.Options.Window)
		return
	}
	k.Window, k.part = w, make([]bool, len(k.Trace.GPU))
	for _, i := range part.GPU {
		k.part[i] = true
	}
}

// keep leaves out what has an impossible duration or is outside the window.
func (k *Rank) keep(i int) bool {
	if k.part != nil && !k.part[i] {
		return false
	}
	_, bad := slices.BinarySearch(k.Bad.Events, i)
	return !bad
}

func (r *Result) analyze(ctx context.Context) error {
	r.damage()
	r.device()
	var finder candidate.SourceFinder
	if len(r.Options.Sources) > 0 {
		index, err := source.BuildIndex(ctx, r.Options.Sources)
		if err != nil {
			return fmt.Errorf("analyze: %w", err)
		}
		finder = candidate.IndexFinder{Index: index, Framework: r.Options.Framework, Arch: r.Options.Arch}
	}
	var sources []candidate.Source
	graphs, err := r.captured(ctx)
	if err != nil {
		return err
	}
	for i := range r.Ranks {
		k := &r.Ranks[i]
		k.Captured = capture.Merge(k.Trace, k.Links, graphs)
		sources = append(sources, candidate.Source{Trace: k.Trace, Links: k.Links, Keep: k.keep, Captured: k.Captured, Stacks: k.Stacks})
	}
	r.Set = candidate.Build(sources, candidate.Options{Spec: r.Spec, Sources: finder})
	first := &r.Ranks[0]
	r.Timeline = first.All
	r.Fallback, r.Dropped = tables.Fallback(first.Trace, r.Timeline.Total, first.keep)
	r.Collectives = tables.Collectives(first.Trace)
	if len(r.Ranks) > 1 {
		var ranks []collective.Rank
		for i := range r.Ranks {
			k := &r.Ranks[i]
			ranks = append(ranks, collective.Rank{ID: k.Rank, Trace: k.Trace, Links: k.Links, Keep: k.keep})
		}
		r.Collective = collective.Analyze(ranks, collective.Options{})
	}
	r.level()
	r.ranks()
	r.health()
	r.gates()
	return nil
}

// captured loads the sidecars, if a trace replays graphs.
func (r *Result) captured(ctx context.Context) ([]*capture.Graph, error) {
	replays := false
	for i := range r.Ranks {
		replays = replays || slices.Contains(r.Ranks[i].Links.Graph, true)
	}
	if !replays {
		return nil, nil
	}
	var graphs []*capture.Graph
	for _, f := range r.Captures {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		t, err := kineto.Open(f.Path, nil)
		if err != nil {
			return nil, fmt.Errorf("analyze: %w", err)
		}
		if t.Degraded {
			r.warn("capture_degraded", "warning", "%s: the capture sidecar is damaged", f.Path)
		}
		graphs = append(graphs, capture.Graphs(t)...)
	}
	return graphs, nil
}

// damage reports what was wrong with the files.
func (r *Result) damage() {
	for i := range r.Ranks {
		k := &r.Ranks[i]
		if k.Trace.Degraded {
			r.Degraded = true
		}
		if k.Trace.NErrors == 0 {
			continue
		}
		severity, code := "warning", "bypass_trace_stream_incomplete"
		if !k.Trace.Degraded {
			code = "trace_times_impossible"
		} else if k.Trace.Events == 0 {
			severity, code = "error", "bypass_trace_parse_failed"
		}
		var texts []string
		for _, e := range k.Trace.Errors[:min(3, len(k.Trace.Errors))] {
			texts = append(texts, fmt.Sprintf("%s (byte %d)", e.Text(), e.Offset))
		}
		more := ""
		if n := k.Trace.NErrors - len(texts); n > 0 {
			more = fmt.Sprintf("; and %d more", n)
		}
		r.warn(code, severity, "%s: %s%s", k.File.Path, strings.Join(texts, "; "), more)
	}
}

// device finds out what the GPUs are. Traces of different devices have no one answer.
func (r *Result) device() {
	names := map[string]bool{}
	for i := range r.Ranks {
		for _, n := range r.Ranks[i].Trace.Meta.DeviceNames() {
			names[n] = true
			r.Device = n
		}
	}
	if len(names) > 1 {
		r.Device = ""
		r.warn("several_devices", "info", "the traces name %d kinds of devices; no roofline is computed", len(names))
	}
	if r.Options.Device != "" {
		r.Device = r.Options.Device
	}
	if spec, ok := roofline.DeviceSpec(r.Device, r.Options.Specs...); ok {
		r.Spec = &spec
	}
}

// compiledRegion starts the name of an op that stands for a whole compiled graph.
const compiledRegion = "Torch-Compiled Region"

// level decides how much the traces told.
func (r *Result) level() {
	s := &r.Set
	replayed := s.InGraph
	for i := range s.Rows {
		if strings.HasPrefix(s.Rows[i].Op, compiledRegion) {
			replayed += s.Rows[i].Time
		}
	}
	ops, recorded, frames := 0, false, 0
	for i := range r.Ranks {
		t := r.Ranks[i].Trace
		ops += len(t.Ops)
		for _, c := range t.Counts {
			recorded = recorded || c.Category == "python_function"
		}
		if st := r.Ranks[i].Stacks; st != nil {
			frames += st.Frames
		}
	}
	switch {
	case len(s.Rows) == 0:
		r.Level = LevelNothing
		r.Missing = append(r.Missing, "no GPU kernel in any trace")
	case float64(replayed) > replayShare*float64(s.Total):
		r.Level = LevelReplay
		r.Missing = append(r.Missing, fmt.Sprintf("%.1f %% of kernel time is in replayed graphs, whose ops were not recorded", 100*float64(replayed)/float64(s.Total)))
		if len(r.Captures) == 0 {
			r.Missing = append(r.Missing, "no capture sidecar beside the trace")
		} else {
			r.Missing = append(r.Missing, "the capture sidecars do not fit the replays")
		}
	case s.Merged > 0:
		r.Level = LevelMerged
	case ops == 0:
		r.Level = LevelGPUOnly
		r.Missing = append(r.Missing, "no CPU ops: no shapes or stacks")
	case s.WithOp == 0 || float64(s.WithShape) < (1-shapelessness)*float64(s.WithOp):
		r.Level = LevelNoShapes
		r.Missing = append(r.Missing, "argument shapes (record_shapes=True)")
	case frames > 0:
		r.Level = LevelFull
	default:
		r.Level = LevelNoStack
	}
	if r.Level == LevelNoStack || r.Level == LevelNoShapes && frames == 0 {
		if recorded && !r.Options.Stacks {
			r.Missing = append(r.Missing, "python stacks are in the trace and were not read")
		} else {
			r.Missing = append(r.Missing, "python stacks (with_stack=True)")
		}
	}
	if r.Spec == nil && r.Level < LevelReplay {
		r.Missing = append(r.Missing, fmt.Sprintf("specifications of the device %q", r.Device))
	}
	if r.Degraded {
		r.Missing = append(r.Missing, "parts of the input: it is damaged or cut short")
	}
}

// ranks checks that the traces belong together.
func (r *Result) ranks() {
	seen := map[int]string{}
	for i := range r.Ranks {
		k := &r.Ranks[i]
		if other, dup := seen[k.Rank]; dup {
			r.warn("duplicate_rank", "warning", "%s and %s both say rank %d", other, k.File.Path, k.Rank)
		}
		seen[k.Rank] = k.File.Path
	}
	if len(r.Ranks) > 1 {
		r.warn("multi_rank_analyzed", "info", "%d traces were analysed together; timeline figures are of rank %d", len(r.Ranks), r.Ranks[0].Rank)
	} else if d := r.Ranks[0].Trace.Meta.Distributed; d != nil && d.WorldSize > 1 {
		r.warn("one_rank_of_many", "info", "this is rank %d of %d; the others' traces were not given", d.Rank, d.WorldSize)
	}
}

// health looks for signs that figures are not what they seem.
func (r *Result) health() {
	var others int64
	for _, c := range r.Set.Categories {
		if c.Category == category.Others {
			others = c.Time
		}
	}
	if total := r.Set.Total; total > 0 {
		if share := float64(others) / float64(total); share >= 0.4 {
			r.warn("bypass_high_unclassified_share", "warning", "%.1f %% of kernel time is in no category", 100*share)
		}
		if share := float64(r.Set.WithOp) / float64(total); share < 0.1 {
			r.warn("bypass_low_op_correlation", "warning", "%.1f %% of kernel time could be charged to an op", 100*share)
		}
	} else {
		r.warn("bypass_no_gpu_kernels", "error", "no GPU kernels: there is nothing to rank")
	}
	for i := range r.Ranks {
		k := &r.Ranks[i]
		if g := k.Links.GraphStats; g.UnderRecorded() {
			r.warn("bypass_graph_under_recorded", "warning", "rank %d: kernels of %d of %d graph launches were recorded; idle time means nothing", k.Rank, g.LaunchesWithKernels, g.Launches)
		}
		if n := len(k.Bad.Events); n > 0 {
			severity := "info"
			if k.Bad.Severe {
				severity = "warning"
			}
			r.warn("bypass_impossible_kernel_durations", severity, "rank %d: %d GPU event(s) last longer than their stream allows and are left out", k.Rank, n)
		}
	}
}

// gates holds candidates back from a trace that idles, or that does something other than compute. Neither may fire on
// what only looks idle: replays that were not recorded, damaged input, traces of kernels alone.
func (r *Result) gates() {
	if r.Level >= LevelReplay || r.Degraded || r.Timeline.Total == 0 {
		return
	}
	for i := range r.Ranks {
		if r.Ranks[i].Links.GraphStats.UnderRecorded() {
			return
		}
	}
	idle := 100 * float64(r.Timeline.Idle) / float64(r.Timeline.Total)
	compute := 100 * float64(r.Timeline.Computation) / float64(r.Timeline.Total)
	switch {
	case r.Options.Idle > 0 && idle > r.Options.Idle:
		r.warn("high_gpu_idle_pct", "warning", "the GPU idles for %.2f %% of the time, more than %.0f %%: kernels are not the bottleneck", idle, r.Options.Idle)
	case r.Options.Compute > 0 && compute < r.Options.Compute:
		r.warn("low_gpu_compute_pct", "warning", "the GPU computes for %.2f %% of the time, less than %.0f %%: kernels are not the bottleneck", compute, r.Options.Compute)
	default:
		return
	}
	w := r.Warnings[len(r.Warnings)-1]
	r.Suppressed = &w
}

// errorsOf lists the faults of a trace for JSON.
func errorsOf(t *kineto.Trace) []string {
	var out []string
	for _, e := range t.Errors {
		if e.Kind != chrometrace.Time {
			out = append(out, e.Text())
		}
	}
	return out
}
