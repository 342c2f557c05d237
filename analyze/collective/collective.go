// Package collective compares the collectives of a job's ranks: who waited for whom, and how fast the data moved.
//
//	rep := collective.Analyze([]collective.Rank{{ID: 0, Trace: t0, Links: l0}, {ID: 1, Trace: t1, Links: l1}}, collective.Options{})
//	for _, s := range rep.Stragglers { fmt.Println(s.Rank, s.Last, "times last") }
//
// The n-th collective of a process group on one rank is the n-th of it on every other. One that no rank can leave before
// all have come (all-reduce, all-gather, reduce-scatter, all-to-all) lets the ranks' clocks be compared: what a rank
// spends beyond the shortest duration it waits for the others. Definitions: TraceLens' NcclAnalyser. Times are integer
// nanoseconds; sizes in MB are bytes/2^20 and rates in GB/s are MB/1024 a second, as there.
package collective

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/tracehandler/tracehandler/analyze/category"
	"github.com/tracehandler/tracehandler/analyze/kineto"
	"github.com/tracehandler/tracehandler/analyze/link"
)

// Rank is one trace of the job.
type Rank struct {
	ID    int
	Trace *kineto.Trace
	Links *link.Links
	Keep  func(i int) bool // which GPU events count; nil is all
}

// Options of Analyze.
type Options struct {
	GPUsPerNode int // 0 is 8
}

// Report is what Analyze found.
type Report struct {
	Ops        []Op        // implicitly synchronised collectives that every rank of their group has, in order
	Summaries  []Summary   // of Ops, by kind and size; the longest first
	Ranks      []RankRow   // per rank and kind, all collectives
	Stragglers []Straggler // by summed waiting time: whoever waits least is waited for
	Incomplete int         // collectives that some rank of the group lacks, in the traces given
	ByOrder    bool        // groups were not recorded: matched by order alone
}

// Kind is what makes two collectives alike.
type Kind struct {
	Collective, DType, Group, Ranks string
	In, Out, Size                   int64 // elements and ranks
}

// Part is one rank's share in a collective.
type Part struct {
	Rank    int
	TS, Dur int64
	Wait    int64 // until the last rank came
}

// Op is one collective across its ranks.
type Op struct {
	Kind
	Index    int // in its group
	Parts    []Part
	Latency  int64 // the shortest duration: that of whoever came last
	SkewIn   int64 // between the first and the last to come
	SkewOut  int64 // between the first and the last to leave
	MeanWait float64
	First    int     // the rank that came first
	Last     int     // the rank that came last
	FullMB   float64 // the side that holds all data
	AlgoBW   float64 // GB/s: FullMB by Latency
	BusBW    float64 // GB/s: AlgoBW by what the algorithm sends
	Nodes    string  // intra_node or inter_node
}

// Stat is the spread of a figure.
type Stat struct{ Mean, Median, Min, Max float64 }

// Summary sums up the Ops of one kind.
type Summary struct {
	Kind
	FullMB                   float64
	Count                    int
	Total                    int64 // summed latency
	Latency, SkewIn, SkewOut Stat  // ns
	AlgoBW, BusBW            Stat
}

// RankRow sums up the collectives of one kind on one rank.
type RankRow struct {
	Rank int
	Kind
	Stream   int32
	Count    int
	Total    int64
	Min, Max int64
	InMB     float64
	OutMB    float64
}

// Straggler sums up how a rank came to the collectives.
type Straggler struct {
	Rank        int
	TotalWait   int64
	MeanWait    float64
	Last, First int // times
	Ops         int
	Total       int64 // summed duration of all its collective kernels, these and others
	Node        int
}

// synchronised collectives hold every rank until all have come.
func synchronised(name string) bool {
	n := strings.ToLower(strings.ReplaceAll(strings.TrimLeft(name, "_"), "_", ""))
	for _, family := range []string{"allreduce", "allgather", "reducescatter", "alltoall"} {
		if strings.HasPrefix(n, family) {
			return true
		}
	}
	return false
}

type event struct {
	rank int
	kind Kind
	part Part
	lane int32
}

// Analyze matches and measures. Only kernels with a launch in their trace count: the others' place in the order is not
// known.
func Analyze(ranks []Rank, o Options) *Report {
	if o.GPUsPerNode <= 0 {
		o.GPUsPerNode = 8
	}
	rep := &Report{}
	ops := map[opKey][]event{}
	totals := map[int]int64{}
	base := commonBase(ranks)
	for _, r := range ranks {
		totals[r.ID] += collectiveTime(r)
		for group, events := range byGroup(r, rep) {
			for i, e := range events {
				if base != 0 {
					e.part.TS += r.Trace.Meta.BaseTime - base
				}
				ops[opKey{group, i}] = append(ops[opKey{group, i}], e)
			}
		}
	}
	stragglers := map[int]*Straggler{}
	for key, events := range ops {
		kind := events[0].kind
		if !synchronised(kind.Collective) {
			continue
		}
		if int64(len(events)) < max(kind.Size, 2) && len(events) < len(members(kind, ranks)) || len(events) < 2 {
			rep.Incomplete++
			continue
		}
		rep.Ops = append(rep.Ops, measure(key.index, kind, events, o))
	}
	slices.SortFunc(rep.Ops, func(a, b Op) int {
		return cmp.Or(cmp.Compare(a.Group, b.Group), cmp.Compare(a.Index, b.Index))
	})
	for _, op := range rep.Ops {
		for _, p := range op.Parts {
			s := stragglers[p.Rank]
			if s == nil {
				s = &Straggler{Rank: p.Rank, Node: p.Rank / o.GPUsPerNode}
				stragglers[p.Rank] = s
			}
			s.TotalWait += p.Wait
			s.Ops++
			if p.Rank == op.Last {
				s.Last++
			}
			if p.Rank == op.First {
				s.First++
			}
		}
	}
	for _, s := range stragglers {
		s.MeanWait = float64(s.TotalWait) / float64(s.Ops)
		s.Total = totals[s.Rank]
		rep.Stragglers = append(rep.Stragglers, *s)
	}
	slices.SortFunc(rep.Stragglers, func(a, b Straggler) int {
		return cmp.Or(cmp.Compare(a.TotalWait, b.TotalWait), cmp.Compare(a.Rank, b.Rank))
	})
	rep.Summaries = summarise(rep.Ops)
	slices.SortFunc(rep.Ranks, func(a, b RankRow) int {
		return cmp.Or(cmp.Compare(b.Total, a.Total), cmp.Compare(a.Rank, b.Rank))
	})
	return rep
}

// commonBase is the earliest instant that a trace counts its times from, if all traces say theirs; else 0, and their times are
// taken as they are. Kineto writes the same instant for months, as a rule.
func commonBase(ranks []Rank) int64 {
	var base int64
	for i, r := range ranks {
		b := r.Trace.Meta.BaseTime
		if b <= 0 {
			return 0
		}
		if i == 0 || b < base {
			base = b
		}
	}
	return base
}

type opKey struct {
	group string
	index int
}

// members are the ranks of a collective's group that were given.
func members(k Kind, ranks []Rank) []int {
	var ids []int
	if json.Unmarshal([]byte(k.Ranks), &ids) != nil || len(ids) == 0 {
		for _, r := range ranks {
			ids = append(ids, r.ID)
		}
		return ids
	}
	return slices.DeleteFunc(ids, func(id int) bool {
		return !slices.ContainsFunc(ranks, func(r Rank) bool { return r.ID == id })
	})
}

// byGroup lists a rank's collectives in order, by process group, and adds its rows to the report.
func byGroup(r Rank, rep *Report) map[string][]event {
	t := r.Trace
	groups := map[string][]event{}
	index := map[rowKey]int{}
	collective := category.Collectives()
	for i := range t.GPU {
		g := &t.GPU[i]
		if g.Kind != kineto.Kernel || r.Links.Launch[i] < 0 || r.Keep != nil && !r.Keep(i) || !collective(uint32(g.Name), t.String(g.Name)) {
			continue
		}
		c := &t.Comms[g.Comm]
		k := Kind{t.String(c.Collective), t.String(c.DType), t.String(c.Group), t.String(c.Ranks), c.In, c.Out, c.Size}
		group := k.Group + "\x00" + k.Ranks
		if g.Comm == 0 {
			k.Collective = nameOf(t.String(g.Name))
			rep.ByOrder = true
		}
		groups[group] = append(groups[group], event{r.ID, k, Part{Rank: r.ID, TS: g.TS, Dur: g.Dur}, g.Stream})
		key := rowKey{k, g.Stream}
		n, ok := index[key]
		if !ok {
			n = len(rep.Ranks)
			index[key] = n
			in, out := k.megabytes()
			rep.Ranks = append(rep.Ranks, RankRow{Rank: r.ID, Kind: k, Stream: g.Stream, Min: g.Dur, InMB: in, OutMB: out})
		}
		row := &rep.Ranks[n]
		row.Count++
		row.Total += g.Dur
		row.Min, row.Max = min(row.Min, g.Dur), max(row.Max, g.Dur)
	}
	for _, events := range groups {
		slices.SortStableFunc(events, func(a, b event) int { return cmp.Compare(a.part.TS, b.part.TS) })
	}
	return groups
}

// collectiveTime sums all collective kernels of a rank, those without a launch included.
func collectiveTime(r Rank) (total int64) {
	collective := category.Collectives()
	for i := range r.Trace.GPU {
		g := &r.Trace.GPU[i]
		if g.Kind == kineto.Kernel && (r.Keep == nil || r.Keep(i)) && collective(uint32(g.Name), r.Trace.String(g.Name)) {
			total += g.Dur
		}
	}
	return total
}

type rowKey struct {
	kind   Kind
	stream int32
}

// nameOf guesses the collective from a kernel's name, as in ncclDevKernel_AllReduce_Sum_f32.
func nameOf(kernel string) string {
	n := category.Normalise(kernel)
	for _, c := range []string{"all_reduce", "all_gather", "reduce_scatter", "all_to_all", "broadcast", "send_recv"} {
		if strings.Contains(n, c) {
			return strings.ReplaceAll(c, "_", "")
		}
	}
	if strings.Contains(n, "cross_device_reduce") {
		return "allreduce"
	}
	return ""
}

// megabytes are the sizes of what goes in and comes out on one rank; 0 for a type of unknown size.
func (k Kind) megabytes() (in, out float64) {
	size := 0.0
	switch strings.ToLower(k.DType) {
	case "double", "long", "int64", "float64", "complexfloat":
		size = 8
	case "float", "int", "int32", "float32":
		size = 4
	case "bfloat16", "half", "short", "float16":
		size = 2
	case "byte", "char", "bool", "int8", "uint8":
		size = 1
	default:
		if strings.HasPrefix(strings.ToLower(k.DType), "float8") {
			size = 1
		}
	}
	return float64(k.In) * size / (1 << 20), float64(k.Out) * size / (1 << 20)
}

func measure(index int, k Kind, events []event, o Options) Op {
	op := Op{Kind: k, Index: index, Latency: events[0].part.Dur, Nodes: "intra_node"}
	slices.SortFunc(events, func(a, b event) int { return cmp.Compare(a.rank, b.rank) })
	first, last := events[0], events[0]
	firstEnd, lastEnd := events[0].part.TS+events[0].part.Dur, events[0].part.TS+events[0].part.Dur
	for _, e := range events {
		op.Latency = min(op.Latency, e.part.Dur)
		if e.part.TS < first.part.TS {
			first = e
		}
		if e.part.TS > last.part.TS {
			last = e
		}
		end := e.part.TS + e.part.Dur
		firstEnd, lastEnd = min(firstEnd, end), max(lastEnd, end)
		if e.rank/o.GPUsPerNode != events[0].rank/o.GPUsPerNode {
			op.Nodes = "inter_node"
		}
	}
	op.First, op.Last = first.rank, last.rank
	op.SkewIn, op.SkewOut = last.part.TS-first.part.TS, lastEnd-firstEnd
	var wait int64
	for _, e := range events {
		e.part.Wait = last.part.TS - e.part.TS
		wait += e.part.Wait
		op.Parts = append(op.Parts, e.part)
	}
	op.MeanWait = float64(wait) / float64(len(events))
	in, out := k.megabytes()
	op.FullMB = max(in, out)
	if op.Latency > 0 {
		op.AlgoBW = op.FullMB / 1024 / (float64(op.Latency) / 1e9)
		n := float64(max(k.Size, int64(len(events))))
		op.BusBW = op.AlgoBW * (n - 1) / n
		if strings.Contains(strings.ToLower(strings.ReplaceAll(k.Collective, "_", "")), "allreduce") {
			op.BusBW *= 2
		}
	}
	return op
}

func summarise(ops []Op) []Summary {
	byKind := map[Kind][]Op{}
	for _, op := range ops {
		byKind[op.Kind] = append(byKind[op.Kind], op)
	}
	var out []Summary
	for k, group := range byKind {
		s := Summary{Kind: k, FullMB: group[0].FullMB, Count: len(group)}
		for _, op := range group {
			s.Total += op.Latency
		}
		of := func(f func(Op) float64) Stat {
			v := make([]float64, len(group))
			for i, op := range group {
				v[i] = f(op)
			}
			return stat(v)
		}
		s.Latency = of(func(op Op) float64 { return float64(op.Latency) })
		s.SkewIn = of(func(op Op) float64 { return float64(op.SkewIn) })
		s.SkewOut = of(func(op Op) float64 { return float64(op.SkewOut) })
		s.AlgoBW = of(func(op Op) float64 { return op.AlgoBW })
		s.BusBW = of(func(op Op) float64 { return op.BusBW })
		out = append(out, s)
	}
	slices.SortFunc(out, func(a, b Summary) int {
		return cmp.Or(cmp.Compare(b.Total, a.Total), cmp.Compare(a.Collective, b.Collective), cmp.Compare(a.In, b.In))
	})
	return out
}

func stat(v []float64) Stat {
	slices.Sort(v)
	s := Stat{Min: v[0], Max: v[len(v)-1], Median: v[len(v)/2]}
	if len(v)%2 == 0 {
		s.Median = (v[len(v)/2-1] + v[len(v)/2]) / 2
	}
	for _, x := range v {
		s.Mean += x / float64(len(v))
	}
	return s
}
