package frame

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// Numbers of RFC 8878 §3.1.
const (
	zstdMagic         = 0xFD2FB528
	skippableMagic    = 0x184D2A50 // to 0x184D2A5F
	skippableMask     = 0xFFFFFFF0
	skippableHeader   = 8
	maxFrameHeader    = 18
	blockHeader       = 3
	checksumSize      = 4
	maxBlock          = 128 << 10
	minSkippableFrame = skippableHeader
)

// Info is one frame of a file.
type Info struct {
	Offset      int64 // of its first byte
	Size        int64 // in the file, header and checksum included
	ContentSize int64 // decoded, in bytes; 0 for a skippable frame, -1 if the header does not say
	Skippable   bool  // not data: a seek table, or something of another program
	Checksum    bool  // the content is covered by a checksum
}

// End returns the offset behind the frame.
func (i Info) End() int64 { return i.Offset + i.Size }

// NextZstd returns the zstd frame, or skippable frame, that starts at off in the first size bytes of r. It reads headers
// only: a few bytes for each block of up to 128 KiB. Whether the content is whole, only decoding tells.
//
// At the end (off == size) the error is io.EOF. If the data ends inside the frame it is a *TornError; if there is no
// frame at off, or its headers contradict themselves, a *CorruptError. Other errors are those of r.
func NextZstd(r io.ReaderAt, off, size int64) (Info, error) {
	w := walker{r: r, start: off, size: size}
	return w.walk(off, -1)
}

// walker reads headers, through a buffer that spares a call of r where blocks are small.
type walker struct {
	r     io.ReaderAt
	start int64 // of the frame, for errors
	size  int64
	at    int64 // offset of window in r
	win   []byte
	buf   [512]byte
}

// walk returns the frame at off. If maxBlocks is not negative, it stops after so many blocks and returns what it knows,
// with Size 0.
func (w *walker) walk(off int64, maxBlocks int) (Info, error) {
	w.start = off
	if off == w.size {
		return Info{}, io.EOF
	}
	if off < 0 || off > w.size {
		return Info{}, fmt.Errorf("frame: offset %d is outside the %d bytes", off, w.size)
	}
	head, err := w.peek(off, maxFrameHeader)
	if err != nil {
		return Info{}, err
	}
	if !magicPrefix(head) {
		return Info{}, w.corrupt(off, "no zstd frame starts here")
	}
	if len(head) < 4 {
		return Info{}, w.torn()
	}
	if isSkippable(binary.LittleEndian.Uint32(head)) {
		if len(head) < skippableHeader {
			return Info{}, w.torn()
		}
		info := Info{Offset: off, Size: skippableHeader + int64(binary.LittleEndian.Uint32(head[4:])), Skippable: true}
		if info.End() > w.size {
			return Info{}, w.torn()
		}
		return info, nil
	}
	h, err := parseHeader(head)
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return Info{}, w.torn()
	case err != nil:
		return Info{}, w.corrupt(off, err.Error())
	}
	return w.blocks(off, h, maxBlocks)
}

func (w *walker) blocks(off int64, h header, maxBlocks int) (Info, error) {
	info := Info{Offset: off, ContentSize: h.content, Checksum: h.checksum}
	pos := off + int64(h.size)
	var least, most int64 // bounds of the content that the blocks hold
	for n := 0; ; n++ {
		if n == maxBlocks {
			return info, nil
		}
		b, err := w.peek(pos, blockHeader)
		if err != nil {
			return Info{}, err
		}
		if len(b) < blockHeader {
			return Info{}, w.torn()
		}
		v := uint32(b[0]) | uint32(b[1])<<8 | uint32(b[2])<<16
		last, kind, size := v&1 != 0, v>>1&3, int64(v>>3)
		if kind == 3 {
			return Info{}, w.corrupt(pos, "reserved block type")
		}
		if size > h.maxBlock {
			return Info{}, w.corrupt(pos, fmt.Sprintf("block of %d bytes, more than the allowed %d", size, h.maxBlock))
		}
		pos += blockHeader
		switch kind {
		case 0: // raw
			pos, least, most = pos+size, least+size, most+size
		case 1: // one byte, repeated
			pos, least, most = pos+1, least+size, most+size
		case 2:
			pos, most = pos+size, most+h.maxBlock
		}
		if h.content >= 0 && least > h.content {
			return Info{}, w.corrupt(pos, fmt.Sprintf("blocks hold more than the %d bytes of the header", h.content))
		}
		if last {
			break
		}
	}
	if h.checksum {
		pos += checksumSize
	}
	if pos > w.size {
		return Info{}, w.torn()
	}
	if h.content > most {
		return Info{}, w.corrupt(off, fmt.Sprintf("blocks hold less than the %d bytes of the header", h.content))
	}
	info.Size = pos - off
	return info, nil
}

// peek returns n bytes at off, fewer only where the data ends.
func (w *walker) peek(off int64, n int) ([]byte, error) {
	if off >= w.size {
		return nil, nil
	}
	n = int(min(int64(n), w.size-off))
	if rel := off - w.at; rel >= 0 && rel+int64(n) <= int64(len(w.win)) {
		return w.win[rel : rel+int64(n)], nil
	}
	m := int(min(int64(len(w.buf)), w.size-off))
	got, err := w.r.ReadAt(w.buf[:m], off)
	w.at, w.win = off, w.buf[:got]
	if got < n {
		if err == nil || errors.Is(err, io.EOF) {
			w.size = off + int64(got) // shorter than its size: torn there
			return w.win, nil
		}
		return nil, fmt.Errorf("frame: read at offset %d: %w", off, err)
	}
	return w.win[:n], nil
}

func (w *walker) torn() error { return &TornError{Offset: w.start, End: w.size} }

func (w *walker) corrupt(at int64, msg string) error {
	return &CorruptError{Offset: w.start, At: at, Msg: msg}
}

// header is what a frame header says.
type header struct {
	size     int   // of the header itself, magic included
	content  int64 // -1 if not said
	maxBlock int64 // bytes in a block, at most: RFC 8878 §3.1.1.2.4
	checksum bool
}

var (
	errReservedBit = errors.New("reserved bit of the frame header is set")
	errContentSize = errors.New("content size is beyond any file")
)

// parseHeader reads the header of a data frame, whose magic is known to be right. The error is io.ErrUnexpectedEOF if b
// is too short.
func parseHeader(b []byte) (header, error) {
	if len(b) < 5 {
		return header{}, io.ErrUnexpectedEOF
	}
	d := b[4]
	if d&0x08 != 0 {
		return header{}, errReservedBit
	}
	single := d&0x20 != 0
	h := header{size: 5, content: -1, checksum: d&0x04 != 0}
	windowAt := h.size
	if !single {
		h.size++
	}
	h.size += [...]int{0, 1, 2, 4}[d&3] // dictionary id
	contentAt := h.size
	contentSize := [...]int{0, 2, 4, 8}[d>>6]
	if contentSize == 0 && single {
		contentSize = 1
	}
	h.size += contentSize
	if len(b) < h.size {
		return header{}, io.ErrUnexpectedEOF
	}
	var content uint64
	for i := range contentSize {
		content |= uint64(b[contentAt+i]) << (8 * i)
	}
	if contentSize == 2 {
		content += 256
	}
	if content > 1<<62 {
		return header{}, errContentSize
	}
	if contentSize > 0 {
		h.content = int64(content)
	}
	window := h.content
	if !single {
		exponent, mantissa := int64(b[windowAt]>>3), int64(b[windowAt]&7)
		window = 1 << (10 + exponent)
		window += window / 8 * mantissa
	}
	h.maxBlock = min(window, maxBlock)
	return h, nil
}

func isSkippable(magic uint32) bool { return magic&skippableMask == skippableMagic }

// magicPrefix reports whether b begins with the magic of a frame or skippable frame, or is the beginning of one.
func magicPrefix(b []byte) bool {
	var m [4]byte
	n := copy(m[:], b)
	zstd := [4]byte{0x28, 0xb5, 0x2f, 0xfd}
	skip := [4]byte{0x50, 0x2a, 0x4d, 0x18}
	if string(m[:n]) == string(zstd[:n]) {
		return true
	}
	m[0] &= 0xf0
	return string(m[:n]) == string(skip[:n])
}
