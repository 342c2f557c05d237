// Package capture gives the kernels of a replayed graph the ops and shapes that were recorded when the graph was captured.
//
//	graphs := capture.Graphs(sidecar)                  // of each sidecar beside the trace
//	m := capture.Merge(t, l, graphs)
//	if g, op, ok := m.Op(i); ok { fmt.Println(g.Trace.String(g.Trace.Ops[op].Name)) }
//
// A replay is one launch call and many kernels, without ops. While a graph is captured, its launches are called one by one,
// in the order of the nodes, from ops with shapes, and nothing runs. So the n-th launch of the capture is the n-th kernel of
// the replay, as long as both are as many; where they are not, names decide (ROCm's launches carry the kernel's), in
// order. A step is matched with the smallest captured batch that holds it.
package capture

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/tracehandler/tracehandler/analyze/kineto"
	"github.com/tracehandler/tracehandler/analyze/link"
	"github.com/tracehandler/tracehandler/analyze/steps"
)

// Graph is one captured graph.
type Graph struct {
	Trace    *kineto.Trace // the sidecar
	Links    *link.Links
	Batch    int    // of the annotation capture_<batch>_<MODE>; 0 if there is none
	Mode     string // FULL, PIECEWISE, DECODE, …
	Launches []int32
}

var annotation = regexp.MustCompile(`^capture_(\d+)_(\w+)`)

// Graphs lists the graphs captured in a sidecar, in order: what is launched between StreamBeginCapture and
// StreamEndCapture on a thread.
func Graphs(t *kineto.Trace) []*Graph {
	l := link.New(t)
	order := make([]int32, len(t.Launches))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortStableFunc(order, func(a, b int32) int { return cmp.Compare(t.Launches[a].TS, t.Launches[b].TS) })
	open := map[int32]*Graph{}
	var graphs []*Graph
	for _, i := range order {
		la := &t.Launches[i]
		name := t.String(la.Name)
		switch g := open[la.Thread]; {
		case strings.Contains(name, "StreamBeginCapture"):
			g = &Graph{Trace: t, Links: l}
			g.Batch, g.Mode = describe(t, la)
			open[la.Thread] = g
			graphs = append(graphs, g)
		case strings.Contains(name, "StreamEndCapture"):
			delete(open, la.Thread)
		case g != nil && IsWork(name):
			g.Launches = append(g.Launches, i)
		}
	}
	return slices.DeleteFunc(graphs, func(g *Graph) bool { return len(g.Launches) == 0 })
}

// IsWork reports whether a call puts a node into a captured graph: a kernel, a copy or a memset.
func IsWork(name string) bool {
	return strings.Contains(name, "Launch") && !link.IsGraphLaunch(name) && !strings.Contains(name, "HostFunc") ||
		strings.Contains(name, "Memcpy") || strings.Contains(name, "Memset")
}

// describe reads the annotation around a call.
func describe(t *kineto.Trace, la *kineto.Launch) (batch int, mode string) {
	for _, n := range t.Notes {
		if n.Thread != la.Thread || la.TS < n.TS || la.TS >= n.TS+n.Dur {
			continue
		}
		if m := annotation.FindStringSubmatch(t.String(n.Name)); m != nil {
			b, err := strconv.Atoi(m[1])
			if err != nil {
				return 0, ""
			}
			return b, m[2]
		}
	}
	return 0, ""
}

// Merged holds which captured op each GPU event of a trace belongs to.
type Merged struct {
	graph []*Graph // by GPU event
	op    []int32
	Stats Stats
}

// Stats says how well the replays fitted their captures.
type Stats struct {
	Replays    int // graph launches with GPU events
	Positional int // of them, matched launch by launch
	ByName     int // of them, matched by names
	Events     int // GPU events in replays
	Named      int // of them, that got an op
}

// Op returns the captured graph and the index of its op that GPU event i belongs to.
func (m *Merged) Op(i int) (g *Graph, op int32, ok bool) {
	if m == nil || m.graph[i] == nil || m.op[i] < 0 {
		return nil, -1, false
	}
	return m.graph[i], m.op[i], true
}

// Merge matches the replays of t with captured graphs. It returns nil if there are none of either.
func Merge(t *kineto.Trace, l *link.Links, graphs []*Graph) *Merged {
	replays := map[int32][]int{} // launch → GPU events
	var launches []int32
	for i := range t.GPU {
		if !l.Graph[i] {
			continue
		}
		la := l.Launch[i]
		if replays[la] == nil {
			launches = append(launches, la)
		}
		replays[la] = append(replays[la], i)
	}
	if len(launches) == 0 || len(graphs) == 0 {
		return nil
	}
	slices.SortFunc(launches, func(a, b int32) int { return cmp.Compare(t.Launches[a].TS, t.Launches[b].TS) })
	m := &Merged{graph: make([]*Graph, len(t.GPU)), op: make([]int32, len(t.GPU))}
	roots := steps.Find(t)
	ordinal := map[int]int{} // replays so far, by step
	for _, la := range launches {
		events := replays[la]
		slices.SortStableFunc(events, func(a, b int) int { return cmp.Compare(t.GPU[a].TS, t.GPU[b].TS) })
		m.Stats.Replays++
		m.Stats.Events += len(events)
		step, batch := stepOf(roots, &t.Launches[la])
		m.one(t, events, candidates(graphs, batch, ordinal[step]))
		ordinal[step]++
	}
	return m
}

// stepOf is the step that a replay runs in and its batch; -1 and 0 if unknown.
func stepOf(roots []steps.Root, la *kineto.Launch) (step, batch int) {
	for i, r := range roots {
		if r.Thread == la.Thread && r.TS <= la.TS && la.TS < r.TS+r.Dur {
			return i, r.Requests()
		}
	}
	return -1, 0
}

// candidates are the graphs of the smallest captured batch that holds the step, then all others by batch. A step that is
// captured in pieces replays them in the order of their capture, so its n-th replay tries the n-th graph first.
func candidates(graphs []*Graph, batch, n int) []*Graph {
	sorted := slices.Clone(graphs)
	slices.SortStableFunc(sorted, func(a, b *Graph) int { return cmp.Compare(misfit(a.Batch, batch), misfit(b.Batch, batch)) })
	same := 1
	for same < len(sorted) && sorted[same].Batch == sorted[0].Batch {
		same++
	}
	n %= same
	return slices.Concat(sorted[n:same], sorted[:n], sorted[same:])
}

func misfit(captured, batch int) int {
	switch {
	case batch == 0 || captured == 0:
		return 0
	case captured >= batch:
		return captured - batch
	}
	return 1<<30 + batch - captured
}

// one gives a replay's events the ops of the first graph that fits launch by launch, or else of the one whose names fit
// most events.
func (m *Merged) one(t *kineto.Trace, events []int, graphs []*Graph) {
	for _, g := range graphs {
		if len(g.Launches) == len(events) && g.fits(t, events) {
			for n, i := range events {
				m.set(i, g, g.Launches[n])
			}
			m.Stats.Positional++
			return
		}
	}
	var best *Graph
	var bestAt []int32
	bestN := 0
	for _, g := range graphs {
		if at, n := g.align(t, events); n > bestN {
			best, bestAt, bestN = g, at, n
		}
	}
	if best == nil {
		return
	}
	m.Stats.ByName++
	for n, i := range events {
		if bestAt[n] >= 0 {
			m.set(i, best, bestAt[n])
		}
	}
}

func (m *Merged) set(i int, g *Graph, launch int32) {
	op := g.Links.Enclosing[launch]
	m.graph[i], m.op[i] = g, op
	if op >= 0 {
		m.Stats.Named++
	}
}

// fits reports whether no launch that names its kernel names another than the event's.
func (g *Graph) fits(t *kineto.Trace, events []int) bool {
	for n, i := range events {
		if k := g.Trace.Launches[g.Launches[n]].Kernel; k != 0 && g.Trace.String(k) != t.String(t.GPU[i].Name) {
			return false
		}
	}
	return true
}

// align walks both in order and matches equal names; an event that the capture lacks is passed over. n counts matches.
func (g *Graph) align(t *kineto.Trace, events []int) (at []int32, n int) {
	at = make([]int32, len(events))
	queues := map[string][]int32{} // launches by kernel, in order
	for _, la := range g.Launches {
		name := g.Trace.String(g.Trace.Launches[la].Kernel)
		queues[name] = append(queues[name], la)
	}
	for k, i := range events {
		at[k] = -1
		name := t.String(t.GPU[i].Name)
		if q := queues[name]; name != "" && len(q) > 0 {
			at[k], queues[name] = q[0], q[1:]
			n++
		}
	}
	return at, n
}
