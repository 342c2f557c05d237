package reader

import (
	"io"

	"github.com/tracehandler/tracehandler/format"
)

// Frame is one gzip member or zstd frame of a file.
type Frame struct {
	Offset    int64 // of its first byte
	Size      int64 // bytes stored
	Content   int64 // bytes of text
	Skippable bool  // a zstd skippable frame: no text
}

// Bounds says where the whole part of a file ends.
type Bounds struct {
	Magic    format.Magic   // what the file is
	End      int64          // a file cut here holds whole frames of whole lines
	Frames   []Frame        // whole members or frames between from and End, in order; nil for text
	Lines    int64          // lines between from and End
	Text     int64          // bytes of text between from and End
	OpenLine bool           // the text before End does not end with a line end: write one before the next line
	Torn     *TornError     // what stands behind End, nil if nothing does
	Damage   []*DamageError // what is corrupt before End
}

// Boundary finds the end of the last whole line of the last whole frame in the first size bytes of r, looking from
// the offset from on, which must be 0 or the end of a frame or line.
func Boundary(r io.ReaderAt, size, from int64) (Bounds, error) { return Bounds{}, errNotBuilt }
