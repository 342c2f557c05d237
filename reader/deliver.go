package reader

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/tracehandler/tracehandler/event"
)

// errBlank says that there is nothing to deliver here.
var errBlank = errors.New("blank")

var errTooLong = errors.New("line too long")

// quick delivers the next line of the block where nothing can be special about it: almost all lines.
func (s *lineSource) quick(rec *record) bool {
	b := s.b
	if b == nil || s.fresh || s.i >= len(b.lines) || s.trust != sure || s.number == 0 || s.fixed != nil {
		return false
	}
	l := &b.lines[s.i]
	if l.end-l.start > s.o.MaxLine {
		return false
	}
	if s.events {
		if !b.parsed || l.what != eventLine {
			return false
		}
		rec.ev = b.events[l.at]
		s.seen.Events++
	} else {
		if s.p.kind != JSONLines {
			return false
		}
		raw := b.text[l.start:l.end]
		rec.line.Number, rec.line.Offset = s.number+1, s.start+int64(l.start)
		rec.line.Raw, rec.line.Text, rec.line.Prefix, rec.line.Open = raw, raw, nil, false
	}
	s.i++
	s.number++
	return true
}

// line delivers one line. l is what the worker made of it, nil if it has not seen the whole line.
func (s *lineSource) line(rec *record, raw []byte, at int64, l *lineRef) error {
	s.number++
	if s.trust != sure {
		if err := s.behindGap(raw, at); err != nil {
			return err
		}
	}
	if len(raw) > s.o.MaxLine {
		return s.tooLong(at, int64(len(raw)))
	}
	body := raw
	if s.number == 1 && at == 0 && bytes.HasPrefix(raw, byteOrderMark) {
		body, l = raw[len(byteOrderMark):], nil
		if s.o.Newlines == Universal {
			raw = body
		}
	}
	rec.line = Line{Number: s.number, Offset: at, Raw: raw, Text: body}
	if !s.events {
		if s.p.kind == PrefixedLines {
			if n := prefixLen(trim(body)); n > 0 {
				n += len(body) - len(bytes.TrimLeft(body, " \t"))
				rec.line.Prefix, rec.line.Text = body[:n], body[n:]
			}
		}
		return nil
	}
	if l == nil {
		ev, bad, what := parseLine(body, s.p.kind, false)
		return s.event(rec, what, ev, &bad)
	}
	switch l.what {
	case eventLine:
		rec.ev = s.b.events[l.at]
		s.seen.Events++
		return nil
	case badLineKind:
		return s.event(rec, l.what, event.Event{}, &s.b.bad[l.at])
	}
	return s.event(rec, l.what, event.Event{}, nil)
}

// event delivers a line as an event.
func (s *lineSource) event(rec *record, what lineKind, ev event.Event, bad *badLine) error {
	switch what {
	case blankLine:
		s.seen.Blank++
		return errBlank
	case eventLine:
		rec.ev = ev
		s.seen.Events++
		return nil
	}
	s.seen.Bad++
	if bad.fixed {
		f := *bad
		s.fixed, s.fixedAt = &f, rec.line
	}
	return &LineError{
		Path: s.in.path, Line: rec.line.Number, Offset: rec.line.Offset,
		Column: bad.column, Expected: bad.expected, Err: bad.err,
	}
}

// behindGap refuses the first line behind a gap if it may be the rest of another line.
func (s *lineSource) behindGap(raw []byte, at int64) error {
	t := s.trust
	s.trust = sure
	if t == unsure && len(raw) > 0 && raw[0] == '{' {
		if _, err := event.Parse(trim(raw)); err == nil {
			return nil // the end of an object is not an object
		}
	}
	s.seen.Bad++
	return &LineError{Path: s.in.path, Line: s.number, Offset: at, Expected: "the beginning of the line, which the damage before it took"}
}

func (s *lineSource) tooLong(at, n int64) error {
	s.seen.Bad++
	return &LineError{
		Path: s.in.path, Line: s.number, Offset: at, Err: errTooLong,
		Expected: fmt.Sprintf("a line of at most %d bytes, not of %d", s.o.MaxLine, n),
	}
}
