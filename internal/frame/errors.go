package frame

import (
	"errors"
	"fmt"
)

// ErrNoSeekTable says that a file does not end in a seek table. It is not damage: the table only saves a walk.
var ErrNoSeekTable = errors.New("frame: no seek table")

// TornError says that the data ends inside a frame, as it does after a crash of the writer. A damaged size field looks
// the same if it points beyond the end; if FindZstd finds a whole frame further on, it was that.
type TornError struct {
	Offset int64 // of the frame's first byte
	End    int64 // where the data ends
}

// Error names both offsets.
func (e *TornError) Error() string {
	return fmt.Sprintf("frame: data ends at offset %d, inside the frame that starts at offset %d", e.End, e.Offset)
}

// CorruptError says that bytes are not what the format asks for.
type CorruptError struct {
	Offset int64  // of the frame's first byte
	At     int64  // of the bytes that are wrong; Offset if it is the frame as a whole
	Msg    string // what is wrong
	Err    error  // what the decompressor said, or nil
}

// Error names the offsets and what is wrong.
func (e *CorruptError) Error() string {
	s := fmt.Sprintf("frame: at offset %d: %s", e.Offset, e.Msg)
	if e.At != e.Offset {
		s = fmt.Sprintf("frame: at offset %d, in the frame that starts at offset %d: %s", e.At, e.Offset, e.Msg)
	}
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}

// Unwrap returns the decompressor's error.
func (e *CorruptError) Unwrap() error { return e.Err }

// LimitError says that a frame decodes to more bytes than the caller allows.
type LimitError struct {
	Limit int   // bytes allowed
	Size  int64 // bytes that the frame's header announces, -1 if it does not say
}

// Error names limit and size.
func (e *LimitError) Error() string {
	if e.Size < 0 {
		return fmt.Sprintf("frame: decodes to more than the allowed %d bytes", e.Limit)
	}
	return fmt.Sprintf("frame: decodes to %d bytes, more than the allowed %d", e.Size, e.Limit)
}
