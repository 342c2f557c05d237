package reader

import (
	"errors"
	"fmt"
	"io"

	"github.com/tracehandler/tracehandler/clp/ir"
	"github.com/tracehandler/tracehandler/clp/ir/slogkv"
	"github.com/tracehandler/tracehandler/event"
)

// irSource delivers the events of a CLP IR stream, of either kind, as lines of JSON. A key means nothing without all that
// comes before it in the stream, so that nothing behind damage is read.
type irSource struct {
	in    *input
	src   *untilGap
	ahead *aheadLayer // nil if the stream is not compressed
	r     *ir.Reader
	dec   *slogkv.Decoder
	limit int
	lazy  *event.Deferred // for events whose line nobody may ever want
	wants bool            // events, not lines
	seen  Stats
	skip  int64 // events that were delivered before the file was opened again
	line  []byte
	event *ir.Event // that line, or lazy, stands for
	auto  []byte
	about []byte // what is known of all events, made when it is asked for
	ended bool
}

// untilGap reads the text of a layer up to the first damage in it.
type untilGap struct {
	src     io.Reader
	reports *[]error // of the layer; nil if src is none
	gap     error
}

// Read implements io.Reader.
func (u *untilGap) Read(p []byte) (int, error) {
	if u.gap == nil {
		n, err := u.src.Read(p)
		if u.reports == nil || len(*u.reports) == 0 {
			return n, err
		}
		u.gap = (*u.reports)[0] // what was read stands behind it
	}
	return 0, io.EOF
}

func openIR(in *input, o *Options) (source, error) {
	s := &irSource{in: in, limit: o.MaxLine, src: &untilGap{src: in.src}}
	if l, ok := in.src.(*layer); ok {
		s.ahead = newAheadLayer(l)
		s.src = &untilGap{src: s.ahead, reports: l.reports}
		in.src = s.src
	}
	var err error
	s.r, err = ir.NewReader(in, &ir.ReaderOptions{Limits: ir.Limits{Event: o.MaxLine, Keys: o.MaxKeys}})
	if err != nil {
		// The reader of such a trace is there, and reports the error in the place of the first event.
		s.line, s.ended = nil, true
		return &brokenSource{irSource: s, err: s.report(err)}, nil
	}
	s.dec = slogkv.NewDecoder(s.r)
	s.lazy = event.NewDeferred(func(dst []byte) []byte {
		dst, _ = s.dec.AppendLine(dst, s.event) // no error: it is Readable
		return dst
	})
	return s, nil
}

func (s *irSource) begin(events bool, workers int) {
	s.wants = events
	if s.ahead != nil {
		s.ahead.begin(workers)
	}
}

func (s *irSource) end() {
	if s.ahead != nil {
		s.ahead.end()
	}
}

func (s *irSource) kind() Kind {
	if s.r != nil && s.r.IsText() {
		return CLPText
	}
	return CLPKeyValue
}

func (s *irSource) stats() Stats {
	st := s.seen
	st.Stored = stored(s.in)
	if s.r != nil {
		st.Text = s.r.Offset()
	}
	return st
}

// stored returns how many bytes of the outermost layer were read.
func stored(in *input) int64 {
	src := in.src
	if u, ok := src.(*untilGap); ok {
		src = u.src
	}
	var f fetcher
	switch l := src.(type) {
	case *aheadLayer:
		f = l.p.f
	case *layer:
		f = l.f
	}
	switch f := f.(type) {
	case *zstdFetcher:
		return stored(f.in)
	case *gzipFetcher:
		return stored(f.in)
	}
	return in.offset()
}

// journal returns the ID of the stream if it is the journal of an archive that is still to be made, and nothing otherwise.
func (s *irSource) journal() string {
	if s.r == nil {
		return ""
	}
	j, _ := slogkv.JournalOf(s.r.Metadata())
	return j.ID
}

func (s *irSource) close() error {
	s.end()
	if s.r != nil {
		return s.r.Close()
	}
	return nil
}

// next implements source.
func (s *irSource) next(rec *record) error {
	for !s.ended {
		e, err := s.r.Next()
		if err == io.EOF {
			s.ended = true
			// What follows the end belongs to nobody. A file that is followed ends only when its writer is gone.
			_, err := io.Copy(io.Discard, s.in)
			if err != nil {
				return fmt.Errorf("reader: %s: %w", s.in.path, err)
			}
			break
		}
		if err != nil {
			s.ended = true
			if s.isEnd(err) {
				break
			}
			return s.report(err)
		}
		if s.skip > 0 {
			s.skip--
			s.seen.Lines++
			continue
		}
		s.seen.Lines++
		if s.wants && s.dec.Readable(e, s.limit) {
			s.event = e
			s.seen.Events++
			rec.ev = s.lazy.Next()
			return nil
		}
		if s.line, err = s.dec.AppendLine(s.line[:0], e); err != nil {
			s.seen.Bad++
			return &LineError{Path: s.in.path, Line: s.seen.Lines, Offset: e.Offset(), Expected: "an event", Err: err}
		}
		if len(s.line) > s.limit {
			s.seen.Bad++
			return &LineError{Path: s.in.path, Line: s.seen.Lines, Offset: e.Offset(), Expected: "an event", Err: errTooLong}
		}
		s.seen.Events++
		s.event = e
		*rec = record{line: Line{Number: s.seen.Lines, Offset: e.Offset(), Raw: s.line, Text: s.line}, ev: event.Lazy(s.line)}
		return nil
	}
	return io.EOF
}

// isEnd reports whether err is how the journal of an archive ends: behind a whole event, without an end mark.
func (s *irSource) isEnd(err error) bool {
	var incomplete *ir.IncompleteError
	_, journal := slogkv.JournalOf(s.r.Metadata())
	return journal && s.src.gap == nil && errors.As(err, &incomplete) && incomplete.Unit == incomplete.Offset
}

// report turns an error of the stream into one of this package.
func (s *irSource) report(err error) error {
	var (
		incomplete *ir.IncompleteError
		corrupt    *ir.CorruptError
		limit      *ir.LimitError
	)
	if s.src.gap != nil && !errors.As(err, &corrupt) {
		err = s.src.gap
	}
	switch {
	case errors.As(err, &incomplete):
		s.seen.Damage++
		s.seen.Skipped += incomplete.Offset - incomplete.Unit
		return &TornError{Path: s.in.path, Offset: incomplete.Unit, Skipped: incomplete.Offset - incomplete.Unit, Line: s.seen.Lines,
			Expected: "a CLP stream", Err: err}
	case errors.As(err, &corrupt):
		s.seen.Damage++
		skipped := s.rest() - corrupt.Offset
		s.seen.Skipped += skipped
		return &DamageError{Path: s.in.path, Offset: corrupt.Offset, Skipped: skipped, Line: s.seen.Lines, Expected: "a CLP stream", Err: err}
	case errors.As(err, &limit):
		hint := ""
		if limit.What == "keys" {
			hint = " (Options.MaxKeys)"
		}
		return fmt.Errorf("reader: %s: %w%s", s.in.path, err, hint)
	}
	var damage *DamageError
	var torn *TornError
	switch {
	case errors.As(err, &damage):
		damage.Line, damage.Expected = s.seen.Lines, damage.Expected+" (a CLP stream cannot be read behind damage)"
		s.rest()
		damage.Skipped = max(damage.Skipped, stored(s.in)-damage.Offset)
		s.seen.Damage++
		s.seen.Skipped += damage.Skipped
	case errors.As(err, &torn):
		torn.Line = s.seen.Lines
		s.seen.Damage++
		s.seen.Skipped += torn.Skipped
	default:
		return fmt.Errorf("reader: %s: %w", s.in.path, err)
	}
	return err
}

// rest reads on to the end and returns how many bytes the input has.
func (s *irSource) rest() int64 {
	if s.src.gap != nil { // the layer goes on
		s.in.src, s.in.err = s.src.src, nil
	}
	_, _ = io.Copy(io.Discard, s.in) // an error of the source ends what can be counted
	return s.in.offset()
}

// brokenSource is a stream whose beginning cannot be read.
type brokenSource struct {
	*irSource
	err error
}

// next implements source.
func (s *brokenSource) next(*record) error {
	if err := s.err; err != nil {
		s.err = nil
		return err
	}
	return io.EOF
}
