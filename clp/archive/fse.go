package archive

import "math/bits"

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
	norm    [64]uint16
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
)

// build makes the table, of a logarithm that is log at most, for symbols that occur so many times. It reports false if there is
// only one, or none.
func (t *fseTable) build(counts []uint32, log uint) bool {
	total, distinct := uint32(0), 0
	t.symbols = 0
	for s, n := range counts {
		if n > 0 {
			total += n
			distinct++
			t.symbols = s + 1
		}
	}
	if distinct < 2 {
		return false
	}
	t.log = min(max(uint(bits.Len32(total))-1, fseLogMin), log)
	for 1<<t.log < 2*distinct {
		t.log++
	}
	size := uint32(1) << t.log
	left, most := int(size), 0
	for s, n := range counts[:t.symbols] {
		t.norm[s] = 0
		if n == 0 {
			continue
		}
		share := uint16(max((uint64(n)*uint64(size)+uint64(total)/2)/uint64(total), 1))
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
	t.norm[most] += uint16(left)
	t.fill()
	return true
}

// fill lays the symbols into the table, and says how each changes the state.
func (t *fseTable) fill() {
	size := uint32(1) << t.log
	at, step := uint32(0), size>>1+size>>3+3
	for s, n := range t.norm[:t.symbols] {
		for range n {
			t.spread[at] = uint8(s)
			at = (at + step) & (size - 1)
		}
	}
	var next [64]uint16
	sum := uint16(0)
	for s, n := range t.norm[:t.symbols] {
		next[s] = sum
		switch {
		case n == 1:
			t.moves[s] = fseMove{uint32(t.log)<<16 - size, int32(sum) - 1}
		case n > 1:
			out := uint32(t.log) - uint32(bits.Len16(n-1)-1)
			t.moves[s] = fseMove{out<<16 - uint32(n)<<out, int32(sum) - int32(n)}
		}
		sum += n
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
