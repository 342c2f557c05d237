package interval

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// cells is the slow truth: the set of unit cells that a set of intervals covers.
func cells(s Set) (c [64]bool) {
	for _, x := range s {
		for i := x.Start; i < x.End; i++ {
			c[i] = true
		}
	}
	return c
}

func random(r *rand.Rand) Set {
	s := make(Set, r.IntN(8))
	for i := range s {
		a := r.Int64N(60)
		s[i] = Interval{a, a + r.Int64N(64-a) - 1}
	}
	return s
}

func normal(s Set) bool {
	for i, x := range s {
		if x.Start >= x.End || i > 0 && s[i-1].End >= x.Start {
			return false
		}
	}
	return true
}

func TestAgainstCells(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 20000 {
		a, b := random(r), random(r)
		ca, cb := cells(a), cells(b)
		a, b = Union(a), Union(b)
		if !normal(a) || cells(a) != ca {
			t.Fatalf("union %v", a)
		}
		sub, and, gaps := Subtract(a, b), Intersect(a, b), Gaps(a)
		cs, ci := cells(sub), cells(and)
		var n int64
		for i := range ca {
			if cs[i] != (ca[i] && !cb[i]) || ci[i] != (ca[i] && cb[i]) {
				t.Fatalf("%v and %v: difference %v, intersection %v", a, b, sub, and)
			}
			if ca[i] {
				n++
			}
		}
		if Measure(a) != n || Measure(sub)+Measure(and) != n {
			t.Fatalf("measures of %v, %v, %v", a, sub, and)
		}
		if len(a) > 0 && Measure(gaps) != a[len(a)-1].End-a[0].Start-n {
			t.Fatalf("gaps %v of %v", gaps, a)
		}
	}
}

func TestTouching(t *testing.T) {
	got := Union(Set{{5, 7}, {1, 3}, {3, 5}, {9, 9}})
	if !slices.Equal(got, Set{{1, 7}}) {
		t.Error(got)
	}
}
