package zstdframe

import "math"

// prices are what things take, in 256ths of a bit, if they occur as often as is expected.
type prices struct {
	literal [256]uint32
	ll      [36]uint32
	ml      [53]uint32
	of      [32]uint32

	lengths [longMatch + 1]uint32 // of matches
	runs    [256]uint32           // of literals
}

const (
	bit        = 256
	huffLog    = 11 // most bits of a literal
	seldomBits = 12 // of what is not expected
)

// literals sets the prices of literals that occur so many times.
func (p *prices) literals(counts *[256]uint32) {
	price(p.literal[:], counts[:], huffLog)
	for i := range p.literal {
		p.literal[i] = max(p.literal[i], bit) // a code of Huffman's has a bit at least
	}
}

// flat sets the prices of literals that are not compressed.
func (p *prices) flat() {
	for i := range p.literal {
		p.literal[i] = 8 * bit
	}
}

// more makes each literal dearer by so many bits.
func (p *prices) more(bits float64) {
	for i := range p.literal {
		p.literal[i] += uint32(bits * bit)
	}
}

// sequences sets the prices of lengths and offsets whose codes occur so many times.
func (p *prices) sequences(ll *[36]uint32, ml *[53]uint32, of *[32]uint32) {
	price(p.ll[:], ll[:], fseLog)
	price(p.ml[:], ml[:], fseLog)
	price(p.of[:], of[:], fseLogOffset)
	for n := range uint32(len(p.lengths)) {
		if n >= leastMatch {
			c := matchCode(n)
			p.lengths[n] = p.ml[c] + uint32(matchBits[c])*bit
		}
	}
	for n := range uint32(len(p.runs)) {
		c := literalCode(n)
		p.runs[n] = p.ll[c] + uint32(literalBits[c])*bit
	}
}

// price sets the prices of symbols that occur so many times, most bits each at most.
func price(prices, counts []uint32, most float64) {
	total := 0.0
	for _, n := range counts {
		total += float64(n)
	}
	for s, n := range counts {
		b := seldomBits + 0.0
		if n > 0 {
			b = min(math.Log2(total/float64(n)), most)
		}
		prices[s] = uint32(b * bit)
	}
}

// run returns the price of a number of literals. No match stands behind a whole block of them.
func (p *prices) run(n uint32) uint32 {
	n = min(n, maxBlock-1)
	if n < uint32(len(p.runs)) {
		return p.runs[n]
	}
	c := literalCode(n)
	return p.ll[c] + uint32(literalBits[c])*bit
}

// length returns the price of a match's length.
func (p *prices) length(n uint32) uint32 {
	if n < uint32(len(p.lengths)) {
		return p.lengths[n]
	}
	c := matchCode(n)
	return p.ml[c] + uint32(matchBits[c])*bit
}

// offset returns the price of an offset.
func (p *prices) offset(n uint32) uint32 {
	c := offsetCode(n)
	return p.of[c] + uint32(c)*bit
}
