package sink

import (
	"context"

	"github.com/tracehandler/tracehandler/event"
)

// Sink takes encoded events and keeps them. The package comment states the contract rule by rule.
//
// A sink has one owner, who calls its methods under one lock. Only Err and Stats may be called at any time by anybody.
type Sink interface {
	// Encoder returns the encoder whose output Append takes.
	Encoder(o event.Options) event.Encoder

	// Append accepts p, one encoded event, and copies it. An error, a *DropError, ErrClosed or an *OptionError, means that
	// this event is not in the trace and never will be. The first event opens the file. Append never compresses and, as
	// long as a block is free, never waits and allocates nothing.
	Append(p []byte) error

	// Flush returns nil when everything accepted so far was handed to the operating system: it survives the process.
	Flush() error

	// Sync returns nil when everything accepted so far is on stable storage: it survives the machine.
	Sync() error

	// Rotate finishes the current file under a name of its own; the next event opens a new one. It does nothing if there
	// is no file. After an error the sink goes on with the old file.
	Rotate() error

	// Close writes what was accepted, turns the partial into a trace and ends the helper goroutine. Further calls return
	// what the first returned. From then on the other methods return ErrClosed.
	Close() error

	// Err returns why writing or rotating fails at the moment, nil while it works.
	Err() error

	// Stats returns what happened so far.
	Stats() Stats
}

// ContextCloser is a Sink whose Close can be cut short. All sinks of this package are ContextClosers.
type ContextCloser interface {
	// CloseContext is Close, but leaves archives (format CLP) that are not finished when ctx is done: their journals stay
	// partials with all their events, from which finalize.Recover makes the archives. The error is then an
	// *UnfinishedError.
	CloseContext(ctx context.Context) error
}

// Starter is a Sink that can begin a flush without waiting for its end. All sinks of this package are Starters.
type Starter interface {
	// StartFlush hands what was accepted to the helper goroutine and returns at once. What fails later shows in Err. The
	// error is that of a closed or misconfigured sink.
	StartFlush() error
}
