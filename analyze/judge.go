package analyze

import (
	"fmt"
	"strings"

	"github.com/tracehandler/tracehandler/analyze/category"
	"github.com/tracehandler/tracehandler/analyze/chrometrace"
	"github.com/tracehandler/tracehandler/analyze/kineto"
	"github.com/tracehandler/tracehandler/analyze/roofline"
)

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
		for _, n := range r.Ranks[i].Trace.UsedDevices() {
			names[n] = true
			r.Device = n
		}
	}
	if len(names) > 1 {
		r.Device = ""
		r.warn("several_devices", "info", "the traces are of %d kinds of devices; no roofline is computed", len(names))
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
		r.Missing = append(r.Missing, fmt.Sprintf("%.1f %% of kernel time is in replayed graphs or compiled regions, whose ops were not recorded", 100*float64(replayed)/float64(s.Total)))
		if s.InGraph == 0 {
			break
		}
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
		if r.Device == "" {
			r.Missing = append(r.Missing, "the device's name, and so its specifications")
		} else {
			r.Missing = append(r.Missing, fmt.Sprintf("specifications of the device %q", r.Device))
		}
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
