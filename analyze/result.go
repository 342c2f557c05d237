package analyze

import (
	"github.com/tracehandler/tracehandler/analyze/candidate"
	"github.com/tracehandler/tracehandler/analyze/capture"
	"github.com/tracehandler/tracehandler/analyze/collective"
	"github.com/tracehandler/tracehandler/analyze/input"
	"github.com/tracehandler/tracehandler/analyze/kineto"
	"github.com/tracehandler/tracehandler/analyze/link"
	"github.com/tracehandler/tracehandler/analyze/roofline"
	"github.com/tracehandler/tracehandler/analyze/stacks"
	"github.com/tracehandler/tracehandler/analyze/steps"
	"github.com/tracehandler/tracehandler/analyze/tables"
	"github.com/tracehandler/tracehandler/analyze/timeline"
)

// Level is the rung of the fallback ladder that an analysis reached: how much the traces told.
type Level int

const (
	LevelFull     Level = 0 // launches, ops, shapes and python stacks
	LevelNoStack  Level = 1 // no stacks were read
	LevelNoShapes Level = 2 // ops without the shapes of their arguments
	LevelMerged   Level = 3 // replayed graphs, named by their capture sidecars
	LevelReplay   Level = 4 // replayed graphs without a sidecar: names and times
	LevelGPUOnly  Level = 5 // no CPU ops: names and times
	LevelNothing  Level = 7 // no kernels
)

// String says in words what the level means.
func (l Level) String() string {
	switch l {
	case LevelFull:
		return "per-argument rows with shapes and stacks"
	case LevelNoStack:
		return "per-argument rows with shapes; no python stacks"
	case LevelNoShapes:
		return "op rows; argument shapes were not recorded"
	case LevelMerged:
		return "graph replay, with ops and shapes from the capture sidecar"
	case LevelReplay:
		return "graph replay without a capture sidecar: kernel names and times"
	case LevelGPUOnly:
		return "no CPU ops: kernel names and times"
	}
	return "no GPU kernels"
}

// Warning is something a reader of the result should know. Code is stable.
type Warning struct {
	Code     string `json:"code"`
	Severity string `json:"severity"` // info, warning, error
	Message  string `json:"message"`
}

// Rank is one analysed trace.
type Rank struct {
	File     input.File
	Rank     int    // by the trace's own metadata, else by its name, else its position
	RankFrom string // metadata, name, order
	Trace    *kineto.Trace
	Links    *link.Links
	All      timeline.Timeline // every GPU event, but for impossible ones
	Linked   timeline.Timeline // those with a launch
	Bad      timeline.Impossible
	Window   *steps.Window   // the iterations looked at; nil is the whole trace
	Roots    []steps.Root    // all iterations
	Captured *capture.Merged // ops of replayed graphs, from capture sidecars; nil is none
	Stacks   *stacks.Stacks  // nil if they were not read
	part     []bool          // GPU events in the window; nil is all
}

// Result is an analysis. It is not changed after Run returns it.
type Result struct {
	Input       string
	Options     Options
	Ranks       []Rank
	Captures    []input.File
	Level       Level
	Missing     []string // what kept the level from being lower
	Degraded    bool
	Device      string
	Spec        *roofline.Spec // nil: unknown device
	Set         candidate.Set
	Timeline    timeline.Timeline  // of the first rank
	Excluded    []ExcludedEvent    // events with impossible durations
	Fallback    []tables.NameRow   // names and times, of the first rank
	Dropped     int                // names too short to be among them
	Collectives []tables.CommRow   // of the first rank
	Collective  *collective.Report // across the ranks; nil for one
	Suppressed  *Warning           // the gate that holds the candidates back, or nil
	Warnings    []Warning
}

// ExcludedEvent is a GPU event that was left out of the ranking.
type ExcludedEvent struct {
	Rank     int
	Name     string
	Start    int64 // ns
	Duration int64 // ns, as recorded; 0 if it did not fit
}

// Usable reports whether there is anything to say: at least one kernel.
func (r *Result) Usable() bool { return r.Level != LevelNothing }
