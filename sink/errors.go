package sink

import (
	"errors"
	"fmt"

	"github.com/tracehandler/tracehandler/finalize"
)

var (
	// ErrClosed is the error of a sink that was closed.
	ErrClosed = errors.New("sink: closed")

	// ErrStalled is wrapped by the errors of calls that gave up waiting for a disk that neither works nor fails.
	ErrStalled = errors.New("sink: no progress")
)

// LockedError says that another live writer, in this process or another, has the file.
type LockedError = finalize.LockedError

// ExistsError says that a file is in the way.
type ExistsError = finalize.ExistsError

// FormatError says that a file holds another format than the one asked for.
type FormatError = finalize.FormatError

// UnfinishedError says that an archive was not made; its journal stays a partial with all its events.
type UnfinishedError = finalize.UnfinishedError

// DropError says that Append dropped its event, and why.
type DropError struct {
	Err error // what keeps the sink from writing
}

func (e *DropError) Error() string { return "sink: event dropped: " + e.Err.Error() }

// Unwrap returns the cause.
func (e *DropError) Unwrap() error { return e.Err }

// LostError is the error of a Close that could not write all accepted events. The file, if there is one, stays a partial
// that ends at its last whole frame; finalize.Recover makes a trace of it.
type LostError struct {
	Path   string // of the trace; empty for a Writer
	Events int64  // accepted and lost
	Bytes  int64  // of their text
	Err    error  // why writing failed
}

func (e *LostError) Error() string {
	name := e.Path
	if name == "" {
		name = "the writer's sink"
	}
	return fmt.Sprintf("sink: close %s: %d accepted events lost: %v", name, e.Events, e.Err)
}

// Unwrap returns the cause.
func (e *LostError) Unwrap() error { return e.Err }
