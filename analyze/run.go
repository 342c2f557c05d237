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
	"github.com/tracehandler/tracehandler/analyze/collective"
	"github.com/tracehandler/tracehandler/analyze/input"
	"github.com/tracehandler/tracehandler/analyze/kineto"
	"github.com/tracehandler/tracehandler/analyze/link"
	"github.com/tracehandler/tracehandler/analyze/source"
	"github.com/tracehandler/tracehandler/analyze/stacks"
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
	if n := len(sel.Others); n > 0 {
		r.warn("traces_left_out", "info", "%d trace(s) made from others were left out: %s", n, names(sel.Others))
	}
	for i, f := range sel.Traces {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err := r.load(ctx, f, i); err != nil {
			if len(sel.Traces) == 1 || ctx.Err() != nil {
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

// names lists the first few files.
func names(files []input.File) string {
	var paths []string
	for _, f := range files[:min(3, len(files))] {
		paths = append(paths, f.Path)
	}
	if more := len(files) - len(paths); more > 0 {
		paths = append(paths, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(paths, ", ")
}

func (r *Result) warn(code, severity, format string, args ...any) {
	r.Warnings = append(r.Warnings, Warning{Code: code, Severity: severity, Message: fmt.Sprintf(format, args...)})
}

func (r *Result) load(ctx context.Context, f input.File, position int) error {
	ko := &kineto.Options{Stop: func() bool { return ctx.Err() != nil }}
	if r.Options.Progress != nil {
		ko.Progress = func(n int64) { r.Options.Progress(f.Path, n) }
	}
	t, err := kineto.Open(f.Path, ko)
	if err != nil {
		return fmt.Errorf("analyze: %w", err)
	}
	if err := ctx.Err(); err != nil {
		return err
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
		var index *source.Index
		var err error
		if r.Options.Cache == "" {
			index, err = source.BuildIndex(ctx, r.Options.Sources)
		} else {
			index, err = source.CachedIndex(ctx, r.Options.Sources, r.Options.Cache)
		}
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
		sources = append(sources, candidate.Source{Trace: k.Trace, Links: k.Links, Keep: k.keep, Captured: k.Captured, Stacks: k.Stacks, Steps: k.Roots})
	}
	r.Set = candidate.Build(sources, candidate.Options{Spec: r.Spec, Sources: finder})
	first := &r.Ranks[0]
	r.Timeline = first.All
	r.Fallback, r.Dropped = tables.Fallback(first.Trace, r.Timeline.Total, first.keep)
	r.Collectives = tables.Collectives(first.Trace, first.keep)
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
