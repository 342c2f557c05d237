package kql

import (
	"log/slog"
	"strings"

	"github.com/tracehandler/tracehandler/event"
)

// matcher evaluates a query on one input. Objects are decoded once.
type matcher struct {
	query *Query
	input *Input
	attrs map[byte][]slog.Attr // by namespace
}

// match evaluates n, with NOT pushed down to the filters: inverted says whether an odd number of them is above.
func (m *matcher) match(n node, inverted bool) bool {
	switch n := n.(type) {
	case not:
		return m.match(n.x, !inverted)
	case both:
		if inverted {
			return m.match(n.left, true) || m.match(n.right, true)
		}
		return m.match(n.left, false) && m.match(n.right, false)
	case any2:
		if inverted {
			return m.match(n.left, true) && m.match(n.right, true)
		}
		return m.match(n.left, false) || m.match(n.right, false)
	case *filter:
		return m.filter(n, inverted)
	case within:
		return m.within(n)
	}
	return false // nothing
}

// object returns the attributes of a namespace.
func (m *matcher) object(namespace byte) []slog.Attr {
	if attrs, ok := m.attrs[namespace]; ok {
		return attrs
	}
	var e event.Event
	switch namespace {
	case 0:
		e = m.input.Event
	case '@':
		e = m.input.Auto
	case '$':
		e = m.input.Metadata
	}
	if e.Line() == nil { // of attributes, whose values may be anything: as their JSON
		e = event.Lazy(e.AppendJSON(nil))
	}
	attrs, err := e.Attrs()
	if err != nil {
		attrs = nil
		for a := range e.All() { // what stands before the fault
			attrs = append(attrs, a)
		}
	}
	if m.attrs == nil {
		m.attrs = map[byte][]slog.Attr{}
	}
	m.attrs[namespace] = attrs
	return attrs
}

// search looks for the values of one filter in one input.
type search struct {
	filter   *filter
	inverted bool
	options  *Options
	time     *column // of the namespace that is searched, or nil
	arrays   bool    // can be searched

	comparable bool // there is a value of a type that could match
	found      bool
}

func (m *matcher) filter(f *filter, inverted bool) bool {
	s := search{filter: f, inverted: inverted, options: &m.query.options, arrays: f.column.namespace != '$'}
	if t := m.query.time; t != nil && t.namespace == f.column.namespace {
		s.time = t
	}
	s.walk(m.object(f.column.namespace), f.column.start(), 1)
	switch {
	case !inverted:
		return s.found
	case f.column.all || f.value.typ == typeExists:
		return !s.found
	}
	return s.comparable && !s.found
}

// walk goes through an object. time has the words of the time's path that led here.
func (s *search) walk(attrs []slog.Attr, at states, time states) {
	c := &s.filter.column
	for _, a := range attrs {
		next := c.step(at, a.Key)
		var when states
		if s.time != nil && time != 0 {
			when = s.time.exact(time, a.Key)
		}
		if next == 0 {
			continue
		}
		switch a.Value.Kind() {
		case slog.KindGroup:
			s.walk(a.Value.Group(), next, when)
			continue
		case slog.KindAny:
			if list, ok := a.Value.Any().([]any); ok {
				switch {
				case !s.arrays:
				case s.options.Structured:
					s.structured(list, next)
				default:
					s.array(list, next)
				}
				continue
			}
		}
		if c.done(next) {
			v := classify(a.Value)
			if s.time != nil && s.time.done(when) {
				v.asTime()
			}
			s.leaf(&v)
		}
	}
}

// result counts a value that could match.
func (s *search) result(hit bool) {
	s.comparable = true
	s.found = s.found || hit
}

// leaf compares a value outside of arrays.
func (s *search) leaf(v *scalar) {
	l := &s.filter.value
	if s.inverted && l.typ == typeNull && !s.filter.column.all {
		s.result(v.typ == isNull)
		return
	}
	hit, ok := s.compare(v)
	// Of the two types of text that an archive knows, with a space and without, a value can match one only. Texts of the
	// other type count as different from it.
	if !ok && s.inverted && !s.filter.column.all && l.plain && l.typ != typeExists && s.filter.op == equal && v.typ == isText {
		ok = true
	}
	if ok {
		s.result(hit)
	}
}

// compare reports whether a value matches; ok is false if its type cannot.
func (s *search) compare(v *scalar) (hit, ok bool) {
	l, op := &s.filter.value, s.filter.op
	switch l.typ {
	case typeExists:
		return true, true
	case typeTime:
		switch v.typ {
		case isInteger, isTime:
			return v.compareInteger(op, l.integer), true
		case isFloat:
			return op.floats(v.float, l.float), true
		}
		return false, false
	}
	switch v.typ {
	case isTime, isInteger:
		switch l.typ {
		case typeInteger:
			return v.compareInteger(op, l.integer), true
		case typeFloat:
			if v.large {
				return op.floats(v.float, l.float), true
			}
			return op.intFloat(v.integer, l.float), true
		}
	case isFloat:
		if l.typ == typeInteger || l.typ == typeFloat {
			return op.floats(v.float, l.float), true
		}
	case isBool:
		if l.typ == typeBool {
			return v.truth == l.truth, true
		}
	case isNull:
		if l.typ == typeNull {
			return true, true
		}
	case isText:
		space := strings.Contains(v.text, " ")
		if op != equal || space && (l.typ != typeString || l.plain && !l.space) || !space && l.typ == typeString && l.space {
			return false, false
		}
		return l.pattern.Match([]byte(v.text)), true
	}
	return false, false
}
