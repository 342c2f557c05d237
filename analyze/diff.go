package analyze

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/tracehandler/tracehandler/analyze/report"
)

// Diff compares two analyses. In each list the deltas add up to the difference of the totals.
type Diff struct {
	A          string    `json:"a"`
	B          string    `json:"b"`
	Timeline   []DiffRow `json:"timeline"`
	Ops        []DiffRow `json:"ops"`
	Kernels    []DiffRow `json:"kernels"`
	Categories []DiffRow `json:"categories"`
	Total      DiffRow   `json:"total"` // of kernel time
}

// DiffRow is one name on both sides. Times are microseconds; a name that one side lacks has a count of 0 there.
type DiffRow struct {
	Name   string  `json:"name"`
	CountA int     `json:"count_a"`
	CountB int     `json:"count_b"`
	A      float64 `json:"a_us"`
	B      float64 `json:"b_us"`
	Delta  float64 `json:"delta_us"`
	a, b   int64
}

func (d *DiffRow) set() {
	d.A, d.B, d.Delta = micros(d.a), micros(d.b), micros(d.b-d.a)
}

// Compare compares b with a, all ranks of each summed up.
func Compare(a, b *Result) *Diff {
	d := &Diff{A: a.Input, B: b.Input}
	ops, kernels, categories := map[string]*DiffRow{}, map[string]*DiffRow{}, map[string]*DiffRow{}
	get := func(m map[string]*DiffRow, name string) *DiffRow {
		if m[name] == nil {
			m[name] = &DiffRow{Name: name}
		}
		return m[name]
	}
	for side, r := range []*Result{a, b} {
		add := func(row *DiffRow, count int, ns int64) {
			if side == 0 {
				row.CountA += count
				row.a += ns
			} else {
				row.CountB += count
				row.b += ns
			}
		}
		for i := range r.Set.Rows {
			row := &r.Set.Rows[i]
			add(get(ops, row.Name), row.Calls, row.Time)
			n := 0
			for _, k := range row.Kernels {
				add(get(kernels, k.Name), k.Count, k.Time)
				n += k.Count
			}
			add(get(categories, string(row.Category)), n, row.Time)
			add(&d.Total, n, row.Time)
		}
	}
	d.Total.Name = "kernel time"
	d.Total.set()
	d.Ops, d.Kernels, d.Categories = byDelta(ops), byDelta(kernels), byDelta(categories)
	x, y := &a.Timeline, &b.Timeline
	for _, row := range []DiffRow{
		{Name: "total", a: x.Total, b: y.Total}, {Name: "computation", a: x.Computation, b: y.Computation}, {Name: "exposed communication", a: x.ExposedComm, b: y.ExposedComm},
		{Name: "exposed copies", a: x.ExposedMemcpy, b: y.ExposedMemcpy}, {Name: "idle", a: x.Idle, b: y.Idle},
	} {
		row.set()
		d.Timeline = append(d.Timeline, row)
	}
	return d
}

// byDelta puts what changed most first.
func byDelta(m map[string]*DiffRow) []DiffRow {
	rows := []DiffRow{}
	for _, r := range m {
		r.set()
		rows = append(rows, *r)
	}
	slices.SortFunc(rows, func(a, b DiffRow) int {
		return cmp.Or(cmp.Compare(max(b.b-b.a, b.a-b.b), max(a.b-a.a, a.a-a.b)), cmp.Compare(a.Name, b.Name))
	})
	return rows
}

// Document renders the comparison as Markdown.
func (d *Diff) Document() *report.Doc {
	doc := &report.Doc{Title: "Comparison", Quotes: []string{"A: " + d.A, "B: " + d.B, "Times are in microseconds; deltas are B − A and add up to the difference of the totals."}}
	for _, s := range []struct {
		heading string
		rows    []DiffRow
	}{{"Timeline", d.Timeline}, {"Categories", d.Categories}, {"Ops", d.Ops}, {"Kernels", d.Kernels}} {
		t := &report.Table{Header: []string{"Name", "Count A", "Count B", "A (us)", "B (us)", "Delta (us)"}}
		for _, r := range s.rows {
			t.Rows = append(t.Rows, diffCells(&r))
		}
		if s.heading != "Timeline" {
			t.Rows = append(t.Rows, diffCells(&d.Total))
		}
		doc.Add(section(s.heading, t))
	}
	return doc
}

func diffCells(r *DiffRow) []string {
	count := func(n int) string { return orDash(n > 0, strconv.Itoa(n)) }
	return []string{r.Name, count(r.CountA), count(r.CountB), us3(r.a), us3(r.b), us3(r.b - r.a)}
}
