package frame

import (
	"errors"
	"io"
)

// Info is one frame of a file.
type Info struct {
	Offset      int64 // of its first byte
	Size        int64 // in the file, header and checksum included
	ContentSize int64 // decoded; 0 for a skippable frame, -1 if the header does not say
	Skippable   bool  // not data: a seek table, or something of another program
}

// NextZstd returns the frame that starts at off.
func NextZstd(r io.ReaderAt, off, size int64) (Info, error) { return Info{}, errNotYet }

// FindZstd returns the offset of the next zstd magic at or after from.
func FindZstd(r io.ReaderAt, from, size int64) (off int64, ok bool, err error) {
	return 0, false, errNotYet
}

// FindGzip returns the offset of the next gzip member header at or after from.
func FindGzip(r io.ReaderAt, from, size int64) (off int64, ok bool, err error) {
	return 0, false, errNotYet
}

// AppendSeekTable appends the seek table for frames.
func AppendSeekTable(dst []byte, frames []Info) []byte { return dst }

// ReadSeekTable reads the seek table at the end of a file.
func ReadSeekTable(r io.ReaderAt, size int64) ([]Info, error) { return nil, errNotYet }

// Decoder decodes whole frames.
type Decoder struct{}

// AppendZstd decodes one whole frame.
func (d *Decoder) AppendZstd(dst, frame []byte, limit int) ([]byte, error) { return dst, errNotYet }

// TornError says that the data ends inside a frame.
type TornError struct {
	Offset int64 // of the frame's first byte
	End    int64 // where the data ends
}

func (e *TornError) Error() string { return "frame: torn" }

// CorruptError says that bytes are not what the format asks for.
type CorruptError struct {
	Offset int64 // of the frame's first byte
	At     int64 // where the wrong byte is
	Msg    string
}

func (e *CorruptError) Error() string { return "frame: corrupt" }

var errNotYet = errors.New("frame: not built yet")
