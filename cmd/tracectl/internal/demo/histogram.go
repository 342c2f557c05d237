package demo

import (
	"math/bits"
	"time"
)

// histogram counts lengths of time in buckets of about 3 % width: the five bits below the highest one are kept.
type histogram struct {
	buckets [64 * 32]int64
	n       int64
}

func bucket(ns uint64) int {
	if ns < 32 {
		return int(ns)
	}
	shift := bits.Len64(ns) - 6
	return (shift+1)*32 + int(ns>>shift)&31
}

// floor returns the smallest length in bucket b.
func floor(b int) uint64 {
	if b < 32 {
		return uint64(b)
	}
	return (32 + uint64(b)&31) << (b/32 - 1)
}

func (h *histogram) count(d time.Duration) {
	h.buckets[bucket(uint64(max(d, 0)))]++
	h.n++
}

func (h *histogram) add(o *histogram) {
	for i, n := range o.buckets {
		h.buckets[i] += n
	}
	h.n += o.n
}

// quantile returns the length that q of all are not longer than, 0 if there are none.
func (h *histogram) quantile(q float64) time.Duration {
	left := int64(q * float64(h.n))
	for i, n := range h.buckets {
		if left -= n; left < 0 {
			return time.Duration(floor(i))
		}
	}
	return 0
}
