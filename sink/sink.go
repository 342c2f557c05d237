package sink

import (
	"errors"
	"fmt"
	"time"

	"github.com/tracehandler/tracehandler/event"
	"github.com/tracehandler/tracehandler/finalize"
	"github.com/tracehandler/tracehandler/format"
	"github.com/tracehandler/tracehandler/internal/vfs"
)

// Sink takes encoded events and keeps them. The package comment states the contract rule by rule.
//
// A sink has one owner, who calls all methods under one lock. Only Err and Stats may be called at any time by anybody.
type Sink interface {
	// Encoder returns the encoder whose output Append takes.
	Encoder(o event.Options) event.Encoder

	// Append accepts p, one encoded event, and copies it. An error means that this event was dropped: that it is not in
	// the trace and never will be. The first event opens the file. Append never compresses, never waits for the disk as
	// long as a block is free, waits for a free block only while the disk makes progress, and allocates nothing.
	Append(p []byte) error

	// Flush returns nil when everything accepted so far was handed to the operating system: it survives the process.
	Flush() error

	// Sync returns nil when everything accepted so far is on stable storage: it survives the machine.
	Sync() error

	// Rotate finishes the current file under a name of its own; the next event opens a new one. Without a file it does
	// nothing.
	Rotate() error

	// Close writes what was accepted, turns the partial into a trace and ends the helper goroutine. It is idempotent:
	// further calls return what the first returned. Afterwards Append, Flush, Sync and Rotate return ErrClosed.
	Close() error

	// Err returns why writing fails at the moment, nil while it works.
	Err() error

	// Stats returns what happened so far.
	Stats() Stats
}

// Starter is a Sink that can begin a flush without waiting for its end. All sinks of this package are Starters.
type Starter interface {
	// StartFlush hands what was accepted to the helper goroutine and returns at once. Failures show in Err. It returns
	// an error only for a closed or misconfigured sink.
	StartFlush() error
}

// Exists says what a File sink does with a file that is there already.
type Exists uint8

// What a sink can do with a file that exists.
const (
	Append   Exists = iota // continue it, at a clean boundary
	Fail                   // refuse to write: an *ExistsError
	Truncate               // begin anew; the old trace stays until Close replaces it
)

// Options configure a sink. The zero value writes plain NDJSON, never rotates, and continues a file that exists.
type Options struct {
	// Format is the format of the trace: Plain, Gzip or Zstd.
	Format format.Format

	// Level is the effort of compression. Zero is the format's default, which is the fastest for zstd. gzip takes 1 to 9,
	// zstd 1 (fastest) to 4 (best).
	Level int

	// BlockSize is the number of bytes of text that make a block: what is compressed into one frame and written at once.
	// Zero is the format's default and for gzip and zstd the maximum: 64 KiB for plain, 1 MiB for gzip, 256 KiB for zstd.
	// A crash loses at most three blocks that were not flushed.
	BlockSize int

	// PerRecord makes each event a frame of its own, as tritonparse does. It costs about four times the bytes and the
	// time, and such traces get no seek table.
	PerRecord bool

	// Rotation says when a file is finished and the next one begun, and which finished ones are kept.
	Rotation Rotation

	// Exists says what to do if the file exists when the first event comes.
	Exists Exists

	// BeforePublish, if not nil, is called with the path of each complete partial before it is synced and gets its final
	// name. An error keeps it a partial.
	BeforePublish func(partial string) error

	// AppendWait bounds the time that Append waits for a free block without any progress, before it drops the event.
	// Zero means DefaultAppendWait.
	AppendWait time.Duration

	// CloseWait bounds the time that Close tries to write accepted events while writing fails. Zero means
	// DefaultCloseWait, a negative value one attempt.
	CloseWait time.Duration

	// FS is the file system; nil means the operating system's.
	FS vfs.FS

	// Clock is the time; nil means the system's.
	Clock Clock
}

// Rotation says when a sink begins a new file, and which of the finished ones it removes. The zero value does neither.
//
// A finished file is renamed from NAME.partial to the name that naming.RotatedName makes of NAME and the time. Only files
// whose name naming.ParseRotated traces back to NAME are ever removed.
type Rotation struct {
	MaxSize int64         // bytes on disk that a file may have; a larger single frame gets a file of its own
	MaxAge  time.Duration // the time after its opening at which a file is finished, also if no event comes

	Keep      int           // number of finished files that are kept
	KeepFor   time.Duration // the age at which a finished file is removed, by the time in its name
	KeepBytes int64         // bytes that all finished files together may have
}

// ErrClosed is the error of a sink that was closed.
var ErrClosed = errors.New("sink: closed")

// ErrFull is wrapped by the error of Append when all blocks are full and the disk makes no progress.
var ErrFull = errors.New("sink: buffers full")

// LockedError says that another live writer has the file.
type LockedError = finalize.LockedError

// ExistsError says that a file is in the way.
type ExistsError = finalize.ExistsError

// FormatError says that a file holds another format than the one asked for.
type FormatError = finalize.FormatError

// OptionError says what is wrong with the options. It comes from Append, Flush, Sync, Rotate and Close.
type OptionError struct {
	Option string
	Msg    string
}

func (e *OptionError) Error() string { return fmt.Sprintf("sink: option %s: %s", e.Option, e.Msg) }

// DropError says why an event was dropped.
type DropError struct {
	Err error
}

func (e *DropError) Error() string { return "sink: event dropped: " + e.Err.Error() }
func (e *DropError) Unwrap() error { return e.Err }

// LostError is the error of a Close that could not write all accepted events. The file, if there is one, stays a partial
// that ends at the last whole frame; finalize.Recover makes a trace of it.
type LostError struct {
	Path   string // the partial; empty for a Writer
	Events int64  // accepted and lost
	Bytes  int64  // of text
	Err    error
}

func (e *LostError) Error() string {
	return fmt.Sprintf("sink: %s: %d accepted events lost at close: %v", e.Path, e.Events, e.Err)
}
func (e *LostError) Unwrap() error { return e.Err }

// Stats counts what a sink did, since it was made. Text is the encoded events before compression.
type Stats struct {
	Events, Bytes               int64 // accepted by Append, bytes of text
	WrittenEvents, WrittenBytes int64 // of those, handed to the operating system
	DroppedEvents, DroppedBytes int64 // refused by Append
	LostEvents, LostBytes       int64 // accepted, but Close could not write them

	Blocks    int64 // written
	FileBytes int64 // written, after compression
	Retries   int64 // attempts to write a block after a failed one
	Files     int64 // opened
	Published int64 // files that became traces
	Rotations int64 // of those, under a name of their own
	Failed    int64 // rotations and removals of old files that failed; tried again later
	Removed   int64 // old files removed by the retention rules

	TornBytes      int64 // cut from the end of files that were continued
	SalvagedEvents int64 // whole events found in those bytes and kept
}
