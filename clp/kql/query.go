package kql

import (
	"github.com/tracehandler/tracehandler/event"
)

// Options change what a query means.
type Options struct {
	// Fold has ASCII letters of values match in either case. Keys, true, false and null are not affected.
	Fold bool

	// Contains has values that are texts match a part of a text.
	Contains bool

	// TimeKey is the path of the key that holds the time of events, in the syntax of a key without *. Its values are times,
	// whatever their spelling: they match timestamp(…) and numbers of nanoseconds, not texts. Values that are no time in a
	// spelling that is known are what they are elsewhere.
	TimeKey string

	// Structured has arrays mean what they do in an archive that was written with structured arrays: their elements are
	// keys with the empty name. A * in a key then looks into arrays, and parts of a value are not told apart from whole ones.
	Structured bool
}

// Query is a parsed query. It is immutable and safe for concurrent use.
type Query struct {
	root    node
	options Options
	time    *column
	view    *View // of archives' records; nil if they are the events
}

// Parse parses a query. The error is a *SyntaxError. A nil o means no options.
func Parse(text string, o *Options) (*Query, error) {
	q := &Query{}
	if o != nil {
		q.options = *o
	}
	if q.options.TimeKey != "" {
		c, err := parseColumn(lexeme{kind: tokenWord, text: q.options.TimeKey})
		if err == nil && c.star {
			err = &SyntaxError{0, "a * in the key of the time", ""}
		}
		if err != nil {
			return nil, err
		}
		q.time = &c
	}
	tokens, err := lex(text)
	if err != nil {
		return nil, err
	}
	p := parser{tokens: tokens, options: &q.options}
	if q.root, err = p.query(); err != nil {
		return nil, err
	}
	if l := p.peek(); l.kind != tokenEnd {
		return nil, p.unexpected(l, "AND, OR or the end")
	}
	return q, nil
}

// Never reports whether no event at all can match: key: (), or an order among texts such as key > "a". The reference
// refuses such a query as logically false.
func (q *Query) Never() bool { return isNever(q.root) }

func isNever(n node) bool {
	switch n := n.(type) {
	case nothing:
		return true
	case not:
		return isNever(n.x)
	case both:
		return isNever(n.left) || isNever(n.right)
	case any2:
		return isNever(n.left) && isNever(n.right)
	}
	return false
}

// Input is what a query is asked about.
type Input struct {
	Event    event.Event
	Auto     event.Event // keys that the logging library made: those of a query with @ in front
	Metadata event.Event // what is known of the file or stream that the event is from: keys with $ in front
}

// Match reports whether the query finds e.
func (q *Query) Match(e event.Event) bool { return q.MatchInput(&Input{Event: e}) }

// MatchInput reports whether the query finds in.
func (q *Query) MatchInput(in *Input) bool {
	m := matcher{query: q, input: in}
	return m.match(q.root, false)
}
