package frame

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
)

// The seek table of the "zstd seekable format", version 0.1.0
// (https://github.com/facebook/zstd/blob/dev/contrib/seekable_format/zstd_seekable_compression_format.md),
// is a skippable frame at the end of the file, all numbers little-endian:
//
//	5E 2A 4D 18 | size of the rest (4)
//	for each frame: size in the file (4) | size decoded (4) | checksum (4, only if the descriptor says so)
//	number of frames (4) | descriptor (1) | B1 EA 92 8F
//
// We write no checksums: each frame has its own.
const (
	seekTableMagic  = 0x184D2A5E
	seekFooterMagic = 0x8F92EAB1
	seekFooterSize  = 9
	seekEntrySize   = 8
	seekChecksum    = 0x80 // descriptor: entries have a checksum
	seekReserved    = 0x7c // descriptor: must be 0
)

// MaxSeekFrames is the largest number of frames in a table that is written or read. With frames of 256 KiB it covers
// 1 TiB; it bounds the memory that a hostile table can ask for to some 200 MB.
const MaxSeekFrames = 1 << 22

// AppendSeekTable appends the seek table for frames, which must be all of the file so far, in order, skippable ones
// included. If no table can describe them, it appends nothing: there are none or more than MaxSeekFrames, one is larger
// than 4 GiB or of unknown content size, or they leave a gap. The file is then as readable as with a table.
func AppendSeekTable(dst []byte, frames []Info) []byte {
	if len(frames) == 0 || len(frames) > MaxSeekFrames {
		return dst
	}
	var end int64
	for _, f := range frames {
		if f.Offset != end || f.Size < minSkippableFrame || f.Size > math.MaxUint32 || f.ContentSize < 0 || f.ContentSize > math.MaxUint32 {
			return dst
		}
		end += f.Size
	}
	dst = binary.LittleEndian.AppendUint32(dst, seekTableMagic)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(frames)*seekEntrySize+seekFooterSize))
	for _, f := range frames {
		dst = binary.LittleEndian.AppendUint32(dst, uint32(f.Size))
		dst = binary.LittleEndian.AppendUint32(dst, uint32(f.ContentSize))
	}
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(frames)))
	dst = append(dst, 0)
	return binary.LittleEndian.AppendUint32(dst, seekFooterMagic)
}

// ReadSeekTable reads the seek table at the end of the first size bytes of r and returns the frames before it, which
// cover the file from its start to the table. A table cannot tell skippable frames from empty ones: Skippable and
// Checksum are false in the result. Sizes are what the table claims; decoding a frame tells whether they are right.
//
// Without a table the error is ErrNoSeekTable; if what looks like one contradicts itself or the file, a *CorruptError.
// Other errors are those of r.
func ReadSeekTable(r io.ReaderAt, size int64) ([]Info, error) {
	if size < skippableHeader+seekFooterSize {
		return nil, ErrNoSeekTable
	}
	var footer [seekFooterSize]byte
	if err := readFull(r, footer[:], size-seekFooterSize); err != nil {
		return nil, err
	}
	if binary.LittleEndian.Uint32(footer[5:]) != seekFooterMagic {
		return nil, ErrNoSeekTable
	}
	count, descriptor := int64(binary.LittleEndian.Uint32(footer[:])), footer[4]
	entry := int64(seekEntrySize)
	if descriptor&seekChecksum != 0 {
		entry += checksumSize
	}
	start := size - skippableHeader - count*entry - seekFooterSize
	bad := func(format string, args ...any) error {
		return &CorruptError{Offset: max(start, 0), At: size - seekFooterSize, Msg: "seek table: " + fmt.Sprintf(format, args...)}
	}
	switch {
	case descriptor&seekReserved != 0:
		return nil, bad("reserved bits of the descriptor are set")
	case count > MaxSeekFrames:
		return nil, bad("%d frames, more than the allowed %d", count, MaxSeekFrames)
	case start < count*minSkippableFrame:
		return nil, bad("%d frames do not fit into the file", count)
	}
	table := make([]byte, skippableHeader+count*entry)
	if err := readFull(r, table, start); err != nil {
		return nil, err
	}
	if binary.LittleEndian.Uint32(table) != seekTableMagic || int64(binary.LittleEndian.Uint32(table[4:])) != count*entry+seekFooterSize {
		return nil, bad("%d frames announced, but the table does not start %d bytes before the end", count, size-start)
	}
	frames := make([]Info, count)
	var end int64
	for i := range frames {
		e := table[skippableHeader+int64(i)*entry:]
		f := Info{Offset: end, Size: int64(binary.LittleEndian.Uint32(e)), ContentSize: int64(binary.LittleEndian.Uint32(e[4:]))}
		if f.Size < minSkippableFrame {
			return nil, bad("frame %d of %d bytes", i, f.Size)
		}
		frames[i], end = f, f.End()
	}
	if end != start {
		return nil, bad("frames of %d bytes, but the table starts at offset %d", end, start)
	}
	return frames, nil
}

// readFull reads len(p) bytes at off. The end of r within them is io.ErrUnexpectedEOF.
func readFull(r io.ReaderAt, p []byte, off int64) error {
	n, err := r.ReadAt(p, off)
	if n == len(p) {
		return nil
	}
	if err == nil || errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return fmt.Errorf("frame: read at offset %d: %w", off, err)
}
