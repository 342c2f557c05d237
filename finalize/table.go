package finalize

import (
	"math"

	"github.com/tracehandler/tracehandler/internal/frame"
)

// maxTable is the number of frames up to which a seek table is written. It bounds the memory for the table to 2 MiB; with
// full frames it stands for 64 GiB of text.
const maxTable = 1 << 18

// table collects the frames of a zstd file for its seek table. A nil table collects nothing.
type table struct {
	entries []entry
	off     bool // no table can or should be written
}

type entry struct {
	size, text uint32
}

func (t *table) add(i frame.Info) {
	switch {
	case t == nil || t.off:
	case len(t.entries) == maxTable, i.ContentSize < 0, i.Size > math.MaxUint32, i.ContentSize > math.MaxUint32:
		t.spoil()
	default:
		t.entries = append(t.entries, entry{uint32(i.Size), uint32(i.ContentSize)})
	}
}

// spoil gives the table up: there are bytes in the file that it could not describe.
func (t *table) spoil() {
	if t != nil {
		t.entries, t.off = nil, true
	}
}

// size returns the size in bytes of the seek table after n more frames.
func (t *table) size(n int) int64 {
	if t == nil || t.off {
		return 0
	}
	const frameHeader, footer, perFrame = 8, 9, 8 // of the seekable format, without checksums
	return frameHeader + footer + perFrame*int64(len(t.entries)+n)
}

// append appends the seek table, a skippable frame, to dst.
func (t *table) append(dst []byte) []byte {
	if t == nil || t.off || len(t.entries) == 0 {
		return dst
	}
	infos := make([]frame.Info, len(t.entries))
	var off int64
	for i, e := range t.entries {
		infos[i] = frame.Info{Offset: off, Size: int64(e.size), ContentSize: int64(e.text)}
		off += int64(e.size)
	}
	return frame.AppendSeekTable(dst, infos)
}
