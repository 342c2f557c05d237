package ir

import (
	"errors"
	"fmt"
	"io"
)

// What is wrong with a corrupt stream. A *CorruptError wraps one of them, or the error of the decompressor, or an
// *encoding.DecodeError.
var (
	ErrMagic       = errors.New("ir: not a CLP IR stream (unknown magic number)")
	ErrMetadata    = errors.New("ir: metadata is not what a preamble holds")
	ErrVersion     = errors.New("ir: unknown version of the format")
	ErrReference   = errors.New("ir: REFERENCE_TIMESTAMP is missing or no decimal string")
	ErrTag         = errors.New("ir: invalid tag")
	ErrLength      = errors.New("ir: negative length")
	ErrNodeType    = errors.New("ir: unknown type of a key")
	ErrNodeExists  = errors.New("ir: key inserted twice")
	ErrParent      = errors.New("ir: parent is not an object that was inserted before")
	ErrID          = errors.New("ir: ID of no key that can have a value")
	ErrIDTwice     = errors.New("ir: the same key twice in one event")
	ErrKeyOrder    = errors.New("ir: auto-generated key behind a user-generated one")
	ErrValueType   = errors.New("ir: value does not suit the type of its key")
	ErrSameKey     = errors.New("ir: one name with two types in the same object of one event")
	ErrObjectValue = errors.New("ir: object has a value of its own and members, too")
	ErrArray       = errors.New("ir: array is not valid JSON")
)

// Errors of writers.
var (
	ErrClosed    = errors.New("ir: closed")
	ErrTimestamp = errors.New("ir: difference of two timestamps overflows 64 bits")
	ErrBuilder   = errors.New("ir: builder used out of order")
)

// CorruptError is damage in a stream.
type CorruptError struct {
	Offset int64  // byte in the uncompressed stream
	Event  int64  // number of the event, from 0
	Detail string // what was found or expected there, may be empty
	Err    error
}

func (e *CorruptError) Error() string {
	s := e.Err.Error()
	if e.Detail != "" {
		s += ": " + e.Detail
	}
	return fmt.Sprintf("%s (byte %d, event %d)", s, e.Offset, e.Event)
}

func (e *CorruptError) Unwrap() error { return e.Err }

// IncompleteError reports that the input ends where the stream does not. Everything before Unit is whole. It is
// io.ErrUnexpectedEOF to errors.Is. If the input has grown meanwhile (a raw stream in a file that is being written),
// Next can be called again and goes on.
type IncompleteError struct {
	Unit   int64 // start of the first unit that is not whole: the place to cut the stream at
	Offset int64 // end of the input; equal to Unit if only the end mark is missing
}

func (e *IncompleteError) Error() string {
	if e.Unit == e.Offset {
		return fmt.Sprintf("ir: incomplete stream: no end mark (byte %d)", e.Offset)
	}
	return fmt.Sprintf("ir: incomplete stream: cut at byte %d, inside the unit that starts at byte %d", e.Offset, e.Unit)
}

func (e *IncompleteError) Is(target error) bool { return target == io.ErrUnexpectedEOF }

// LimitError reports that a stream, or an event to write, needs more than Limits allow.
type LimitError struct {
	What   string // "keys", "levels of nesting", "bytes of an event", "bytes of metadata", "bytes of a zstd window …"
	Limit  int64
	Offset int64 // in the uncompressed stream; -1 when writing
}

func (e *LimitError) Error() string {
	if e.Offset < 0 {
		return fmt.Sprintf("ir: more than %d %s", e.Limit, e.What)
	}
	return fmt.Sprintf("ir: more than %d %s (byte %d)", e.Limit, e.What, e.Offset)
}

// Limits bound what a reader takes from its input, and a writer from its caller, so that what is written can be read.
// A field that is 0 has its default.
type Limits struct {
	Keys  int // keys of both trees, default 131,072; about 64 bytes of memory each
	Depth int // nesting of objects, default 1,024
	Event int // bytes of one event, default 64 MiB, at most 1 GiB
}

func (l Limits) withDefaults() Limits {
	if l.Keys <= 0 {
		l.Keys = 1 << 17
	}
	if l.Depth <= 0 {
		l.Depth = 1 << 10
	}
	if l.Event <= 0 {
		l.Event = 64 << 20
	}
	l.Keys = min(l.Keys, 1<<31-2)
	l.Depth = min(l.Depth, 1<<15)
	l.Event = min(l.Event, 1<<30)
	return l
}
