package archive

import (
	"math/bits"
	"slices"
)

// blockWords is the words of a block's bits.
const blockWords = blockRows / 64

// rowSet is a set of rows of a table. Rows are kept in blocks, of which those without rows take no memory.
type rowSet struct {
	n      int64
	blocks [][]uint64 // a bit for each row; nil if the block has none
}

func newRowSet(n int64) *rowSet {
	return &rowSet{n: n, blocks: make([][]uint64, (n+blockRows-1)/blockRows)}
}

// clone returns a copy. Blocks of sets that a scan made may be the same memory.
func (s *rowSet) clone() *rowSet {
	if s == nil {
		return nil
	}
	c := &rowSet{s.n, slices.Clone(s.blocks)}
	for i, b := range c.blocks {
		c.blocks[i] = slices.Clone(b)
	}
	return c
}

// has reports whether a row is in the set.
func (s *rowSet) has(row int64) bool {
	b := s.blocks[row/blockRows]
	at := row % blockRows
	return b != nil && b[at/64]>>(at%64)&1 != 0
}

// count returns the number of rows in the set.
func (s *rowSet) count() (n int64) {
	for _, b := range s.blocks {
		n += countBits(b)
	}
	return n
}

// last returns the last row in the set, -1 if it is empty.
func (s *rowSet) last() int64 {
	for k := len(s.blocks) - 1; k >= 0; k-- {
		for i := len(s.blocks[k]) - 1; i >= 0; i-- {
			if w := s.blocks[k][i]; w != 0 {
				return int64(k)*blockRows + int64(64*i+bits.Len64(w)) - 1
			}
		}
	}
	return -1
}

// next returns the first row of the set at or behind row, Len if there is none.
func (s *rowSet) next(row int64) int64 {
	for row < s.n {
		b := s.blocks[row/blockRows]
		if b == nil {
			row = (row/blockRows + 1) * blockRows
			continue
		}
		at := row % blockRows
		if w := b[at/64] >> (at % 64); w != 0 {
			return min(row+int64(bits.TrailingZeros64(w)), s.n)
		}
		row = (row/64 + 1) * 64
	}
	return s.n
}

// add puts a row into the set.
func (s *rowSet) add(row int64) {
	b := &s.blocks[row/blockRows]
	if *b == nil {
		*b = make([]uint64, blockWords)
	}
	at := row % blockRows
	(*b)[at/64] |= 1 << (at % 64)
}

// remove takes a row out of the set.
func (s *rowSet) remove(row int64) {
	if b := s.blocks[row/blockRows]; b != nil {
		at := row % blockRows
		b[at/64] &^= 1 << (at % 64)
	}
}

// subtract takes the rows of another set out.
func (s *rowSet) subtract(other *rowSet) {
	for i, b := range other.blocks {
		if b != nil && s.blocks[i] != nil {
			s.blocks[i] = andNot(s.blocks[i], b)
		}
	}
}

// full returns the bits of a block of n rows that are all in a set.
func full(n int64) []uint64 {
	b := make([]uint64, (n+63)/64)
	for i := range b {
		b[i] = ^uint64(0)
	}
	if n%64 != 0 {
		b[len(b)-1] = 1<<(n%64) - 1
	}
	return b
}

// The bits of a block: nil is none. What these functions return may be an argument; arguments are not changed.

func andBits(a, b []uint64) []uint64 {
	if a == nil || b == nil {
		return nil
	}
	if &a[0] == &b[0] {
		return a
	}
	out, any := make([]uint64, len(a)), uint64(0)
	for i := range out {
		out[i] = a[i] & b[i]
		any |= out[i]
	}
	if any == 0 {
		return nil
	}
	return out
}

func orBits(a, b []uint64) []uint64 {
	if a == nil {
		return b
	}
	if b == nil || &a[0] == &b[0] {
		return a
	}
	out := slices.Clone(a)
	for i := range out {
		out[i] |= b[i]
	}
	return out
}

func andNot(a, b []uint64) []uint64 {
	if a == nil || b == nil {
		return a
	}
	if &a[0] == &b[0] {
		return nil
	}
	out, any := make([]uint64, len(a)), uint64(0)
	for i := range out {
		out[i] = a[i] &^ b[i]
		any |= out[i]
	}
	if any == 0 {
		return nil
	}
	return out
}

func countBits(b []uint64) (n int64) {
	for _, w := range b {
		n += int64(bits.OnesCount64(w))
	}
	return n
}
