package js

import (
	"bytes"
	"fmt"
	"math"
	"strconv"
	"unicode/utf8"

	"github.com/tracehandler/tracehandler/internal/jsontext"
)

// MaxDepth is the deepest nesting that Parse accepts.
const MaxDepth = 1000

// Kind is the type of a JSON value. Missing is the kind of a Value that is not there.
type Kind uint8

// The kinds of values.
const (
	Missing Kind = iota
	Null
	False
	True
	Number
	String
	Array
	Object
)

// node is one value of the index. Offsets are bytes in the text; keys include their quotes.
type node struct {
	keyStart, keyEnd int32
	start, end       int32
	next             int32 // index of the first node behind this one and everything inside it
	kind             Kind
	escaped          bool // a string with escape sequences
	keyEscaped       bool
	sub              int32 // 1 + index of the Doc that holds the inside of this value, 0 for none
}

// A SyntaxError says where a text stops being JSON.
type SyntaxError struct {
	Offset int // bytes from the start of the text
	Msg    string
}

func (e *SyntaxError) Error() string { return fmt.Sprintf("json: byte %d: %s", e.Offset, e.Msg) }

// A Known recognises values that were parsed before. Match gets the key and the rest of the text from the first byte of a
// member of the outermost object that is an object or array; it returns the parsed value, whose text must be a prefix of
// rest, or nil. Learn is told of such a member that was parsed, and may return a Doc of the same text to stand for it.
type Known interface {
	Match(key, rest []byte) *Doc
	Learn(key, text []byte) *Doc
}

// Doc is the index of one JSON text. The zero Doc is ready for Parse, and Parse may be called again and again; Values of
// the text before become invalid. A Doc that is not being parsed may be read from several goroutines.
type Doc struct {
	Text  []byte
	Known Known // optional
	// MaxString is the length in bytes of the longest string in the text, escapes counted as they stand.
	MaxString int
	// Tag is for the owner of the Doc: what it knows about this text.
	Tag any

	nodes []node
	subs  []*Doc
}

// Parse indexes text, which must stay unchanged as long as Values of it are used.
func (d *Doc) Parse(text []byte) error {
	d.Text, d.nodes, d.subs, d.MaxString = text, d.nodes[:0], d.subs[:0], 0
	if len(text) > math.MaxInt32 {
		return &SyntaxError{Offset: math.MaxInt32, Msg: "text is longer than 2 GiB"}
	}
	if !utf8.Valid(text) {
		return &SyntaxError{Offset: jsontext.ValidPrefix(text), Msg: "invalid UTF-8"}
	}
	p := parser{d: d, s: text}
	i, err := p.value(p.space(0), 0, 0, 0, false)
	if err != nil {
		return err
	}
	if i = p.space(i); i != len(text) {
		return p.fail(i, "text after the value")
	}
	return nil
}

type parser struct {
	d *Doc
	s []byte
}

func (p *parser) fail(i int, msg string) error { return &SyntaxError{Offset: i, Msg: msg} }

func (p *parser) space(i int) int { return jsontext.SkipSpace(p.s, i) }

// value parses the value at i and appends its nodes; it returns the offset behind it.
func (p *parser) value(i, depth int, ks, ke int32, kesc bool) (int, error) {
	if i >= len(p.s) {
		return i, p.fail(i, "unexpected end")
	}
	at := len(p.d.nodes)
	n := node{keyStart: ks, keyEnd: ke, keyEscaped: kesc, start: int32(i)}
	var end int
	var err error
	switch c := p.s[i]; c {
	case '"':
		n.kind = String
		end, n.escaped, err = p.str(i)
		if l := end - i - 2; l > p.d.MaxString {
			p.d.MaxString = l
		}
	case '{', '[':
		n.kind = Object
		if c == '[' {
			n.kind = Array
		}
		if depth >= MaxDepth {
			return i, p.fail(i, "nested too deeply")
		}
		return p.container(i, depth, n)
	case 't':
		n.kind = True
		end, err = p.word(i, "true")
	case 'f':
		n.kind = False
		end, err = p.word(i, "false")
	case 'n':
		n.kind = Null
		end, err = p.word(i, "null")
	default:
		n.kind = Number
		end, err = p.number(i)
	}
	if err != nil {
		return i, err
	}
	n.end, n.next = int32(end), int32(at+1)
	p.d.nodes = append(p.d.nodes, n)
	return end, nil
}

func (p *parser) container(i, depth int, n node) (int, error) {
	known := p.d.Known
	if depth != 1 || n.keyEnd == 0 {
		known = nil
	}
	if known != nil {
		if sub := known.Match(p.s[n.keyStart+1:n.keyEnd-1], p.s[i:]); sub != nil {
			return p.opaque(len(p.d.nodes), i, n, sub), nil
		}
	}
	at := len(p.d.nodes)
	p.d.nodes = append(p.d.nodes, n)
	var end int
	var err error
	if n.kind == Object {
		end, err = p.object(i+1, depth+1)
	} else {
		end, err = p.array(i+1, depth+1)
	}
	if err != nil {
		return i, err
	}
	if known != nil {
		if sub := known.Learn(p.s[n.keyStart+1:n.keyEnd-1], p.s[i:end]); sub != nil {
			return p.opaque(at, i, n, sub), nil
		}
	}
	p.d.nodes[at].end, p.d.nodes[at].next = int32(end), int32(len(p.d.nodes))
	return end, nil
}

// opaque makes the value at node at stand for sub.
func (p *parser) opaque(at, i int, n node, sub *Doc) int {
	end := i + len(sub.Text)
	p.d.subs = append(p.d.subs, sub)
	if sub.MaxString > p.d.MaxString {
		p.d.MaxString = sub.MaxString
	}
	n.end, n.next, n.sub = int32(end), int32(at+1), int32(len(p.d.subs))
	p.d.nodes = append(p.d.nodes[:at], n)
	return end
}

func (p *parser) object(i, depth int) (int, error) {
	i = p.space(i)
	if i < len(p.s) && p.s[i] == '}' {
		return i + 1, nil
	}
	for {
		if i >= len(p.s) || p.s[i] != '"' {
			return i, p.fail(i, "expected a key")
		}
		ke, esc, err := p.str(i)
		if err != nil {
			return i, err
		}
		ks := i
		i = p.space(ke)
		if i >= len(p.s) || p.s[i] != ':' {
			return i, p.fail(i, "expected ':'")
		}
		if i, err = p.value(p.space(i+1), depth, int32(ks), int32(ke), esc); err != nil {
			return i, err
		}
		i = p.space(i)
		if i >= len(p.s) {
			return i, p.fail(i, "unexpected end")
		}
		switch p.s[i] {
		case ',':
			i = p.space(i + 1)
		case '}':
			return i + 1, nil
		default:
			return i, p.fail(i, "expected ',' or '}'")
		}
	}
}

func (p *parser) array(i, depth int) (int, error) {
	i = p.space(i)
	if i < len(p.s) && p.s[i] == ']' {
		return i + 1, nil
	}
	for {
		var err error
		if i, err = p.value(i, depth, 0, 0, false); err != nil {
			return i, err
		}
		i = p.space(i)
		if i >= len(p.s) {
			return i, p.fail(i, "unexpected end")
		}
		switch p.s[i] {
		case ',':
			i = p.space(i + 1)
		case ']':
			return i + 1, nil
		default:
			return i, p.fail(i, "expected ',' or ']'")
		}
	}
}

func (p *parser) word(i int, w string) (int, error) {
	end := jsontext.ScanWord(p.s, i, w)
	if end < 0 {
		return i, p.fail(i, "expected a value")
	}
	return end, nil
}

// str scans the string that begins with the quote at i. Other than jsontext, it takes no half of a surrogate pair.
func (p *parser) str(i int) (end int, escaped bool, err error) {
	end, has := jsontext.ScanString(p.s, i+1)
	if end < 0 || has&jsontext.Unicode != 0 {
		err = p.checkString(i, end)
	}
	return end, has != 0, err
}

// checkString checks more of the string at i, whose end is given, or ^index of a fault.
func (p *parser) checkString(i, end int) error {
	if end < 0 {
		return p.fail(^end, jsontext.FaultString.At(p.s, ^end))
	}
	if half := jsontext.HalfPair(p.s[i:end]); half >= 0 {
		return p.fail(i+half, "lone surrogate")
	}
	return nil
}

// number scans the number at i. Other than jsontext, it takes none beyond a float64.
func (p *parser) number(i int) (int, error) {
	end := jsontext.NumberEnd(p.s, i)
	if end < 0 {
		if ^end == i {
			return i, p.fail(i, "expected a value")
		}
		return ^end, p.fail(^end, "expected a digit")
	}
	text := p.s[i:end]
	if len(text) > 300 || bytes.IndexByte(text, 'e') >= 0 || bytes.IndexByte(text, 'E') >= 0 {
		if f, err := strconv.ParseFloat(string(text), 64); err != nil && math.IsInf(f, 0) {
			return i, p.fail(i, "number out of range")
		}
	}
	return end, nil
}
