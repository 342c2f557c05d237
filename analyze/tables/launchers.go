package tables

import (
	"cmp"
	"slices"

	"github.com/tracehandler/tracehandler/analyze/capture"
	"github.com/tracehandler/tracehandler/analyze/category"
	"github.com/tracehandler/tracehandler/analyze/interval"
	"github.com/tracehandler/tracehandler/analyze/kineto"
	"github.com/tracehandler/tracehandler/analyze/link"
)

// Group says what makes two instances of a launcher one row.
type Group uint8

const (
	ByName Group = iota // the op's name
	ByArgs              // name, Input Dims and Input type
	ByAll               // name, and all that was recorded of the arguments, strides and concrete inputs included
)

// LauncherRow sums the instances of a launcher: an op that launched GPU work itself, or a launch without an op.
type LauncherRow struct {
	Name      string
	Dims      string // raw JSON, "" if not recorded; only with ByArgs and ByAll
	Types     string
	Strides   string
	Concrete  string
	IsLaunch  bool // no op: Name is the runtime call's
	Instances int
	Events    int   // GPU events
	Direct    int64 // summed over instances: the union of their GPU events' intervals
	Busy      []int64
	Kernels   []KernelShare // by time
	Op        int           // index into Ops of the first instance, -1 if IsLaunch or captured
	Example   int           // index into GPU of the first event
}

// KernelShare is the part of one kernel name in a row.
type KernelShare struct {
	Name  kineto.Str
	Count int
	Total int64
}

// LauncherOptions narrows Launchers; the zero value is TraceLens' op table.
type LauncherOptions struct {
	Keep        func(i int) bool // which of t.GPU counts; nil is all
	Collectives bool             // collective kernels count as well
	Captured    *capture.Merged  // ops for the kernels of replayed graphs; nil is none
}

// Launchers charges every linked GPU event to its launcher. Collective kernels are left out.
func Launchers(t *kineto.Trace, l *link.Links, by Group, o LauncherOptions) []LauncherRow {
	// An instance is an op (id), a launch (len(Ops)+id), or an op of a captured graph in one replay (behind those).
	type replayed struct {
		graph  *capture.Graph
		op     int32
		launch int32
	}
	var captured []replayed
	capturedID := map[replayed]int32{}
	behind := int32(len(t.Ops) + len(t.Launches))
	type member struct {
		instance int32
		event    int32
	}
	collective := category.Collectives()
	var ms []member
	for i := range t.GPU {
		if o.Keep != nil && !o.Keep(i) || l.Launch[i] < 0 {
			continue
		}
		if name := t.GPU[i].Name; !o.Collectives && collective(uint32(name), t.String(name)) {
			continue
		}
		inst := l.Op[i]
		if inst < 0 {
			inst = int32(len(t.Ops)) + l.Launch[i]
			if g, op, ok := o.Captured.Op(i); ok {
				r := replayed{g, op, l.Launch[i]}
				if inst, ok = capturedID[r]; !ok {
					inst = behind + int32(len(captured))
					capturedID[r] = inst
					captured = append(captured, r)
				}
			}
		}
		ms = append(ms, member{inst, int32(i)})
	}
	slices.SortFunc(ms, func(a, b member) int {
		return cmp.Or(cmp.Compare(a.instance, b.instance), cmp.Compare(a.event, b.event))
	})
	index := map[key]int{}
	var rows []LauncherRow
	shares := []map[kineto.Str]*KernelShare{}
	var set interval.Set
	for len(ms) > 0 {
		n := 1
		for n < len(ms) && ms[n].instance == ms[0].instance {
			n++
		}
		var k key
		op := int(ms[0].instance)
		switch {
		case op < len(t.Ops):
			k = keyOf(t, op, by)
		case op < int(behind):
			k = key{name: t.String(t.Launches[op-len(t.Ops)].Name), isLaunch: true}
			op = -1
		default:
			c := captured[op-int(behind)]
			k = keyOf(c.graph.Trace, int(c.op), by)
			op = -1
		}
		r, ok := index[k]
		if !ok {
			r = len(rows)
			index[k] = r
			rows = append(rows, LauncherRow{Name: k.name, Dims: k.dims, Types: k.types, Strides: k.strides, Concrete: k.concrete, IsLaunch: k.isLaunch, Op: op,
				Example: int(ms[0].event)})
			shares = append(shares, map[kineto.Str]*KernelShare{})
		}
		row := &rows[r]
		row.Instances++
		row.Events += n
		set = set[:0]
		for _, m := range ms[:n] {
			g := &t.GPU[m.event]
			set = append(set, interval.Interval{Start: g.TS, End: g.End()})
			s := shares[r][g.Name]
			if s == nil {
				s = &KernelShare{Name: g.Name}
				shares[r][g.Name] = s
			}
			s.Count++
			s.Total += g.Dur
		}
		busy := interval.Measure(interval.Union(set))
		row.Direct += busy
		row.Busy = append(row.Busy, busy)
		ms = ms[n:]
	}
	for i := range rows {
		for _, s := range shares[i] {
			rows[i].Kernels = append(rows[i].Kernels, *s)
		}
		slices.SortFunc(rows[i].Kernels, func(a, b KernelShare) int {
			return cmp.Or(cmp.Compare(b.Total, a.Total), cmp.Compare(t.String(a.Name), t.String(b.Name)))
		})
	}
	slices.SortFunc(rows, func(a, b LauncherRow) int {
		return cmp.Or(cmp.Compare(b.Direct, a.Direct), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Dims, b.Dims),
			cmp.Compare(a.Types, b.Types), cmp.Compare(a.Strides, b.Strides), cmp.Compare(a.Concrete, b.Concrete))
	})
	return rows
}

// key is what makes two instances one row.
type key struct {
	name, dims, types, strides, concrete string
	isLaunch                             bool
}

func keyOf(t *kineto.Trace, op int, by Group) key {
	k := key{name: t.String(t.Ops[op].Name)}
	sh := &t.Shapes[t.Ops[op].Shape]
	if by >= ByArgs {
		k.dims, k.types = t.String(sh.Dims), t.String(sh.Types)
	}
	if by == ByAll {
		k.strides, k.concrete = t.String(sh.Strides), t.String(sh.Concrete)
	}
	return k
}
