package zstdframe

import "math/bits"

// Bare takes the checksum of a zstd frame away, and the size of its content if that is shorter: the window that the header
// tells instead holds it. The frame is one of plain bytes; it is changed.
func Bare(frame []byte, plain int) []byte {
	const (
		magic      = 4
		checksum   = 1 << 2
		single     = 1 << 5
		dictionary = 3
	)
	flags := frame[magic]
	if flags&dictionary != 0 {
		return frame
	}
	head := magic + 1
	if flags&single == 0 {
		head++ // window
	}
	if kind := flags >> 6; kind > 0 {
		head += 1 << kind
	} else if flags&single != 0 {
		head++
	}
	end := len(frame)
	if flags&checksum != 0 {
		end -= 4
	}
	frame = append(frame[:magic+2], frame[head:end]...)
	frame[magic], frame[magic+1] = 0, windowByte(plain)
	return frame
}

// windowByte is what a frame's header says of a window that holds n bytes.
func windowByte(n int) byte {
	exponent := max(bits.Len(uint(max(n, 1)-1)), leastBits) - leastBits
	if base := 1 << (exponent + leastBits - 1); exponent > 0 { // eighths of the power below, if these do
		if eighths := (n - base + base/8 - 1) / (base / 8); eighths < 8 {
			return byte((exponent-1)<<3 | eighths)
		}
	}
	return byte(exponent << 3)
}
