package frame

import (
	"errors"
	"fmt"
	"io"
)

// Numbers of RFC 8878 §3.1.
const (
	skippableHeader   = 8
	checksumSize      = 4
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
	head, err := w.peek(off, MaxHeader)
	if err != nil {
		return Info{}, err
	}
	h, err := ParseHeader(head)
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return Info{}, w.torn()
	case err != nil:
		return Info{}, w.corrupt(off, err.Error())
	case h.Skippable:
		info := Info{Offset: off, Size: int64(h.Size) + h.Content, Skippable: true}
		if info.End() > w.size {
			return Info{}, w.torn()
		}
		return info, nil
	}
	return w.blocks(off, &h, maxBlocks)
}

func (w *walker) blocks(off int64, h *Header, maxBlocks int) (Info, error) {
	info := Info{Offset: off, ContentSize: h.Content, Checksum: h.Checksum}
	pos := off + int64(h.Size)
	var least, most int64 // bounds of the content that the blocks hold
	for n := 0; ; n++ {
		if n == maxBlocks {
			return info, nil
		}
		b, err := w.peek(pos, BlockHeader)
		if err != nil {
			return Info{}, err
		}
		if len(b) < BlockHeader {
			return Info{}, w.torn()
		}
		block, err := h.Block(b)
		if err != nil {
			return Info{}, w.corrupt(pos, err.Error())
		}
		pos += BlockHeader + int64(block.Stored)
		least, most = least+int64(block.Least), most+int64(block.Most)
		if h.Content >= 0 && least > h.Content {
			return Info{}, w.corrupt(pos, fmt.Sprintf("blocks hold more than the %d bytes of the header", h.Content))
		}
		if block.Last {
			break
		}
	}
	if h.Checksum {
		pos += checksumSize
	}
	if pos > w.size {
		return Info{}, w.torn()
	}
	if h.Content > most {
		return Info{}, w.corrupt(off, fmt.Sprintf("blocks hold less than the %d bytes of the header", h.Content))
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
