package tables

import (
	"cmp"
	"slices"

	"github.com/tracehandler/tracehandler/analyze/category"
	"github.com/tracehandler/tracehandler/analyze/interval"
	"github.com/tracehandler/tracehandler/analyze/kineto"
)

// NameRow sums the GPU events of one name.
type NameRow struct {
	Name            string
	Str             kineto.Str
	Count           int
	Total, Min, Max int64
	Bytes           int64
	Impossible      int // events whose duration did not fit
	Example         int // index into GPU of the longest event
}

// Kernels sums kernels by exact name. keep says which events count; nil is all.
func Kernels(t *kineto.Trace, keep func(i int) bool) []NameRow {
	return byName(t, func(i int) bool { return t.GPU[i].Kind == kineto.Kernel && (keep == nil || keep(i)) })
}

// Memory sums copies and memsets by name.
func Memory(t *kineto.Trace, keep func(i int) bool) []NameRow {
	return byName(t, func(i int) bool { return t.GPU[i].Kind != kineto.Kernel && (keep == nil || keep(i)) })
}

func byName(t *kineto.Trace, keep func(i int) bool) []NameRow {
	index := map[kineto.Str]int{}
	var rows []NameRow
	for i := range t.GPU {
		if !keep(i) {
			continue
		}
		g := &t.GPU[i]
		n, ok := index[g.Name]
		if !ok {
			n = len(rows)
			index[g.Name] = n
			rows = append(rows, NameRow{Name: t.String(g.Name), Str: g.Name, Min: g.Dur, Example: i})
		}
		r := &rows[n]
		r.Count++
		r.Total += g.Dur
		r.Bytes += g.Bytes
		r.Min = min(r.Min, g.Dur)
		if g.Dur > r.Max {
			r.Max, r.Example = g.Dur, i
		}
		if g.Impossible {
			r.Impossible++
		}
	}
	slices.SortFunc(rows, func(a, b NameRow) int {
		return cmp.Or(cmp.Compare(b.Total, a.Total), cmp.Compare(a.Name, b.Name))
	})
	return rows
}

// StreamRow sums the GPU events of one stream.
type StreamRow struct {
	Device, Stream int32
	Events         int
	Sum, Busy      int64
}

// Streams sums the GPU events that keep wants, nil being all, by device and stream, in their order.
func Streams(t *kineto.Trace, keep func(i int) bool) []StreamRow {
	type key struct{ device, stream int32 }
	sets := map[key]interval.Set{}
	rows := map[key]*StreamRow{}
	for i := range t.GPU {
		if keep != nil && !keep(i) {
			continue
		}
		g := &t.GPU[i]
		k := key{g.Device, g.Stream}
		if rows[k] == nil {
			rows[k] = &StreamRow{Device: g.Device, Stream: g.Stream}
		}
		rows[k].Events++
		rows[k].Sum += g.Dur
		sets[k] = append(sets[k], interval.Interval{Start: g.TS, End: g.End()})
	}
	var out []StreamRow
	for k, r := range rows {
		r.Busy = interval.Measure(interval.Union(sets[k]))
		out = append(out, *r)
	}
	slices.SortFunc(out, func(a, b StreamRow) int {
		return cmp.Or(cmp.Compare(a.Device, b.Device), cmp.Compare(a.Stream, b.Stream))
	})
	return out
}

// CommRow sums the collective kernels of one kind, group, type and size.
type CommRow struct {
	Collective, Group, DType string
	In, Out, Size            int64
	Count                    int
	Total, Min, Max          int64
}

// Collectives sums the collective kernels that keep wants, nil being all, by their recorded arguments; those without any come under empty names.
func Collectives(t *kineto.Trace, keep func(i int) bool) []CommRow {
	index := map[CommRow]int{}
	var rows []CommRow
	collective := category.Collectives()
	for i := range t.GPU {
		g := &t.GPU[i]
		if g.Kind != kineto.Kernel || keep != nil && !keep(i) || !collective(uint32(g.Name), t.String(g.Name)) {
			continue
		}
		c := &t.Comms[g.Comm]
		key := CommRow{Collective: t.String(c.Collective), Group: t.String(c.Group), DType: t.String(c.DType),
			In: c.In, Out: c.Out, Size: c.Size}
		n, ok := index[key]
		if !ok {
			n = len(rows)
			index[key] = n
			key.Min = g.Dur
			rows = append(rows, key)
		}
		r := &rows[n]
		r.Count++
		r.Total += g.Dur
		r.Min, r.Max = min(r.Min, g.Dur), max(r.Max, g.Dur)
	}
	slices.SortFunc(rows, func(a, b CommRow) int {
		return cmp.Or(cmp.Compare(b.Total, a.Total), cmp.Compare(a.Collective, b.Collective), cmp.Compare(a.In, b.In))
	})
	return rows
}
