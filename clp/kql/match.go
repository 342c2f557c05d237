package kql

import (
	"encoding/json"
	"log/slog"
	"strconv"
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

// array looks into an array that is reached with the given words of the path.
func (s *search) array(list []any, at states) {
	c, l := &s.filter.column, &s.filter.value
	switch {
	case l.typ == typeExists:
		if c.done(at) {
			s.result(true)
			return
		}
	case l.typ == typeNull && s.inverted:
		s.comparable = true
		return
	case c.all:
		s.comparable = true
		s.everything(list)
		return
	}
	if c.done(at) {
		s.result(s.inArray(list, nil))
		return
	}
	if c.star {
		return
	}
	for i := range c.words {
		if at>>i&1 == 0 {
			continue
		}
		if rest := c.words[i:]; l.typ == typeExists {
			if existsIn(list, rest) {
				s.result(true)
			}
		} else {
			s.result(s.inArray(list, rest))
		}
	}
}

// inArray reports whether a value inside an array matches; words lead there through objects.
func (s *search) inArray(v any, words []keyWord) bool {
	switch v := v.(type) {
	case event.Event:
		if len(words) == 0 {
			return false
		}
		for a := range v.All() {
			if a.Key == words[0].name {
				return s.inArray(asElement(a.Value), words[1:])
			}
		}
		return false
	case []slog.Attr:
		if len(words) == 0 {
			return false
		}
		for _, a := range v {
			if a.Key == words[0].name {
				return s.inArray(asElement(a.Value), words[1:])
			}
		}
		return false
	case []any:
		for _, x := range v {
			if s.inArray(x, words) {
				return true
			}
		}
		return false
	}
	if len(words) > 0 {
		return false
	}
	return s.element(v)
}

// element reports whether a scalar inside an array matches. Texts with and without a space are not told apart there, and
// what : finds, >= and <= find, too: the text "5" is found by key >= 5.
func (s *search) element(v any) bool {
	x := classify(slog.AnyValue(v))
	l := &s.filter.value
	if x.typ == isText {
		op := s.filter.op
		return op != less && op != greater && l.typ != typeTime && l.pattern.Match([]byte(x.text))
	}
	if l.typ == typeTime {
		return false
	}
	hit, _ := s.compare(&x)
	return hit
}

// asElement turns the value of a member into what arrays hold.
func asElement(v slog.Value) any {
	if v.Kind() == slog.KindGroup {
		return v.Group()
	}
	return v.Any()
}

func existsIn(v any, words []keyWord) bool {
	member := func(a slog.Attr) bool { return len(words) == 1 || existsIn(asElement(a.Value), words[1:]) }
	switch v := v.(type) {
	case event.Event:
		for a := range v.All() {
			if a.Key == words[0].name {
				return member(a)
			}
		}
	case []slog.Attr:
		for _, a := range v {
			if a.Key == words[0].name {
				return member(a)
			}
		}
	case []any:
		for _, x := range v {
			if existsIn(x, words) {
				return true
			}
		}
	}
	return false
}

// everything looks at all values inside v, whatever their keys.
func (s *search) everything(v any) {
	switch v := v.(type) {
	case event.Event:
		for a := range v.All() {
			s.everything(asElement(a.Value))
		}
	case []slog.Attr:
		for _, a := range v {
			s.everything(asElement(a.Value))
		}
	case []any:
		for _, x := range v {
			s.everything(x)
		}
	default:
		s.result(s.element(v))
	}
}

// structured looks into an array whose elements are keys with the empty name.
func (s *search) structured(list []any, at states) {
	c := &s.filter.column
	if len(list) == 0 {
		if c.done(at) && (s.filter.value.typ == typeExists || s.inverted && s.filter.value.typ == typeNull && !c.all) {
			s.result(s.filter.value.typ == typeExists)
		}
		return
	}
	inside := c.step(at, "")
	for _, v := range list {
		switch v := v.(type) {
		case event.Event:
			if attrs, err := v.Attrs(); err == nil {
				s.walk(attrs, inside, 0)
			}
		case []any:
			s.structured(v, inside)
		default:
			if c.done(inside) {
				x := classify(slog.AnyValue(v))
				s.leaf(&x)
			}
		}
	}
}

type scalarType uint8

const (
	isText scalarType = iota
	isInteger
	isFloat
	isBool
	isNull
	isTime
)

// scalar is a value as JSON has it.
type scalar struct {
	typ     scalarType
	text    string  // of a text
	integer int64   // of an integer; of a time, nanoseconds since 1970
	large   bool    // an integer of 2⁶³ and more: see float
	float   float64 // of a float
	truth   bool
	number  string // as it is spelt, if that is not what formatting it gives
}

func classify(v slog.Value) scalar {
	switch v.Kind() {
	case slog.KindString:
		return scalar{typ: isText, text: v.String()}
	case slog.KindInt64:
		return scalar{typ: isInteger, integer: v.Int64()}
	case slog.KindUint64:
		if u := v.Uint64(); u > 1<<63-1 {
			return scalar{typ: isInteger, large: true, float: float64(u)}
		}
		return scalar{typ: isInteger, integer: int64(v.Uint64())}
	case slog.KindFloat64:
		return scalar{typ: isFloat, float: v.Float64()}
	case slog.KindBool:
		return scalar{typ: isBool, truth: v.Bool()}
	}
	n, ok := v.Any().(json.Number)
	if !ok {
		return scalar{typ: isNull}
	}
	s := scalar{typ: isFloat, number: n.String()}
	if i, err := strconv.ParseInt(s.number, 10, 64); err == nil {
		s.typ, s.integer = isInteger, i
	}
	s.float, _ = strconv.ParseFloat(s.number, 64)
	return s
}

// compareInteger compares an integer or a time with an integer.
func (v *scalar) compareInteger(op operator, with int64) bool {
	switch {
	case v.large || v.integer > with:
		return op.holds(1)
	case v.integer < with:
		return op.holds(-1)
	}
	return op.holds(0)
}

// asTime turns the value of the time's key into a time, if it is one.
func (v *scalar) asTime() {
	text := v.text
	switch v.typ {
	case isInteger:
		text = strconv.FormatInt(v.integer, 10)
		if v.large {
			return
		}
	case isFloat:
		if text = v.number; text == "" {
			text = strconv.FormatFloat(v.float, 'f', -1, 64)
		}
	case isText:
	default:
		return
	}
	if ns, ok := parseTime(text); ok {
		*v = scalar{typ: isTime, integer: ns}
	}
}
