package archive

import (
	"errors"
	"fmt"
)

// What is wrong with a damaged archive. A *CorruptError wraps one of them, or the error of the decompressor, or an
// error of package encoding.
var (
	ErrMagic       = errors.New("archive: not a CLP archive (unknown magic number)")
	ErrVersion     = errors.New("archive: version of the format that cannot be read")
	ErrCompression = errors.New("archive: unknown compression")
	ErrSum         = errors.New("archive: not what the checksum in the header is of")
	ErrShort       = errors.New("archive: ends too early")
	ErrLength      = errors.New("archive: length or number that cannot be")
	ErrMetadata    = errors.New("archive: metadata is not what an archive has")
	ErrSection     = errors.New("archive: section is missing or in the wrong place")
	ErrNode        = errors.New("archive: node of the schema tree that cannot be")
	ErrSchema      = errors.New("archive: schema contradicts itself or the tree")
	ErrTable       = errors.New("archive: table contradicts its schema or its stream")
	ErrTrailing    = errors.New("archive: more bytes than there should be")
	ErrEntry       = errors.New("archive: no such entry in a dictionary")
	ErrVariable    = errors.New("archive: variables of a value are not there")
	ErrFloat       = errors.New("archive: float that is not a JSON number")
	ErrArray       = errors.New("archive: array is not valid JSON")
	ErrTimestamp   = errors.New("archive: time without a usable pattern")
	ErrRange       = errors.New("archive: range index is not what an archive has")
	ErrSide        = errors.New("archive: side channel contradicts itself or the tables")
)

// ErrClosed is returned by a Reader after Close.
var ErrClosed = errors.New("archive: closed")

// CorruptError is damage in an archive, and where it is.
type CorruptError struct {
	Section string // "header", "metadata", or the name of a section such as "/var.dict"
	Stream  int    // packed stream of section "/0", otherwise -1
	Offset  int64  // byte in the uncompressed section or stream; in the file if Section is "header"
	Record  int64  // number of the record in its table if only this record is damaged, otherwise -1
	Schema  int32  // ID of the schema of the table that is damaged, or of the record; otherwise -1
	Detail  string // what was found or expected there, may be empty
	Err     error
}

func (e *CorruptError) Error() string {
	s := e.Err.Error()
	if e.Detail != "" {
		s += ": " + e.Detail
	}
	s += fmt.Sprintf(" (%s", e.Section)
	if e.Stream >= 0 {
		s += fmt.Sprintf(", stream %d", e.Stream)
	}
	if e.Record >= 0 {
		return s + fmt.Sprintf(", schema %d, record %d)", e.Schema, e.Record)
	}
	if e.Schema >= 0 {
		s += fmt.Sprintf(", schema %d", e.Schema)
	}
	return s + fmt.Sprintf(", byte %d)", e.Offset)
}

func (e *CorruptError) Unwrap() error { return e.Err }

// corrupt makes the damage of a section as a whole.
func corrupt(section string, offset int64, err error, detail string, args ...any) *CorruptError {
	return &CorruptError{Section: section, Stream: -1, Offset: offset, Record: -1, Schema: -1, Detail: fmt.Sprintf(detail, args...), Err: err}
}

// LimitError reports that an archive needs more than Options allow.
type LimitError struct {
	What  string // "bytes of memory", "bytes of metadata", "bytes of an entry", "nesting", …
	Limit int64
}

func (e *LimitError) Error() string { return fmt.Sprintf("archive: more than %d %s", e.Limit, e.What) }
