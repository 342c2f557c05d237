package zstdframe

import (
	"encoding/binary"
	"math"
	"math/bits"
)

// Words encodes columns: they are words of eight bytes, of which the upper ones seldom change from one row to the next. A general compressor looks
// for strings that were there before, finds many of them by accident, and pays for saying where. Words makes frames in which nothing is
// referred to but the word before: the lower bytes of a word are literals, its upper bytes, and words that are equal to it, are
// a match eight bytes back. That is an offset that need not be told again, and the lengths cost little or, if all words are cut
// at the same byte, nothing. The zero value is ready. It is not safe for concurrent use.
type Words struct {
	blocks blockEncoder
	lits   []byte
	seqs   []sequence

	// How often a byte stands at each place of the words that change there or above, of those that change
	// below, and of those that are like the word before.
	changed [8][256]uint32
	above   [wordCuts][256]uint32
	same    [wordCuts][256]uint32
	kinds   [9]uint32 // words by the number of bytes up to the last that changes
}

const (
	wordCuts = 6 // a match has three bytes at least: words are cut below byte 6, or not at all
	wordSize = 8
)

// wordCut says how the words of a block become sequences.
type wordCut struct {
	least int  // bytes of a word that are literals, at least
	runs  bool // words that are like the word before become part of its match
}

// Append appends the frame of plain, with its size and a checksum.
func (e *Words) Append(dst, plain []byte) []byte {
	dst = appendHead(dst, len(plain))
	// What is best for the first block is about as good for those behind it.
	e.count(plain[:min(len(plain), maxBlock)])
	how := e.choose()
	d := firstDistances
	for from := 0; ; from += maxBlock {
		to := min(from+maxBlock, len(plain))
		e.cut(plain, from, to, how)
		dst = e.blocks.block(dst, plain[from:to], e.lits, e.seqs, &d, to == len(plain))
		if to == len(plain) {
			return appendSum(dst, plain)
		}
	}
}

// wordBefore returns the word before the one at i.
func wordBefore(plain []byte, i int) (word uint64, ok bool) {
	if i < 8 {
		return 0, false
	}
	return binary.LittleEndian.Uint64(plain[i-8:]), true
}

// changes returns the number of bytes up to the last that two words do not have in common; those that would leave too little
// for a match count as 8.
func changes(a, b uint64) int {
	k := (bits.Len64(a^b) + 7) / 8
	if k >= wordCuts {
		return 8
	}
	return k
}

// count counts the bytes of words.
func (e *Words) count(plain []byte) {
	clear(e.changed[:])
	clear(e.above[:])
	clear(e.same[:])
	clear(e.kinds[:])
	before := uint64(0)
	for ; len(plain) >= 8; plain = plain[8:] {
		word := binary.LittleEndian.Uint64(plain)
		k := changes(word, before)
		before = word
		e.kinds[k]++
		rest := &e.above
		if k == 0 {
			rest = &e.same
		}
		for p := range k {
			e.changed[p][byte(word>>(8*p))]++
		}
		for p := k; p < wordCuts-1; p++ {
			rest[p][byte(word>>(8*p))]++
		}
	}
}

// choose returns the cut that makes what was counted smallest, about.
func (e *Words) choose() (best wordCut) {
	words := uint32(0)
	for _, n := range e.kinds {
		words += n
	}
	least := math.Inf(1)
	for _, runs := range []bool{false, true} {
		var lits [256]uint32
		for p := range e.changed {
			for b, n := range e.changed[p] {
				lits[b] += n
			}
		}
		for cut := 1; cut < wordCuts; cut++ {
			var kinds [9]uint32
			for k, n := range e.kinds {
				if k > 0 || !runs {
					kinds[max(k, cut)] += n
				}
			}
			for b := range lits {
				lits[b] += e.above[cut-1][b]
				if !runs {
					lits[b] += e.same[cut-1][b]
				}
			}
			cost := entropy(lits[:]) + 2*entropy(kinds[:])
			if runs {
				cost += 2 * entropy([]uint32{e.kinds[0], words - e.kinds[0]})
			}
			if cost < least {
				least, best = cost, wordCut{cut, runs}
			}
		}
	}
	return best
}

// entropy returns the bits that it takes to tell symbols that occur so many times.
func entropy(counts []uint32) (bits float64) {
	total := uint32(0)
	for _, n := range counts {
		total += n
		if n > 1 {
			bits -= float64(n) * math.Log2(float64(n))
		}
	}
	if total == 0 {
		return 0
	}
	return bits + float64(total)*math.Log2(float64(total))
}

// cut makes literals and sequences of a block.
func (e *Words) cut(plain []byte, from, to int, how wordCut) {
	e.lits, e.seqs = e.lits[:0], e.seqs[:0]
	before, ok := wordBefore(plain, from)
	pending := uint32(0) // literals since the last match
	i := from
	for ; i+8 <= to; i += 8 {
		word := binary.LittleEndian.Uint64(plain[i:])
		k := 8
		if ok {
			if k = changes(word, before); k == 0 && how.runs && i > from {
				if pending == 0 {
					e.seqs[len(e.seqs)-1].match += 8
				} else {
					e.seqs = append(e.seqs, sequence{pending, 8, wordSize})
					pending = 0
				}
				continue
			}
			k = max(k, how.least)
		}
		before, ok = word, true
		e.lits = append(e.lits, plain[i:i+k]...)
		pending += uint32(k)
		if k < 8 {
			e.seqs = append(e.seqs, sequence{pending, uint32(8 - k), wordSize})
			pending = 0
		}
	}
	e.lits = append(e.lits, plain[i:to]...)
}
