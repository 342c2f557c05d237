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
// out. Then texts are looked up in the dictionaries, once each. Then the columns are scanned that the query is about, but
// for what the archive's index tells. Records of which that does not decide are decoded and matched as events are.
//
// An error comes without a record if it is of [archive.Reader.Next], and ends the iteration. It comes with a record if
// that cannot be shown, which may match or not; others follow.
func (q *Query) Search(r *archive.Reader) iter.Seq2[*archive.Record, error] {
	s := q.begin(r)
	return s.records
}

// SearchNames is Search for who looks at some keys only, of which these are the outermost names: records have no others, but
// perhaps those that the query looks at. What is not needed is not decoded.
func (q *Query) SearchNames(r *archive.Reader, names ...string) iter.Seq2[*archive.Record, error] {
	s := q.begin(r)
	return func(yield func(*archive.Record, error) bool) {
		if err := s.project(names); err != nil {
			yield(nil, err)
			return
		}
		s.records(yield)
	}
}

// records goes through what was found.
func (s *archiveSearch) records(yield func(*archive.Record, error) bool) {
	for record, err := range s.r.All() {
		if err != nil {
			yield(nil, err)
			return
		}
		hit, err := s.match(record)
		if (hit || err != nil) && !yield(record, err) {
			return
		}
	}
}

// Count returns the number of records that Search returns. Records of which the columns decide are not decoded. The error is
// that of [archive.Reader.Next], or the first one of a record that cannot be shown; the count is of the others.
func (q *Query) Count(r *archive.Reader) (n int64, err error) {
	s := q.begin(r)
	if n, err = r.CountSure(); err != nil {
		return 0, err
	}
	if err := s.project(nil); err != nil {
		return 0, err
	}
	for record, next := range r.All() {
		if next != nil {
			return n, next
		}
		hit, bad := s.match(record)
		if hit {
			n++
		}
		if bad != nil && err == nil {
			err = bad
		}
	}
	return n, err
}

// begin has r select what q may find.
func (q *Query) begin(r *archive.Reader) *archiveSearch {
	s := &archiveSearch{
		query: *q.begun(r), r: r, times: perhaps,
		sets: map[*literal]*archive.IDSet{}, numberSets: map[*filter]*archive.IDSet{}, texts: map[*literal]*archive.TextTest{},
	}
	r.Select(s.choose)
	return s
}

// begun returns q with the key of the archive's time, unless it has one.
func (q *Query) begun(r *archive.Reader) *Query {
	times := r.Times()
	if q.time != nil || len(times) == 0 {
		return q
	}
	timed := *q
	if c, err := parseColumn(lexeme{kind: tokenWord, text: times[0].Key}); err == nil && !c.star {
		timed.time = &c
	}
	return &timed
}

// match reports whether the query finds a record that was selected.
func (s *archiveSearch) match(record *archive.Record) (bool, error) {
	if s.r.Sure(record) {
		return true, nil
	}
	in, err := s.input(record)
	if err != nil {
		return false, err
	}
	return s.query.MatchInput(in), nil
}

// archiveSearch is one search of one archive.
type archiveSearch struct {
	query Query
	r     *archive.Reader

	sets       map[*literal]*archive.IDSet // of the dictionary of variables
	numberSets map[*filter]*archive.IDSet
	texts      map[*literal]*archive.TextTest
	times      answer // whether spellings of times are known; perhaps: it was not asked yet
	keys       []string

	line, auto []byte
	shown      []byte // the event, if there is a view
	in         Input
	part       int // of the ranges that the last record was in
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
