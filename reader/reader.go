package reader

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"slices"

	"github.com/tracehandler/tracehandler/event"
	"github.com/tracehandler/tracehandler/format"
	"github.com/tracehandler/tracehandler/internal/vfs"
)

// Reader reads one trace. It is not safe for concurrent use.
//
// An iteration that is broken off can be taken up by another one, also of another method: it begins where the last one
// ended, except that blank and bad lines which stood before the next event are gone.
type Reader struct {
	path   string
	o      Options
	src    source
	layers []format.Magic
	outer  []fetcher // of the layers around the last
	file   io.Closer // nil if it is not ours
	final  error     // what ended the reading, once something did
	first  error     // the first error that is not a LineError
	rec    record
	auto   *event.Deferred // keys with @ of the event autoOf, where the source has none; nil until they are asked for
	autoOf event.Event
	counts Stats // what Stats returns after Close
	kind   Kind  // what Kind returns then
	query  *selection
	named  []byte // what is known of every event, made when it is asked for
	looked int    // how often next has asked its source, for Options.Progress
}

// Kind says what a trace holds once its compression is taken away.
type Kind uint8

// The kinds.
const (
	JSONLines     Kind = iota // one JSON object per line
	PrefixedLines             // one JSON object per line, behind text such as a time stamp
	CLPKeyValue               // a CLP IR stream of key-value events; lines are made of them
	CLPText                   // a CLP IR stream of text messages; lines are made of them
	CLPArchive                // a CLP archive; lines are made of its records
)

// String returns what a person would call it.
func (k Kind) String() string {
	switch k {
	case JSONLines:
		return "JSON lines"
	case PrefixedLines:
		return "JSON lines with prefixes"
	case CLPKeyValue:
		return "CLP key-value stream"
	case CLPText:
		return "CLP text stream"
	case CLPArchive:
		return "CLP archive"
	}
	return fmt.Sprintf("kind(%d)", uint8(k))
}

// Open opens the file at path, or the directory if it is a CLP archive, and reads as much of it as it takes to know what it
// is. The caller closes the Reader. Damage and an empty file are not errors of Open; a CLP archive of a version that cannot
// be read is one, see [archive.ErrVersion]. An archive that is a part of a set is read with the parts before it, see [Parts].
func Open(path string, o *Options) (*Reader, error) {
	f, err := vfs.OS.OpenFile(path, os.O_RDONLY, 0)
	if err != nil {
		return nil, fmt.Errorf("reader: %w", err)
	}
	if info, err := f.Stat(); err == nil && info.IsDir() {
		f.Close()
		return openDir(path, o)
	}
	r, err := open(f, path, o)
	if err == nil {
		if err = r.joinParts(path); err != nil {
			r.Close()
		}
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	r.file = f
	return r, nil
}

// openDir opens a directory that is an archive.
func openDir(path string, opts *Options) (*Reader, error) {
	if !IsArchiveDir(path) {
		return nil, fmt.Errorf("reader: %s: is a directory", path)
	}
	o, err := opts.withDefaults()
	if err != nil {
		return nil, err
	}
	name := path
	if o.Name != "" {
		name = o.Name
	}
	src, err := openArchiveDir(path, name, &o)
	if err != nil {
		return nil, err
	}
	return &Reader{path: name, o: o, src: src}, nil
}

// New reads a trace from src, which may be anything: standard input, a file that is open already and is read from where
// it stands, bytes in memory. It waits until src has the first bytes. Close does not close src.
func New(src io.Reader, o *Options) (*Reader, error) {
	name := "stream"
	if f, ok := src.(interface{ Name() string }); ok {
		name = f.Name()
	}
	return open(src, name, o)
}

// open detects the layers of src, outermost first, and makes a Reader of the innermost.
func open(src io.Reader, name string, opts *Options) (*Reader, error) {
	o, err := opts.withDefaults()
	if err != nil {
		return nil, err
	}
	if o.Name != "" {
		name = o.Name
	}
	r := &Reader{path: name, o: o}
	if err := r.detect(newInput(name, src)); err != nil {
		r.Close()
		return nil, err
	}
	return r, nil
}

// Close ends the reading and closes the file if Open opened it. It is idempotent.
func (r *Reader) Close() error {
	var err error
	if r.src != nil {
		r.counts, r.kind = r.src.stats(), r.src.kind()
		err = r.src.close()
		r.src = nil
	}
	for _, f := range r.outer {
		f.close()
	}
	r.outer = nil
	if r.file != nil {
		err = errors.Join(err, r.file.Close())
		r.file = nil
	}
	r.final = errClosed
	if err != nil {
		return fmt.Errorf("reader: %s: %w", r.path, err)
	}
	return nil
}

var errClosed = errors.New("reader: closed")

// Kind returns what the trace holds, as far as its first lines tell.
func (r *Reader) Kind() Kind {
	if r.src == nil {
		return r.kind
	}
	return r.src.kind()
}

// Compression returns the layers of compression, outermost first; empty for plain text.
func (r *Reader) Compression() []format.Magic { return slices.Clone(r.layers) }

// Path returns the name that stands for the file in errors.
func (r *Reader) Path() string { return r.path }

// Line is one line of a trace. Its slices are valid until the next step of the iteration, and nobody may change them.
type Line struct {
	Number int64  // from 1
	Offset int64  // of the line's first byte in the uncompressed text, without what damage took
	Raw    []byte // the whole line without its line end
	Prefix []byte // what stands before the JSON text, in a trace of PrefixedLines
	Text   []byte // the rest
	Open   bool   // the text ends with this line and without a line end
}

// Lines iterates over the lines, whatever they hold; blank ones are lines too. An error stands alone, with a zero Line: a
// *LineError for a line that is too long, a *DamageError or *TornError for bytes that are in no line. Anything else is a
// failure to read and the last pair.
func (r *Reader) Lines() iter.Seq2[Line, error] { return each(r, false, &r.rec.line) }

// Events iterates over the events; blank lines are passed over. An error stands alone, with a zero Event, and is a
// report of what is not delivered (*LineError, *DamageError, *TornError), with one exception: a line that is an event but
// for bytes that are not UTF-8 is reported and then delivered; they decode as U+FFFD, and Line keeps them. Anything else
// than a report is a failure to read and the last pair.
//
// An event is valid until the next step of the iteration; Clone keeps it.
func (r *Reader) Events() iter.Seq2[event.Event, error] { return each(r, true, &r.rec.ev) }

// each iterates over what next leaves in item, a part of r.rec.
func each[T any](r *Reader, events bool, item *T) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var none T
		if !r.begin(events, r.o.Parallel) {
			yield(none, r.final)
			return
		}
		defer r.end()
		for {
			err := r.next()
			if err == io.EOF {
				return
			}
			if err != nil {
				if !yield(none, err) || r.final != nil {
					return
				}
				continue
			}
			if !yield(*item, nil) {
				return
			}
		}
	}
}

// Enumerate iterates over the good events with their index from 0, as tritonparse's enumerate_json does: everything else
// is passed over. Afterwards, Err and Stats tell whether there was anything else.
func (r *Reader) Enumerate() iter.Seq2[int, event.Event] {
	return func(yield func(int, event.Event) bool) {
		i := 0
		for e, err := range r.Events() {
			if err != nil {
				continue
			}
			if !yield(i, e) {
				return
			}
			i++
		}
	}
}

// Err returns the first error met that is not a LineError: damage, a torn end, a failure to read. It is nil as long as
// everything but single lines could be read.
func (r *Reader) Err() error { return r.first }

// Stats counts what a Reader has delivered and passed over.
type Stats struct {
	Lines   int64 // lines seen, bad and blank ones included
	Events  int64 // events delivered
	Bad     int64 // lines that are not an event as they stand
	Blank   int64 // lines of nothing but white space
	Text    int64 // bytes of uncompressed text
	Stored  int64 // bytes read from the file, look-ahead included; of an archive, the share of its size that was delivered
	Frames  int64 // whole gzip members or zstd frames
	Damage  int64 // stretches reported as DamageError or TornError
	Skipped int64 // bytes in them, as stored
}

// Stats returns the counts so far. Events, Bad and Blank count what Events looked at; Lines does not look.
func (r *Reader) Stats() Stats {
	if r.src == nil {
		return r.counts
	}
	return r.src.stats()
}

// begin prepares an iteration. It reports false if the reading has ended with an error.
func (r *Reader) begin(events bool, workers int) bool {
	if r.final != nil && r.final != io.EOF {
		return false
	}
	r.src.begin(events, workers)
	return true
}

func (r *Reader) end() {
	if r.src != nil {
		r.src.end()
	}
}

// next moves r.rec on and keeps account of errors.
func (r *Reader) next() error {
	if r.final != nil {
		return r.final
	}
	err := r.ask()
	for err == nil && r.query != nil && !r.query.done && !r.query.finds(r) {
		err = r.ask()
	}
	if err == nil {
		return nil
	}
	report := IsReport(err)
	if _, line := err.(*LineError); !line && err != io.EOF && r.first == nil {
		r.first = err
	}
	if !report || r.o.OnBad == Stop {
		r.final = err
	}
	return err
}

// progressEvery is how many events or lines pass between two calls of Options.Progress.
const progressEvery = 4096

// ask has the source move r.rec on.
func (r *Reader) ask() error {
	if r.looked++; r.looked%progressEvery == 0 && r.o.Progress != nil {
		r.o.Progress(r.src.stats().Stored)
	}
	return r.src.next(&r.rec)
}
