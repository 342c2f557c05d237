package zstdframe

import "math"

// Best makes frames that are about as small as zstd's can be. For each place in a block it knows the cheapest way to get there, by what
// literals and matches take if they occur as often as in the way that was found before; it looks for that way several times. Then it
// divides blocks where that pays. It takes about a second for a few megabytes, and memory of about a hundred times
// a block and ten times the frame. The zero value is ready. It is not safe for concurrent use.
type Best struct {
	blocks  blockEncoder
	finder  finder
	prices  prices
	matches []match // of the places of the block
	ends    []int32 // in matches, of each place
	steps   []step  // to the places of the block
	seqs    []sequence
	lits    []byte
	packed  int // bytes of lits in the block
}

// step is the cheapest way to a place: the last step of it, and what is known behind it.
type step struct {
	price    uint32
	match    uint32 // its length, 0 for a literal
	distance uint32
	literals uint32 // since the last match
	d        distances
}

const (
	roundsMore   = 2   // likewise, if something is known of what stands before
	rounds       = 4   // of looking for a way through a block
	deepest      = 512 // nodes of the tree that are looked at, in small frames
	deep         = 48  // in others
	smallFrame   = 64 << 10
	leastDivided = 12   // sequences in a part of a block
	fewLiterals  = 4096 // of which their code is a part
)

// Append appends the frame of plain, with its size and a checksum.
func (e *Best) Append(dst, plain []byte) []byte {
	e.blocks.all = true
	dst = appendHead(dst, len(plain))
	e.finder.depth = deep
	if len(plain) <= smallFrame {
		e.finder.depth = deepest
	}
	e.finder.begin(plain)
	d := firstDistances
	for from := 0; ; {
		to := min(from+maxBlock, len(plain))
		dst = e.block(dst, plain, from, to, &d)
		if from = to; to == len(plain) {
			return appendSum(dst, plain)
		}
	}
}

// block appends the blocks of a range of plain. Of the first one, nothing is known: it tries several guesses.
func (e *Best) block(dst, plain []byte, from, to int, d *distances) []byte {
	e.find(plain, from, to)
	b := bestBlock{dst: dst, plain: plain, from: from, to: to, d: *d}
	switch {
	case from > 0:
		e.improve(&b, roundsMore)
	case len(plain) <= smallFrame:
		for _, g := range guesses {
			e.guess(plain[:to], g)
			e.improve(&b, rounds)
		}
	default:
		for _, g := range guesses {
			e.guess(plain[:to], g)
			e.improve(&b, 1)
		}
		e.prices = b.prices
		e.improve(&b, roundsMore)
	}
	*d, e.prices = b.after, b.prices
	return append(dst, b.best...)
}

// bestBlock is what is known of a block.
type bestBlock struct {
	dst      []byte // what stands before it
	plain    []byte
	from, to int
	d        distances // before it

	best   []byte
	after  distances // behind it
	prices prices    // learnt of it
}

// improve looks for a way through a block, and for another one with what was learnt of it, so often at most, until it is not better.
func (e *Best) improve(b *bestBlock, rounds int) {
	before := math.MaxInt
	for range rounds {
		e.walk(b.plain, b.from, b.to, b.d)
		e.collect(b.plain, b.from, b.to)
		end := b.d
		all := e.divide(b.dst, b.plain[b.from:b.to], e.lits, e.seqs, &end, b.to == len(b.plain))
		size := len(all) - len(b.dst)
		e.learn(b.d)
		if b.best == nil || size < len(b.best) {
			b.best = append(b.best[:0], all[len(b.dst):]...)
			b.after, b.prices = end, e.prices
		}
		if size >= before {
			return
		}
		before = size
	}
}

// find finds the matches of all places from from on up to to.
func (e *Best) find(plain []byte, from, to int) {
	e.matches, e.ends = e.matches[:0], e.ends[:0]
	for at := from; at < to; at++ {
		n := len(e.matches)
		e.matches = e.finder.find(e.matches, at)
		for i := n; i < len(e.matches); i++ {
			e.matches[i].length = min(e.matches[i].length, uint32(to-at))
		}
		e.ends = append(e.ends, int32(len(e.matches)))
		if len(e.matches) == n {
			continue
		}
		if m := &e.matches[len(e.matches)-1]; m.length == longMatch {
			m.length += uint32(common(plain[at+longMatch-int(m.distance):], plain[at+longMatch:to]))
			for range m.length - 1 {
				e.ends = append(e.ends, int32(len(e.matches)))
			}
			at += int(m.length) - 1
		}
	}
}

// guess says what may be expected of a first block.
type guess struct {
	again int  // of a hundred matches, so many have the distance of the last one
	flat  bool // literals are not compressed
}

var guesses = [...]guess{{10, false}, {80, false}, {10, true}, {40, true}}

// guess sets what is expected of the first block.
func (e *Best) guess(plain []byte, g guess) {
	var counts [256]uint32
	for _, b := range plain {
		counts[b]++
	}
	e.prices.literals(&counts)
	if g.flat {
		e.prices.flat()
	}
	var ll [36]uint32
	var ml [53]uint32
	var of [32]uint32
	for i := range ll {
		ll[i] = uint32(max(20-i, 1))
	}
	for i := range ml {
		ml[i] = uint32(max(24-i, 1))
	}
	for i := range of {
		of[i] = uint32(max(100-g.again, 10))
	}
	of[0] = uint32(g.again * len(of))
	e.prices.sequences(&ll, &ml, &of)
}

// learn makes what is expected what was found. d are the distances before the block.
func (e *Best) learn(d distances) {
	var counts [256]uint32
	for _, b := range e.lits {
		counts[b]++
	}
	e.prices.literals(&counts)
	switch extra := float64(8*e.packed) - entropy(counts[:]); {
	case e.packed >= len(e.lits):
		e.prices.flat()
	case extra > 0 && len(e.lits) < fewLiterals: // their code is to be told, too
		e.prices.more(extra / float64(len(e.lits)))
	}
	var ll [36]uint32
	var ml [53]uint32
	var of [32]uint32
	for _, s := range e.seqs {
		ll[literalCode(s.literals)]++
		ml[matchCode(s.match)]++
		of[offsetCode(d.code(s.distance, s.literals))]++
	}
	e.prices.sequences(&ll, &ml, &of)
}

// walk finds the cheapest way through a block, behind matches with the distances d.
func (e *Best) walk(plain []byte, from, to int, d distances) {
	n := to - from
	if cap(e.steps) < n+1 {
		e.steps = make([]step, n+1)
	}
	steps := e.steps[:n+1]
	e.steps = steps
	for i := range steps {
		steps[i].price = math.MaxUint32
	}
	p := &e.prices
	steps[0] = step{price: p.run(0), d: d}
	for i := 0; i < n; i++ {
		s := &steps[i]
		e.arrive(i)
		at := from + i
		// A literal.
		price := s.price + p.literal[plain[at]] + p.run(s.literals+1) - p.run(s.literals)
		if next := &steps[i+1]; price < next.price {
			next.price, next.match = price, 0
		}
		// A match at one of the last distances.
		longest := uint32(0)
		for k := range uint32(3) {
			distance := s.d[k]
			if s.literals == 0 {
				switch k {
				case 0, 1:
					distance = s.d[k+1]
				default:
					distance = s.d[0] - 1
				}
			}
			if distance == 0 || int(distance) > at || plain[at] != plain[at-int(distance)] {
				continue
			}
			length := uint32(common(plain[at-int(distance):], plain[at:to]))
			if length < leastMatch {
				continue
			}
			e.relax(i, leastMatch, length, distance, s.price+p.offset(k+1))
			longest = max(longest, length)
		}
		// One at another.
		first := int32(0)
		if i > 0 {
			first = e.ends[i-1]
		}
		least := uint32(leastMatch)
		for _, m := range e.matches[first:e.ends[i]] {
			if m.length < least {
				continue
			}
			e.relax(i, least, m.length, m.distance, s.price+p.offset(m.distance+3))
			least = m.length + 1
			longest = max(longest, m.length)
		}
		if longest >= longMatch { // it is taken
			i += int(longest) - 1
		}
	}
}

// arrive completes the step to place i, to which no other will be cheaper.
func (e *Best) arrive(i int) {
	s := &e.steps[i]
	switch {
	case i == 0:
	case s.match == 0:
		before := &e.steps[i-1]
		s.literals, s.d = before.literals+1, before.d
	default:
		before := &e.steps[i-int(s.match)]
		s.literals, s.d = 0, before.d
		s.d.code(s.distance, before.literals)
	}
}

// relax enters matches of place i that have from least to most bytes. price is that of the place with the match's distance. Of long
// ones, those that are neither short nor nearly as long as can be are left out.
func (e *Best) relax(i int, least, most, distance, price uint32) {
	const short, long = 40, 8
	price += e.prices.run(0)
	if most > short+long {
		for length := max(least, most-long); length <= most; length++ {
			if price := price + e.prices.length(length); price < e.steps[i+int(length)].price {
				s := &e.steps[i+int(length)]
				s.price, s.match, s.distance = price, length, distance
			}
		}
		most = short
	}
	if most < least {
		return
	}
	steps := e.steps[i:][:most+1]
	lengths := e.prices.lengths[:len(steps)]
	for length := least; length < uint32(len(steps)); length++ {
		s := &steps[length]
		if price := price + lengths[length]; price < s.price {
			s.price, s.match, s.distance = price, length, distance
		}
	}
}

// collect makes sequences and literals of the way that was found.
func (e *Best) collect(plain []byte, from, to int) {
	e.seqs = e.seqs[:0]
	end := to - from
	for i := end; i > 0; {
		s := &e.steps[i]
		if s.match == 0 {
			i--
			continue
		}
		i -= int(s.match)
		e.seqs = append(e.seqs, sequence{e.steps[i].literals, s.match, s.distance})
	}
	for a, b := 0, len(e.seqs)-1; a < b; a, b = a+1, b-1 {
		e.seqs[a], e.seqs[b] = e.seqs[b], e.seqs[a]
	}
	e.lits = e.lits[:0]
	at := from
	for _, s := range e.seqs {
		e.lits = append(e.lits, plain[at:at+int(s.literals)]...)
		at += int(s.literals + s.match)
	}
	e.lits = append(e.lits, plain[at:to]...)
}

// divide appends blocks of plain: one, or several if these are smaller.
func (e *Best) divide(dst, plain, literals []byte, seqs []sequence, d *distances, last bool) []byte {
	at := len(dst)
	before := *d
	dst = e.blocks.block(dst, plain, literals, seqs, d, last)
	if len(seqs) == len(e.seqs) {
		e.packed = e.blocks.packed
	}
	if len(seqs) < 2*leastDivided {
		return dst
	}
	whole := len(dst) - at
	half := len(seqs) / 2
	nLiterals, nPlain := 0, 0
	for _, s := range seqs[:half] {
		nLiterals += int(s.literals)
		nPlain += int(s.literals + s.match)
	}
	after := before
	dst = e.blocks.block(dst, plain[:nPlain], literals[:nLiterals], seqs[:half], &after, false)
	dst = e.blocks.block(dst, plain[nPlain:], literals[nLiterals:], seqs[half:], &after, last)
	if len(dst)-at-whole >= whole {
		return dst[:at+whole]
	}
	*d = before
	dst = e.divide(dst[:at], plain[:nPlain], literals[:nLiterals], seqs[:half], d, false)
	return e.divide(dst, plain[nPlain:], literals[nLiterals:], seqs[half:], d, last)
}
