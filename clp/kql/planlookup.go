package kql

import (
	"github.com/tracehandler/tracehandler/clp/archive"
	"github.com/tracehandler/tracehandler/event"
)

// variables finds the entries of the dictionary of variables that match l, among those of a column, at least.
func (s *archiveSearch) variables(t *archive.Table, column int, l *literal) (*archive.IDSet, error) {
	if set := s.sets[l]; set != nil {
		return set, nil
	}
	if !l.plain {
		if ids, ok := s.r.ColumnEntries(t, column); ok {
			return s.among(ids, l.pattern.Match)
		}
	}
	var set *archive.IDSet
	var err error
	if l.plain {
		set, err = s.r.Variables().Find(l.text, s.query.options.Fold)
	} else {
		set, err = s.r.Variables().Scan(l.pattern.Fragment(), l.pattern.Match)
	}
	if err == nil {
		s.sets[l] = set
	}
	return set, err
}

// among returns those entries whose text matches.
func (s *archiveSearch) among(ids []uint64, match func([]byte) bool) (*archive.IDSet, error) {
	set := &archive.IDSet{}
	for _, id := range ids {
		text, err := s.r.Variables().Text(id)
		if err != nil {
			return nil, err
		}
		if text != nil && match(text) {
			set.Add(id)
		}
	}
	return set, nil
}

// numbers finds the entries that are numbers, spelt as such, of which a filter holds.
func (s *archiveSearch) numbers(t *archive.Table, column int, f *filter) (*archive.IDSet, error) {
	x := search{filter: f, options: &s.query.options}
	match := func(text []byte) bool {
		if len(text) == 0 || text[0] != '-' && text[0]-'0' > 9 {
			return false
		}
		line := append(append([]byte(`{"":`), text...), '}')
		for a := range event.Lazy(line).All() {
			v := classify(a.Value)
			hit, ok := x.compare(&v)
			return hit && ok
		}
		return false
	}
	if ids, ok := s.r.ColumnEntries(t, column); ok {
		return s.among(ids, match)
	}
	if set := s.numberSets[f]; set != nil {
		return set, nil
	}
	set, err := s.r.Variables().Scan(nil, match)
	if err == nil {
		s.numberSets[f] = set
	}
	return set, err
}

// text makes the test of texts that are encoded, once for each value.
func (s *archiveSearch) text(l *literal) (*archive.TextTest, error) {
	if t := s.texts[l]; t != nil {
		return t, nil
	}
	t, err := s.r.NewTextTest(l.pattern, s.query.options.Fold)
	if err == nil {
		s.texts[l] = t
	}
	return t, err
}
