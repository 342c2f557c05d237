package analyze

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/tracehandler/tracehandler/analyze/candidate"
	"github.com/tracehandler/tracehandler/analyze/category"
	"github.com/tracehandler/tracehandler/analyze/html"
	"github.com/tracehandler/tracehandler/analyze/kineto"
	"github.com/tracehandler/tracehandler/analyze/tables"
)

// A browser draws so many events without a pause. Of more, the longest are shown, and the page says so.
const (
	pageGPU = 100_000
	pageOps = 60_000
)

// HTML renders the result as one self-contained page.
func (r *Result) HTML() ([]byte, error) {
	var b bytes.Buffer
	if err := html.Write(&b, r.page()); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

func (r *Result) page() *html.Page {
	tl := &r.Timeline
	doc := r.Document()
	p := &html.Page{Title: r.name(), Notes: doc.Quotes[:1], Banners: doc.Quotes[1:], Candidates: [][]any{}, Kernels: [][]any{}, Collectives: [][]any{}, Stragglers: [][]any{}, Warnings: [][]any{}}
	p.Tiles = [][2]string{{"total", ms(tl.Total)}, {"busy", percent(tl.Busy, tl.Total)}, {"computation", percent(tl.Computation, tl.Total)}, {"exposed communication", percent(tl.ExposedComm, tl.Total)},
		{"idle", percent(tl.Idle, tl.Total)}, {"charged to ops", percent(r.Set.WithOp, r.Set.Total)}, {"ranks", fmt.Sprint(len(r.Ranks))}, {"level", fmt.Sprint(int(r.Level))}}
	p.Timeline = []html.Share{{Name: "computation", NS: tl.Computation}, {Name: "exposed communication", NS: tl.ExposedComm}, {Name: "exposed copies", NS: tl.ExposedMemcpy}, {Name: "idle", NS: tl.Idle}}
	for _, c := range r.Set.Categories {
		p.Categories = append(p.Categories, html.Share{Name: string(c.Category), NS: c.Time})
	}
	for i := range r.hot() {
		row := &r.Set.Rows[i]
		var eff any
		if row.HasEstimate {
			eff = row.Efficiency
		}
		p.Candidates = append(p.Candidates, []any{i + 1, row.Name, category.Canonical(string(row.Category)), row.Percent, float64(row.Time) / 1e6, row.Calls, bound(row), eff, row.Priority,
			strings.ReplaceAll(candidate.ShapeText(row.Dims, row.Types), "<br>", " · "), place(row.Source)})
	}
	r.pageTables(p)
	r.lanes(p)
	return p
}

func (r *Result) pageTables(p *html.Page) {
	k := &r.Ranks[0]
	op := map[kineto.Str]string{}
	for j := range k.Trace.GPU {
		if a := k.Links.Any[j]; a >= 0 {
			op[k.Trace.GPU[j].Name] = k.Trace.String(k.Trace.Ops[a].Name)
		}
	}
	for _, n := range tables.Kernels(k.Trace, k.keep) {
		p.Kernels = append(p.Kernels, []any{n.Name, category.Canonical(string(category.Of(n.Name, op[n.Str]))), n.Count, float64(n.Total) / 1e6, float64(n.Total) / float64(n.Count) / 1e3,
			micros(n.Min), micros(n.Max), share(n.Total, k.All.KernelSum)})
	}
	p.CollHead = []string{"Collective", "Type", "Elements in", "Group size", "Count", "Total ms", "Min µs", "Max µs"}
	for _, c := range r.Collectives {
		p.Collectives = append(p.Collectives, []any{dash(c.Collective), dash(c.DType), c.In, c.Size, c.Count, float64(c.Total) / 1e6, micros(c.Min), micros(c.Max)})
	}
	if c := r.Collective; c != nil && len(c.Summaries) > 0 {
		p.CollHead = []string{"Collective", "Type", "MB", "Group size", "Count", "Latency mean µs", "Skew of arrival mean µs", "Algorithm GB/s", "Bus GB/s"}
		p.Collectives = [][]any{}
		for _, s := range c.Summaries {
			p.Collectives = append(p.Collectives, []any{dash(s.Collective), dash(s.DType), s.FullMB, s.Size, s.Count, s.Latency.Mean / 1e3, s.SkewIn.Mean / 1e3, s.AlgoBW.Mean, s.BusBW.Mean})
		}
		for _, s := range c.Stragglers {
			p.Stragglers = append(p.Stragglers, []any{s.Rank, micros(s.TotalWait), s.MeanWait / 1e3, s.Last, s.First, s.Ops})
		}
	}
	for _, w := range r.Warnings {
		p.Warnings = append(p.Warnings, []any{w.Code, w.Severity, w.Message})
	}
}

// lanes fills the timeline and the flame view: streams of all ranks, threads of the first.
func (r *Result) lanes(p *html.Page) {
	var names, kinds html.Index
	first, last := r.extent()
	p.Span = max(last-first, 1)
	p.Flame = &html.Node{Name: names.Of("all GPU work"), Kind: kinds.Of("all")}
	for i := range r.Ranks {
		k := &r.Ranks[i]
		t := k.Trace
		var events []int
		for j := range t.GPU {
			if k.keep(j) {
				events = append(events, j)
			}
		}
		if n := len(events); n > pageGPU {
			slices.SortFunc(events, func(a, b int) int { return cmp.Compare(t.GPU[b].Dur, t.GPU[a].Dur) })
			events = events[:pageGPU]
			p.Notes = append(p.Notes, fmt.Sprintf("The timeline shows the %d longest of %d GPU events of rank %d.", pageGPU, n, k.Rank))
		}
		slices.SortStableFunc(events, func(a, b int) int { return cmp.Compare(t.GPU[a].TS, t.GPU[b].TS) })
		lanes := map[[2]int32]*html.Lane{}
		var order [][2]int32
		for _, j := range events {
			g := &t.GPU[j]
			op := ""
			if a := k.Links.Any[j]; a >= 0 {
				op = t.String(t.Ops[a].Name)
			}
			name, kind := names.Of(t.String(g.Name)), kinds.Of(string(category.Of(t.String(g.Name), op)))
			key := [2]int32{g.Device, g.Stream}
			l := lanes[key]
			if l == nil {
				label := fmt.Sprintf("GPU %d stream %d", g.Device, g.Stream)
				if len(r.Ranks) > 1 {
					label = fmt.Sprintf("rank %d %s", k.Rank, label)
				}
				l = &html.Lane{Label: label}
				lanes[key] = l
				order = append(order, key)
			}
			l.Add(g.TS-first, g.Dur, name, kind, 0)
			box := p.Flame
			box.NS += g.Dur
			for _, o := range chain(k, j) {
				box = box.Child(names.Of(o), kinds.Of("op"))
				box.NS += g.Dur
			}
			box = box.Child(name, kind)
			box.NS += g.Dur
		}
		slices.SortFunc(order, func(a, b [2]int32) int { return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(a[1], b[1])) })
		for _, key := range order {
			p.Lanes = append(p.Lanes, *lanes[key])
		}
	}
	r.threads(p, &names, &kinds, first, last)
	sortFlame(p.Flame)
	p.Names, p.Kinds = names.List, kinds.List
}

// extent is the time that the page shows: that of the GPU events and their launches, or where there are none, of the ops.
func (r *Result) extent() (first, last int64) {
	seen := false
	grow := func(from, to int64) {
		if !seen {
			first, last, seen = from, to, true
		}
		first, last = min(first, from), max(last, to)
	}
	for i := range r.Ranks {
		k := &r.Ranks[i]
		for j := range k.Trace.GPU {
			if !k.keep(j) {
				continue
			}
			g := &k.Trace.GPU[j]
			grow(g.TS, g.End())
			if la := k.Links.Launch[j]; la >= 0 && i == 0 {
				grow(k.Trace.Launches[la].TS, g.End())
			}
		}
	}
	if !seen { // a trace of CPU spans
		for _, op := range r.Ranks[0].Trace.Ops {
			grow(op.TS, op.TS+op.Dur)
		}
	}
	return first, last
}

// chain is the ops around an event's launch, outermost first.
func chain(k *Rank, j int) []string {
	t := k.Trace
	var out []string
	for op, depth := k.Links.Any[j], 0; op >= 0 && depth < 100; op, depth = k.Links.Parent[op], depth+1 {
		out = append(out, t.String(t.Ops[op].Name))
	}
	if out == nil {
		if g, op, ok := k.Captured.Op(j); ok {
			out = append(out, g.Trace.String(g.Trace.Ops[op].Name))
		}
		if la := k.Links.Launch[j]; la >= 0 {
			out = append(out, t.String(t.Launches[la].Name))
		}
	}
	slices.Reverse(out)
	return out
}

// threads adds the ops of the first rank, nested.
func (r *Result) threads(p *html.Page, names, kinds *html.Index, first, last int64) {
	t := r.Ranks[0].Trace
	var ops []int32
	for i := range t.Ops {
		if op := &t.Ops[i]; op.TS >= first && op.TS+op.Dur <= last {
			ops = append(ops, int32(i))
		}
	}
	if n := len(ops); n > pageOps {
		slices.SortFunc(ops, func(a, b int32) int { return cmp.Compare(t.Ops[b].Dur, t.Ops[a].Dur) })
		ops = ops[:pageOps]
		p.Notes = append(p.Notes, fmt.Sprintf("The timeline shows the %d longest of %d CPU ops.", pageOps, n))
	}
	slices.SortStableFunc(ops, func(a, b int32) int {
		return cmp.Or(cmp.Compare(t.Ops[a].TS, t.Ops[b].TS), cmp.Compare(t.Ops[b].Dur, t.Ops[a].Dur))
	})
	lanes := map[int32]*html.Lane{}
	open := map[int32][]int64{} // ends of running ops
	var order []int32
	for _, i := range ops {
		op := &t.Ops[i]
		l := lanes[op.Thread]
		if l == nil {
			th := t.Threads[op.Thread]
			l = &html.Lane{Label: "thread " + th.TID + " of " + th.PID}
			lanes[op.Thread] = l
			order = append(order, op.Thread)
		}
		stack := open[op.Thread]
		for len(stack) > 0 && stack[len(stack)-1] <= op.TS {
			stack = stack[:len(stack)-1]
		}
		l.Add(op.TS-first, op.Dur, names.Of(t.String(op.Name)), kinds.Of("op"), min(len(stack), 40))
		open[op.Thread] = append(stack, op.TS+op.Dur)
	}
	for _, th := range order {
		p.Lanes = append(p.Lanes, *lanes[th])
	}
	if p.Lanes == nil {
		p.Lanes = []html.Lane{}
	}
}

func sortFlame(n *html.Node) {
	slices.SortStableFunc(n.Children, func(a, b *html.Node) int { return cmp.Compare(b.NS, a.NS) })
	for _, c := range n.Children {
		sortFlame(c)
	}
}
