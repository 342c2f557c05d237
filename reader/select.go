package reader

import (
	"bytes"
	"fmt"
	"io"
	"iter"
	"log/slog"
	"path/filepath"
	"slices"

	"github.com/tracehandler/tracehandler/clp/archive"
	"github.com/tracehandler/tracehandler/clp/ir"
	"github.com/tracehandler/tracehandler/clp/ir/slogkv"
	"github.com/tracehandler/tracehandler/clp/kql"
	"github.com/tracehandler/tracehandler/event"
	"github.com/tracehandler/tracehandler/internal/origin"
)

// Select has the iterations of r, and merges that it takes part in, deliver only the events that q finds. It must come
// before the first of them. Of an archive, only what the query touches is read and decoded; damage of anything else is not
// noticed. Line numbers stay those of the trace where it knows them, and Stats.Events counts what was found.
//
// In every kind of trace, a key with $ in front is of what is known of the file: _filename, and what a CLP archive or stream
// says of itself. A key with @ in front is one of those that the logging library made: of a CLP stream, or an archive with such
// keys, they are there; events elsewhere have those that they have in a CLP stream of this module, see slogkv.AppendAuto.
func (r *Reader) Select(q *kql.Query) {
	r.query = &selection{q: q, auto: q.Uses('@'), metadata: q.Uses('$')}
	if s, ok := r.src.(selecting); ok {
		s.choose(q)
		r.query.done = true
	}
}

// Project says that of each event only what is under these outermost names of keys is looked at, besides by the query of
// Select. Of an archive the rest is not decoded, and events may not have it; traces of other kinds are read as they are. It must
// come before the first iteration.
func (r *Reader) Project(names ...string) {
	if s, ok := r.src.(projecting); ok {
		s.project(append([]string{}, names...))
	}
}

// Tail says that only the last n events are looked at, so that others need not be delivered. It must come before the first
// iteration. Archives with an index begin with the last n records, of which fewer can be read if they are damaged; everything else
// is read from its start.
func (r *Reader) Tail(n int64) {
	if s, ok := r.src.(tailing); ok && n > 0 {
		s.wantTail(n)
	}
}

// tailing is a source that can begin near its end.
type tailing interface {
	source
	wantTail(n int64)
}

// wantTail implements tailing.
func (s *archiveSource) wantTail(n int64) { s.tail = n }

// projecting is a source that need not decode all of an event.
type projecting interface {
	source
	project(names []string)
}

// project implements projecting.
func (s *archiveSource) project(names []string) { s.names = names }

// selecting is a source that finds what a query asks for by itself.
type selecting interface {
	source
	choose(q *kql.Query)
}

// informed is a source that knows more of an event than what it says.
type informed interface {
	source

	// inform sets the fields of in that are asked for. It reports whether the source has keys that a logging library made, at all.
	inform(in *kql.Input, auto, metadata bool) bool
}

// selection is the query that a Reader is asked.
type selection struct {
	q              *kql.Query
	auto, metadata bool // are needed
	done           bool // by the source
	input          kql.Input
}

// finds reports whether the record that was read last is one of those wanted.
func (s *selection) finds(r *Reader) bool {
	s.input.Event = r.rec.ev
	if lines, ok := r.src.(*lineSource); ok && !lines.events {
		s.input.Event = event.Lazy(trim(r.rec.line.Text))
	}
	r.inform(&s.input, s.auto, s.metadata)
	return s.q.MatchInput(&s.input)
}

// Count reads to the end and returns how many events there are, of those that Select asks for. Each report goes to report; any
// other error ends the reading. Of an archive, records are not made to be counted where the query is answered without them.
func (r *Reader) Count(report func(error)) (int64, error) {
	if r.query != nil && r.query.done && r.final == nil && r.src != nil {
		if c, ok := r.src.(counter); ok {
			return c.count(report)
		}
	}
	n := int64(0)
	for _, err := range r.Events() {
		switch {
		case err == nil:
			n++
		case IsReport(err):
			report(err)
		default:
			return n, err
		}
	}
	return n, nil
}

// counter is a source that can count what a query asks for. Nothing was read from it before, and nothing is behind it.
type counter interface {
	selecting
	count(report func(error)) (int64, error)
}

// count implements counter.
func (s *archiveSource) count(report func(error)) (n int64, err error) {
	if s.r != nil && !s.ended {
		if n, err = s.query.Count(s.r); err != nil {
			if s.reports = s.damage(err); len(s.reports) == 0 {
				err = fmt.Errorf("reader: %s: %w", s.path, err)
			} else {
				err = nil
			}
		}
		s.ended, s.at = true, s.records
		s.seen.Events += n
	}
	var rec record
	for err == nil {
		if err = s.next(&rec); IsReport(err) {
			report(err)
			err = nil
		}
	}
	if err == io.EOF {
		err = nil
	}
	return n, err
}

// ScanStats says what the search of an archive that Select asks for has looked at so far, of a set in all its parts. It is false
// for everything else.
func (r *Reader) ScanStats() (archive.ScanStats, bool) {
	switch s := r.src.(type) {
	case *archiveSource:
		return s.scanStats()
	case *setSource:
		return s.scanStats()
	}
	return archive.ScanStats{}, false
}

func (s *archiveSource) scanStats() (archive.ScanStats, bool) {
	if s.r == nil || s.query == nil {
		return archive.ScanStats{}, false
	}
	scan := s.r.ScanStats()
	scan.Add(&archive.ScanStats{Spent: s.near})
	return scan, true
}

// Input returns the event that was delivered last together with what else is known of it. It is valid until the next step
// of the iteration.
func (r *Reader) Input() kql.Input {
	in := kql.Input{Event: r.rec.ev}
	r.inform(&in, true, true)
	return in
}

// inform sets what else than the event in has is known of it, if it is asked for.
func (r *Reader) inform(in *kql.Input, auto, metadata bool) {
	s, ok := r.src.(informed)
	if ok && s.inform(in, auto, metadata) {
		return
	}
	if auto {
		if r.auto == nil {
			r.auto = event.NewDeferred(func(dst []byte) []byte { return slogkv.AppendAuto(dst, r.autoOf) })
		}
		r.autoOf, in.Auto = in.Event, r.auto.Next()
	}
	if metadata && !ok {
		if r.named == nil {
			r.named = nameOf(r.path)
		}
		in.Metadata = event.Lazy(r.named)
	}
}

// nameOf returns the name of a file as what is known of its events.
func nameOf(path string) []byte {
	return event.New(slog.String("_filename", filepath.Base(path))).AppendJSON(nil)
}

// TimeKey returns the key that a CLP archive has as the time of its records, in the syntax of a query's key. It is empty for
// everything else, but "time" for an archive made of a stream of another library, whose records have none.
func (r *Reader) TimeKey() string {
	s, ok := r.src.(*archiveSource)
	if set, is := r.src.(*setSource); is {
		s, ok = set.last, set.last != nil
	}
	if ok && s.r != nil {
		for _, t := range s.r.Times() {
			return t.Key
		}
		if s.foreign {
			return slog.TimeKey
		}
	}
	return ""
}

// Archive returns the CLP archive that is read, of a set its last one, for what it says of itself; nil for everything else.
// Whoever reads records from it leaves the Reader alone. Close closes it.
func (r *Reader) Archive() *archive.Reader {
	switch s := r.src.(type) {
	case *archiveSource:
		return s.r
	case *setSource:
		if s.last != nil {
			return s.last.r
		}
	}
	return nil
}

// choose implements selecting.
func (s *archiveSource) choose(q *kql.Query) {
	if s.r == nil {
		return
	}
	v := &kql.View{}
	if s.foreign {
		v.Line, v.Keys = slogkv.AppendForeign, slogkv.ForeignKeys
		for _, t := range slogkv.ForeignTexts {
			v.Texts = append(v.Texts, kql.ViewText{To: t[0], From: t[1]})
		}
	}
	if !s.autos || s.foreign && slices.ContainsFunc(s.r.Ranges(), func(r archive.Range) bool { return !origin.Parse(r.Fields).Stream }) {
		v.Auto, v.AutoKeys = autoOf, slogkv.AutoKeys
	}
	s.query = q.Through(v)
}

// autoOf appends the keys with @ of an event of an archive, whose record has none: those of a stream have none indeed.
func autoOf(dst []byte, e, metadata event.Event) []byte {
	if origin.Parse(metadata).Stream {
		return append(dst, "{}"...)
	}
	return slogkv.AppendAuto(dst, e)
}

// where returns what the archive says of where the last record comes from; nil if it says nothing.
func (s *archiveSource) where() *archive.Range {
	n := s.record.Number()
	ranges := s.r.Ranges()
	for i := range ranges {
		k := (s.part + i) % len(ranges)
		if r := &ranges[k]; r.Start <= n && n < r.End {
			s.part = k
			return r
		}
	}
	return nil
}

// nextRecord returns the next record of the archive, or of those chosen.
func (s *archiveSource) nextRecord() (*archive.Record, error) {
	if s.query == nil {
		if names := s.names; names != nil {
			s.names = nil
			if err := kql.Project(s.r, names...); err != nil {
				return nil, err
			}
		}
		return s.r.Next()
	}
	if s.pull == nil {
		search := s.query.Search(s.r)
		if s.names != nil {
			search = s.query.SearchNames(s.r, s.names...)
		}
		s.pull, s.stop = iter.Pull2(search)
	}
	record, err, more := s.pull()
	if !more {
		return nil, io.EOF
	}
	return record, err
}

// inform implements informed.
func (s *archiveSource) inform(in *kql.Input, auto, metadata bool) bool {
	if s.record == nil {
		return true
	}
	where := s.where()
	own := s.autos && (!s.foreign || where != nil && origin.Parse(where.Fields).Stream)
	if auto && own {
		if line, err := s.record.AppendAuto(s.auto[:0]); err == nil {
			s.auto, in.Auto = line, event.Lazy(line)
		}
	}
	if metadata {
		in.Metadata = event.Event{}
		if where != nil {
			in.Metadata = where.Fields
		}
	}
	return own
}

// inform implements informed.
func (s *irSource) inform(in *kql.Input, auto, metadata bool) bool {
	if s.r == nil {
		return true
	}
	own := !s.r.IsText()
	if auto && own && s.event != nil {
		if line, err := s.event.AppendObject(s.auto[:0], ir.Auto); err == nil {
			s.auto, in.Auto = line, event.Lazy(line)
		}
	}
	if !metadata {
		return own
	}
	if s.about == nil {
		s.about = nameOf(s.in.path)
		if user := bytes.TrimSpace(s.r.Metadata().User); len(user) > 2 { // more than {}
			s.about = append(append(s.about[:len(s.about)-1], ','), user[1:]...)
		}
	}
	in.Metadata = event.Lazy(s.about)
	return own
}
