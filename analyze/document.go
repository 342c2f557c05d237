package analyze

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tracehandler/tracehandler/analyze/candidate"
	"github.com/tracehandler/tracehandler/analyze/category"
	"github.com/tracehandler/tracehandler/analyze/report"
)

// What a P-item must reach, in percent of the time from the first GPU event to the last, and how many there are.
const (
	itemMinShare = 0.5
	itemMax      = 40
	headingMax   = 75 // characters of a kernel's name in a heading
)

// Document is analysis.md. At levels 4 and 5 it is the name-and-time report.
func (r *Result) Document() *report.Doc {
	if r.Level == LevelReplay || r.Level == LevelGPUOnly {
		return r.fallbackDocument()
	}
	d := &report.Doc{Title: "Performance Analysis Report — " + r.name()}
	r.head(d)
	d.Add(section("Executive Summary", r.metrics()))
	d.Add(section("System-Level Signals", r.signals()))
	d.Add(section("Top Hot Kernels", r.hotTable()))
	for _, p := range r.Items() {
		d.Add(p.Section(3))
	}
	d.Add(section("Top Operations", r.categoryTable()))
	d.Add(section("Top 10 Kernels by Optimization Priority", r.priorityTable()))
	r.optimizations(d)
	r.details(d)
	r.tail(d)
	return d
}

func section(heading string, t *report.Table) report.Section {
	s := report.Section{Level: 2, Heading: heading}
	if t != nil {
		s.Blocks = append(s.Blocks, report.Block{Table: t})
	}
	return s
}

func (r *Result) name() string {
	if r.Options.Model != "" {
		return r.Options.Model
	}
	base := filepath.Base(r.Input)
	for _, suffix := range []string{".gz", ".zst", ".json", ".trace", ".pt"} {
		base = strings.TrimSuffix(base, suffix)
	}
	return base
}

// head says where the figures come from, and what was missing.
func (r *Result) head(d *report.Doc) {
	device := r.Device
	if device == "" {
		device = "unknown"
	}
	roof := "roofline: unknown device, none computed"
	if r.Spec != nil {
		roof = "roofline: " + r.Spec.Name + ", " + r.Spec.Source
	}
	d.Quotes = append(d.Quotes, fmt.Sprintf("tracehandler; %d trace(s), rank %d first; device %s; %s. GPU%% is of the summed kernel time, %%E2E of the time from the first GPU event to the last.", len(r.Ranks), r.Ranks[0].Rank, device, roof))
	banner := fmt.Sprintf("Level %d: %s.", r.Level, r.Level)
	if len(r.Missing) > 0 {
		banner += " Missing: " + strings.Join(r.Missing, "; ") + "."
	}
	d.Quotes = append(d.Quotes, banner)
	if w := r.Ranks[0].WindowText(); w != "" {
		d.Quotes = append(d.Quotes, "Window: "+w+".")
	}
	if r.Degraded {
		d.Quotes = append(d.Quotes, "DEGRADED: the input is damaged; this is what its complete events say.")
	}
	if r.Suppressed != nil {
		d.Quotes = append(d.Quotes, "SUPPRESSED ("+r.Suppressed.Code+"): "+r.Suppressed.Message+". Kernels are listed for information only.")
	}
}

func (r *Result) metrics() *report.Table {
	t := &report.Table{Header: []string{"Metric", "Value"}}
	add := func(name, value string) { t.Rows = append(t.Rows, []string{name, value}) }
	tl := &r.Timeline
	top := report.Dash
	if len(r.Set.Categories) > 0 {
		top = category.Canonical(string(r.Set.Categories[0].Category))
	}
	add("Total GPU Time", ms(tl.Total))
	add("GPU Busy %", percent(tl.Busy, tl.Total))
	add("GPU Idle %", percent(tl.Idle, tl.Total))
	add("GPU MemCpy", ms(tl.Memcpy))
	add("Top Bottleneck Category", top)
	add("Op-attribution Coverage", percent(r.Set.WithOp, r.Set.Total))
	add("Idle %", percent(tl.Idle, tl.Total))
	add("Compute %", percent(tl.Computation, tl.Total))
	add("Exposed Communication %", percent(tl.ExposedComm, tl.Total))
	return t
}

func (r *Result) signals() *report.Table {
	tl := &r.Timeline
	l := &r.Ranks[0].Linked
	t := &report.Table{Header: []string{"Signal", "Time", "% of total GPU time", "Note"}}
	add := func(name string, v int64, note string) {
		t.Rows = append(t.Rows, []string{name, ms(v), percent(v, tl.Total), note})
	}
	idle := "no idle gate"
	if r.Options.Idle > 0 {
		idle = fmt.Sprintf("idle gate at %.0f%%", r.Options.Idle)
	}
	add("Computation", tl.Computation, report.Dash)
	add("GPU idle", tl.Idle, idle)
	add("Idle in gaps below the launch overhead", tl.MicroIdle, report.Dash)
	add("Communication", tl.Comm, report.Dash)
	add("Exposed communication", tl.ExposedComm, "no computation runs beside it")
	add("Overlapped communication", tl.OverlapComm, report.Dash)
	add("Device copies", tl.Memcpy, report.Dash)
	add("Exposed memcpy (device copy)", tl.ExposedMemcpy, "neither computation nor communication beside it")
	if l.Events != tl.Events {
		t.Rows = append(t.Rows, []string{"Linked events only: total", ms(l.Total), report.Dash, fmt.Sprintf("%d of %d GPU events have a launch in the trace", l.Events, tl.Events)},
			[]string{"Linked events only: idle", ms(l.Idle), percent(l.Idle, l.Total), "% of the linked total"})
	}
	return t
}

func (r *Result) hotTable() *report.Table {
	t := &report.Table{Header: []string{"Rank", "Operation", "Time (us)", "GPU%", "Eff%", "AI", "Bound", "Category", "Source File"}}
	for i := range r.hot() {
		row := &r.Set.Rows[i]
		t.Rows = append(t.Rows, []string{fmt.Sprint(i + 1), short(row.Name), us1(row.Time), pct(row.Percent), efficiency(row), intensity(row), bound(row),
			category.Canonical(string(row.Category)), place(row.Source)})
	}
	return t
}

// hot is the rows that reports list.
func (r *Result) hot() []candidate.Row {
	n := r.Options.TopK
	if n <= 0 {
		n = DefaultTopK
	}
	return r.Set.Rows[:min(n, len(r.Set.Rows))]
}

// Items are the P-items: compute rows of at least half a percent of the time, by priority.
func (r *Result) Items() []report.Item {
	var rows []*candidate.Row
	for i := range r.Set.Rows {
		row := &r.Set.Rows[i]
		if row.Category == category.MemCpy || row.Category == category.Communication || share(row.Time, r.Timeline.Total) < itemMinShare {
			continue
		}
		rows = append(rows, row)
	}
	slices.SortStableFunc(rows, func(a, b *candidate.Row) int { return a.Rank - b.Rank })
	var items []report.Item
	for i, row := range rows[:min(itemMax, len(rows))] {
		p := report.Item{Rank: i + 1, Title: short(row.Name), Library: category.Canonical(string(row.Category)), Category: string(row.Category), Tier: "compute",
			Header: append(slices.Clone(report.Data), "Kernel Name", "Source File")}
		s := share(row.Time, r.Timeline.Total)
		if row.HasEstimate {
			gap := 1 - row.Efficiency/100
			p.Low, p.Mid, p.High = 0.75*gap*s, 0.875*gap*s, gap*s
		} else {
			p.Low, p.Mid, p.High = 0.15*s, 0.30*s, 0.45*s
		}
		p.Low, p.Mid, p.High = round2(p.Low), round2(p.Mid), round2(p.High)
		var names []string
		for _, k := range row.Kernels[:min(3, len(row.Kernels))] {
			names = append(names, "`"+k.Name+"`")
		}
		p.Rows = [][]string{{row.Name, dash(candidate.ShapeText(row.Dims, row.Types)), place(row.Source), fmt.Sprintf("%.3f", float64(row.Time)/1e6), fmt.Sprintf("%.2f", s),
			fmt.Sprint(row.Calls), intensity(row), efficiencyOf(row), bound(row), strings.Join(names, "<br>"), place(row.Source)}}
		items = append(items, p)
	}
	return items
}

func (r *Result) categoryTable() *report.Table {
	t := &report.Table{Header: []string{"Rank", "Category", "GPU %", "Time (ms)", "Kernels"}}
	for i, c := range r.Set.Categories {
		t.Rows = append(t.Rows, []string{fmt.Sprint(i + 1), category.Canonical(string(c.Category)), fmt.Sprintf("%.2f", c.Percent), fmt.Sprintf("%.3f", float64(c.Time)/1e6), fmt.Sprint(c.Kernels)})
	}
	return t
}

func (r *Result) priorityTable() *report.Table {
	t := &report.Table{Header: []string{"#", "kernel_id", "Name", "Category", "GPU%", "Bound", "AI", "Eff%", "Priority", "Suggestion"}}
	order := make([]int, len(r.hot()))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return r.Set.Rows[a].Rank - r.Set.Rows[b].Rank })
	for n, i := range order[:min(10, len(order))] {
		row := &r.Set.Rows[i]
		t.Rows = append(t.Rows, []string{fmt.Sprint(n + 1), "`" + kernelID(i) + "`", short(row.Name), category.Canonical(string(row.Category)), pct(row.Percent), bound(row),
			intensity(row), efficiency(row), fmt.Sprintf("%.2f", row.Priority), Suggestion(row)})
	}
	return t
}

func (r *Result) optimizations(d *report.Doc) {
	s := report.Section{Level: 2, Heading: "Compute Kernel Optimizations"}
	ready := 0
	var rows []int
	for i, row := range r.hot() {
		if row.Rewritable {
			rows = append(rows, i)
			if dispatchable(&r.Set.Rows[i]) {
				ready++
			}
		}
	}
	s.Blocks = append(s.Blocks, report.Block{Text: fmt.Sprintf("_%d of %d rewritable candidate(s) have an editable source and a recorded shape; %d hot kernel(s) are not rewritable._", ready, len(rows), len(r.hot())-len(rows))})
	d.Add(s)
	for _, i := range rows {
		row := &r.Set.Rows[i]
		src := "unresolved: no editable source was found."
		if row.Source.File != "" {
			src = place(row.Source) + " (" + row.Source.Method + ")"
		}
		d.Add(report.Section{Level: 3, Heading: fmt.Sprintf("%s: %s (%s)", kernelID(i), short(row.Name), category.Canonical(string(row.Category))), Blocks: []report.Block{
			{Text: fmt.Sprintf("**Insight**: %s of GPU time in %d call(s).", pct(row.Percent), row.Calls)},
			{Text: "**Action**: " + Suggestion(row)},
			{Text: "**Source**: " + src},
			{Text: fmt.Sprintf("**Impact**: %s of GPU time; bound=%s, attainment=%s, priority=%.2f.", pct(row.Percent), bound(row), efficiency(row), row.Priority)},
		}})
	}
}

func (r *Result) details(d *report.Doc) {
	d.Add(report.Section{Level: 2, Heading: "Detailed Analysis"})
	for i := range r.hot() {
		row := &r.Set.Rows[i]
		why := ""
		if row.SkipReason != "" {
			why = ", skip_reason=" + row.SkipReason
		}
		blocks := []report.Block{
			{Text: fmt.Sprintf("**Identification:** %s GPU time, %d call(s), reusable=%v%s.", pct(row.Percent), row.Calls, row.Rewritable, why)},
			{Table: &report.Table{Header: []string{"Device kernel", "Count", "Time (ms)"}}},
			{Text: "**Shapes:** " + dash(candidate.ShapeText(row.Dims, row.Types)) + " (" + row.Provenance + ")."},
			{Text: fmt.Sprintf("**Roofline:** bound=%s, AI=%s, attainment=%s.", bound(row), intensity(row), efficiencyOf(row))},
		}
		if row.Modules != "" || row.Frame != "" || row.Forward != "" {
			blocks = append(blocks, report.Block{Text: fmt.Sprintf("**Launched by:** module %s, frame %s, gradient of %s.", dash(row.Modules), dash(row.Frame), dash(row.Forward))})
		}
		for _, k := range row.Kernels {
			blocks[1].Table.Rows = append(blocks[1].Table.Rows, []string{"`" + k.Name + "`", fmt.Sprint(k.Count), fmt.Sprintf("%.3f", float64(k.Time)/1e6)})
		}
		d.Add(report.Section{Level: 3, Heading: fmt.Sprintf("%s detail: %s", kernelID(i), short(row.Name)), Blocks: blocks})
	}
}

// tail is what every report ends with.
func (r *Result) tail(d *report.Doc) {
	if len(r.Ranks) > 1 {
		t := &report.Table{Header: []string{"Rank", "From", "File", "Events", "GPU events", "Total", "Busy %", "Compute %", "Exposed communication %", "Idle %"}}
		for i := range r.Ranks {
			k := &r.Ranks[i]
			tl := &k.All
			t.Rows = append(t.Rows, []string{fmt.Sprint(k.Rank), k.RankFrom, filepath.Base(k.File.Path), fmt.Sprint(k.Trace.Events), fmt.Sprint(len(k.Trace.GPU)), ms(tl.Total),
				percent(tl.Busy, tl.Total), percent(tl.Computation, tl.Total), percent(tl.ExposedComm, tl.Total), percent(tl.Idle, tl.Total)})
		}
		d.Add(section("Ranks", t))
	}
	if len(r.Collectives) > 0 {
		t := &report.Table{Header: []string{"Collective", "Group", "Type", "In elements", "Out elements", "Group size", "Count", "Time (ms)", "Min (us)", "Max (us)"}}
		for _, c := range r.Collectives {
			t.Rows = append(t.Rows, []string{dash(c.Collective), dash(c.Group), dash(c.DType), fmt.Sprint(c.In), fmt.Sprint(c.Out), fmt.Sprint(c.Size), fmt.Sprint(c.Count),
				fmt.Sprintf("%.3f", float64(c.Total)/1e6), us1(c.Min), us1(c.Max)})
		}
		d.Add(section("Collectives", t))
	}
	if c := r.Collective; c != nil && len(c.Ops) > 0 {
		t := &report.Table{Header: []string{"Collective", "Type", "Size (MB)", "Group size", "Count", "Latency mean (us)", "min (us)", "max (us)", "Skew of arrival mean (us)", "Algorithm GB/s", "Bus GB/s"}}
		for _, s := range c.Summaries {
			t.Rows = append(t.Rows, []string{dash(s.Collective), dash(s.DType), fmt.Sprintf("%.3f", s.FullMB), fmt.Sprint(s.Size), fmt.Sprint(s.Count), fmt.Sprintf("%.1f", s.Latency.Mean/1e3),
				fmt.Sprintf("%.1f", s.Latency.Min/1e3), fmt.Sprintf("%.1f", s.Latency.Max/1e3), fmt.Sprintf("%.1f", s.SkewIn.Mean/1e3), fmt.Sprintf("%.3f", s.AlgoBW.Mean), fmt.Sprintf("%.3f", s.BusBW.Mean)})
		}
		d.Add(section("Collectives Across Ranks", t))
		t = &report.Table{Header: []string{"Rank", "Waited in all (us)", "Mean wait (us)", "Came last", "Came first", "Collectives"}}
		for _, s := range c.Stragglers {
			t.Rows = append(t.Rows, []string{fmt.Sprint(s.Rank), us1(s.TotalWait), fmt.Sprintf("%.1f", s.MeanWait/1e3), fmt.Sprint(s.Last), fmt.Sprint(s.First), fmt.Sprint(s.Ops)})
		}
		d.Add(section("Stragglers", t))
	}
	if len(r.Excluded) > 0 {
		t := &report.Table{Header: []string{"Rank", "Event", "Start (us)", "Duration as recorded (us)"}}
		for _, x := range r.Excluded[:min(50, len(r.Excluded))] {
			t.Rows = append(t.Rows, []string{fmt.Sprint(x.Rank), "`" + x.Name + "`", us1(x.Start), us1(x.Duration)})
		}
		s := section("Impossible Durations", t)
		s.Blocks = append([]report.Block{{Text: fmt.Sprintf("%d event(s) last longer than their stream allows. They are in no figure above.", len(r.Excluded))}}, s.Blocks...)
		d.Add(s)
	}
	if len(r.Warnings) > 0 {
		t := &report.Table{Header: []string{"Code", "Severity", "Message"}}
		for _, w := range r.Warnings {
			t.Rows = append(t.Rows, []string{w.Code, w.Severity, w.Message})
		}
		d.Add(section("Warnings", t))
	}
	d.Add(report.Section{Level: 2, Heading: "Appendix", Blocks: []report.Block{{Text: "kernel_candidates.json holds every candidate with full kernel names; kernels.csv, ops.csv, timeline.csv, streams.csv and collectives.csv the tables."}}})
}

// fallbackDocument lists kernels by name and time. It has no idle row: what looks idle may be what was not recorded.
func (r *Result) fallbackDocument() *report.Doc {
	d := &report.Doc{Title: "Deterministic Fallback Analysis"}
	r.head(d)
	d.Quotes = append(d.Quotes, "Degraded analysis: kernels are known by name and time only. Shapes, efficiency and bounds are not known.")
	t := &report.Table{Header: []string{"Metric", "Value"}}
	t.Rows = append(t.Rows, []string{"Total GPU Time", ms(r.Timeline.Total)}, []string{"Kernels listed", fmt.Sprint(len(r.Fallback))}, []string{"Kernel names left out (below 0.5 % of the time)", fmt.Sprint(r.Dropped)})
	d.Add(section("Executive Summary", t))
	for i, k := range r.Fallback {
		s := share(k.Total, r.Timeline.Total)
		p := report.Item{Rank: i + 1, Title: cut(k.Name), Category: "unknown", Tier: "compute", Low: round2(0.15 * s), Mid: round2(0.30 * s), High: round2(0.45 * s),
			Header: append(slices.Clone(report.Data), "Kernel Name")}
		p.Rows = [][]string{{report.Dash, report.Dash, report.Dash, fmt.Sprintf("%.3f", float64(k.Total)/1e6), fmt.Sprintf("%.2f", s), report.Dash, report.Dash, report.Dash, report.Dash, k.Name}}
		d.Add(p.Section(4))
	}
	r.tail(d)
	return d
}
