package kql

import (
	"slices"

	"github.com/tracehandler/tracehandler/clp/archive"
)

// View is how the records of an archive are events, where they are not what archive.Record.AppendJSON says alone, but something is
// added of what AppendAuto says. A record of which that says nothing is the event.
type View struct {
	Keys []string                                   // outermost keys that the view adds; records may have them besides
	Line func(dst []byte, user, auto []byte) []byte // appends the line of the event
}

// Through returns the query whose searches of archives find the records whose events, as v has them, match q. Keys with @ in
// front stay what AppendAuto says.
func (q *Query) Through(v *View) *Query {
	out := *q
	out.view = v
	return &out
}

// viewed reports whether a key may be one that the view adds to records of the table.
func (s *archiveSearch) viewed(t *archive.Table, c *column) bool {
	v := s.query.view
	if v == nil || c.namespace != 0 {
		return false
	}
	reaches := func(key string) bool { return c.step(c.start(), key) != 0 }
	auto := func(id int32) bool {
		_, ok := s.path('@', id)
		return ok
	}
	return slices.ContainsFunc(v.Keys, reaches) && (slices.ContainsFunc(t.Columns, auto) || slices.ContainsFunc(t.Nulls, auto))
}
