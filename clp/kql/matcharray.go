package kql

import (
	"log/slog"

	"github.com/tracehandler/tracehandler/event"
)

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
