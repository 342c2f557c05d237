package ir

import (
	"encoding/binary"
	"io"
	"math/bits"
)

// windowReader passes zstd frames on (RFC 8878 §3.1), and makes the window that a frame asks for smaller where it is larger
// than max: a decompressor takes the memory at once, and most frames that ask for much need little, because they are
// short. A frame that does need more, and looks back further than max bytes, then cannot be decoded; clamped says that this
// may be why.
type windowReader struct {
	src     io.Reader
	max     uint64
	clamped bool // the frame at hand asks for more than max

	head   []byte // of the next frame, block or what else is to be looked at
	out    []byte // what was looked at and is still to be passed on
	pass   int64  // bytes that are passed on as they are; then comes …
	state  func(*windowReader) bool
	tail   int64 // bytes of the checksum of the frame at hand
	failed error // of src, to be told when out is empty
}

func newWindowReader(src io.Reader, max uint64) *windowReader {
	return &windowReader{src: src, max: max, state: (*windowReader).frame}
}

// Read implements io.Reader.
func (w *windowReader) Read(p []byte) (int, error) {
	for {
		switch {
		case len(w.out) > 0:
			n := copy(p, w.out)
			w.out = w.out[n:]
			return n, nil
		case w.failed != nil:
			return 0, w.failed
		case w.pass > 0 || w.state == nil:
			if w.state != nil && int64(len(p)) > w.pass {
				p = p[:w.pass]
			}
			n, err := w.src.Read(p)
			w.pass -= int64(n)
			return n, err
		case w.state(w):
			w.out, w.head = w.head, nil
		default: // one byte more, until state knows enough
			var b [1]byte
			n, err := w.src.Read(b[:])
			w.head = append(w.head, b[:n]...)
			if err != nil {
				w.out, w.head, w.failed = w.head, nil, err
			}
		}
	}
}

// frame looks at a frame header. It reports false if head is too short.
func (w *windowReader) frame() bool {
	h := w.head
	if len(h) < 4 {
		return false
	}
	magic := binary.LittleEndian.Uint32(h)
	if magic&^0xF == 0x184D2A50 { // skippable
		if len(h) < 8 {
			return false
		}
		w.pass = int64(binary.LittleEndian.Uint32(h[4:]))
		return true
	}
	if string(h[:4]) != zstdMagic {
		w.state = nil // the decompressor will say so
		return true
	}
	if len(h) < 5 {
		return false
	}
	d := h[4]
	single := d&0x20 != 0
	size := 5 + [...]int{0, 1, 2, 4}[d&3]
	content := [...]int{0, 2, 4, 8}[d>>6]
	if !single {
		size++
	} else if content == 0 {
		content = 1
	}
	if len(h) < size+content {
		return false
	}
	w.tail = int64(d >> 2 & 1 * 4)
	w.state = (*windowReader).block
	largest := byte(bits.Len64(w.max)-11) << 3 // as a window descriptor: a power of two
	if single {
		var b [8]byte
		copy(b[:], h[size:size+content])
		w.clamped = binary.LittleEndian.Uint64(b[:]) > w.max
		if w.clamped { // the window is the content: it gets a descriptor
			h[4] &^= 0x20
			w.head = append(append(append([]byte(nil), h[:5]...), largest), h[5:]...)
		}
		return true
	}
	window := uint64(1) << (10 + h[5]>>3)
	window += window / 8 * uint64(h[5]&7)
	if w.clamped = window > w.max; w.clamped {
		h[5] = largest
	}
	return true
}

// block looks at a block header.
func (w *windowReader) block() bool {
	h := w.head
	if len(h) < 3 {
		return false
	}
	v := int64(h[0]) | int64(h[1])<<8 | int64(h[2])<<16
	w.pass = v >> 3
	if v>>1&3 == 1 { // one byte, repeated
		w.pass = 1
	}
	if v&1 != 0 {
		w.pass += w.tail
		w.state = (*windowReader).frame
	}
	return true
}
