// Package interval is the algebra of sets of half-open intervals of int64, exact by construction.
//
//	busy := interval.Union(kernels)                       // sorted, disjoint, not touching
//	exposed := interval.Measure(interval.Subtract(comm, busy))
//
// A Set returned by this package is normal: sorted by start, its intervals are disjoint, do not touch and are not empty.
// Functions other than Union expect normal sets.
package interval

import (
	"cmp"
	"slices"
)

// Interval is [Start, End). It is empty unless Start < End.
type Interval struct{ Start, End int64 }

// Set is a list of intervals.
type Set []Interval

// Union sorts s and merges what overlaps or touches. It reuses the memory of s.
func Union(s Set) Set {
	byStart := func(a, b Interval) int { return cmp.Compare(a.Start, b.Start) }
	if !slices.IsSortedFunc(s, byStart) {
		slices.SortFunc(s, byStart)
	}
	out := s[:0]
	for _, x := range s {
		switch {
		case x.Start >= x.End:
		case len(out) > 0 && x.Start <= out[len(out)-1].End:
			out[len(out)-1].End = max(out[len(out)-1].End, x.End)
		default:
			out = append(out, x)
		}
	}
	return out
}

// Measure is the summed length.
func Measure(s Set) int64 {
	var n int64
	for _, x := range s {
		n += x.End - x.Start
	}
	return n
}

// Subtract returns what is in a and not in b, as a new set.
func Subtract(a, b Set) Set {
	var out Set
	j := 0
	for _, x := range a {
		for j < len(b) && b[j].End <= x.Start {
			j++
		}
		start := x.Start
		for k := j; k < len(b) && b[k].Start < x.End; k++ {
			if start < b[k].Start {
				out = append(out, Interval{start, b[k].Start})
			}
			start = max(start, b[k].End)
		}
		if start < x.End {
			out = append(out, Interval{start, x.End})
		}
	}
	return out
}

// Intersect returns what is in both, as a new set.
func Intersect(a, b Set) Set {
	var out Set
	for i, j := 0, 0; i < len(a) && j < len(b); {
		start, end := max(a[i].Start, b[j].Start), min(a[i].End, b[j].End)
		if start < end {
			out = append(out, Interval{start, end})
		}
		if a[i].End < b[j].End {
			i++
		} else {
			j++
		}
	}
	return out
}

// Gaps returns the holes between the intervals of s.
func Gaps(s Set) Set {
	var out Set
	for i := 1; i < len(s); i++ {
		out = append(out, Interval{s[i-1].End, s[i].Start})
	}
	return out
}
