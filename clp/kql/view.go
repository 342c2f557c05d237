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

	// Texts are values that it adds as they are, so that columns answer for them: the event has at To the text that is at From, if
	// that is a text and not empty, and otherwise the view adds nothing there.
	Texts []ViewText

	// Auto appends the keys with @ in front of an event whose record has none, as a JSON object; nil if there are none. metadata
	// are those with $. AutoKeys are the outermost keys of what it appends.
	Auto     func(dst []byte, e, metadata event.Event) []byte
	AutoKeys []string
}

// ViewText is the path of a key that a view adds, and that of the key with @ whose text it has.
type ViewText struct{ To, From []string }

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

// planViewed adds to what planFilter found what the view may add.
func (s *archiveSearch) planViewed(t *archive.Table, f *filter, inverted bool, found *archive.Condition, comparable answer) (*archive.Condition, answer, error) {
	i := -1
	if l := &f.value; f.column.namespace == 0 && !f.column.star && !inverted && l.typ != typeExists && l.typ != typeTime && !l.pattern.Match(nil) {
		i = slices.IndexFunc(s.query.view.Texts, func(v ViewText) bool { return f.column.leads(v.To) })
	}
	if i < 0 {
		return some(found, maybe), max(comparable, perhaps), nil
	}
	from := s.query.view.Texts[i].From
	for i, id := range t.Columns {
		path, ok := s.path('@', id)
		typ := s.r.Nodes()[id].Type
		if !ok || typ != archive.VarString && typ != archive.ClpString || len(path) != len(from) {
			continue
		}
		slices.Reverse(path)
		if !slices.Equal(path, from) {
			continue
		}
		hit, ok2, err := s.planLeaf(t, i, f, false)
		if err != nil {
			return nil, isNot, err
		}
		found, comparable = some(found, hit), max(comparable, ok2)
	}
	return found, comparable, nil
}

// leads reports whether a key without * is the path.
func (c *column) leads(path []string) bool {
	return slices.EqualFunc(c.words, path, func(w keyWord, name string) bool { return w.name == name })
}

// input returns a record as what the query is asked about, through the view. It is valid until the next one.
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
	in := &s.in
	*in = Input{Event: event.Lazy(line), Metadata: s.metadata(record.Number())}
	if v != nil && v.Auto != nil && string(s.auto) == "{}" && s.query.Uses('@') {
		s.auto = v.Auto(s.auto[:0], in.Event, in.Metadata)
	}
	in.Auto = event.Lazy(s.auto)
	return in, nil
}
