package archive

import (
	"encoding/binary"
	"errors"
	"math/bits"
	"slices"
)

// Pages are packed by words where zstd would take too long: most of what archives hold is integers of eight bytes, most of whose
// bytes are zero. That takes a twentieth of the time that zstd takes, which makes them smaller by half.
//
//	page    = segment …, segmentBytes of the page each, and what is left · 8 bytes of padding
//	segment = u8: number of bytes before the first word · these bytes · run …, runWords each, and what is left
//	          · the bytes after the last word
//	run     = u8: number of bytes of each word · the words
//	        | u8: 16 and number of bytes of each difference · the first word, 8 bytes · the differences to the word before, zigzag
//
// It is never stored in an archive.
const (
	segmentBytes = 8 << 10
	runWords     = 128
	runDiffs     = 16 // flag
	runEnough    = 3  // bytes of a word, above which differences are tried
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
	for len(in) >= 8 {
		run := in[:min(len(in), 8*runWords)&^7]
		in = in[len(run):]
		dst = packRun(dst, run)
	}
	return append(dst, in...)
}

// packRun appends words to dst, which has room for them and 9 bytes more.
func packRun(dst, run []byte) []byte {
	var all uint64
	for i := 0; i+8 <= len(run); i += 8 {
		all |= binary.LittleEndian.Uint64(run[i : i+8])
	}
	width := (bits.Len64(all) + 7) >> 3
	if width > runEnough {
		var words [runWords]uint64
		list := words[:len(run)/8]
		first := binary.LittleEndian.Uint64(run)
		prev := first
		all = 0
		for i := range list {
			v := binary.LittleEndian.Uint64(run[8*i : 8*i+8])
			list[i] = zigzag64(v - prev)
			all |= list[i]
			prev = v
		}
		if w := (bits.Len64(all) + 7) >> 3; w < width-1 {
			dst = append(dst, byte(w)|runDiffs)
			dst = binary.LittleEndian.AppendUint64(dst, first)
			end := len(dst) + (len(list)-1)*w
			out := dst[len(dst) : end+8]
			at := 0
			for _, d := range list[1:] {
				binary.LittleEndian.PutUint64(out[at:at+8], d)
				at += w
			}
			return dst[:end]
		}
	}
	dst = append(dst, byte(width))
	switch width {
	case 0:
		return dst
	case 8:
		return append(dst, run...)
	}
	end := len(dst) + len(run)/8*width
	out := dst[len(dst) : end+8]
	for i, at := 0, 0; i+8 <= len(run); i, at = i+8, at+width {
		binary.LittleEndian.PutUint64(out[at:at+8], binary.LittleEndian.Uint64(run[i:i+8]))
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
				n += (min(bits.Len64(v), bits.Len64(zigzag64(v-prev))) + 7) &^ 7
				prev = v
			}
		}
		if n < least {
			best, least = phase, n
		}
		if phase == 0 && n <= 2*run*8*runEnough { // as it is almost always
			break
		}
	}
	return best
}

// unpackWords appends the page of n bytes that was packed.
func unpackWords(dst, packed []byte, n int) ([]byte, error) {
	dst, _, err := unpackPart(dst, packed, n, 0, n)
	return dst, err
}

// unpackPart appends of the page of size bytes that was packed those from from to to, and perhaps some before and behind. It
// returns where in the page those begin that were appended.
func unpackPart(dst, packed []byte, size, from, to int) (plain []byte, begin int, err error) {
	begin = -1
	for at := 0; at < to; {
		end := min(size, at+segmentBytes)
		if len(packed) == 0 {
			return dst, 0, errPacked
		}
		phase := min(int(packed[0]), end-at)
		packed = packed[1:]
		for piece := phase; at < end; piece = min(end-at, 8*runWords) {
			if piece < 8 { // before the first word, or behind the last one
				if len(packed) < piece {
					return dst, 0, errPacked
				}
				if at+piece > from && at < to {
					if begin < 0 {
						begin = at
					}
					dst = append(dst, packed[:piece]...)
				}
				packed, at = packed[piece:], at+piece
				continue
			}
			piece &^= 7
			used := packedRun(packed, piece)
			if used < 0 {
				return dst, 0, errPacked
			}
			if at+piece > from && at < to {
				if begin < 0 {
					begin = at
				}
				dst = unpackRun(dst, packed, piece)
			}
			packed, at = packed[used:], at+piece
		}
	}
	return dst, max(begin, 0), nil
}

// packedRun returns how long the packed form of n bytes of words is, or -1 if it is not there.
func packedRun(packed []byte, n int) int {
	if len(packed) == 0 {
		return -1
	}
	width := int(packed[0] &^ runDiffs)
	used := 1 + n/8*width
	if packed[0]&runDiffs != 0 {
		used += 8 - width
	}
	if width > 8 || len(packed) < used+8 {
		return -1
	}
	return used
}

// unpackRun appends the n bytes of words whose packed form is there.
func unpackRun(dst, packed []byte, n int) []byte {
	head := packed[0]
	packed = packed[1:]
	width := int(head &^ runDiffs)
	if head == 8 {
		return append(dst, packed[:n]...)
	}
	from := len(dst)
	dst = slices.Grow(dst, n)[:from+n]
	out := dst[from:]
	cut := uint64(1)<<(8*width) - 1 // of width 8, nothing is cut off
	if head&runDiffs == 0 {
		for i, at := 0, 0; i+8 <= len(out); i, at = i+8, at+width {
			binary.LittleEndian.PutUint64(out[i:i+8], binary.LittleEndian.Uint64(packed[at:at+8])&cut)
		}
		return dst
	}
	v := binary.LittleEndian.Uint64(packed)
	binary.LittleEndian.PutUint64(out, v)
	packed = packed[8:]
	for i, at := 8, 0; i+8 <= len(out); i, at = i+8, at+width {
		w := binary.LittleEndian.Uint64(packed[at:at+8]) & cut
		v += uint64(int64(w>>1) ^ -int64(w&1))
		binary.LittleEndian.PutUint64(out[i:i+8], v)
	}
	return dst
}

// zigzag64 has small numbers of either sign have few bits.
func zigzag64(v uint64) uint64 { return v<<1 ^ uint64(int64(v)>>63) }
