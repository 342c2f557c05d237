package frame

import (
	"bytes"
	"errors"
	"fmt"
	"io"
)

// Lengths of what [ParseHeader] and [Header.Block] look at (RFC 8878 §3.1.1).
const (
	MaxHeader   = 18 // the longest header of a zstd frame, magic included
	BlockHeader = 3
	MaxBlock    = 128 << 10 // bytes of text in one block, at most
)

// ErrNoFrame says that no frame starts at a place.
var ErrNoFrame = errors.New("no zstd frame starts here")

var (
	errReservedBit = errors.New("reserved bit of the frame header is set")
	errContentSize = errors.New("content size is beyond any file")
)

// Header is what the header of a zstd frame says.
type Header struct {
	Size      int   // of the header itself in bytes, magic included
	Content   int64 // decoded bytes, -1 if not said; of a skippable frame, the bytes behind the header
	Window    int64 // bytes that a decoder has to keep
	Checksum  bool  // four bytes follow the last block
	Skippable bool  // not data: nothing of the above but Size and Content is set
}

// ParseHeader reads the header that b starts with. The error is io.ErrUnexpectedEOF if b ends inside of it, ErrNoFrame if
// there is none, another one if the header is wrong.
func ParseHeader(b []byte) (Header, error) {
	switch {
	case len(b) < 5 && IsZstd(b):
		return Header{}, io.ErrUnexpectedEOF
	case len(b) >= 5 && string(b[:4]) == magic:
	case !IsZstd(b):
		return Header{}, ErrNoFrame
	case len(b) < skippableHeader:
		return Header{}, io.ErrUnexpectedEOF
	default:
		return Header{Size: skippableHeader, Content: int64(little(b[4:8])), Skippable: true}, nil
	}
	d := b[4]
	if d&0x08 != 0 {
		return Header{}, errReservedBit
	}
	single := d&0x20 != 0
	h := Header{Size: 5, Content: -1, Checksum: d&0x04 != 0}
	windowAt := h.Size
	if !single {
		h.Size++
	}
	h.Size += [...]int{0, 1, 2, 4}[d&3] // dictionary id
	contentAt := h.Size
	contentSize := [...]int{0, 2, 4, 8}[d>>6]
	if contentSize == 0 && single {
		contentSize = 1
	}
	h.Size += contentSize
	if len(b) < h.Size {
		return Header{}, io.ErrUnexpectedEOF
	}
	content := little(b[contentAt:h.Size])
	if contentSize == 2 {
		content += 256
	}
	if content > 1<<62 {
		return Header{}, errContentSize
	}
	if contentSize > 0 {
		h.Content = int64(content)
	}
	h.Window = h.Content
	if !single {
		exponent, mantissa := int64(b[windowAt]>>3), int64(b[windowAt]&7)
		h.Window = 1 << (10 + exponent)
		h.Window += h.Window / 8 * mantissa
	}
	return h, nil
}

func little(b []byte) (v uint64) {
	for i, c := range b {
		v |= uint64(c) << (8 * i)
	}
	return v
}

// Block is what the header of a block says.
type Block struct {
	Stored      int // bytes behind the header
	Least, Most int // bounds of the bytes they decode to
	Last        bool
}

// Block reads the block header that b, of BlockHeader bytes or more, starts with, in a frame with the header h.
func (h *Header) Block(b []byte) (Block, error) {
	v := uint32(b[0]) | uint32(b[1])<<8 | uint32(b[2])<<16
	size := int(v >> 3)
	block := Block{Stored: size, Least: size, Most: size, Last: v&1 != 0}
	most := int(min(h.Window, MaxBlock)) // RFC 8878 §3.1.1.2.4
	switch v >> 1 & 3 {
	case 1: // one byte, to be repeated
		block.Stored = 1
	case 2: // compressed
		block.Least, block.Most = 0, most
	case 3:
		return Block{}, errors.New("reserved block type")
	}
	if size > most {
		return Block{}, fmt.Errorf("block of %d bytes, more than the allowed %d", size, most)
	}
	return block, nil
}

// IsZstd reports whether b begins with the magic of a zstd frame or skippable frame, or is the beginning of one.
func IsZstd(b []byte) bool {
	if len(b) > 0 && b[0]&0xf0 == 0x50 {
		return hasMagic(b[1:], skippable)
	}
	return hasMagic(b, magic)
}

// IsGzip reports whether b begins with the magic and the method of a gzip member, or is the beginning of them.
func IsGzip(b []byte) bool { return hasMagic(b, gzipMagic) }

func hasMagic(b []byte, magic string) bool {
	n := min(len(b), len(magic))
	return string(b[:n]) == magic[:n]
}

const (
	magic     = "\x28\xb5\x2f\xfd" // RFC 8878 §3.1.1
	skippable = "\x2a\x4d\x18"     // §3.1.2, behind a byte from 0x50 to 0x5f
	gzipMagic = "\x1f\x8b\x08"     // RFC 1952 §2.3.1: ID1, ID2, CM
)

// IndexZstd returns the index of the first whole magic of a zstd frame or skippable frame in b, or -1.
func IndexZstd(b []byte) int {
	first := bytes.Index(b, []byte(magic))
	for at := 0; ; at++ {
		i := bytes.Index(b[at:], []byte(skippable))
		if i < 0 || first >= 0 && at+i > first {
			return first
		}
		at += i
		if at > 0 && b[at-1]&0xf0 == 0x50 {
			return at - 1
		}
	}
}

// IndexGzip returns the index of the first four bytes in b that may begin a gzip member, or -1: magic, method, and flags of
// which none is reserved.
func IndexGzip(b []byte) int {
	for at := 0; ; at++ {
		i := bytes.Index(b[at:], []byte(gzipMagic))
		if i < 0 {
			return -1
		}
		at += i
		if at+3 < len(b) && b[at+3]&0xe0 == 0 {
			return at
		}
	}
}
