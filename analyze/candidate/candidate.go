package candidate

import (
	"cmp"
	"slices"

	"github.com/tracehandler/tracehandler/analyze/capture"
	"github.com/tracehandler/tracehandler/analyze/category"
	"github.com/tracehandler/tracehandler/analyze/kineto"
	"github.com/tracehandler/tracehandler/analyze/link"
	"github.com/tracehandler/tracehandler/analyze/roofline"
	"github.com/tracehandler/tracehandler/analyze/stacks"
	"github.com/tracehandler/tracehandler/analyze/steps"
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
	// Steps are the trace's iterations; those that state the lengths of their sequences give attention its work.
	Steps []steps.Root
}

// Options of Build.
type Options struct {
	Spec    *roofline.Spec // nil: the device is unknown
	NoOps   bool           // rows by kernel name only, whatever is known of ops
	Sources SourceFinder   // nil: only what the trace itself says
}

// SourceFinder tells where a kernel's source is. from is the python file that launched it, if stacks were read, or "".
type SourceFinder interface {
	Find(device, from string) Location
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
	Captured    bool   // its op is that of the graph's capture
	Forward     string // the op whose gradient it computes, or ""
	Modules     string // the nn.Module path that spent most of the time, if stacks were read
	Frame       string // the python frame that launched most of it, if stacks were read
	paged       pagedWork
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
		paged := newPaged(src)
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
				paged.add(row, l.Launch[i])
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
