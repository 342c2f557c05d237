package kql

import (
	"log/slog"
	"strings"
	"time"

	"github.com/tracehandler/tracehandler/clp/archive"
	"github.com/tracehandler/tracehandler/event"
)

// within is a range of time that the records' time must be in: nanoseconds since 1970, both inclusive.
type within struct{ begin, end int64 }

// Between returns the query of what q finds among events of a range of time: nanoseconds since 1970, both ends
// included. It needs to know which key holds the time: Options.TimeKey, unless an archive says it. Events whose time
// is not known are not found.
func (q *Query) Between(begin, end int64) *Query {
	out := *q
	out.root = both{within{begin, end}, q.root}
	return &out
}

// within reports whether the event's time is in a range.
func (m *matcher) within(w within) bool {
	t := m.query.time
	if t == nil {
		return false
	}
	return w.holds(m.object(t.namespace), t.words)
}

// holds reports whether words lead to a time in the range.
func (w within) holds(attrs []slog.Attr, words []keyWord) bool {
	for _, a := range attrs {
		switch {
		case a.Key != words[0].name:
		case len(words) > 1:
			if a.Value.Kind() == slog.KindGroup && w.holds(a.Value.Group(), words[1:]) {
				return true
			}
		default:
			v := classify(a.Value)
			if v.asTime(); v.typ == isTime && w.begin <= v.integer && v.integer <= w.end {
				return true
			}
		}
	}
	return false
}

// planWithin finds the column of the time.
func (s *archiveSearch) planWithin(t *archive.Table, w within) (*archive.Condition, error) {
	if w.begin > w.end || s.query.time == nil {
		return never, nil
	}
	if t.Structured {
		return maybe, nil
	}
	found := never
	for i, id := range t.Columns {
		if !s.isTime(id) {
			continue
		}
		c := maybe
		if s.r.Nodes()[id].Type == archive.Timestamp {
			c = s.timeRange(id, i, w.begin, w.end)
			if !s.plainTimes() {
				c = all(maybe, c)
			}
		}
		found = some(found, c)
	}
	if s.viewed(t, s.query.time) {
		found = some(found, maybe)
	}
	return found, nil
}

// timeRange is the condition that the time is in a range, which the range of the archive may decide.
func (s *archiveSearch) timeRange(id int32, column int, low, high int64) *archive.Condition {
	const ms, most = int64(1e6), int64(9e18)
	for _, t := range s.r.Times() {
		for _, node := range t.Nodes {
			// Milliseconds, rounded outwards.
			if node != id || t.Float || t.Begin < -most/ms || t.End > most/ms || t.Begin > t.End {
				continue
			}
			if t.End*ms < low || high < t.Begin*ms {
				return never
			}
			if low <= t.Begin*ms && t.End*ms <= high {
				return always
			}
		}
	}
	return &archive.Condition{Kind: archive.CondRange, Column: column, Min: low, Max: high}
}

// plainTimes reports whether the times of the archive are in spellings that are read as what the archive has. Only then the
// column decides; see the TimeKey of Options.
func (s *archiveSearch) plainTimes() bool {
	if s.times == perhaps {
		s.times = is
		for _, p := range s.r.TimePatterns() {
			if !s.plainPattern(p) {
				s.times = isNot
			}
		}
	}
	return s.times == is
}

// plainPattern prints times by a pattern and reads them back.
func (s *archiveSearch) plainPattern(pattern string) bool {
	years := []int{1972, 1999, 2000, 2026, 2100, 2200}
	fractions := []int64{0, 100_000_000, 123_000_000, 123_456_000, 123_456_789, 999_999_999}
	for i := range 24 {
		fraction := fractions[i/2%len(fractions)]
		ns := time.Date(years[i%len(years)], time.Month(i%12+1), 1+i, i, 59-i, 2*i, 0, time.UTC).UnixNano() + fraction
		text, err := archive.AppendTime(nil, pattern, ns)
		if err != nil {
			continue // such a time cannot be spelt so
		}
		var v scalar
		for a := range event.Lazy(append(append([]byte(`{"":`), text...), '}')).All() {
			v = classify(a.Value)
		}
		if v.asTime(); v.typ != isTime {
			return false
		}
		again, err := archive.AppendTime(nil, pattern, v.integer)
		if err != nil || string(again) != string(text) || fraction == 0 && v.integer != ns && !strings.Contains(pattern, `\y`) {
			return false
		}
	}
	return true
}

// planMetadata holds a filter of what is known of the file against the ranges of records.
func (s *archiveSearch) planMetadata(t *archive.Table, f *filter, inverted bool) *archive.Condition {
	match := func(fields event.Event) *archive.Condition {
		m := matcher{query: &s.query, input: &Input{Metadata: fields}}
		if m.filter(f, inverted) {
			return always
		}
		return never
	}
	none := match(event.Event{}) // of records in no range
	info := s.r.Info()
	if !info.Ordered {
		return none
	}
	order := -1
	nodes := s.r.Nodes()
	for i, id := range t.Columns {
		if p := nodes[id].Parent; p >= 0 && nodes[p].Type == archive.Metadata && nodes[id].Key == "log_event_idx" {
			order = i
		}
	}
	// The ranges whose records are not what those in no range are.
	out, whole, next := never, true, int64(0)
	for _, r := range s.r.Ranges() {
		if r.Start < next || order < 0 {
			return maybe // ranges that overlap
		}
		whole = whole && r.Start == next
		next = r.End
		if c := match(r.Fields); c != none && r.Start < r.End {
			out = some(out, &archive.Condition{Kind: archive.CondRange, Column: order, Min: r.Start, Max: r.End - 1})
		} else if r.Start < r.End {
			whole = false
		}
	}
	if whole && next >= info.Records && out != never {
		if none == never {
			return always
		}
		return never
	}
	if none == always {
		return negate(out)
	}
	return out
}
