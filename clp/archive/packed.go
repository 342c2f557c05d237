package archive

import (
	"encoding/binary"
	"errors"
	"math/bits"
)

// Pages are packed by words where zstd would take too long: most of what archives hold is integers of eight bytes, most of whose
// bytes are zero. That takes a twentieth of the time that zstd takes, which makes them smaller by half.
//
//	page    = segment …, segmentBytes of the page each, and what is left · 8 bytes of padding
//	segment = u8: number of bytes before the first word · these bytes · run …, runWords each, and what is left
//	          · the bytes after the last word
//	run     = u8: number of bytes of each word; 16 more if they are differences to the word before, zigzag · the words
//
// It is never stored in an archive.
const (
	segmentBytes = 8 << 10
	runWords     = 128
	runDiffs     = 16 // flag
)

var errPacked = errors.New("page cannot be unpacked")

// packWords appends the packed form of a page to dst, or returns false: it would not be much smaller than the page.
func packWords(dst, plain []byte) ([]byte, bool) {
	before := len(dst)
	for rest := plain; len(rest) > 0; {
		n := min(len(rest), segmentBytes)
		dst = packSegment(dst, rest[:n])
		rest = rest[n:]
		if done := len(plain) - len(rest); len(dst)-before > done/4*3+64 {
			return dst[:before], false
		}
	}
	return append(dst, make([]byte, 8)...), true
}

// appendPacked is packWords of a page that is to be packed even if that does not make it smaller.
func appendPacked(dst, plain []byte) []byte {
	for len(plain) > 0 {
		n := min(len(plain), segmentBytes)
		dst = packSegment(dst, plain[:n])
		plain = plain[n:]
	}
	return append(dst, make([]byte, 8)...)
}

func packSegment(dst, plain []byte) []byte {
	phase := min(wordPhase(plain), len(plain))
	dst = append(append(dst, byte(phase)), plain[:phase]...)
	in := plain[phase:]
	if need := len(dst) + len(in) + len(in)/(8*runWords) + 16; cap(dst) < need {
		dst = append(make([]byte, 0, 2*need), dst...)
	}
	prev := uint64(0)
	for len(in) >= 8 {
		run := in[:min(len(in), 8*runWords)&^7]
		in = in[len(run):]
		dst = packRun(dst, run, prev)
		prev = binary.LittleEndian.Uint64(run[len(run)-8:])
	}
	return append(dst, in...)
}

// packRun appends words behind prev to dst, which has room for them and 8 bytes more.
func packRun(dst, run []byte, prev uint64) []byte {
	var words [runWords]uint64
	list := words[:len(run)/8]
	var whole, diffs uint64
	last := prev
	for i := range list {
		v := binary.LittleEndian.Uint64(run[8*i : 8*i+8])
		list[i] = v
		whole |= v
		diffs |= zigzag64(v - last)
		last = v
	}
	head := byte(bits.Len64(whole)+7) >> 3
	if d := byte(bits.Len64(diffs)+7) >> 3; d < head {
		head = d | runDiffs
	}
	dst = append(dst, head)
	width := int(head &^ runDiffs)
	switch {
	case width == 0:
		return dst
	case head == 8: // the words as they are
		return append(dst, run...)
	}
	end := len(dst) + len(list)*width
	out := dst[len(dst) : end+8]
	at := 0
	if head&runDiffs != 0 {
		for _, v := range list {
			binary.LittleEndian.PutUint64(out[at:at+8], zigzag64(v-prev))
			at += width
			prev = v
		}
		return dst[:end]
	}
	for _, v := range list {
		binary.LittleEndian.PutUint64(out[at:at+8], v)
		at += width
	}
	return dst[:end]
}

// wordPhase looks at a few words of a segment, and returns how many bytes are before the first one.
func wordPhase(plain []byte) int {
	const run = 6
	best, least := 0, int(^uint(0)>>1)
	if len(plain) < 8*(2*run+4) {
		return 0
	}
	for phase := range 8 {
		n := 0
		for _, from := range [2]int{phase, (len(plain)/2)&^7 + phase} {
			prev := binary.LittleEndian.Uint64(plain[from:])
			for i := range run {
				v := binary.LittleEndian.Uint64(plain[from+8*i+8:])
				n += min(bits.Len64(zigzag64(v)), bits.Len64(zigzag64(v-prev))) + 7&^7
				prev = v
			}
		}
		if n < least {
			best, least = phase, n
		}
	}
	return best
}

// unpackWords appends the page of n bytes that was packed.
func unpackWords(dst, packed []byte, n int) ([]byte, error) {
	for end := len(dst) + n; len(dst) < end; {
		var err error
		if dst, packed, err = unpackSegment(dst, packed, min(end-len(dst), segmentBytes)); err != nil {
			return dst, err
		}
	}
	return dst, nil
}

func unpackSegment(dst, packed []byte, n int) (plain, rest []byte, err error) {
	if len(packed) == 0 {
		return dst, nil, errPacked
	}
	phase := min(int(packed[0]), n)
	packed = packed[1:]
	if len(packed) < phase {
		return dst, nil, errPacked
	}
	dst, packed = append(dst, packed[:phase]...), packed[phase:]
	prev := uint64(0)
	for n -= phase; n >= 8; {
		k := min(n, 8*runWords) &^ 7
		if dst, packed, err = unpackRun(dst, packed, k, prev); err != nil {
			return dst, nil, err
		}
		prev = binary.LittleEndian.Uint64(dst[len(dst)-8:])
		n -= k
	}
	if len(packed) < n {
		return dst, nil, errPacked
	}
	return append(dst, packed[:n]...), packed[n:], nil
}

// unpackRun appends the n bytes of words behind prev.
func unpackRun(dst, packed []byte, n int, prev uint64) (plain, rest []byte, err error) {
	if len(packed) == 0 {
		return dst, nil, errPacked
	}
	head := packed[0]
	packed = packed[1:]
	width, size := int(head&^runDiffs), n/8*int(head&^runDiffs)
	if width > 8 || len(packed) < size+8 {
		return dst, nil, errPacked
	}
	rest = packed[size:]
	if head == 8 {
		return append(dst, packed[:n]...), rest, nil
	}
	from := len(dst)
	dst = append(dst, make([]byte, n)...)
	out := dst[from:]
	cut := uint64(1)<<(8*width) - 1 // of width 8, nothing is cut off
	if head&runDiffs == 0 {
		for i, at := 0, 0; i < n; i, at = i+8, at+width {
			binary.LittleEndian.PutUint64(out[i:i+8], binary.LittleEndian.Uint64(packed[at:at+8])&cut)
		}
		return dst, rest, nil
	}
	for i, at := 0, 0; i < n; i, at = i+8, at+width {
		w := binary.LittleEndian.Uint64(packed[at:at+8]) & cut
		prev += uint64(int64(w>>1) ^ -int64(w&1))
		binary.LittleEndian.PutUint64(out[i:i+8], prev)
	}
	return dst, rest, nil
}

// zigzag64 has small numbers of either sign have few bits.
func zigzag64(v uint64) uint64 { return v<<1 ^ uint64(int64(v)>>63) }
