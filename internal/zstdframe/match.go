package zstdframe

import (
	"encoding/binary"
	"math/bits"
)

// match says that so many bytes stand so many before, too.
type match struct{ length, distance uint32 }

// finder finds matches with a binary tree for each hash of four bytes: positions that came later stand above earlier ones, and those
// below are sorted by what stands there.
type finder struct {
	plain []byte
	depth int     // nodes of a tree that are looked at
	heads []int32 // by hash: a position and one, 0 if there is none
	three []int32 // likewise, of hashes of three bytes
	tree  []int32 // two for each position: those that sort before it, and behind it
}

const (
	maxHashBits = 17
	threeBits   = 15
	leastMatch  = 3

	// longMatch is what is compared of a match while it is sought. The bytes in one that is as long are not looked up themselves.
	longMatch = 1 << 10
)

// begin makes the finder one of plain.
func (f *finder) begin(plain []byte) {
	f.plain = plain
	f.heads = clean(f.heads, 1<<min(maxHashBits, max(8, bits.Len(uint(len(plain))))))
	f.three = clean(f.three, 1<<min(threeBits, max(8, bits.Len(uint(len(plain))))))
	if cap(f.tree) < 2*len(plain) {
		f.tree = make([]int32, 2*len(plain))
	}
	f.tree = f.tree[:2*len(plain)]
}

// clean returns n zeros, in b if that has room.
func clean(b []int32, n int) []int32 {
	if cap(b) < n {
		return make([]int32, n)
	}
	clear(b[:n])
	return b[:n]
}

// hash returns some bits of what follows from the lowest bytes of a word.
func hash(v uint32, size int) uint32 {
	return v * 0x9E3779B1 >> (32 - bits.Len(uint(size)-1))
}

// common returns how many bytes of b are like those of a, which has as many at least.
func common(a, b []byte) int {
	n := 0
	for ; len(b)-n >= 8; n += 8 {
		if x := binary.LittleEndian.Uint64(a[n:]) ^ binary.LittleEndian.Uint64(b[n:]); x != 0 {
			return n + bits.TrailingZeros64(x)/8
		}
	}
	for n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// find appends the matches of a position, each longer than the one before, and enters the position.
func (f *finder) find(dst []match, at int) []match {
	rest := f.plain[at:]
	if len(rest) < 4 {
		return dst
	}
	if len(rest) > longMatch {
		rest = rest[:longMatch]
	}
	word := binary.LittleEndian.Uint32(rest)
	longest := 0
	three := &f.three[hash(word<<8, len(f.three))]
	if p := int(*three) - 1; p >= 0 {
		if n := common(f.plain[p:], rest[:min(len(rest), 16)]); n >= leastMatch {
			dst = append(dst, match{uint32(n), uint32(at - p)})
			longest = n
		}
	}
	*three = int32(at) + 1
	head := &f.heads[hash(word, len(f.heads))]
	p := int(*head) - 1
	*head = int32(at) + 1
	before, behind := &f.tree[2*at], &f.tree[2*at+1]
	nBefore, nBehind := 0, 0 // bytes that all below have in common with rest
	for depth := f.depth; p >= 0 && depth > 0; depth-- {
		n := min(nBefore, nBehind)
		n += common(f.plain[p+n:], rest[n:])
		if n > longest && n >= leastMatch {
			longest = n
			dst = append(dst, match{uint32(n), uint32(at - p)})
		}
		if n == len(rest) { // as good as the same position, whose place this one takes
			*before, *behind = f.tree[2*p], f.tree[2*p+1]
			return dst
		}
		if f.plain[p+n] < rest[n] {
			*before = int32(p) + 1
			before, nBefore = &f.tree[2*p+1], n
			p = int(*before) - 1
		} else {
			*behind = int32(p) + 1
			behind, nBehind = &f.tree[2*p], n
			p = int(*behind) - 1
		}
	}
	*before, *behind = 0, 0
	return dst
}
