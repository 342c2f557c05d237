package kql

import "fmt"

// node is a part of a query.
type node interface{}

type (
	not  struct{ x node }
	both struct{ left, right node } // AND
	any2 struct{ left, right node } // OR
	// filter is a condition on one key.
	filter struct {
		column column
		op     operator
		value  literal
	}
	// nothing never holds, inverted or not: an empty list, or an order among texts.
	nothing struct{}
)

const maxDepth = 1000 // of parentheses and NOTs

type parser struct {
	tokens  []lexeme
	options *Options
	depth   int
}

func (p *parser) peek() lexeme { return p.tokens[0] }

func (p *parser) next() lexeme {
	l := p.tokens[0]
	if len(p.tokens) > 1 {
		p.tokens = p.tokens[1:]
	}
	return l
}

func (p *parser) sign(text string) bool {
	l := p.peek()
	if l.kind == tokenSign && l.text == text {
		p.next()
		return true
	}
	return false
}

func (p *parser) expect(text string) error {
	if p.sign(text) {
		return nil
	}
	return p.unexpected(p.peek(), text)
}

// unexpected makes the error of a token that is not what should come.
func (p *parser) unexpected(l lexeme, want string) error {
	e := &SyntaxError{Offset: l.at, Msg: fmt.Sprintf("%q where %s should come", l.text, want)}
	if l.kind == tokenEnd {
		e.Msg = "the query ends where " + want + " should come"
	}
	switch {
	case l.text == "=" || l.text == "==":
		e.Hint = "equality is written with a colon, key: value"
	case l.text == "&&":
		e.Hint = "write AND"
	case l.text == "||":
		e.Hint = "write OR"
	case l.kind == tokenAnd || l.kind == tokenOr || l.kind == tokenNot:
		e.Hint = "as a value or a key, the word needs quotes"
	case l.kind == tokenRange && want == "a value":
		e.Hint = "without the colon, key > value"
	case l.kind == tokenWord || l.kind == tokenQuoted:
		e.Hint = "a value with spaces needs quotes, conditions need AND or OR between them"
	}
	return e
}

// query = unary ((AND | OR) unary)*
func (p *parser) query() (node, error) {
	if p.depth++; p.depth > maxDepth {
		return nil, &SyntaxError{p.peek().at, fmt.Sprintf("nested deeper than %d", maxDepth), ""}
	}
	defer func() { p.depth-- }()
	left, err := p.unary()
	for err == nil {
		kind := p.peek().kind
		if kind != tokenAnd && kind != tokenOr {
			break
		}
		p.next()
		var right node
		if right, err = p.unary(); kind == tokenAnd {
			left = both{left, right}
		} else {
			left = any2{left, right}
		}
	}
	return left, err
}

// unary = NOT unary | "(" query ")" | column condition | literal
func (p *parser) unary() (node, error) {
	l := p.next()
	switch {
	case l.kind == tokenNot:
		if p.depth++; p.depth > maxDepth {
			return nil, &SyntaxError{l.at, fmt.Sprintf("nested deeper than %d", maxDepth), ""}
		}
		defer func() { p.depth-- }()
		x, err := p.unary()
		return not{x}, err
	case l.kind == tokenSign && l.text == "(":
		q, err := p.query()
		if err != nil {
			return nil, err
		}
		return q, p.expect(")")
	case l.kind != tokenWord && l.kind != tokenQuoted:
		return nil, p.unexpected(l, "a condition")
	}
	if op := p.peek(); op.kind == tokenRange {
		p.next()
		c, err := parseColumn(l)
		if err != nil {
			return nil, err
		}
		v, err := p.value()
		if err != nil {
			return nil, err
		}
		if !v.isNumber() {
			return nothing{}, nil
		}
		return &filter{c, map[string]operator{"<": less, "<=": lessEqual, ">": greater, ">=": greaterEqual}[op.text], v}, nil
	}
	if !p.sign(":") {
		v, err := parseLiteral(l, p.options)
		c := column{words: []keyWord{{any: true}}}
		c.look()
		return &filter{c, equal, v}, err
	}
	if p.sign("{") {
		q, err := p.query()
		if err != nil {
			return nil, err
		}
		if err := p.expect("}"); err != nil {
			return nil, err
		}
		c, err := parseColumn(l)
		if err != nil {
			return nil, err
		}
		return nest(q, c, l.at)
	}
	c, err := parseColumn(l)
	if err != nil {
		return nil, err
	}
	if p.sign("(") {
		return p.list(c)
	}
	v, err := p.value()
	return &filter{c, equal, v}, err
}

// list = [AND | OR | NOT] literal* ")"
func (p *parser) list(c column) (node, error) {
	mode := tokenOr
	if kind := p.peek().kind; kind == tokenAnd || kind == tokenOr || kind == tokenNot {
		mode = kind
		p.next()
	}
	var q node = nothing{}
	for n := 0; ; n++ {
		l := p.peek()
		if l.kind != tokenWord && l.kind != tokenQuoted {
			break
		}
		p.next()
		v, err := parseLiteral(l, p.options)
		if err != nil {
			return nil, err
		}
		f := &filter{c, equal, v}
		switch {
		case n == 0:
			q = f
		case mode == tokenAnd:
			q = both{q, f}
		default:
			q = any2{q, f}
		}
	}
	if l := p.peek(); l.kind == tokenAnd || l.kind == tokenOr || l.kind == tokenNot {
		return nil, &SyntaxError{l.at, fmt.Sprintf("%q between values", l.text), "the word stands in front of them: (AND a b)"}
	}
	if mode == tokenNot {
		q = not{q}
	}
	return q, p.expect(")")
}

// value = literal | timestamp("…" [, "pattern"])
func (p *parser) value() (literal, error) {
	l := p.next()
	switch l.kind {
	case tokenWord, tokenQuoted:
		return parseLiteral(l, p.options)
	case tokenTime:
	default:
		return literal{}, p.unexpected(l, "a value")
	}
	text := p.next()
	if text.kind != tokenQuoted {
		return literal{}, p.unexpected(text, "a time in quotes")
	}
	when, at := text.content()
	pattern := ""
	if p.sign(",") {
		l := p.next()
		if l.kind != tokenQuoted {
			return literal{}, p.unexpected(l, "a pattern in quotes")
		}
		pattern, _ = l.content()
	}
	if err := p.expect(")"); err != nil {
		return literal{}, err
	}
	var ns int64
	var ok bool
	if pattern == "" {
		ns, ok = parseTime(when)
	} else {
		ns, ok = parseTimeAs(when, pattern)
	}
	if !ok {
		return literal{}, &SyntaxError{at, fmt.Sprintf("%q is no time", when), `write 2026-01-02T03:04:05Z, seconds since 1970, or a pattern such as "\Y-\m-\d" behind it`}
	}
	return literal{typ: typeTime, integer: ns, float: float64(ns) / 1e9}, nil
}

// nest puts the columns of q inside outer.
func nest(q node, outer column, at int) (node, error) {
	pair := func(l, r node) (node, node, error) {
		l, err := nest(l, outer, at)
		if err != nil {
			return nil, nil, err
		}
		r, err = nest(r, outer, at)
		return l, r, err
	}
	switch q := q.(type) {
	case not:
		x, err := nest(q.x, outer, at)
		return not{x}, err
	case both:
		l, r, err := pair(q.left, q.right)
		return both{l, r}, err
	case any2:
		l, r, err := pair(q.left, q.right)
		return any2{l, r}, err
	case *filter:
		if q.column.namespace != 0 {
			return nil, &SyntaxError{at, fmt.Sprintf("the namespace %c inside braces", q.column.namespace), "it stands in front of the outer key"}
		}
		q.column = q.column.inside(outer) // the filter is this query's alone
		if len(q.column.words) > maxWords {
			return nil, &SyntaxError{at, fmt.Sprintf("a path of more than %d names", maxWords), ""}
		}
		return q, nil
	}
	return q, nil
}
