package repeat

import (
	"encoding/binary"
	"math/bits"
	"slices"
)

// Encoder writes blocks. The zero Encoder is ready; one goroutine uses it.
type Encoder struct {
	lit, dist code
	lengths   code // of the code lengths in a block's header
	order     []int32
	weight    []int32
	header    []uint8
	out       []byte
	acc       uint64
	n         uint
}

// code is a Huffman code.
type code struct {
	count []int32
	bits  []uint16 // in the order in which they are written
	len   []uint8
}

const (
	literals  = 286 // literals, the end of the block, lengths
	distances = 30
	endBlock  = 256
)

func (c *code) reset(n int) {
	if c.count == nil {
		c.count, c.bits, c.len = make([]int32, n), make([]uint16, n), make([]uint8, n)
	}
	clear(c.count)
	clear(c.len)
}

// lengthCode and lengthBase describe the lengths 3 to 258 (RFC 1951 §3.2.5).
var lengthCode, lengthExtra = func() (code [259]uint16, extra [259]uint8) {
	base, c := 3, 257
	for e := 0; c < 285; c++ {
		if c >= 265 && (c-265)%4 == 0 {
			e++
		}
		for range 1 << e {
			if base < 258 {
				code[base], extra[base] = uint16(c), uint8(e)
			}
			base++
		}
	}
	code[258], extra[258] = 285, 0
	return code, extra
}()

var lengthBase = func() (b [286]uint16) {
	for n := 258; n >= 3; n-- {
		b[lengthCode[n]] = uint16(n)
	}
	return b
}()

// distCode returns the code of a distance, the number of extra bits, and their value.
func distCode(d int32) (c int, extra uint, value uint32) {
	if d <= 4 {
		return int(d - 1), 0, 0
	}
	v := uint32(d - 1)
	e := uint(bits.Len32(v)) - 2
	return int(2*e + 2 + uint(v>>e&1)), e, v & (1<<e - 1)
}

// chunk is the length of the next reference of the n bytes that are left: at most 258, and never so that fewer than 3
// are left.
func chunk(n int32) int32 {
	switch {
	case n <= 258:
		return n
	case n < 258+3:
		return n - 3
	}
	return 258
}

// AppendBlock appends what of t stands from a position on, as one block that is not the last, and an empty stored block,
// so that it ends at a byte. What stands before may be referred to, so it must come right before the block; no reference
// may begin before the position and end behind it.
func (e *Encoder) AppendBlock(dst []byte, t *Text, from int) []byte {
	if len(t.B) == from {
		return dst
	}
	t.extend(from)
	refs := t.refs
	for len(refs) > 0 && refs[0].at < int32(from) {
		refs = refs[1:]
	}
	e.lit.reset(literals)
	e.dist.reset(distances)
	e.lit.count[endBlock] = 1
	at := int32(from)
	for _, r := range refs {
		for _, c := range t.B[at:r.at] {
			e.lit.count[c]++
		}
		at = r.at + r.n
		dc, _, _ := distCode(r.dist)
		for n := r.n; n > 0; {
			l := chunk(n)
			n -= l
			e.lit.count[lengthCode[l]]++
			e.dist.count[dc]++
		}
	}
	for _, c := range t.B[at:] {
		e.lit.count[c]++
	}
	e.build(&e.lit, 15)
	if !e.build(&e.dist, 15) {
		e.dist.len[0] = 1 // a block must describe at least one distance
	}

	e.out, e.acc, e.n = dst, 0, 0
	e.writeHeader()
	e.writeBody(t, refs, int32(from))
	e.write(uint64(e.lit.bits[endBlock]), uint(e.lit.len[endBlock]))
	e.write(0, 3) // a stored block, not the last,
	if e.n%8 != 0 {
		e.write(0, 8-e.n%8)
	}
	e.drain()
	return append(e.out, 0, 0, 0xff, 0xff) // of no bytes
}

func (e *Encoder) writeBody(t *Text, refs []ref, at int32) {
	literal := func(b []byte) {
		for _, c := range b {
			e.write(uint64(e.lit.bits[c]), uint(e.lit.len[c]))
		}
	}
	for _, r := range refs {
		literal(t.B[at:r.at])
		at = r.at + r.n
		dc, dx, dv := distCode(r.dist)
		for n := r.n; n > 0; {
			l := chunk(n)
			n -= l
			lc := lengthCode[l]
			e.write(uint64(e.lit.bits[lc]), uint(e.lit.len[lc]))
			e.write(uint64(l)-uint64(lengthBase[lc]), uint(lengthExtra[l]))
			e.write(uint64(e.dist.bits[dc])|uint64(dv)<<e.dist.len[dc], uint(e.dist.len[dc])+dx)
		}
	}
	literal(t.B[at:])
}

// write appends bits, lowest first; at most 32 at a time.
func (e *Encoder) write(v uint64, n uint) {
	e.acc |= v << e.n
	e.n += n
	if e.n >= 32 {
		e.out = binary.LittleEndian.AppendUint32(e.out, uint32(e.acc))
		e.acc >>= 32
		e.n -= 32
	}
}

func (e *Encoder) drain() {
	for ; e.n >= 8; e.n -= 8 {
		e.out = append(e.out, byte(e.acc))
		e.acc >>= 8
	}
}

// lengthOrder is the order in which the lengths of the code length code are written (RFC 1951 §3.2.7).
var lengthOrder = [19]int{16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15}

func (e *Encoder) writeHeader() {
	nl, nd := literals, distances
	for e.lit.len[nl-1] == 0 {
		nl--
	}
	for nd > 1 && e.dist.len[nd-1] == 0 {
		nd--
	}
	e.header = append(append(e.header[:0], e.lit.len[:nl]...), e.dist.len[:nd]...)
	e.lengths.reset(19)
	runs(e.header, func(sym, _ int, _ uint) { e.lengths.count[sym]++ })
	e.build(&e.lengths, 7)
	nc := 19
	for nc > 4 && e.lengths.len[lengthOrder[nc-1]] == 0 {
		nc--
	}
	e.write(0b100, 3) // not the last; its own codes
	e.write(uint64(nl-257), 5)
	e.write(uint64(nd-1), 5)
	e.write(uint64(nc-4), 4)
	for _, i := range lengthOrder[:nc] {
		e.write(uint64(e.lengths.len[i]), 3)
	}
	runs(e.header, func(sym, extra int, n uint) {
		e.write(uint64(e.lengths.bits[sym]), uint(e.lengths.len[sym]))
		e.write(uint64(extra), n)
	})
}

// runs calls f for each symbol that stands for code lengths: a length, or 16, 17, 18 for repeats, with extra bits.
func runs(lens []uint8, f func(sym, extra int, bits uint)) {
	for i := 0; i < len(lens); {
		n := 1
		for i+n < len(lens) && lens[i+n] == lens[i] {
			n++
		}
		v := int(lens[i])
		i += n
		if v == 0 {
			for n >= 3 {
				k := min(n, 138)
				if k > 10 {
					f(18, k-11, 7)
				} else {
					f(17, k-3, 3)
				}
				n -= k
			}
		} else {
			f(v, 0, 0)
			for n--; n >= 3; {
				k := min(n, 6)
				f(16, k-3, 2)
				n -= k
			}
		}
		for ; n > 0; n-- {
			f(v, 0, 0)
		}
	}
}

// build makes the code for the counts, with no code longer than limit. It returns false if nothing is counted.
func (e *Encoder) build(c *code, limit int) bool {
	e.order = e.order[:0]
	for s, n := range c.count {
		if n > 0 {
			e.order = append(e.order, int32(s))
		}
	}
	slices.SortFunc(e.order, func(a, b int32) int {
		if c.count[a] != c.count[b] {
			return int(c.count[a]) - int(c.count[b])
		}
		return int(a - b)
	})
	var num [64]int32 // codes of each length
	switch n := len(e.order); n {
	case 0:
		return false
	case 1:
		num[1] = 1
	default:
		e.weight = e.weight[:0]
		for _, s := range e.order {
			e.weight = append(e.weight, c.count[s])
		}
		codeLengths(e.weight)
		for _, l := range e.weight {
			num[min(l, 63)]++
		}
		limitLengths(&num, limit)
	}
	i := len(e.order)
	var next [17]uint16
	v := uint16(0)
	for l := 1; l <= limit; l++ {
		next[l] = v
		v = (v + uint16(num[l])) << 1
		for range num[l] {
			i--
			c.len[e.order[i]] = uint8(l)
		}
	}
	for s, l := range c.len {
		if l > 0 {
			c.bits[s] = bits.Reverse16(next[l]) >> (16 - l)
			next[l]++
		}
	}
	return true
}

// codeLengths turns sorted weights into the lengths of an optimal prefix code, in place. Source: Moffat and Katajainen,
// "In-Place Calculation of Minimum-Redundancy Codes", 1995.
func codeLengths(a []int32) {
	n := len(a)
	a[0] += a[1]
	root, leaf := 0, 2
	for next := 1; next < n-1; next++ {
		if leaf >= n || a[root] < a[leaf] {
			a[next] = a[root]
			a[root] = int32(next)
			root++
		} else {
			a[next] = a[leaf]
			leaf++
		}
		if leaf >= n || root < next && a[root] < a[leaf] {
			a[next] += a[root]
			a[root] = int32(next)
			root++
		} else {
			a[next] += a[leaf]
			leaf++
		}
	}
	a[n-2] = 0
	for next := n - 3; next >= 0; next-- {
		a[next] = a[a[next]] + 1
	}
	free, used, depth := 1, 0, int32(0)
	root, next := n-2, n-1
	for free > 0 {
		for root >= 0 && a[root] == depth {
			used++
			root--
		}
		for free > used {
			a[next] = depth
			next--
			free--
		}
		free = 2 * used
		depth++
		used = 0
	}
}

// limitLengths shortens codes that are too long, and lengthens others so that the code stays complete.
func limitLengths(num *[64]int32, limit int) {
	for l := limit + 1; l < len(num); l++ {
		num[limit] += num[l]
		num[l] = 0
	}
	total := int64(0)
	for l := 1; l <= limit; l++ {
		total += int64(num[l]) << (limit - l)
	}
	for ; total > 1<<limit; total-- {
		num[limit]--
		for l := limit - 1; l > 0; l-- {
			if num[l] > 0 {
				num[l]--
				num[l+1] += 2
				break
			}
		}
	}
}
