package zstdframe

import (
	"encoding/binary"
	"math/bits"

	"github.com/klauspost/compress/huff0"
)

// sequence is some literals and the match behind them: so many bytes, as they stand so many before.
type sequence struct{ literals, match, distance uint32 }

const (
	maxBlock  = 128 << 10 // the most that zstd has in a block
	leastBits = 10        // logarithm of the smallest window
)

// Kinds of blocks.
const (
	rawBlock = iota
	repeatBlock
	compressedBlock
)

// appendHead appends the header of a frame of n bytes: one segment, with its size and a checksum.
func appendHead(dst []byte, n int) []byte {
	dst = append(dst, 0x28, 0xB5, 0x2F, 0xFD)
	switch {
	case n < 256:
		return append(dst, 0x24, byte(n))
	case n < 256+1<<16:
		return binary.LittleEndian.AppendUint16(append(dst, 0x64), uint16(n-256))
	}
	return binary.LittleEndian.AppendUint32(append(dst, 0xA4), uint32(n))
}

// appendSum appends the checksum of a frame.
func appendSum(dst, plain []byte) []byte {
	return binary.LittleEndian.AppendUint32(dst, uint32(xxHash64(plain)))
}

// distances are those of the last three matches, to which the next one may refer.
type distances [3]uint32

// firstDistances are those that are meant when a frame begins.
var firstDistances = distances{1, 4, 8}

// code returns how a match is told that stands so many bytes before, behind so many literals, and makes its distance the last one.
func (d *distances) code(distance, literals uint32) uint32 {
	shift := uint32(0) // without literals, the last distance is not among them
	if literals == 0 {
		shift = 1
	}
	switch {
	case distance == d[0] && shift == 0:
		return 1
	case distance == d[1]:
		d[0], d[1] = d[1], d[0]
		return 2 - shift
	case distance == d[2]:
		*d = distances{d[2], d[0], d[1]}
		return 3 - shift
	case distance == d[0]-1 && shift == 1:
		*d = distances{distance, d[0], d[1]}
		return 3
	}
	*d = distances{distance, d[0], d[1]}
	return distance + 3
}

// blockEncoder makes blocks of sequences. The zero value is ready.
type blockEncoder struct {
	huff       huff0.Scratch
	ll, ml, of fseTable
	offsets    []uint32 // of the sequences, as they are told
	packed     int      // bytes of the literals of the block, without what their section says before
	all        bool     // tries every way to tell a table, not only the one that is best as a rule
}

// block appends a block of the bytes of plain: of sequences, and literals that are theirs and what follows behind. d are the
// distances before it, and after it those behind.
func (e *blockEncoder) block(dst, plain, literals []byte, sequences []sequence, d *distances, last bool) []byte {
	at := len(dst)
	before := *d
	body := e.sequences(e.literals(append(dst, 0, 0, 0), literals), sequences, d)
	size, kind := len(body)-at-3, compressedBlock
	if size >= len(plain) {
		body, size, kind, *d = append(body[:at+3], plain...), len(plain), rawBlock, before
	}
	if e.all && len(plain) > 1 && size > 1 && same(plain) {
		body, size, kind, *d = append(body[:at+3], plain[0]), len(plain), repeatBlock, before
	}
	head := uint32(size)<<3 | uint32(kind)<<1
	if last {
		head |= 1
	}
	body[at], body[at+1], body[at+2] = byte(head), byte(head>>8), byte(head>>16)
	return body
}

// same reports whether all bytes are the same.
func same(b []byte) bool {
	for _, c := range b {
		if c != b[0] {
			return false
		}
	}
	return true
}

// literals appends the section of the literals.
func (e *blockEncoder) literals(dst, literals []byte) []byte {
	n := len(literals)
	var packed []byte
	err := huff0.ErrIncompressible
	streams := uint64(1)
	least := 32
	if e.all {
		least = 8
	}
	if n >= least {
		e.huff.Reuse = huff0.ReusePolicyNone
		if n < 1024 {
			packed, _, err = huff0.Compress1X(literals, &e.huff)
		} else {
			streams = 4
			packed, _, err = huff0.Compress4X(literals, &e.huff)
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
		e.packed = len(packed)
		return append(dst, packed...)
	}
	kind := uint32(0) // as they are
	rest := literals
	if n > 0 && err == huff0.ErrUseRLE || e.all && n > 1 && same(literals) {
		kind, rest = 1, literals[:1]
	}
	e.packed = len(rest)
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

// sequences appends the section of the sequences.
func (e *blockEncoder) sequences(dst []byte, sequences []sequence, d *distances) []byte {
	n := len(sequences)
	switch {
	case n == 0:
		return append(dst, 0)
	case n < 128:
		dst = append(dst, byte(n))
	case n < 0x7F00:
		dst = append(dst, byte(n>>8)+128, byte(n))
	default:
		dst = append(dst, 255, byte(n-0x7F00), byte((n-0x7F00)>>8))
	}
	var lls, mls, ofs [64]uint32
	if cap(e.offsets) < n {
		e.offsets = make([]uint32, n)
	}
	offsets := e.offsets[:n]
	again := uint32(0)
	for i, s := range sequences {
		lls[literalCode(s.literals)]++
		mls[matchCode(s.match)]++
		if s.distance == d[0] && s.literals > 0 { // as a rule, in columns
			offsets[i] = 1
			again++
			continue
		}
		offsets[i] = d.code(s.distance, s.literals)
		ofs[offsetCode(offsets[i])]++
	}
	ofs[0] += again
	at := len(dst)
	dst = append(dst, 0)
	modes := byte(0)
	describe := func(own *fseTable, counts []uint32, log uint, usual *fseTable, shift int, only uint8) *fseTable {
		t, mode := own.choose(counts, log, usual, e.all)
		modes |= byte(mode) << shift
		switch mode {
		case fseOnly:
			dst = append(dst, only)
		case fseOwn:
			dst = t.describe(dst)
		}
		return t
	}
	llTable := describe(&e.ll, lls[:36], fseLog, usualLL, 6, literalCode(sequences[0].literals))
	ofTable := describe(&e.of, ofs[:32], fseLogOffset, usualOF, 4, offsetCode(offsets[0]))
	mlTable := describe(&e.ml, mls[:53], fseLog, usualML, 2, matchCode(sequences[0].match))
	dst[at] = modes

	// What is told first is decoded last.
	w := bitWriter{out: dst}
	var ll, of, ml uint32
	i := n - 1
	s := sequences[i]
	lc, mc, oc := literalCode(s.literals), matchCode(s.match), offsetCode(offsets[i])
	if mlTable != nil {
		ml = mlTable.first(mc)
	}
	if ofTable != nil {
		of = ofTable.first(oc)
	}
	if llTable != nil {
		ll = llTable.first(lc)
	}
	for {
		w.add(uint64(s.literals)&(1<<literalBits[lc]-1), uint(literalBits[lc]))
		w.add(uint64(s.match-3)&(1<<matchBits[mc]-1), uint(matchBits[mc]))
		if oc > 0 {
			w.add(uint64(offsets[i])&(1<<oc-1), uint(oc))
		}
		if i--; i < 0 {
			break
		}
		s = sequences[i]
		lc, mc, oc = literalCode(s.literals), matchCode(s.match), offsetCode(offsets[i])
		if ofTable != nil {
			of = ofTable.next(&w, of, oc)
		}
		if mlTable != nil {
			ml = mlTable.next(&w, ml, mc)
		}
		if llTable != nil {
			ll = llTable.next(&w, ll, lc)
		}
	}
	if mlTable != nil {
		mlTable.last(&w, ml)
	}
	if ofTable != nil {
		ofTable.last(&w, of)
	}
	if llTable != nil {
		llTable.last(&w, ll)
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

// offsetCode returns the code of an offset. What it leaves open are the lowest bits of the offset, as many as the code is.
func offsetCode(offset uint32) uint8 { return uint8(bits.Len32(offset)) - 1 }

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
