package archive

import (
	"encoding/binary"
	"math/bits"
)

// A filter is a Bloom filter over the entries of one frame of a dictionary (Bloom, "Space/time trade-offs in hash coding
// with allowable errors", 1970): a text whose bits are not all set is not in the frame. One with six bits an entry and
// four hashes lets 1 of 18 other texts pass; one with four, where size counts, 1 of 6.
//
// The hash is of the text with its ASCII letters in lower case, so that texts can be looked up in either case.
const (
	filterBits      = 6 // an entry
	smallFilterBits = 4
	filterHashes    = 4
)

// makeFilter returns the filter over hashes with so many bits for each.
func makeFilter(hashes []uint64, bits int) []byte {
	f := make([]byte, (len(hashes)*bits+7)/8)
	for _, h := range hashes {
		each(h, len(f), func(at uint64) bool {
			f[at>>3] |= 1 << (at & 7)
			return true
		})
	}
	return f
}

// inFilter reports whether a text of the hash may be among the entries. A frame without a filter may have any.
func inFilter(f []byte, hash uint64) bool {
	return len(f) == 0 || each(hash, len(f), func(at uint64) bool { return f[at>>3]>>(at&7)&1 != 0 })
}

// each calls f with the bits of a hash in a filter of size bytes until it returns false.
func each(hash uint64, size int, f func(at uint64) bool) bool {
	step := bits.RotateLeft64(hash, 32) | 1
	for range filterHashes {
		at, _ := bits.Mul64(hash, uint64(size)*8)
		if !f(at) {
			return false
		}
		hash += step
	}
	return true
}

// hashText hashes a text, in which ASCII letters count as lower case: eight bytes at a time, each multiplied to 128 bits
// and folded to 64.
func hashText(text []byte) uint64 {
	const k1, k2 = 0x9E3779B97F4A7C15, 0xD6E8FEB86659FD93
	h := uint64(len(text)) * k1
	mix := func(v uint64) {
		hi, lo := bits.Mul64(h^lowerWord(v), k2)
		h = (hi ^ lo) + k1
	}
	for ; len(text) >= 8; text = text[8:] {
		mix(binary.LittleEndian.Uint64(text))
	}
	var last uint64
	for i, c := range text {
		last |= uint64(c) << (8 * i)
	}
	mix(last)
	hi, lo := bits.Mul64(h^k2, k1)
	return hi ^ lo
}

// lowerWord makes the ASCII capitals among eight bytes small.
func lowerWord(v uint64) uint64 {
	const ones, high = 0x0101010101010101, 0x8080808080808080
	low := v &^ high
	capital := (low + ones*(128-'A')) &^ (low + ones*(127-'Z')) &^ v & high
	return v | capital>>2
}
