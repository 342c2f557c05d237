package demo

import (
	"testing"
	"time"
)

func TestBuckets(t *testing.T) {
	last := -1
	for _, ns := range []uint64{0, 1, 31, 32, 33, 63, 64, 65, 66, 127, 128, 1000, 1 << 20, 1<<20 + 1<<15, 1 << 40, 1<<63 - 1} {
		b := bucket(ns)
		if b < last {
			t.Errorf("bucket(%d) = %d, smaller than of a smaller one", ns, b)
		}
		last = b
		if low, high := floor(b), floor(b+1); ns < low || ns >= high && ns < 1<<62 {
			t.Errorf("%d is in bucket %d, which goes from %d to %d", ns, b, low, high)
		}
	}
}

func TestQuantile(t *testing.T) {
	var h, g histogram
	for i := range 1000 {
		h.count(time.Duration(i) * time.Microsecond)
	}
	g.add(&h)
	for q, want := range map[float64]time.Duration{0: 0, 0.5: 500 * time.Microsecond, 0.99: 990 * time.Microsecond} {
		if got := g.quantile(q); got > want || float64(got) < 0.96*float64(want) {
			t.Errorf("quantile(%v) = %v, want about %v", q, got, want)
		}
	}
	if got := new(histogram).quantile(0.5); got != 0 {
		t.Errorf("quantile of nothing = %v", got)
	}
}
