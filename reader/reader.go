package reader

import (
	"io"
	"iter"

	"github.com/tracehandler/tracehandler/event"
	"github.com/tracehandler/tracehandler/format"
)

// Reader reads one trace. It is not safe for concurrent use.
type Reader struct{}

// Kind says what a trace holds once its compression is taken away.
type Kind uint8

// The kinds.
const (
	JSONLines     Kind = iota // one JSON object per line
	PrefixedLines             // one JSON object per line, behind text such as a time stamp
)

// Open opens the file at path.
func Open(path string, o *Options) (*Reader, error) { return nil, errNotBuilt }

// New reads a trace from r.
func New(r io.Reader, o *Options) (*Reader, error) { return nil, errNotBuilt }

// Close ends the reading and closes the file if Open opened it.
func (r *Reader) Close() error { return nil }

// Kind returns what the trace holds.
func (r *Reader) Kind() Kind { return JSONLines }

// Compression returns the layers of compression, outermost first; empty for plain text.
func (r *Reader) Compression() []format.Magic { return nil }

// Line is one line of a trace. Its slices are valid until the next step of the iteration.
type Line struct {
	Number int64  // from 1
	Offset int64  // of the line's first byte in the uncompressed text
	Raw    []byte // the whole line without its line end
	Prefix []byte // what stands before the JSON text, in a trace of PrefixedLines
	Text   []byte // the rest
	Open   bool   // the text ends without a line end
}

// Lines iterates over the lines.
func (r *Reader) Lines() iter.Seq2[Line, error] {
	return func(yield func(Line, error) bool) { yield(Line{}, errNotBuilt) }
}

// Events iterates over the events.
func (r *Reader) Events() iter.Seq2[event.Event, error] {
	return func(yield func(event.Event, error) bool) { yield(event.Event{}, errNotBuilt) }
}

// Enumerate iterates over the good events with their index.
func (r *Reader) Enumerate() iter.Seq2[int, event.Event] {
	return func(yield func(int, event.Event) bool) {}
}

// Err returns the first error met that is not a LineError.
func (r *Reader) Err() error { return nil }

// Stats counts what a Reader has delivered and skipped.
type Stats struct {
	Lines   int64 // lines seen, bad and blank ones included
	Events  int64 // events delivered
	Bad     int64 // lines that are no event
	Blank   int64 // lines of white space
	Text    int64 // uncompressed bytes
	Stored  int64 // bytes read from the file
	Frames  int64 // whole members and frames
	Damage  int64 // stretches reported as DamageError or TornError
	Skipped int64 // bytes in them
}

// Stats returns the counts so far.
func (r *Reader) Stats() Stats { return Stats{} }
