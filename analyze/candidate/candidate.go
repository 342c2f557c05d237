package candidate

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/tracehandler/tracehandler/analyze/capture"
	"github.com/tracehandler/tracehandler/analyze/category"
	"github.com/tracehandler/tracehandler/analyze/kineto"
	"github.com/tracehandler/tracehandler/analyze/link"
	"github.com/tracehandler/tracehandler/analyze/roofline"
	"github.com/tracehandler/tracehandler/analyze/stacks"
)

// Source is one linked trace. Several are summed up, as the ranks of one job.
type Source struct {
	Trace *kineto.Trace
	Links *link.Links
	Keep  func(i int) bool // which GPU events count; nil is all
	// Captured gives the kernels of replayed graphs their ops; nil is none.
	Captured *capture.Merged
	// Stacks gives rows their modules and frames; nil is none.
	Stacks *stacks.Stacks
}

// Options of Build.
type Options struct {
	Spec    *roofline.Spec // nil: the device is unknown
	NoOps   bool           // rows by kernel name only, whatever is known of ops
	Sources SourceFinder   // nil: only what the trace itself says
}

// SourceFinder tells where a kernel's source is. file is what the trace says, or "".
type SourceFinder interface {
	Find(device, file string) Location
}

// Row is one candidate.
type Row struct {
	Name        string // of the op, or of the kernel if it has none
	Op          string // of the op, "" if it has none
	Launch      string // the runtime call, if there is no op
	Category    category.Category
	Kernels     []Kernel // by time
	Dims        string   // raw JSON, "" if not recorded
	Types       string
	Strides     string
	Concrete    string
	Calls       int   // of the op, or launches of the kernel
	Time        int64 // ns
	Percent     float64
	Work        roofline.Work
	HasWork     bool
	Estimate    roofline.Estimate // per call
	HasEstimate bool
	Efficiency  float64 // percent of the binding roof, at most 100; valid if HasEstimate
	Capped      bool    // it was above 100: shape or time is not what it seems
	ComputeUtil float64 // percent of the arithmetic peak
	MemoryUtil  float64 // percent of the memory bandwidth
	Priority    float64 // Percent · (1 − Efficiency/100)
	Rank        int     // by Priority, from 1
	Provenance  string  // of the shape: torch_trace, capture_backfill, launch_grid, tile_name, unresolved
	Ambiguous   bool    // the backfilled shape is one of several
	LaunchGrid  string  // "grid=(…)<br>block=(…)" where no shape is known
	Rewritable  bool
	SkipReason  string
	Source      Location
	Graph       bool   // it ran in a replayed graph
	Captured    bool   // its op is that of the graph\'s capture
	Forward     string // the op whose gradient it computes, or ""
	Modules     string // the nn.Module path that spent most of the time, if stacks were read
	Frame       string // the python frame that launched most of it, if stacks were read
}

// Kernel is one device function of a row.
type Kernel struct {
	Name  string
	Count int
	Time  int64
}

// Location is where a row's source is.
type Location struct {
	File   string
	Line   int
	Method string // trace_kernel_file_ast, trace_kernel_file, symbol_index, non_patchable, unresolved
	Kind   string // python, triton, native, or ""
}

// Set is all candidates.
type Set struct {
	Rows       []Row // by time
	Total      int64 // ns of all kernels counted
	WithOp     int64 // ns of those with an op
	WithShape  int64 // ns of those whose arguments are known
	InGraph    int64 // ns of kernels in replayed graphs without an op
	Merged     int64 // ns of kernels in replayed graphs that a capture gave an op
	Categories []CategorySum
}

// CategorySum sums rows of one category.
type CategorySum struct {
	Category category.Category
	Time     int64
	Percent  float64
	Kernels  int
}

type key struct {
	name     string
	op       bool
	kernel   string
	dims     string
	types    string
	strides  string
	concrete string
}

// Build sums the kernels of the sources up to rows.
func Build(sources []Source, o Options) Set {
	var set Set
	index := map[key]int{}
	kernels := []map[string]*Kernel{}
	places := []map[string]int64{} // time by module path and by frame: two maps a row
	for _, src := range sources {
		owner := owners(src.Trace, src.Links)
		capturedOwner := map[*capture.Graph]func(int32) int32{}
		calls := map[instance]bool{}
		forward := link.Forward(src.Trace)
		byID := map[rowID]int{}
		for i := range src.Trace.GPU {
			t, l := src.Trace, src.Links
			g := &t.GPU[i]
			if g.Kind != kineto.Kernel || src.Keep != nil && !src.Keep(i) {
				continue
			}
			set.Total += g.Dur
			op := l.Any[i]
			if op >= 0 {
				op = owner(op)
			}
			replay := int32(-1)
			from := t // where the op is
			if cg, cop, ok := src.Captured.Op(i); ok && op < 0 {
				if capturedOwner[cg] == nil {
					capturedOwner[cg] = owners(cg.Trace, cg.Links)
				}
				from, op, replay = cg.Trace, capturedOwner[cg](cop), l.Launch[i]
			}
			if o.NoOps {
				op = -1
			}
			id := rowID{from, g.Name, -1, -1, 0}
			if op >= 0 {
				id = rowID{from, from.Ops[op].Name, from.Ops[op].Shape, from.Ops[op].Extra, 1}
			} else if la := l.Launch[i]; la >= 0 {
				id.launch = int32(t.Launches[la].Name) + 2
			}
			r, ok := byID[id]
			if !ok {
				k := keyOf(t, l, from, i, op)
				if r, ok = index[k]; !ok {
					r = len(set.Rows)
					index[k] = r
					set.Rows = append(set.Rows, newRow(t, l, from, i, op))
					if op >= 0 && from == t {
						set.Rows[r].Forward = forwardName(t, l, forward, op)
					}
					kernels = append(kernels, map[string]*Kernel{})
					places = append(places, map[string]int64{}, map[string]int64{})
				}
				byID[id] = r
			}
			row := &set.Rows[r]
			row.Time += g.Dur
			if la := l.Launch[i]; src.Stacks != nil && la >= 0 {
				n := src.Stacks.Node(la)
				places[2*r][src.Stacks.Modules(n)] += g.Dur
				places[2*r+1][src.Stacks.Frame(n)] += g.Dur
			}
			name := t.String(g.Name)
			kr := kernels[r][name]
			if kr == nil {
				kr = &Kernel{Name: name}
				kernels[r][name] = kr
			}
			kr.Count++
			kr.Time += g.Dur
			if op < 0 {
				row.Calls++
			} else if c := (instance{r, op, replay}); !calls[c] {
				calls[c] = true
				row.Calls++
			}
			if op >= 0 {
				set.WithOp += g.Dur
				if replay >= 0 {
					row.Graph, row.Captured = true, true
					set.Merged += g.Dur
				}
				if row.Dims != "" {
					set.WithShape += g.Dur
				}
			} else if l.Graph[i] {
				set.InGraph += g.Dur
				row.Graph = true
			}
		}
	}
	backfill(sources, &set, kernels, o)
	for i := range set.Rows {
		for _, k := range kernels[i] {
			set.Rows[i].Kernels = append(set.Rows[i].Kernels, *k)
		}
		set.Rows[i].Modules, set.Rows[i].Frame = most(places[2*i]), most(places[2*i+1])
		finish(&set.Rows[i], set.Total, o)
	}
	slices.SortFunc(set.Rows, func(a, b Row) int {
		return cmp.Or(cmp.Compare(b.Time, a.Time), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Dims, b.Dims), cmp.Compare(a.Types, b.Types),
			cmp.Compare(a.Strides, b.Strides), cmp.Compare(a.Concrete, b.Concrete))
	})
	byPriority := make([]int, len(set.Rows))
	for i := range byPriority {
		byPriority[i] = i
	}
	slices.SortStableFunc(byPriority, func(a, b int) int { return cmp.Compare(set.Rows[b].Priority, set.Rows[a].Priority) })
	for rank, i := range byPriority {
		set.Rows[i].Rank = rank + 1
	}
	set.Categories = categories(set.Rows, set.Total)
	return set
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

func tuple(list string) string {
	return "(" + strings.TrimSuffix(strings.TrimPrefix(list, "["), "]") + ")"
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

// finish derives what a row's sums allow.
func finish(r *Row, total int64, o Options) {
	slices.SortFunc(r.Kernels, func(a, b Kernel) int { return cmp.Or(cmp.Compare(b.Time, a.Time), cmp.Compare(a.Name, b.Name)) })
	device := r.Kernels[0].Name
	r.Category = category.Of(device, r.Op)
	r.Rewritable, r.SkipReason = category.Rewritable(device)
	if total > 0 {
		r.Percent = 100 * float64(r.Time) / float64(total)
	}
	if r.Provenance == "unresolved" {
		switch {
		case r.LaunchGrid != "":
			r.Provenance = "launch_grid"
		case tileName(device):
			r.Provenance = "tile_name"
		}
	}
	if r.Provenance == "torch_trace" || r.Captured {
		r.Work, r.HasWork = roofline.Model(r.Op, roofline.ParseShape(r.Dims, r.Types, r.Concrete))
	}
	if r.HasWork && o.Spec != nil && r.Time > 0 {
		if r.Estimate, r.HasEstimate = r.Work.On(*o.Spec); r.HasEstimate {
			per := float64(r.Time) / float64(r.Calls)
			r.Efficiency = 100 * r.Estimate.Nanoseconds / per
			r.ComputeUtil, r.MemoryUtil = 100*r.Estimate.Compute/per, 100*r.Estimate.Memory/per
			if r.Efficiency > 100 {
				r.Efficiency, r.Capped = 100, true
			}
		}
	}
	r.Priority = r.Percent * (1 - r.Efficiency/100)
	r.Source = find(device, r.Source.File, o.Sources)
	if r.Rewritable && (r.Source.File == "" || r.Source.Line == 0 && r.Source.Method != "trace_kernel_file") {
		r.SkipReason = category.ReasonUnresolved
	}
	if !r.Rewritable && r.SkipReason == category.ReasonUnresolved && r.Source.Line > 0 {
		r.Rewritable, r.SkipReason = true, ""
	}
}

// tileName reports whether a kernel's name states its tile, such as MT128x64x32 or 128x256x64.
func tileName(name string) bool {
	run := 0
	digits := false
	for i := range len(name) {
		switch c := name[i]; {
		case '0' <= c && c <= '9':
			digits = true
		case c == 'x' && digits:
			if run++; run == 2 && i+1 < len(name) && name[i+1] >= '0' && name[i+1] <= '9' {
				return true
			}
			digits = false
		default:
			run, digits = 0, false
		}
	}
	return false
}

func categories(rows []Row, total int64) []CategorySum {
	sums := map[category.Category]*CategorySum{}
	for i := range rows {
		r := &rows[i]
		c := sums[r.Category]
		if c == nil {
			c = &CategorySum{Category: r.Category}
			sums[r.Category] = c
		}
		c.Time += r.Time
		for _, k := range r.Kernels {
			c.Kernels += k.Count
		}
	}
	var out []CategorySum
	for _, c := range sums {
		if total > 0 {
			c.Percent = 100 * float64(c.Time) / float64(total)
		}
		out = append(out, *c)
	}
	slices.SortFunc(out, func(a, b CategorySum) int {
		return cmp.Or(cmp.Compare(b.Time, a.Time), cmp.Compare(a.Category, b.Category))
	})
	return out
}

// ShapeText renders recorded arguments as reports show them: "(8944,1024) bf16<br>(1024,1024) bf16". Only tensors appear.
func ShapeText(dims, types string) string {
	var parts []string
	for _, operand := range roofline.ParseShape(dims, types, "") {
		if len(operand.Dims) == 0 {
			continue
		}
		var b strings.Builder
		b.WriteByte('(')
		for i, d := range operand.Dims {
			if i > 0 {
				b.WriteByte(',')
			}
			fmt.Fprint(&b, d)
		}
		if len(operand.Dims) == 1 {
			b.WriteByte(',')
		}
		b.WriteByte(')')
		if t := shortType(operand.Type); t != "" {
			b.WriteString(" " + t)
		}
		parts = append(parts, b.String())
	}
	return strings.Join(parts, "<br>")
}

func shortType(t string) string {
	switch t {
	case "c10::BFloat16":
		return "bf16"
	case "c10::Half":
		return "fp16"
	case "float":
		return "fp32"
	case "double":
		return "fp64"
	case "long int", "long":
		return "int64"
	case "int":
		return "int32"
	case "signed char":
		return "int8"
	case "unsigned char":
		return "uint8"
	}
	if strings.HasPrefix(t, "c10::Float8_") {
		return "fp8"
	}
	if strings.HasPrefix(t, "c10::Float4_") {
		return "fp4"
	}
	return strings.TrimPrefix(t, "c10::")
}
