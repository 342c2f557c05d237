package archive

import (
	"encoding/binary"
	"math"
	"math/bits"

	"github.com/klauspost/compress/huff0"
)

// Columns are words of eight bytes, of which the upper ones seldom change from one row to the next. A general compressor looks
// for strings that were there before, finds many of them by accident, and pays for saying where. wordEncoder makes zstd frames
// (RFC 8878) in which nothing is referred to but the word before: the lower bytes of a word are literals, its upper bytes, and
// words that are equal to it, are a match eight bytes back. That is an offset that need not be told again, and the lengths cost
// little or, if all words are cut at the same byte, nothing. The zero value is ready. It is not safe for concurrent use.
type wordEncoder struct {
	huff huff0.Scratch
	lits []byte
	seqs []wordSequence

	// How often a byte stands at each place of the words that change there or above, of those that change
	// below, and of those that are like the word before.
	changed [8][256]uint32
	above   [wordCuts][256]uint32
	same    [wordCuts][256]uint32
	kinds   [9]uint32 // words by the number of bytes up to the last that changes

	ll, ml, of fseTable
}

// wordSequence is some literals and the length of the match behind them.
type wordSequence struct{ literals, match uint32 }

const (
	wordBlock = 128 << 10 // the most that zstd has in a block
	wordCuts  = 6         // a match has three bytes at least: words are cut below byte 6, or not at all
)

// wordCut says how the words of a block become sequences.
type wordCut struct {
	least int  // bytes of a word that are literals, at least
	runs  bool // words that are like the word before become part of its match
}

// frame appends the frame of plain to dst.
func (e *wordEncoder) frame(dst, plain []byte) []byte {
	dst = append(dst, 0x28, 0xB5, 0x2F, 0xFD)
	switch n := len(plain); { // one segment, with its size and a checksum
	case n < 256:
		dst = append(dst, 0x24, byte(n))
	case n < 256+1<<16:
		dst = binary.LittleEndian.AppendUint16(append(dst, 0x64), uint16(n-256))
	default:
		dst = binary.LittleEndian.AppendUint32(append(dst, 0xA4), uint32(n))
	}
	// What is best for the first block is about as good for those behind it.
	e.count(plain[:min(len(plain), wordBlock)])
	how := e.choose()
	eight := false // the offset that is meant when none is told is 8
	for from := 0; ; from += wordBlock {
		to := min(from+wordBlock, len(plain))
		last := uint32(0)
		if to == len(plain) {
			last = 1
		}
		at := len(dst)
		dst = append(dst, 0, 0, 0)
		kind := uint32(2)
		e.cut(plain, from, to, how)
		matches := len(e.seqs) > 0
		body := e.sequences(e.literals(dst), eight)
		size := uint32(len(body) - len(dst))
		if int(size) >= to-from {
			body, matches = append(dst, plain[from:to]...), false
			kind, size = 0, uint32(to-from)
		}
		dst = body
		eight = eight || matches
		head := size<<3 | kind<<1 | last
		dst[at], dst[at+1], dst[at+2] = byte(head), byte(head>>8), byte(head>>16)
		if last == 1 {
			break
		}
	}
	return binary.LittleEndian.AppendUint32(dst, uint32(xxHash64(plain)))
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
func (e *wordEncoder) count(plain []byte) {
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
func (e *wordEncoder) choose() (best wordCut) {
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
func (e *wordEncoder) cut(plain []byte, from, to int, how wordCut) {
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
					e.seqs = append(e.seqs, wordSequence{pending, 8})
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
			e.seqs = append(e.seqs, wordSequence{pending, uint32(8 - k)})
			pending = 0
		}
	}
	e.lits = append(e.lits, plain[i:to]...)
}

// literals appends the section of the literals.
func (e *wordEncoder) literals(dst []byte) []byte {
	n := len(e.lits)
	var packed []byte
	err := huff0.ErrIncompressible
	streams := uint64(1)
	if n >= 32 {
		e.huff.Reuse = huff0.ReusePolicyNone
		if n < 1024 {
			packed, _, err = huff0.Compress1X(e.lits, &e.huff)
		} else {
			streams = 4
			packed, _, err = huff0.Compress4X(e.lits, &e.huff)
		}
	}
	if err == nil && len(packed) < n {
		var head, size uint64
		switch {
		case streams == 1:
			head, size = 2|uint64(n)<<4|uint64(len(packed))<<14, 3
		case n < 1<<14:
			head, size = 2|2<<2|uint64(n)<<4|uint64(len(packed))<<18, 4
		default:
			head, size = 2|3<<2|uint64(n)<<4|uint64(len(packed))<<22, 5
		}
		for range size {
			dst = append(dst, byte(head))
			head >>= 8
		}
		return append(dst, packed...)
	}
	kind := uint32(0) // as they are
	rest := e.lits
	if err == huff0.ErrUseRLE && n > 0 {
		kind, rest = 1, e.lits[:1]
	}
	switch {
	case n < 1<<5:
		dst = append(dst, byte(kind|uint32(n)<<3))
	case n < 1<<12:
		head := kind | 1<<2 | uint32(n)<<4
		dst = append(dst, byte(head), byte(head>>8))
	default:
		head := kind | 3<<2 | uint32(n)<<4
		dst = append(dst, byte(head), byte(head>>8), byte(head>>16))
	}
	return append(dst, rest...)
}

// sequences appends the section of the sequences. The first match of a frame has the offset 8 from the third of those that are
// meant when a frame begins: 1, 4 and 8.
func (e *wordEncoder) sequences(dst []byte, eight bool) []byte {
	n := len(e.seqs)
	switch {
	case n == 0:
		return append(dst, 0)
	case n < 128:
		dst = append(dst, byte(n))
	default: // a block has 16,384 words
		dst = append(dst, byte(n>>8)+128, byte(n))
	}
	var lls, mls [64]uint32
	for _, s := range e.seqs {
		lls[literalCode(s.literals)]++
		mls[matchCode(s.match)]++
	}
	firstOffset := uint8(0) // the code of the offset that was last
	ofs := [2]uint32{uint32(n)}
	if !eight {
		firstOffset = 1
		ofs = [2]uint32{uint32(n) - 1, 1}
	}
	at := len(dst)
	dst = append(dst, 0)
	modes := byte(0)
	describe := func(t *fseTable, counts []uint32, log uint, shift int, only uint8) bool {
		if !t.build(counts, log) {
			modes |= 1 << shift
			dst = append(dst, only)
			return false
		}
		modes |= 2 << shift
		dst = t.describe(dst)
		return true
	}
	first := e.seqs[0]
	manyLL := describe(&e.ll, lls[:36], fseLog, 6, literalCode(first.literals))
	manyOF := describe(&e.of, ofs[:], fseLogOffset, 4, firstOffset)
	manyML := describe(&e.ml, mls[:53], fseLog, 2, matchCode(first.match))
	dst[at] = modes

	w := bitWriter{out: dst}
	var ll, of, ml uint32
	for i := n - 1; i >= 0; i-- {
		s := e.seqs[i]
		lc, mc, oc := literalCode(s.literals), matchCode(s.match), uint8(0)
		if i == 0 {
			oc = firstOffset
		}
		if i == n-1 {
			if manyML {
				ml = e.ml.first(mc)
			}
			if manyOF {
				of = e.of.first(oc)
			}
			if manyLL {
				ll = e.ll.first(lc)
			}
		} else {
			if manyOF {
				of = e.of.next(&w, of, oc)
			}
			if manyML {
				ml = e.ml.next(&w, ml, mc)
			}
			if manyLL {
				ll = e.ll.next(&w, ll, lc)
			}
		}
		w.add(uint64(s.literals)&(1<<literalBits[lc]-1), uint(literalBits[lc]))
		w.add(uint64(s.match-3)&(1<<matchBits[mc]-1), uint(matchBits[mc]))
		if oc == 1 {
			w.add(1, 1) // 3, the third of the offsets
		}
	}
	if manyML {
		e.ml.last(&w, ml)
	}
	if manyOF {
		e.of.last(&w, of)
	}
	if manyLL {
		e.ll.last(&w, ll)
	}
	w.add(1, 1)
	w.end()
	return w.out
}

// literalBits and matchBits are the bits that follow on the codes of lengths.
var (
	literalBits = [36]uint8{16: 1, 1, 1, 1, 2, 2, 3, 3, 4, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}
	matchBits   = [53]uint8{32: 1, 1, 1, 1, 2, 2, 3, 3, 4, 4, 5, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}
)

// literalCode returns the code of a number of literals. What the code leaves open are the lowest bits of the number.
func literalCode(n uint32) uint8 {
	switch {
	case n < 16:
		return uint8(n)
	case n < 64:
		return [48]uint8{16, 16, 17, 17, 18, 18, 19, 19, 20, 20, 20, 20, 21, 21, 21, 21, 22, 22, 22, 22, 22, 22, 22, 22, 23, 23, 23, 23, 23, 23, 23, 23,
			24, 24, 24, 24, 24, 24, 24, 24, 24, 24, 24, 24, 24, 24, 24, 24}[n-16]
	}
	return uint8(bits.Len32(n)) - 1 + 19
}

// matchCode returns the code of the length of a match. What the code leaves open are the lowest bits of the length less three.
func matchCode(n uint32) uint8 {
	n -= 3
	switch {
	case n < 32:
		return uint8(n)
	case n < 128:
		for code := uint8(42); ; code-- {
			if base := [11]uint32{32, 34, 36, 38, 40, 44, 48, 56, 64, 80, 96}[code-32]; n >= base {
				return code
			}
		}
	}
	return uint8(bits.Len32(n)) - 1 + 36
}
