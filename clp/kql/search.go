package kql

import (
	"iter"

	"github.com/tracehandler/tracehandler/clp/archive"
	"github.com/tracehandler/tracehandler/event"
)

// Search returns the records of an archive that the query finds: those that MatchInput finds, but most of the archive is
// not decoded for it. The key of the archive's time is the TimeKey, unless the query has one. r must not have been read
// yet, and is not to be used by others meanwhile.
//
// First the query is held against the schema of each table: a table whose records have no key that could match is left
// out. Then texts are looked up in the dictionaries, once each. Then the columns are scanned that the query is about. What
// is left is decoded and matched as events are.
//
// An error comes without a record if it is of [archive.Reader.Next], and ends the iteration. It comes with a record if
// that cannot be shown, which may match or not; others follow.
func (q *Query) Search(r *archive.Reader) iter.Seq2[*archive.Record, error] {
	s := &archiveSearch{query: *q, r: r, sets: map[setKey]*textSet{}}
	if times := r.Times(); q.time == nil && len(times) > 0 {
		if c, err := parseColumn(lexeme{kind: tokenWord, text: times[0].Key}); err == nil && !c.star {
			s.query.time = &c
		}
	}
	r.Select(s.choose)
	return func(yield func(*archive.Record, error) bool) {
		var line, auto []byte
		for record, err := range r.All() {
			if err != nil {
				yield(nil, err)
				return
			}
			if line, err = record.AppendJSON(line[:0]); err == nil {
				auto, err = record.AppendAuto(auto[:0])
			}
			if err == nil && !s.query.MatchInput(&Input{event.Lazy(line), event.Lazy(auto), s.metadata(record.Number())}) {
				continue
			}
			if !yield(record, err) {
				return
			}
		}
	}
}

// archiveSearch is one search of one archive.
type archiveSearch struct {
	query Query
	r     *archive.Reader
	sets  map[setKey]*textSet
	part  int // of the ranges that the last record was in
}

func (s *archiveSearch) metadata(number int64) event.Event {
	ranges := s.r.Ranges()
	for i := range ranges {
		if k := (s.part + i) % len(ranges); ranges[k].Start <= number && number < ranges[k].End {
			s.part = k
			return ranges[k].Fields
		}
	}
	return event.Event{}
}
