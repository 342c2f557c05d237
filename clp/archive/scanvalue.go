package archive

import (
	"encoding/binary"
	"math"
)

// The functions below set, for the values of a block, the bits of those that are asked for. out is zero before.

// rangeInts sets the bits of values between min and max.
func rangeInts(out []uint64, values []int64, min, max int64) {
	if max < min {
		return
	}
	span := uint64(max) - uint64(min)
	for i := range out {
		var w uint64
		part := values[i*64:]
		if len(part) > 64 {
			part = part[:64]
		}
		for j, v := range part {
			var hit uint64
			if uint64(v)-uint64(min) <= span {
				hit = 1
			}
			w |= hit << (j & 63)
		}
		out[i] = w
	}
}

// rangeWords is rangeInts of little-endian words.
func rangeWords(out []uint64, b []byte, min, max int64) {
	if max < min {
		return
	}
	span := uint64(max) - uint64(min)
	for i := range out {
		var w uint64
		part := b[i*512:]
		if len(part) > 512 {
			part = part[:512]
		}
		for j := 0; len(part) >= 8; j++ {
			var hit uint64
			if binary.LittleEndian.Uint64(part)-uint64(min) <= span {
				hit = 1
			}
			w |= hit << (j & 63)
			part = part[8:]
		}
		out[i] = w
	}
}

// rangeFloats sets the bits of floats whose keys are between min and max.
func rangeFloats(out []uint64, b []byte, min, max int64) {
	for i := 0; len(b) >= 8; i++ {
		if key := floatKey(math.Float64frombits(binary.LittleEndian.Uint64(b))); min <= key && key <= max {
			out[i/64] |= 1 << (i % 64)
		}
		b = b[8:]
	}
}

// setWords sets the bits of words that are in a set.
func setWords(out []uint64, b []byte, set []uint64) {
	for i := 0; len(b) >= 8; i++ {
		if id := binary.LittleEndian.Uint64(b); id>>6 < uint64(len(set)) {
			out[i/64] |= set[id>>6] >> (id & 63) & 1 << (i % 64)
		}
		b = b[8:]
	}
}

// boolBytes sets the bits of booleans that are among the wanted ones.
func boolBytes(out []uint64, b []byte, wantFalse, wantTrue bool) {
	for i, v := range b {
		if v != 0 && wantTrue || v == 0 && wantFalse {
			out[i/64] |= 1 << (i % 64)
		}
	}
}
