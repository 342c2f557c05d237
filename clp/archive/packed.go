package archive

import (
	"encoding/binary"
	"errors"
	"math/bits"
)

// Pages that go to a Scratch are packed by words: most of what archives hold is integers of eight bytes, most of whose bytes are
// zero, and disk is there in plenty. That takes a sixth of the time that zstd takes, which makes them smaller by a third.
//
//	page    = segment …, segmentWords words of the page each, and what is left · 8 bytes of padding
//	segment = u8: number of bytes before the first word, in the lower three bits; 8 if words are differences to the one before
//	          · these bytes · for each word half a byte, its length · the words, zigzag, without the zeros at their ends
//	          · the bytes after the last word
//
// It is never stored in an archive.
const (
	segmentBytes = 8 << 10
	segmentDiffs = 8 // flag
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

func packSegment(dst, plain []byte) []byte {
	how := howToPack(plain)
	phase := min(int(how&7), len(plain))
	words := (len(plain) - phase) / 8
	dst = append(append(dst, how), plain[:phase]...)
	lengths := len(dst)
	at := lengths + (words+1)/2
	need := at + 8*words + 16
	if cap(dst) < need {
		dst = append(make([]byte, 0, need+need/2), dst...)
	}
	out := dst[:need]
	clear(out[lengths:at])
	mask := uint64(0)
	if how&segmentDiffs != 0 {
		mask = ^mask
	}
	prev := uint64(0)
	in := plain[phase:]
	for i := range words {
		v := binary.LittleEndian.Uint64(in[8*i:])
		w := zigzag64(v - prev)
		prev = v & mask
		n := (bits.Len64(w) + 7) >> 3
		binary.LittleEndian.PutUint64(out[at:], w)
		at += n
		out[lengths+i>>1] |= byte(n << (i & 1 << 2))
	}
	return append(out[:at], in[8*words:]...)
}

// howToPack looks at a few words of a segment, and returns its first byte.
func howToPack(plain []byte) byte {
	const run = 12
	best, least := byte(0), int(^uint(0)>>1)
	if len(plain) < 8*(2*run+2) {
		return 0
	}
	for phase := range 8 {
		zero, diff := 0, 0
		for _, from := range [2]int{phase, (len(plain)/2)&^7 + phase} {
			prev := binary.LittleEndian.Uint64(plain[from:])
			for i := range run {
				v := binary.LittleEndian.Uint64(plain[from+8*i+8:])
				zero += (bits.Len64(zigzag64(v)) + 7) &^ 7
				diff += (bits.Len64(zigzag64(v-prev)) + 7) &^ 7
				prev = v
			}
		}
		if zero < least {
			best, least = byte(phase), zero
		}
		if diff < least {
			best, least = byte(phase|segmentDiffs), diff
		}
	}
	return best
}

// unpackWords appends the page of n bytes that packWords made packed of.
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
	how := packed[0]
	phase := min(int(how&7), n)
	words := (n - phase) / 8
	at := 1 + phase + (words+1)/2
	if len(packed) < at {
		return dst, nil, errPacked
	}
	dst = append(dst, packed[1:1+phase]...)
	lengths := packed[1+phase : at]
	mask := uint64(0)
	if how&segmentDiffs != 0 {
		mask = ^mask
	}
	prev := uint64(0)
	for i := range words {
		n := int(lengths[i>>1] >> (i & 1 << 2) & 15)
		if n > 8 || len(packed)-at < 8 {
			return dst, nil, errPacked
		}
		w := binary.LittleEndian.Uint64(packed[at:]) & (1<<(8*n) - 1)
		at += n
		v := prev + uint64(int64(w>>1)^-int64(w&1))
		prev = v & mask
		dst = binary.LittleEndian.AppendUint64(dst, v)
	}
	tail := (n - phase) % 8
	if len(packed)-at < tail {
		return dst, nil, errPacked
	}
	return append(dst, packed[at:at+tail]...), packed[at+tail:], nil
}

// zigzag64 has small numbers of either sign have few bits.
func zigzag64(v uint64) uint64 { return v<<1 ^ uint64(int64(v)>>63) }
