package kql

import (
	"math"

	"github.com/tracehandler/tracehandler/clp/archive"
)

// condition is what a query says of the records of one table. It never rules out a record that matches.
type condition struct {
	kind  conditionKind
	parts []*condition // of condAll and condSome
	tests []test       // of condTests: a record may match if one of them holds
}

type conditionKind uint8

const (
	condNever conditionKind = iota
	condMaybe               // any record
	condAll
	condSome
	condTests
)

// test is a condition on the value of a column.
type test struct {
	column int
	holds  holds
}

type holds func(value uint64) bool

// choose is the filter of a table.
func (s *archiveSearch) choose(t archive.Table) (archive.Filter, error) {
	c, err := s.plan(&t, s.query.root, false)
	if err != nil {
		return archive.Filter{}, err
	}
	f := archive.Filter{None: c.kind == condNever}
	if c.kind > condMaybe {
		f.Columns = c.columns(nil)
		f.Rows = func(b *archive.Batch, keep []bool) error {
			for i := range keep {
				keep[i] = c.holds(b, i)
			}
			return nil
		}
	}
	return f, nil
}

func (c *condition) columns(list []int) []int {
	for _, p := range c.parts {
		list = p.columns(list)
	}
	for _, t := range c.tests {
		list = append(list, t.column)
	}
	return list
}

func (c *condition) holds(b *archive.Batch, row int) bool {
	switch c.kind {
	case condAll:
		for _, p := range c.parts {
			if !p.holds(b, row) {
				return false
			}
		}
		return true
	case condSome:
		for _, p := range c.parts {
			if p.holds(b, row) {
				return true
			}
		}
		return false
	case condTests:
		for _, t := range c.tests {
			if t.holds(b.Values(t.column)[row]) {
				return true
			}
		}
		return false
	}
	return c.kind == condMaybe
}

// plan holds a part of the query against the schema of a table.
func (s *archiveSearch) plan(t *archive.Table, n node, inverted bool) (*condition, error) {
	var left, right node
	conjunction := inverted
	switch n := n.(type) {
	case not:
		return s.plan(t, n.x, !inverted)
	case both:
		left, right, conjunction = n.left, n.right, !inverted
	case any2:
		left, right = n.left, n.right
	case *filter:
		return s.planFilter(t, n, inverted)
	default:
		return &condition{}, nil
	}
	l, err := s.plan(t, left, inverted)
	if err != nil {
		return nil, err
	}
	// The other half need not be looked at, nor a dictionary for it, if this one decides.
	if conjunction && l.kind == condNever || !conjunction && l.kind == condMaybe {
		return l, nil
	}
	r, err := s.plan(t, right, inverted)
	switch {
	case err != nil:
		return nil, err
	case r.kind == condNever || r.kind == condMaybe:
		if conjunction == (r.kind == condMaybe) {
			return l, nil
		}
		return r, nil
	case l.kind == condNever || l.kind == condMaybe:
		return r, nil
	case conjunction:
		return &condition{kind: condAll, parts: []*condition{l, r}}, nil
	}
	return &condition{kind: condSome, parts: []*condition{l, r}}, nil
}

// planFilter finds the columns that a filter is about.
func (s *archiveSearch) planFilter(t *archive.Table, f *filter, inverted bool) (*condition, error) {
	any := &condition{kind: condMaybe}
	if f.column.namespace != 0 && f.column.namespace != '@' || t.Structured {
		return any, nil
	}
	exists := f.value.typ == typeExists
	out := &condition{}
	reached := false // a key that the filter is about
	for _, id := range t.Nulls {
		if at := s.walk(&f.column, id); f.column.done(at) {
			reached = true
			if !inverted && (exists || f.value.typ == typeNull) {
				return any, nil
			}
		}
	}
	for i, id := range t.Columns {
		at := s.walk(&f.column, id)
		if at == 0 {
			continue
		}
		typ := s.r.Nodes()[id].Type
		if typ == archive.UnstructuredArray {
			if !inverted && f.value.typ == typeTime {
				continue
			}
			return any, nil
		}
		if !f.column.done(at) {
			continue
		}
		reached = true
		if inverted {
			continue
		}
		if exists {
			return any, nil
		}
		holds, kind, err := s.test(id, typ, f)
		switch {
		case err != nil:
			return nil, err
		case kind == condMaybe:
			return any, nil
		case kind == condTests:
			out.kind = condTests
			out.tests = append(out.tests, test{i, holds})
		}
	}
	if inverted {
		// A key that is there is no key that is missing, and of one that is missing no value can differ.
		if exists && !f.column.all && reached || !exists && !f.column.all && !reached {
			return out, nil
		}
		return any, nil
	}
	return out, nil
}

// walk follows the path of a node, and returns the states of the column there, 0 if it is in another namespace.
func (s *archiveSearch) walk(c *column, id int32) states {
	nodes := s.r.Nodes()
	var path []string
	for ; nodes[id].Parent >= 0; id = nodes[id].Parent {
		path = append(path, nodes[id].Key)
	}
	namespace := ""
	if c.namespace != 0 {
		namespace = string(c.namespace)
	}
	if nodes[id].Type != archive.Object || nodes[id].Key != namespace {
		return 0
	}
	at := c.start()
	for i := len(path) - 1; i >= 0 && at != 0; i-- {
		at = c.step(at, path[i])
	}
	return at
}

// test makes the test of a column, if one is worth it: the kind says condNever or condMaybe otherwise.
func (s *archiveSearch) test(id int32, typ archive.NodeType, f *filter) (holds, conditionKind, error) {
	l, op := &f.value, f.op
	number := l.typ == typeInteger || l.typ == typeFloat || l.typ == typeTime
	switch typ {
	case archive.Integer, archive.DeltaInteger:
		switch l.typ {
		case typeInteger, typeTime:
			return func(v uint64) bool {
				x := scalar{integer: int64(v)}
				return x.compareInteger(op, l.integer)
			}, condTests, nil
		case typeFloat:
			return func(v uint64) bool { return op.intFloat(int64(v), l.float) }, condTests, nil
		}
		return nil, condNever, nil
	case archive.FormattedFloat:
		if !number {
			return nil, condNever, nil
		}
		return func(v uint64) bool { return op.floats(math.Float64frombits(v), l.float) }, condTests, nil
	case archive.Boolean:
		if l.typ != typeBool {
			return nil, condNever, nil
		}
		return func(v uint64) bool { return v != 0 == l.truth }, condTests, nil
	case archive.Timestamp:
		return s.testTime(id, f)
	case archive.VarString:
		if op != equal || l.typ == typeTime || l.typ == typeString && l.space {
			return nil, condNever, nil
		}
		set, err := s.variables(l)
		if err != nil || set.none {
			return nil, condNever, err
		}
		return func(v uint64) bool { return set.has(v) }, condTests, nil
	case archive.ClpString:
		if op != equal || l.typ != typeString || l.plain && !l.space {
			return nil, condNever, nil
		}
		set, err := s.logTypes(l)
		if err != nil || set.none {
			return nil, condNever, err
		}
		return func(v uint64) bool { return set.has(v & 0xFFFFFF) }, condTests, nil
	}
	return nil, condMaybe, nil
}

// testTime makes the test of the column of the time.
func (s *archiveSearch) testTime(id int32, f *filter) (holds, conditionKind, error) {
	l, op := &f.value, f.op
	if s.query.time == nil || s.walk(s.query.time, id) == 0 || !s.query.time.done(s.walk(s.query.time, id)) {
		return nil, condMaybe, nil // no time to the query, but a text or a number
	}
	if l.typ == typeFloat {
		return func(v uint64) bool { return op.intFloat(int64(v), l.float) }, condTests, nil
	}
	if l.typ != typeInteger && l.typ != typeTime {
		// A value in a spelling that is not known is no time.
		return nil, condMaybe, nil
	}
	return func(v uint64) bool {
		x := scalar{integer: int64(v)}
		return x.compareInteger(op, l.integer)
	}, condTests, nil
}

// textSet is the entries of a dictionary that a literal may match.
type textSet struct {
	bits []uint64
	none bool
}

func (t *textSet) has(id uint64) bool {
	return id>>6 < uint64(len(t.bits)) && t.bits[id>>6]>>(id&63)&1 != 0
}

func newTextSet(d archive.Dictionary, match func(text []byte) bool) (*textSet, error) {
	n, err := d.Len()
	if err != nil {
		return nil, err
	}
	t := &textSet{bits: make([]uint64, (n+63)/64), none: true}
	for id := range n {
		text, err := d.Entry(id)
		if err != nil {
			return nil, err
		}
		if match(text) {
			t.bits[id>>6] |= 1 << (id & 63)
			t.none = false
		}
	}
	return t, nil
}

// variables finds the entries of the dictionary of variables that match l.
func (s *archiveSearch) variables(l *literal) (*textSet, error) {
	return s.set(l, s.r.Variables(), l.pattern.Match)
}

// logTypes finds the log types whose texts may match l.
func (s *archiveSearch) logTypes(l *literal) (*textSet, error) {
	return s.set(l, s.r.LogTypes(), l.pattern.MayMatchLogtype)
}

// set keeps the sets of a query: it asks each dictionary once about each of its values.
func (s *archiveSearch) set(l *literal, d archive.Dictionary, match func([]byte) bool) (*textSet, error) {
	key := setKey{l, d}
	if t := s.sets[key]; t != nil {
		return t, nil
	}
	t, err := newTextSet(d, match)
	if err == nil {
		s.sets[key] = t
	}
	return t, err
}

type setKey struct {
	value      *literal
	dictionary archive.Dictionary
}
