package kql

import (
	"maps"
	"math"
	"math/bits"
	"slices"
)

// Distinct is how many different values a key has.
type Distinct struct {
	Count  int64
	Exact  bool    // otherwise Count is an estimate, whose standard error is 0.8 %
	Values []Value // in order, if Exact
}

// distinctCounter counts different values: exactly as long as they are few, then with a HyperLogLog sketch. Source:
// Flajolet, Fusy, Gandouet, Meunier: HyperLogLog, the analysis of a near-optimal cardinality estimation algorithm, 2007;
// with a 64-bit hash, so that no correction is needed for large numbers.
type distinctCounter struct {
	values map[string]struct{}
	bytes  int64  // that values take, about
	ranks  []byte // of the sketch; nil while values are kept
}

const (
	sketchBits = 14
	sketchSize = 1 << sketchBits // registers, of a byte each
)

// add counts a value and returns what more it takes, in bytes.
func (d *distinctCounter) add(v []byte, sketching bool) int64 {
	if d.ranks != nil {
		d.count(v)
		return 0
	}
	if _, ok := d.values[string(v)]; ok {
		return 0
	}
	if d.values == nil {
		d.values = map[string]struct{}{}
	}
	d.values[string(v)] = struct{}{}
	n := int64(len(v) + 48)
	d.bytes += n
	if len(d.values) > ExactDistinct || sketching {
		n += d.sketchIfLarge(sketchSize)
	}
	return n
}

// sketchIfLarge turns a set of more than limit bytes into a sketch and returns what more that takes.
func (d *distinctCounter) sketchIfLarge(limit int64) int64 {
	if d.ranks != nil || d.bytes <= limit {
		return 0
	}
	d.ranks = make([]byte, sketchSize)
	for v := range d.values {
		d.count([]byte(v))
	}
	d.values = nil
	return sketchSize - d.bytes
}

func (d *distinctCounter) count(v []byte) {
	h := hash(v)
	r := &d.ranks[h>>(64-sketchBits)]
	*r = max(*r, byte(bits.LeadingZeros64(h<<sketchBits|1<<(sketchBits-1))+1))
}

// hash is FNV-1a with the finalizer of MurmurHash3, which spreads its bits.
func hash(b []byte) uint64 {
	h := uint64(14695981039346656037)
	for _, c := range b {
		h = (h ^ uint64(c)) * 1099511628211
	}
	h = (h ^ h>>33) * 0xff51afd7ed558ccd
	h = (h ^ h>>33) * 0xc4ceb9fe1a85ec53
	return h ^ h>>33
}

func (d *distinctCounter) result() Distinct {
	if d.ranks == nil {
		out := Distinct{Count: int64(len(d.values)), Exact: true}
		for v := range d.values {
			out.Values = append(out.Values, Value(v))
		}
		slices.SortFunc(out.Values, Value.compare)
		return out
	}
	sum, empty := 0.0, 0
	for _, r := range d.ranks {
		sum += math.Ldexp(1, -int(r))
		if r == 0 {
			empty++
		}
	}
	const m = float64(sketchSize)
	estimate := 0.7213 / (1 + 1.079/m) * m * m / sum
	if estimate <= 2.5*m && empty > 0 {
		estimate = m * math.Log(m/float64(empty))
	}
	return Distinct{Count: int64(math.Round(estimate))}
}

// Stats measures the numbers of a key.
type Stats struct {
	Count    int64 // of numbers; the other fields mean nothing if it is 0
	Min, Max Value
	Mean     float64
	// Percentiles are those of AggregateOptions.Percentiles: of p, the least of the numbers that p % of the numbers do not
	// exceed.
	Percentiles []float64
	Exact       bool // otherwise percentiles are off by 0.5 % of their value at most
}

// measure takes the measure of numbers: percentiles exactly as long as they are few, then with a sketch that counts them in
// buckets whose bounds grow by a factor. Source: Masson, Rim, Lee: DDSketch, a fast and fully-mergeable quantile sketch with
// relative-error guarantees, 2019.
type measure struct {
	n         int64
	min, max  numeric
	sum, lost float64 // the sum, and what rounding took from it (Neumaier)
	samples   []float64
	above     map[int32]int64 // of positive numbers, by bucket; nil while samples are kept
	below     map[int32]int64 // of negative ones, by the bucket of their size
	zeros     int64
}

const (
	sketchError = 0.005
	fewSamples  = 512 // that take as much as a sketch, about
)

var sketchFactor = math.Log((1 + sketchError) / (1 - sketchError))

// add takes a number in and returns what more it takes, in bytes.
func (m *measure) add(n numeric, sketching bool) int64 {
	if m.n++; m.n == 1 {
		m.min, m.max = n, n
	}
	if n.less(m.min) {
		m.min = n
	}
	if m.max.less(n) {
		m.max = n
	}
	sum := m.sum + n.float
	if math.Abs(m.sum) >= math.Abs(n.float) {
		m.lost += m.sum - sum + n.float
	} else {
		m.lost += n.float - sum + m.sum
	}
	m.sum = sum
	if m.above != nil {
		return m.count(n.float)
	}
	m.samples = append(m.samples, n.float)
	if len(m.samples) > ExactSamples {
		return 8 + m.sketchIfLarge(fewSamples)
	}
	if sketching {
		return 8 + m.sketchIfLarge(fewSamples)
	}
	return 8
}

// sketchIfLarge turns more than limit samples into a sketch and returns what more that takes.
func (m *measure) sketchIfLarge(limit int) int64 {
	if m.above != nil || len(m.samples) <= limit {
		return 0
	}
	m.above, m.below = map[int32]int64{}, map[int32]int64{}
	grown := -8 * int64(len(m.samples))
	for _, f := range m.samples {
		grown += m.count(f)
	}
	m.samples = nil
	return grown
}

func (m *measure) count(f float64) int64 {
	buckets := m.above
	switch {
	case f == 0:
		m.zeros++
		return 0
	case f < 0:
		f, buckets = -f, m.below
	}
	before := len(buckets)
	buckets[int32(math.Ceil(math.Log(f)/sketchFactor))]++
	return 32 * int64(len(buckets)-before)
}

func (m *measure) result(percentiles []float64) Stats {
	out := Stats{Count: m.n, Exact: m.above == nil}
	if m.n == 0 {
		return out
	}
	out.Min, out.Max, out.Mean = m.min.value(), m.max.value(), (m.sum+m.lost)/float64(m.n)
	at := m.ranks()
	for _, p := range percentiles {
		rank := int64(math.Ceil(p/100*float64(m.n))) - 1
		f := at(max(rank, 0))
		out.Percentiles = append(out.Percentiles, min(max(f, m.min.float), m.max.float))
	}
	return out
}

// ranks returns a function that finds the number of a rank, from 0.
func (m *measure) ranks() func(int64) float64 {
	if m.above == nil {
		sorted := slices.Sorted(slices.Values(m.samples))
		return func(rank int64) float64 { return sorted[min(rank, int64(len(sorted)-1))] }
	}
	type bucket struct {
		value float64
		upTo  int64
	}
	var list []bucket
	total := int64(0)
	push := func(value float64, n int64) {
		total += n
		list = append(list, bucket{value, total})
	}
	middle := func(i int32) float64 { // in halves: math.Exp says infinity below the greatest float64 already
		half := math.Exp(float64(i) * sketchFactor / 2)
		return half * (1 - sketchError) * half
	}
	below := slices.Sorted(maps.Keys(m.below))
	slices.Reverse(below)
	for _, i := range below {
		push(-middle(i), m.below[i])
	}
	if m.zeros > 0 {
		push(0, m.zeros)
	}
	for _, i := range slices.Sorted(maps.Keys(m.above)) {
		push(middle(i), m.above[i])
	}
	return func(rank int64) float64 {
		i, _ := slices.BinarySearchFunc(list, rank, func(b bucket, rank int64) int {
			if b.upTo <= rank {
				return -1
			}
			return 1
		})
		return list[min(i, len(list)-1)].value
	}
}
