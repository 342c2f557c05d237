package js

import (
	"encoding/binary"
	"fmt"
	"math"
	"strconv"
	"unicode/utf8"
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
		return &SyntaxError{Offset: invalidUTF8(text), Msg: "invalid UTF-8"}
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

func invalidUTF8(text []byte) int {
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRune(text[i:])
		if r == utf8.RuneError && n == 1 {
			return i
		}
		i += n
	}
	return len(text)
}

type parser struct {
	d *Doc
	s []byte
}

func (p *parser) fail(i int, msg string) error { return &SyntaxError{Offset: i, Msg: msg} }

func (p *parser) space(i int) int {
	for i < len(p.s) {
		switch p.s[i] {
		case ' ', '\t', '\n', '\r':
			i++
		default:
			return i
		}
	}
	return i
}

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
	if len(p.s)-i < len(w) || string(p.s[i:i+len(w)]) != w {
		return i, p.fail(i, "expected a value")
	}
	return i + len(w), nil
}

const (
	lows  = 0x0101010101010101
	highs = 0x8080808080808080
)

// str scans the string that begins with the quote at i. It looks at eight bytes at a time for the three things that
// matter: a quote, a backslash, a control character.
func (p *parser) str(i int) (end int, escaped bool, err error) {
	s := p.s
	i++
	for {
		for len(s)-i >= 8 {
			w := binary.LittleEndian.Uint64(s[i:])
			q := w ^ (lows * '"')
			b := w ^ (lows * '\\')
			m := ((q - lows) &^ q) | ((b - lows) &^ b) | ((w - lows*0x20) &^ w)
			if m&highs != 0 {
				break
			}
			i += 8
		}
		for j := 0; ; j++ {
			if i >= len(s) {
				return i, false, p.fail(i, "unterminated string")
			}
			c := s[i]
			if c == '"' {
				return i + 1, escaped, nil
			}
			if c < 0x20 {
				return i, false, p.fail(i, "control character in a string")
			}
			if c == '\\' {
				escaped = true
				if i, err = p.escape(i); err != nil {
					return i, false, err
				}
				break
			}
			i++
			if j >= 8 {
				break
			}
		}
	}
}

func (p *parser) escape(i int) (int, error) {
	if i+1 >= len(p.s) {
		return i, p.fail(i, "unterminated string")
	}
	switch p.s[i+1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return i + 2, nil
	case 'u':
		r, ok := hex4(p.s, i+2)
		if !ok {
			return i, p.fail(i, "bad \\u escape")
		}
		if r < 0xD800 || r > 0xDFFF {
			return i + 6, nil
		}
		if r < 0xDC00 && i+7 < len(p.s) && p.s[i+6] == '\\' && p.s[i+7] == 'u' {
			if lo, ok := hex4(p.s, i+8); ok && lo >= 0xDC00 && lo <= 0xDFFF {
				return i + 12, nil
			}
		}
		return i, p.fail(i, "lone surrogate")
	}
	return i, p.fail(i, "bad escape")
}

func hex4(s []byte, i int) (rune, bool) {
	if len(s)-i < 4 {
		return 0, false
	}
	var r rune
	for _, c := range s[i : i+4] {
		switch {
		case c >= '0' && c <= '9':
			c -= '0'
		case c >= 'a' && c <= 'f':
			c -= 'a' - 10
		case c >= 'A' && c <= 'F':
			c -= 'A' - 10
		default:
			return 0, false
		}
		r = r<<4 | rune(c)
	}
	return r, true
}

func (p *parser) number(i int) (int, error) {
	s, from := p.s, i
	if i < len(s) && s[i] == '-' {
		i++
	}
	switch {
	case i < len(s) && s[i] == '0':
		i++
	case i < len(s) && s[i] >= '1' && s[i] <= '9':
		i = digits(s, i)
	default:
		return i, p.fail(from, "expected a value")
	}
	big := i-from > 300
	if i < len(s) && s[i] == '.' {
		j := digits(s, i+1)
		if j == i+1 {
			return i, p.fail(i, "expected a digit")
		}
		i = j
	}
	if i < len(s) && (s[i] == 'e' || s[i] == 'E') {
		j := i + 1
		if j < len(s) && (s[j] == '+' || s[j] == '-') {
			j++
		}
		k := digits(s, j)
		if k == j {
			return i, p.fail(i, "expected a digit")
		}
		i, big = k, true
	}
	if big {
		if f, err := strconv.ParseFloat(string(s[from:i]), 64); err != nil && math.IsInf(f, 0) {
			return i, p.fail(from, "number out of range")
		}
	}
	return i, nil
}

func digits(s []byte, i int) int {
	for i < len(s) && s[i] >= '0' && s[i] <= '9' {
		i++
	}
	return i
}
