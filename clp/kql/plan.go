package kql

import "github.com/tracehandler/tracehandler/clp/archive"

var (
	never  = &archive.Condition{Kind: archive.CondNever}
	maybe  = &archive.Condition{Kind: archive.CondMaybe}
	always = &archive.Condition{Kind: archive.CondAlways}
)

// all is the condition that both hold.
func all(a, b *archive.Condition) *archive.Condition {
	switch {
	case a.Kind == archive.CondNever || b.Kind == archive.CondAlways || a == b:
		return a
	case b.Kind == archive.CondNever || a.Kind == archive.CondAlways:
		return b
	}
	return &archive.Condition{Kind: archive.CondAll, Parts: []*archive.Condition{a, b}}
}

// some is the condition that one holds.
func some(a, b *archive.Condition) *archive.Condition {
	switch {
	case a.Kind == archive.CondAlways || b.Kind == archive.CondNever || a == b:
		return a
	case b.Kind == archive.CondAlways || a.Kind == archive.CondNever:
		return b
	}
	return &archive.Condition{Kind: archive.CondSome, Parts: []*archive.Condition{a, b}}
}

func negate(c *archive.Condition) *archive.Condition {
	switch c.Kind {
	case archive.CondNever:
		return always
	case archive.CondMaybe:
		return maybe
	case archive.CondAlways:
		return never
	}
	return &archive.Condition{Kind: archive.CondNot, Parts: []*archive.Condition{c}}
}

// choose says what the query asks of the records of a table.
func (s *archiveSearch) choose(t archive.Table) (*archive.Condition, error) {
	return s.plan(&t, s.query.root, false)
}

// plan holds a part of the query against the schema of a table.
func (s *archiveSearch) plan(t *archive.Table, n node, inverted bool) (*archive.Condition, error) {
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
	case within:
		return s.planWithin(t, n)
	default:
		return never, nil
	}
	// What asks less of the dictionaries comes first: the other half need not be looked at if this one decides.
	if effort(right) < effort(left) {
		left, right = right, left
	}
	l, err := s.plan(t, left, inverted)
	if err != nil || conjunction && l.Kind == archive.CondNever || !conjunction && l.Kind == archive.CondAlways {
		return l, err
	}
	r, err := s.plan(t, right, inverted)
	if err != nil {
		return nil, err
	}
	if conjunction {
		return all(l, r), nil
	}
	return some(l, r), nil
}

// effort says how much a part of a query asks of the dictionaries.
func effort(n node) int {
	switch n := n.(type) {
	case not:
		return effort(n.x)
	case both:
		return effort(n.left) + effort(n.right)
	case any2:
		return effort(n.left) + effort(n.right)
	case *filter:
		switch {
		case n.value.typ != typeString:
			return 1
		case n.value.plain && !n.value.space:
			return 2
		}
		return 20
	}
	return 0
}

// planFilter finds the columns that a filter is about.
func (s *archiveSearch) planFilter(t *archive.Table, f *filter, inverted bool) (*archive.Condition, error) {
	switch f.column.namespace {
	case 0, '@':
	case '$':
		return s.planMetadata(t, f, inverted), nil
	default:
		if inverted && (f.column.all || f.value.typ == typeExists) {
			return always, nil
		}
		return never, nil
	}
	if t.Structured {
		return maybe, nil
	}
	found, comparable := never, isNot
	exists, null := f.value.typ == typeExists, f.value.typ == typeNull
	// NOT key: null is about values of all types.
	notNull := inverted && null && !f.column.all
	for _, id := range t.Nulls {
		if f.column.done(s.walk(&f.column, id)) && (exists || null) {
			found, comparable = always, is
		}
	}
	for i, id := range t.Columns {
		at := s.walk(&f.column, id)
		if at == 0 {
			continue
		}
		done := f.column.done(at)
		typ := s.r.Nodes()[id].Type
		hit, ok := never, isNot
		var err error
		switch {
		case typ == archive.UnstructuredArray:
			hit, ok = maybe, perhaps
			switch {
			case exists && done:
				hit, ok = always, is
			case inverted && null:
				hit, ok = never, is
			case f.value.typ == typeTime:
				hit = never
			}
		case !done:
			continue
		case exists:
			hit, ok = always, is
		case notNull:
			ok = is
		default:
			hit, ok, err = s.planLeaf(t, i, f, inverted)
		}
		if err != nil {
			return nil, err
		}
		if found, comparable = some(found, hit), max(comparable, ok); found.Kind == archive.CondAlways {
			break
		}
	}
	if s.viewed(t, &f.column) {
		var err error
		if found, comparable, err = s.planViewed(t, f, inverted, found, comparable); err != nil {
			return nil, err
		}
	}
	switch {
	case !inverted:
		return found, nil
	case f.column.all || exists || comparable == is:
		return negate(found), nil
	case comparable == isNot:
		return never, nil
	}
	return all(maybe, negate(found)), nil
}

// answer is what a schema tells.
type answer uint8

const (
	isNot answer = iota
	perhaps
	is
)

// walk follows the path of a node, and returns the states of the column there, 0 if it is in another namespace.
func (s *archiveSearch) walk(c *column, id int32) states {
	path, ok := s.path(c.namespace, id)
	if !ok {
		return 0
	}
	at := c.start()
	for i := len(path) - 1; i >= 0 && at != 0; i-- {
		at = c.step(at, path[i])
	}
	return at
}

// path returns the keys that lead to a node, the last one first; ok is false if it is in another namespace.
func (s *archiveSearch) path(namespace byte, id int32) (path []string, ok bool) {
	nodes := s.r.Nodes()
	path = s.keys[:0]
	for ; nodes[id].Parent >= 0; id = nodes[id].Parent {
		path = append(path, nodes[id].Key)
	}
	s.keys = path
	want := ""
	if namespace != 0 {
		want = string(namespace)
	}
	return path, nodes[id].Type == archive.Object && nodes[id].Key == want
}

// isTime reports whether a node is the one of the query's time.
func (s *archiveSearch) isTime(id int32) bool {
	c := s.query.time
	if c == nil {
		return false
	}
	path, ok := s.path(c.namespace, id)
	at := states(1)
	for i := len(path) - 1; i >= 0 && ok && at != 0; i-- {
		at = c.exact(at, path[i])
	}
	return ok && c.done(at)
}

// planLeaf says when the value of a column matches, and whether it is of a type that could.
func (s *archiveSearch) planLeaf(t *archive.Table, column int, f *filter, inverted bool) (*archive.Condition, answer, error) {
	id := t.Columns[column]
	typ := s.r.Nodes()[id].Type
	l, op := &f.value, f.op
	number := l.isNumber()
	between := func(low, high int64, ok bool) *archive.Condition {
		if !ok {
			return never
		}
		return &archive.Condition{Kind: archive.CondRange, Column: column, Min: low, Max: high}
	}
	if typ != archive.Timestamp && s.isTime(id) {
		return maybe, perhaps, nil // a time in a spelling that the archive does not take for one
	}
	switch typ {
	case archive.Integer:
		if number {
			return between(op.integers(l)), is, nil
		}
		return never, isNot, nil
	case archive.FormattedFloat:
		if number {
			return between(op.floatKeys(l.float)), is, nil
		}
		return never, isNot, nil
	case archive.DictionaryFloat:
		if !number {
			return never, isNot, nil
		}
		set, err := s.numbers(t, column, f)
		return within1(column, set), is, err
	case archive.Boolean:
		if l.typ != typeBool {
			return never, isNot, nil
		}
		truth := int64(0)
		if l.truth {
			truth = 1
		}
		return between(truth, truth, true), is, nil
	case archive.Timestamp:
		switch {
		case !s.isTime(id):
			return maybe, perhaps, nil // no time to the query, but a text or a number
		case !number && s.plainTimes():
			return never, isNot, nil
		case !number:
			return maybe, perhaps, nil
		case s.plainTimes():
			return between(op.integers(l)), is, nil
		}
		return all(maybe, between(op.integers(l))), perhaps, nil
	case archive.VarString:
		if op != equal || l.typ == typeTime {
			return never, isNot, nil
		}
		if l.typ == typeString && l.space {
			return never, s.otherText(f, inverted), nil
		}
		set, err := s.variables(t, column, l)
		return within1(column, set), is, err
	case archive.ClpString:
		if op != equal || l.typ == typeTime {
			return never, isNot, nil
		}
		if l.typ != typeString || l.plain && !l.space {
			return never, s.otherText(f, inverted), nil
		}
		test, err := s.text(l)
		if err != nil || test.Never() {
			return never, is, err
		}
		return &archive.Condition{Kind: archive.CondText, Column: column, Text: test}, is, nil
	}
	return maybe, perhaps, nil
}

// within1 is the condition that a column's entry is in a set.
func within1(column int, set *archive.IDSet) *archive.Condition {
	if set == nil || set.Len() == 0 {
		return never
	}
	return &archive.Condition{Kind: archive.CondSet, Column: column, Set: set}
}

// otherText says whether a text of the type that cannot match counts as different; see search.leaf.
func (s *archiveSearch) otherText(f *filter, inverted bool) answer {
	if inverted && !f.column.all && f.value.plain {
		return is
	}
	return isNot
}
