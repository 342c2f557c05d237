package zstdframe

import (
	"math"
	"math/bits"
)

// bitWriter writes numbers of some bits, the lowest bits first.
type bitWriter struct {
	out  []byte
	held uint64
	n    uint // bits in held
}

// add appends the n lowest bits of v, which has no others; n is at most 32.
func (w *bitWriter) add(v uint64, n uint) {
	w.held |= v << w.n
	w.n += n
	if w.n >= 32 {
		w.out = append(w.out, byte(w.held), byte(w.held>>8), byte(w.held>>16), byte(w.held>>24))
		w.held >>= 32
		w.n -= 32
	}
}

// end fills the last byte with zeros.
func (w *bitWriter) end() {
	for n := int(w.n); n > 0; n -= 8 {
		w.out = append(w.out, byte(w.held))
		w.held >>= 8
	}
	w.held, w.n = 0, 0
}

// fseTable encodes symbols with a finite-state entropy coder (RFC 8878, section 4.1), whose states are a table of 1<<log
// entries in which each symbol has as many as its share is. The zero value is ready for build.
type fseTable struct {
	log     uint
	symbols int // up to the last one that occurs
	norm    [64]int16
	spread  [1 << fseLog]uint8
	states  [1 << fseLog]uint16
	moves   [64]fseMove
}

// fseMove says how a symbol changes the state.
type fseMove struct {
	bits  uint32 // of the state that are put out, in the upper half, less what makes one bit fewer of small states
	state int32  // added to what is left of the state
}

const (
	fseLogMin    = 5
	fseLog       = 9 // of literal and match lengths, at most
	fseLogOffset = 8 // of offsets

	fseRare = -1 // share of a symbol that has one state, from which all of it is told anew
)

// fseMode says how a table is told.
type fseMode uint8

const (
	fseUsual fseMode = iota // the one that every decoder has
	fseOnly                 // there is one symbol
	fseOwn                  // described
)

// The tables that every decoder has: RFC 8878, section 3.1.1.3.2.2.
var (
	usualLL = newUsual(6, 4, 3, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2, 2, 3, 2, 1, 1, 1, 1, 1, -1, -1, -1, -1)
	usualML = newUsual(6, 1, 4, 3, 2, 2, 2, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
		1, 1, 1, -1, -1, -1, -1, -1, -1, -1)
	usualOF = newUsual(5, 1, 1, 1, 1, 1, 1, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1, -1, -1)
)

func newUsual(log uint, norm ...int16) *fseTable {
	t := &fseTable{log: log, symbols: len(norm)}
	copy(t.norm[:], norm)
	t.fill()
	return t
}

// cost returns how many bits it takes to tell symbols that occur so many times, infinitely many if there are some that the table
// does not have.
func (t *fseTable) cost(counts []uint32) (bits float64) {
	for s, n := range counts {
		if n == 0 {
			continue
		}
		if s >= t.symbols || t.norm[s] == 0 {
			return math.Inf(1)
		}
		bits += float64(n) * (float64(t.log) - math.Log2(float64(max(t.norm[s], 1))))
	}
	return bits
}

// choose returns what tells symbols best that occur so many times: the usual table, or t, which is built then with a logarithm that is log at
// most, or nil if there is only one symbol. If all is set, it tries every logarithm.
func (t *fseTable) choose(counts []uint32, log uint, usual *fseTable, all bool) (*fseTable, fseMode) {
	total, distinct := uint32(0), 0
	for _, n := range counts {
		if n > 0 {
			total += n
			distinct++
		}
	}
	least := usual.cost(counts)
	if distinct < 2 {
		if all && least < 8 {
			return usual, fseUsual
		}
		return nil, fseOnly
	}
	from := min(max(uint(bits.Len32(total))-1, fseLogMin), log)
	to := from
	if all {
		from, to = fseLogMin, log
	}
	best := uint(0)
	var head [64]byte
	for log := from; log <= to; log++ {
		if 1<<log < 2*distinct && log < to {
			continue
		}
		t.build(counts, total, log)
		if cost := t.cost(counts) + float64(8*len(t.describe(head[:0]))); cost < least {
			least, best = cost, log
		}
	}
	if best == 0 {
		return usual, fseUsual
	}
	if best != t.log {
		t.build(counts, total, best)
	}
	t.fill()
	return t, fseOwn
}

// build gives symbols that occur so many times, total in all, their shares.
func (t *fseTable) build(counts []uint32, total uint32, log uint) {
	t.log, t.symbols = log, 0
	size := uint32(1) << log
	left, most := int(size), 0
	for s, n := range counts {
		t.norm[s] = 0
		if n == 0 {
			continue
		}
		t.symbols = s + 1
		share := int16(max((uint64(n)*uint64(size)+uint64(total)/2)/uint64(total), 1))
		t.norm[s] = share
		left -= int(share)
		if share > t.norm[most] || t.norm[most] == 0 {
			most = s
		}
	}
	for left < 0 { // many symbols were rounded up
		s := 0
		for i, n := range t.norm[:t.symbols] {
			if n > t.norm[s] {
				s = i
			}
		}
		t.norm[s]--
		left++
	}
	t.norm[most] += int16(left)
}

// fill lays the symbols into the table, and says how each changes the state.
func (t *fseTable) fill() {
	size := uint32(1) << t.log
	end := size // of what is not the rare ones'
	for s, n := range t.norm[:t.symbols] {
		if n == fseRare {
			end--
			t.spread[end] = uint8(s)
		}
	}
	at, step := uint32(0), size>>1+size>>3+3
	for s, n := range t.norm[:t.symbols] {
		for range n {
			t.spread[at] = uint8(s)
			for at = (at + step) & (size - 1); at >= end; {
				at = (at + step) & (size - 1)
			}
		}
	}
	var next [64]uint16
	sum := uint16(0)
	for s, n := range t.norm[:t.symbols] {
		next[s] = sum
		switch {
		case n == 1 || n == fseRare:
			t.moves[s] = fseMove{uint32(t.log)<<16 - size, int32(sum) - 1}
			sum++
		case n > 1:
			out := uint32(t.log) - uint32(bits.Len16(uint16(n-1))-1)
			t.moves[s] = fseMove{out<<16 - uint32(n)<<out, int32(sum) - int32(n)}
			sum += uint16(n)
		}
	}
	for u := range size {
		s := t.spread[u]
		t.states[next[s]] = uint16(size + u)
		next[s]++
	}
}

// describe appends the table, as decoders read it.
func (t *fseTable) describe(dst []byte) []byte {
	w := bitWriter{out: dst}
	w.add(uint64(t.log-fseLogMin), 4)
	left, threshold, width := 1<<t.log+1, 1<<t.log, t.log+1
	for s := 0; s < t.symbols && left > 1; {
		count := int(t.norm[s])
		s++
		most := 2*threshold - 1 - left
		left -= count
		value := count + 1
		if value >= threshold {
			value += most
		}
		n := width
		if value < most {
			n--
		}
		w.add(uint64(value), n)
		for left < threshold {
			width--
			threshold >>= 1
		}
		if count > 0 {
			continue
		}
		zeros := 0 // behind the one that was told
		for s < t.symbols && t.norm[s] == 0 {
			s++
			zeros++
		}
		for ; zeros >= 3; zeros -= 3 {
			w.add(3, 2)
		}
		w.add(uint64(zeros), 2)
	}
	w.end()
	return w.out
}

// first returns the state that ends with a symbol. What is encoded later is decoded before.
func (t *fseTable) first(symbol uint8) uint32 {
	m := t.moves[symbol]
	out := (m.bits + 1<<15) >> 16
	return uint32(t.states[int32((out<<16-m.bits)>>out)+m.state])
}

// next puts out the bits that lead from the state of a symbol to the one given, and returns the former.
func (t *fseTable) next(w *bitWriter, state uint32, symbol uint8) uint32 {
	m := t.moves[symbol]
	out := (state + m.bits) >> 16
	w.add(uint64(state&(1<<out-1)), uint(out))
	return uint32(t.states[int32(state>>out)+m.state])
}

// last puts out a state.
func (t *fseTable) last(w *bitWriter, state uint32) {
	w.add(uint64(state&(1<<t.log-1)), t.log)
}
