package kql

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/tracehandler/tracehandler/clp/archive"
)

// Project has the records of r show only what is under these outermost names of keys, and those columns decoded that hold it. It
// must come before the first record.
func Project(r *archive.Reader, names ...string) error {
	nodes := r.Nodes()
	var keys []string
	for _, n := range nodes {
		// All is shown if there is a key that in a query may be on the way to any other, or one that is shown as another.
		if p := n.Parent; (n.Key == "" || !utf8.ValidString(n.Key)) && p >= 0 && nodes[p].Parent < 0 && nodes[p].Type == archive.Object {
			return nil
		}
	}
	for _, name := range names {
		if name != "" {
			keys = append(keys, escapeName(name))
		}
	}
	return r.Project(keys...)
}

// project is Project for the records that a search has chosen: if there are any that only the record tells of, they have the keys
// that q looks at, too.
func (s *archiveSearch) project(names []string) error {
	if err := s.r.Scan(); err != nil {
		return err
	}
	if s.r.ScanStats().Open > 0 {
		asked, all := s.query.names()
		if all {
			return nil
		}
		names = slices.Concat(asked, names)
	}
	return Project(s.r, names...)
}

// escapeName writes a name as a word of a path.
func escapeName(name string) string {
	var b strings.Builder
	for i := range len(name) {
		if strings.IndexByte(`\.*@$!#"`, name[i]) >= 0 {
			b.WriteByte('\\')
		}
		b.WriteByte(name[i])
	}
	return b.String()
}

// names returns the outermost names of the keys that q looks at, of those that are the user's; all is true if it may be any.
func (q *Query) names() (names []string, all bool) {
	var visit func(n node)
	column := func(c *column) {
		switch {
		case c.namespace == 0 && c.words[0].any:
			all = true
		case c.namespace == 0:
			names = append(names, c.words[0].name)
		}
	}
	visit = func(n node) {
		switch n := n.(type) {
		case not:
			visit(n.x)
		case both:
			visit(n.left)
			visit(n.right)
		case any2:
			visit(n.left)
			visit(n.right)
		case *filter:
			column(&n.column)
		case within:
			if q.time != nil {
				column(q.time)
			}
		}
	}
	visit(q.root)
	return names, all || q.view != nil && q.view.Auto != nil && q.Uses('@') // which may depend on all of an event
}

// Names returns the outermost names of the keys of events that are counted and measured, without that of the time if no key of
// it was given; all is true if it may be any, or those that a logging library made.
func (a *Aggregation) Names() (names []string, all bool) {
	for _, list := range [][]column{a.by, a.distinct, a.stats} {
		for i := range list {
			switch c := &list[i]; c.namespace {
			case 0:
				names = append(names, c.words[0].name)
			case '@':
				all = true
			}
		}
	}
	if a.time != nil && a.every > 0 {
		names = append(names, a.time.words[0].name)
		all = all || a.time.namespace != 0
	}
	return names, all
}
