package reader

import (
	"io"

	"github.com/tracehandler/tracehandler/event"
	"github.com/tracehandler/tracehandler/format"
)

// source is what a Reader reads from, whatever the kind of trace.
type source interface {
	// begin and end stand around the calls of next that belong to one iteration, which wants events or lines. Only
	// between them may the source have goroutines.
	begin(events bool, workers int)
	end()

	// next moves rec to the next line or event. What rec held before is not valid any more. The error is io.EOF at the
	// end, a report (see IsReport), after which next may be called again, or a final failure.
	next(rec *record) error

	kind() Kind
	stats() Stats
	close() error
}

// record is what a source delivers: a line, or an event with the line it was read from, if there is one.
type record struct {
	line Line
	ev   event.Event
}

// openSource makes a source of a layer that is not lines of text.
type openSource func(in *input, o *Options) (source, error)

// sources has the kinds of traces that are not lines of text by their magic.
var sources = map[format.Magic]openSource{
	format.ArchiveMagic: openArchive,
	format.IRMagic4:     openIR,
	format.IRMagic8:     openIR,
}

// lineSource delivers the lines of text that a pipeline decodes.
type lineSource struct {
	in      *input // the outermost layer
	p       pipeline
	o       Options
	plain   bool     // no layer is compressed
	reports *[]error // damage that layers outside the last one met
	events  bool
	seen    Stats

	b       *block // being delivered; nil between blocks
	i       int    // next of b.lines
	fresh   bool   // nothing of b was looked at yet
	start   int64  // offset of b.text in the text
	text    int64  // bytes of text taken from blocks before b
	number  int64  // lines before the next one
	carry   []byte // the beginning of a line that goes on in the next block
	carryAt int64  // its offset in the text
	joined  []byte // the last line that was joined from parts
	long    int64  // length so far of a line that is too long, 0 in any other

	base    int64 // stored offset at which the text begins
	safe    int64 // stored offset up to which whole frames of whole lines were delivered
	trust   trust
	aligned bool // so far every frame ended with a line end
	frames  int64
	fixed   *badLine // a line reported for its UTF-8, still to be delivered
	fixedAt Line
	ended   bool
}

// trust says whether a line that begins behind a gap may be the rest of one that began in it.
type trust uint8

const (
	sure   trust = iota
	unsure       // nothing is known about this file's frames
	never        // frames of this file are known to begin inside lines
)

func newLineSource(in *input, f fetcher, o Options, plain bool, reports *[]error) *lineSource {
	return &lineSource{
		in: in, o: o, plain: plain, reports: reports, aligned: true, base: in.offset(), safe: in.offset(),
		p: pipeline{f: f, newlines: o.Newlines},
	}
}

// prime reads as far as is needed to know the kind of lines.
func (s *lineSource) prime() error {
	err := s.advance()
	if err == io.EOF {
		return nil // an empty file; the iteration will see so too
	}
	return err
}

func (s *lineSource) begin(events bool, workers int) {
	s.events = events
	if s.in.seek == nil {
		workers = 1
	}
	s.p.start(min(workers, s.o.Parallel), events)
}

func (s *lineSource) end()       { s.p.stop() }
func (s *lineSource) kind() Kind { return s.p.kind }

func (s *lineSource) stats() Stats {
	st := s.seen
	st.Lines, st.Text, st.Stored, st.Frames = s.number, s.text, s.in.offset(), s.frames
	return st
}

func (s *lineSource) close() error {
	s.p.close()
	s.b = nil
	return nil
}

// advance gets the next block.
func (s *lineSource) advance() error {
	b, err := s.p.next()
	if err != nil {
		return err
	}
	s.b, s.i, s.fresh, s.start = b, 0, true, s.text
	s.text += int64(len(b.text))
	at := 0
	for _, f := range b.frames {
		if f.skippable {
			continue
		}
		s.frames++
		if f.end > at && !isLineEnd(b.text[f.end-1]) {
			s.aligned = false
		}
		at = f.end
	}
	return nil
}

func isLineEnd(c byte) bool { return c == '\n' || c == '\r' }

// next implements source.
func (s *lineSource) next(rec *record) error {
	if s.quick(rec) {
		return nil
	}
	if s.fixed != nil {
		*rec = record{line: s.fixedAt, ev: s.fixed.ev}
		s.fixed = nil
		s.seen.Events++
		return nil
	}
	for {
		if len(*s.reports) > 0 {
			err := (*s.reports)[0]
			*s.reports = (*s.reports)[1:]
			return s.report(err)
		}
		if s.b == nil {
			if s.ended {
				return io.EOF
			}
			err := s.advance()
			if err == io.EOF {
				s.ended = true
				if len(*s.reports) > 0 {
					continue
				}
				if err := s.last(rec); err != errBlank {
					return err
				}
				return io.EOF
			}
			if err != nil {
				return err
			}
		}
		if s.events && !s.b.parsed {
			s.b.parse(s.p.kind)
		}
		var err error
		switch {
		case s.fresh:
			s.fresh = false
			err = s.head(rec)
		case s.i < len(s.b.lines):
			l := &s.b.lines[s.i]
			s.i++
			err = s.line(rec, s.b.text[l.start:l.end], s.start+int64(l.start), l)
		default:
			err = s.tail()
		}
		if err != errBlank {
			return err
		}
	}
}

// head delivers the line that ends in a new block and began before it, if there is one.
func (s *lineSource) head(rec *record) error {
	b := s.b
	if len(b.text) == 0 || len(s.carry) == 0 && s.long == 0 {
		return errBlank
	}
	if n := len(s.carry); s.o.Newlines == Universal && n > 0 && s.carry[n-1] == '\r' {
		// The line ended with the block before; a "\n" here belongs to it.
		s.carry = s.carry[:n-1]
		if b.text[0] == '\n' {
			s.i = 1
		}
		return s.join(rec)
	}
	if len(b.lines) == 0 {
		return errBlank // tail adds all of it
	}
	s.i = 1
	s.extend(b.text[:b.lines[0].end])
	return s.join(rec)
}

// extend adds to the line that began in an earlier block.
func (s *lineSource) extend(part []byte) {
	if len(part) == 0 {
		return
	}
	if n := int64(len(s.carry) + len(part)); s.long > 0 || n > int64(s.o.MaxLine)+1 {
		if s.long == 0 {
			s.long = int64(len(s.carry))
			s.carry = nil // may be large; another line will not need as much
		}
		s.long += int64(len(part))
		s.carry = append(s.carry[:0], part[len(part)-1]) // its last byte may be half of "\r\n"
		return
	}
	s.carry = append(s.carry, part...)
}

// join delivers the carried line.
func (s *lineSource) join(rec *record) error {
	at := s.carryAt
	if s.long > 0 {
		n := s.long
		s.long, s.carry = 0, s.carry[:0]
		s.number++
		return s.tooLong(at, n)
	}
	s.joined, s.carry = s.carry, s.joined[:0]
	return s.line(rec, s.joined, at, nil)
}

// tail ends a block: what follows its last line is carried over, or belongs to the gap behind it.
func (s *lineSource) tail() error {
	b := s.b
	if len(s.carry) == 0 && s.long == 0 {
		s.carryAt = s.start + int64(b.tail)
	}
	s.extend(b.text[b.tail:])
	if n := len(b.frames); n > 0 && len(s.carry) == 0 && s.long == 0 {
		s.safe = b.frames[n-1].offset + b.frames[n-1].size
	}
	gap := b.gap
	s.p.recycle(b)
	s.b = nil
	if gap == nil {
		return errBlank
	}
	return s.gap(gap)
}

// gap reports damage. Nothing before it is joined with anything behind it.
func (s *lineSource) gap(err error) error {
	cut := max(int64(len(s.carry)), s.long)
	s.carry, s.long = s.carry[:0], 0
	switch e := err.(type) {
	case *DamageError:
		e.Line, e.Cut = s.number, cut
		s.safe = e.Offset + e.Skipped
		if e.Err == errAppendedText {
			break
		}
		switch {
		case !s.aligned:
			s.trust = never
		case s.frames == 0:
			s.trust = unsure
		}
	case *TornError:
		e.Line = s.number
	}
	return s.report(err)
}

// last delivers the line that the text ends with, if that has no line end.
func (s *lineSource) last(rec *record) error {
	n := len(s.carry)
	if n == 0 && s.long == 0 {
		return errBlank
	}
	if s.o.Newlines == Universal && n > 0 && s.carry[n-1] == '\r' {
		s.carry = s.carry[:n-1]
		return s.join(rec)
	}
	if !s.p.kindKnown {
		b := block{text: s.carry, lines: []lineRef{{end: n}}}
		s.p.kind, s.p.kindKnown = kindOf(&b)
	}
	at := s.carryAt
	err := s.join(rec)
	if err == nil {
		rec.line.Open = true
		return nil
	}
	bad, ok := err.(*LineError)
	if !ok || s.fixed != nil || bad.Err == errTooLong {
		return err
	}
	// A line that ends with the file and is no event is what a crash leaves.
	s.seen.Bad--
	e := &TornError{
		Path: s.in.path, Offset: s.safe, Line: s.number - 1, Expected: "a line", Err: bad.Err,
		Skipped: s.in.offset() - s.safe,
	}
	if s.plain {
		e.Offset = s.base + at
		e.Skipped = s.in.offset() - e.Offset
	}
	return s.report(e)
}

// report counts a report and returns it.
func (s *lineSource) report(err error) error {
	switch e := err.(type) {
	case *DamageError:
		s.seen.Damage++
		s.seen.Skipped += e.Skipped
	case *TornError:
		s.seen.Damage++
		s.seen.Skipped += e.Skipped
	}
	return err
}

// goOn makes a source that begins behind lines lines, which were text bytes, count from there.
func (s *lineSource) goOn(lines, text int64) {
	s.number, s.text, s.start, s.base = s.number+lines, s.text+text, s.start+text, s.base-text
}

// resume returns the stored offset from which a new reader would deliver exactly the lines that this one has not
// delivered yet. It holds only while nothing is fetched ahead.
func (s *lineSource) resume() int64 {
	switch {
	case !s.plain:
		return s.safe
	case len(s.carry) > 0 || s.long > 0:
		return s.base + s.carryAt
	case s.b == nil:
		return s.base + s.text
	case s.i < len(s.b.lines):
		return s.base + s.start + int64(s.b.lines[s.i].start)
	}
	return s.base + s.start + int64(s.b.tail)
}
