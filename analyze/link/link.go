// Package link charges GPU work to what launched it: runtime or driver call, CPU op, graph.
//
//	l := link.New(t)
//	for i, g := range t.GPU {
//		if op := l.Op[i]; op >= 0 { fmt.Println(t.String(g.Name), "by", t.String(t.Ops[op].Name)) }
//	}
//
// A GPU event is linked to the runtime or driver call with its correlation; that covers copies, memsets and the kernels
// of a replayed graph, which all carry the correlation of the one graph launch, and needs no ac2g flows (ROCm writes
// them incompletely). The op is the innermost cpu_op around the call on its thread, "execute" skipped. Where no op is
// around it, the call's External id, and where there is no call the event's own, may still name one: see Any.
package link

import (
	"cmp"
	"slices"
	"strings"

	"github.com/tracehandler/tracehandler/analyze/kineto"
)

// Links holds, for each GPU event of a trace, what launched it. -1 stands for nothing.
type Links struct {
	Launch     []int32 // index into Launches
	Op         []int32 // index into Ops: the launcher, the innermost op around the launch
	Any        []int32 // index into Ops: Op, or else what an External id names
	ByID       []int32 // index into Ops: by External id of the runtime call only, as Hyperloom attributes
	Graph      []bool  // the runtime call of the correlation launches a graph
	Enclosing  []int32 // by launch: the innermost op around it
	Parent     []int32 // by op: the op around it
	GraphStats GraphStats
}

// GraphStats tells whether the kernels of replayed graphs were recorded.
type GraphStats struct {
	Launches            int // graph launches
	LaunchesWithKernels int // distinct correlations of them that have a kernel
	Kernels             int // kernels of graph launches
	CaptureBegin        int
	CaptureEnd          int
}

// UnderRecorded reports that most replays lack their kernels: a profiler buffer overflowed, and idle time means nothing.
func (g GraphStats) UnderRecorded() bool {
	return g.Launches >= 2 && g.Kernels > 0 && 2*g.LaunchesWithKernels < g.Launches
}

// IsGraphLaunch reports whether a runtime call replays a graph.
func IsGraphLaunch(name string) bool { return strings.Contains(name, "GraphLaunch") }

// New links the trace.
func New(t *kineto.Trace) *Links {
	l := &Links{
		Launch: fill(len(t.GPU)), Op: fill(len(t.GPU)), Any: fill(len(t.GPU)), ByID: fill(len(t.GPU)),
		Graph: make([]bool, len(t.GPU)),
	}
	l.Enclosing, l.Parent = enclosing(t)
	l.correlate(t)
	l.externalIDs(t)
	l.graphs(t)
	return l
}

func fill(n int) []int32 {
	s := make([]int32, n)
	for i := range s {
		s[i] = -1
	}
	return s
}

// correlate joins GPU events and launches on the correlation.
func (l *Links) correlate(t *kineto.Trace) {
	launches := make([]int32, 0, len(t.Launches))
	for i := range t.Launches {
		if t.Launches[i].HasCorr {
			launches = append(launches, int32(i))
		}
	}
	byCorr := func(a, b int32) int {
		return cmp.Or(cmp.Compare(t.Launches[a].Correlation, t.Launches[b].Correlation), cmp.Compare(a, b))
	}
	if !slices.IsSortedFunc(launches, byCorr) {
		slices.SortFunc(launches, byCorr)
	}
	events := make([]int32, 0, len(t.GPU))
	for i := range t.GPU {
		if t.GPU[i].Linked {
			events = append(events, int32(i))
		}
	}
	slices.SortFunc(events, func(a, b int32) int { return cmp.Compare(t.GPU[a].Correlation, t.GPU[b].Correlation) })
	j := 0
	for _, e := range events {
		c := t.GPU[e].Correlation
		for j < len(launches) && t.Launches[launches[j]].Correlation < c {
			j++
		}
		l.Launch[e] = choose(t, launches[j:], &t.GPU[e])
	}
}

// choose picks the launch of a GPU event among those with its correlation, the first of cs. Within one process there is
// one; where merged processes share a number, the last call before the event's start is the likeliest.
func choose(t *kineto.Trace, cs []int32, g *kineto.GPU) int32 {
	best := int32(-1)
	for _, c := range cs {
		la := &t.Launches[c]
		if la.Correlation != g.Correlation {
			break
		}
		if best < 0 || la.TS <= g.TS && (la.TS >= t.Launches[best].TS || t.Launches[best].TS > g.TS) {
			best = c
		}
	}
	return best
}

// externalIDs fills Op, Any and ByID.
func (l *Links) externalIDs(t *kineto.Trace) {
	// Only ids that a launch of GPU work or a GPU event carries are looked up; most ops launch nothing.
	wanted := make(map[int64]int32, len(t.GPU))
	for i := range t.GPU {
		if la := l.Launch[i]; la >= 0 && t.Launches[la].ExternalID != 0 {
			wanted[t.Launches[la].ExternalID] = -1
		}
		if id := t.GPU[i].ExternalID; id != 0 {
			wanted[id] = -1
		}
	}
	for i := range t.Ops {
		if id := t.Ops[i].ExternalID; id != 0 {
			if _, ok := wanted[id]; ok {
				wanted[id] = int32(i) // the last one wins
			}
		}
	}
	find := func(id int64) int32 {
		if op, ok := wanted[id]; ok && id != 0 {
			return op
		}
		return -1
	}
	for i := range t.GPU {
		la := l.Launch[i]
		if la < 0 {
			l.Any[i] = find(t.GPU[i].ExternalID)
			continue
		}
		launch := &t.Launches[la]
		if !launch.Driver {
			l.ByID[i] = find(launch.ExternalID)
		}
		l.Graph[i] = !launch.Driver && IsGraphLaunch(t.String(launch.Name))
		l.Op[i] = l.Enclosing[la]
		if l.Any[i] = l.Op[i]; l.Any[i] < 0 && !l.Graph[i] { // a replay belongs to no op, whatever id it carries
			if l.Any[i] = find(launch.ExternalID); l.Any[i] < 0 {
				l.Any[i] = find(t.GPU[i].ExternalID)
			}
		}
	}
}

func (l *Links) graphs(t *kineto.Trace) {
	s := &l.GraphStats
	for i := range t.Launches {
		la := &t.Launches[i]
		if la.Driver {
			continue
		}
		switch name := t.String(la.Name); {
		case IsGraphLaunch(name):
			s.Launches++
		case strings.Contains(name, "StreamBeginCapture"):
			s.CaptureBegin++
		case strings.Contains(name, "StreamEndCapture"):
			s.CaptureEnd++
		}
	}
	seen := map[int64]bool{}
	for i := range t.GPU {
		if l.Graph[i] && t.GPU[i].Kind == kineto.Kernel {
			s.Kernels++
			seen[t.GPU[i].Correlation] = true
		}
	}
	s.LaunchesWithKernels = len(seen)
}
