package reader

import (
	"log/slog"
	"slices"

	"github.com/tracehandler/tracehandler/clp/archive"
	"github.com/tracehandler/tracehandler/clp/ir/slogkv"
	"github.com/tracehandler/tracehandler/event"
	"github.com/tracehandler/tracehandler/internal/origin"
)

// Objects are the two objects that an event of a key-value stream is there. They belong to the Reader.
type Objects struct {
	User, Auto []byte // what the program said, and what its logging library made: JSON

	// Mapped says that the event is made of both, as of a stream of another library: see package slogkv. Otherwise the event is User.
	Mapped bool
}

// Objects returns what the event that was delivered last is made of, until the next step of the iteration. It is false if that is
// one object, as everywhere but in key-value streams of other libraries than this one, and in archives with keys of such a library.
func (r *Reader) Objects() (Objects, bool) {
	switch s := r.src.(type) {
	case *irSource:
		if s.event == nil || !s.dec.Foreign() {
			return Objects{}, false
		}
		user, auto := s.dec.Objects()
		return Objects{user, auto, true}, true
	case *archiveSource:
		return s.objects()
	case *setSource:
		if s.current != nil {
			return s.current.objects()
		}
	}
	return Objects{}, false
}

// Range returns what an archive says of where the event that was delivered last comes from; nil if it says nothing, and for everything
// that is no archive.
func (r *Reader) Range() *archive.Range {
	s, ok := r.src.(*archiveSource)
	if set, is := r.src.(*setSource); is && set.current != nil {
		s, ok = set.current, true
	}
	if !ok || s.record == nil {
		return nil
	}
	return s.where()
}

// TwoObjects reports whether the trace is a key-value stream of another library, or an archive made of one: whether Objects are mapped.
func (r *Reader) TwoObjects() bool {
	switch s := r.src.(type) {
	case *irSource:
		return s.r != nil && s.dec.Foreign()
	case *archiveSource:
		return s.foreign
	case *setSource:
		return s.last != nil && s.last.foreign
	}
	return false
}

func (s *archiveSource) objects() (Objects, bool) {
	if s.record == nil || !s.autos {
		return Objects{}, false
	}
	user, err := s.record.JSON()
	if err != nil {
		return Objects{}, false
	}
	if s.auto, err = s.record.AppendAuto(s.auto[:0]); err != nil {
		return Objects{}, false
	}
	return Objects{user, s.auto, s.foreign}, true
}

// StreamFields returns what the writer of a key-value stream noted about it: its user-defined metadata. Of everything else it is
// nothing.
func (r *Reader) StreamFields() []slog.Attr {
	s, ok := r.src.(*irSource)
	if !ok || s.r == nil || s.r.IsText() {
		return nil
	}
	attrs, err := event.Lazy(s.r.Metadata().User).Attrs()
	if err != nil {
		return nil
	}
	return attrs
}

// hasAuto reports whether an archive has keys that a logging library made.
func hasAuto(r *archive.Reader) bool {
	for _, n := range r.Nodes() {
		if n.Parent < 0 && n.Key == "@" && n.Type == archive.Object {
			return true
		}
	}
	return false
}

// isForeign reports whether records of an archive are events of a stream of another library.
func isForeign(r *archive.Reader) bool {
	return hasAuto(r) && slices.ContainsFunc(r.Ranges(), func(r archive.Range) bool { return origin.Parse(r.Fields).Stream })
}

// shown is buffers for a record of such an archive.
type shown struct{ auto, line []byte }

// event returns the event that a record is, whose own line is user.
func (b *shown) event(r *archive.Record, user []byte) (line []byte, err error) {
	if b.auto, err = r.AppendAuto(b.auto[:0]); err == nil {
		b.line = slogkv.AppendForeign(b.line[:0], user, b.auto)
	}
	return b.line, err
}
