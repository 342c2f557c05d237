package candidate

import (
	"github.com/tracehandler/tracehandler/analyze/kineto"
	"github.com/tracehandler/tracehandler/analyze/link"
	"github.com/tracehandler/tracehandler/analyze/roofline"
)

type key struct {
	name     string
	op       bool
	kernel   string
	dims     string
	types    string
	strides  string
	concrete string
}

// instance is one call of an op: of a captured one, in one replay.
type instance struct {
	row    int
	op     int32
	replay int32
}

// forwardName is the forward op of the backward op around op.
func forwardName(t *kineto.Trace, l *link.Links, forward []int32, op int32) string {
	for depth := 0; op >= 0 && depth < 1000; op, depth = l.Parent[op], depth+1 {
		if f := forward[op]; f >= 0 {
			return t.String(t.Ops[f].Name)
		}
	}
	return ""
}

// most is the key with the most time; of equal ones the first by name.
func most(times map[string]int64) string {
	best := ""
	for k, n := range times {
		if b, ok := times[best]; best == "" && !ok || n > b || n == b && k < best {
			best = k
		}
	}
	return best
}

type rowID struct {
	trace  *kineto.Trace
	name   kineto.Str
	shape  int32
	extra  int32
	launch int32
}

// owners maps an op to the row's op: the outermost op around it, itself included, whose work has a model, so that
// aten::convolution, with its shapes, stands for the library calls below it. Results are remembered.
func owners(t *kineto.Trace, l *link.Links) func(op int32) int32 {
	models := map[kineto.Str]bool{}
	hasModel := func(op int32) bool {
		name := t.Ops[op].Name
		has, ok := models[name]
		if !ok {
			has = roofline.HasModel(t.String(name))
			models[name] = has
		}
		return has
	}
	return func(op int32) int32 {
		best := op
		for p, depth := op, 0; p >= 0 && depth < 1000; p, depth = l.Parent[p], depth+1 {
			if hasModel(p) {
				best = p
			}
		}
		return best
	}
}

func keyOf(t *kineto.Trace, l *link.Links, from *kineto.Trace, i int, op int32) key {
	if op < 0 {
		return key{name: rowName(t, l, i), kernel: t.String(t.GPU[i].Name)}
	}
	sh := &from.Shapes[from.Ops[op].Shape]
	ex := &from.Extras[from.Ops[op].Extra]
	return key{name: from.String(from.Ops[op].Name), op: true, kernel: from.String(ex.KernelFile), dims: from.String(sh.Dims), types: from.String(sh.Types),
		strides: from.String(sh.Strides), concrete: from.String(sh.Concrete)}
}

func rowName(t *kineto.Trace, l *link.Links, i int) string {
	name := t.String(t.GPU[i].Name)
	if la := l.Launch[i]; la >= 0 {
		return t.String(t.Launches[la].Name) + "->" + name
	}
	return name
}

func newRow(t *kineto.Trace, l *link.Links, from *kineto.Trace, i int, op int32) Row {
	r := Row{Provenance: "unresolved"}
	g := &t.GPU[i]
	if op >= 0 {
		sh := &from.Shapes[from.Ops[op].Shape]
		r.Op = from.String(from.Ops[op].Name)
		r.Name = r.Op
		r.Dims, r.Types, r.Strides, r.Concrete = from.String(sh.Dims), from.String(sh.Types), from.String(sh.Strides), from.String(sh.Concrete)
		r.Source.File = from.String(from.Extras[from.Ops[op].Extra].KernelFile)
		switch {
		case r.Dims == "":
		case from == t:
			r.Provenance = "torch_trace"
		default:
			r.Provenance = "capture_backfill"
		}
	} else {
		r.Name = t.String(g.Name)
		if la := l.Launch[i]; la >= 0 {
			r.Launch = t.String(t.Launches[la].Name)
		}
	}
	if g.Grid != 0 || g.Block != 0 {
		r.LaunchGrid = "grid=" + tuple(t.String(g.Grid)) + "<br>block=" + tuple(t.String(g.Block))
	}
	return r
}

// backfill lends the arguments of a kernel's op elsewhere in the traces to rows that have none, as in replayed graphs.
func backfill(sources []Source, set *Set, kernels []map[string]*Kernel, o Options) {
	type signature struct{ dims, types, concrete string }
	known := map[string]map[signature]int64{}
	for i := range set.Rows {
		r := &set.Rows[i]
		if r.Dims == "" {
			continue
		}
		for name, k := range kernels[i] {
			if known[name] == nil {
				known[name] = map[signature]int64{}
			}
			known[name][signature{r.Dims, r.Types, r.Concrete}] += k.Time
		}
	}
	for i := range set.Rows {
		r := &set.Rows[i]
		if r.Dims != "" || r.Op != "" || o.NoOps {
			continue
		}
		for name := range kernels[i] {
			var best signature
			for sig, time := range known[name] {
				if best.dims == "" || time > known[name][best] || time == known[name][best] && sig.dims < best.dims {
					best = sig
				}
			}
			if best.dims != "" {
				r.Dims, r.Types, r.Concrete, r.Provenance = best.dims, best.types, best.concrete, "capture_backfill"
				r.Ambiguous = len(known[name]) > 1
			}
		}
	}
}
