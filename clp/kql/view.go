package kql

import (
	"slices"

	"github.com/tracehandler/tracehandler/clp/archive"
	"github.com/tracehandler/tracehandler/event"
)

// View is how the records of an archive are events, where they are not just what archive.Record says.
type View struct {
	// Line appends the line of the event whose two objects archive.Record.AppendJSON and AppendAuto say; nil if that is the first of
	// them. A record of which the second says nothing is the event. Keys are the outermost keys that it adds.
	Line func(dst []byte, user, auto []byte) []byte
	Keys []string

	// Auto appends the keys with @ in front of an event whose record has none, as a JSON object; nil if there are none. metadata
	// are those with $. AutoKeys are the outermost keys of what it appends.
	Auto     func(dst []byte, e, metadata event.Event) []byte
	AutoKeys []string
}

// Through returns the query whose searches of archives find the records whose events, as v has them, match q.
func (q *Query) Through(v *View) *Query {
	out := *q
	out.view = v
	return &out
}

// viewed reports whether a key may be one that the view adds to records of the table.
func (s *archiveSearch) viewed(t *archive.Table, c *column) bool {
	v := s.query.view
	if v == nil {
		return false
	}
	reaches := func(key string) bool { return c.step(c.start(), key) != 0 }
	auto := func(id int32) bool {
		_, ok := s.path('@', id)
		return ok
	}
	own := func() bool { return slices.ContainsFunc(t.Columns, auto) || slices.ContainsFunc(t.Nulls, auto) }
	switch c.namespace {
	case 0:
		return v.Line != nil && slices.ContainsFunc(v.Keys, reaches) && own()
	case '@':
		return v.Auto != nil && slices.ContainsFunc(v.AutoKeys, reaches) && !own()
	}
	return false
}

// input returns a record as what the query is asked about, through the view.
func (s *archiveSearch) input(record *archive.Record) (*Input, error) {
	var err error
	if s.line, err = record.AppendJSON(s.line[:0]); err != nil {
		return nil, err
	}
	if s.auto, err = record.AppendAuto(s.auto[:0]); err != nil {
		return nil, err
	}
	line, v := s.line, s.query.view
	if v != nil && v.Line != nil {
		s.shown = v.Line(s.shown[:0], s.line, s.auto)
		line = s.shown
	}
	in := &Input{Event: event.Lazy(line), Metadata: s.metadata(record.Number())}
	if v != nil && v.Auto != nil && string(s.auto) == "{}" && s.query.Uses('@') {
		s.auto = v.Auto(s.auto[:0], in.Event, in.Metadata)
	}
	in.Auto = event.Lazy(s.auto)
	return in, nil
}
