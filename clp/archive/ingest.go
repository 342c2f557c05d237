package archive

import "github.com/tracehandler/tracehandler/internal/jsontext"

// leaf is a value of a record on its way into a column. What it means depends on the type of the node.
type leaf struct {
	bits   uint64
	second uint64
	text   []byte // of strings, unescaped, and of arrays and numbers: a part of the line or of ingest.text
}

// ingest takes a record apart, and checks meanwhile that it is one JSON object. Where it is not, it says so by false, and
// package event says why.
type ingest struct {
	w      *Writer
	b      []byte
	leaves []leaf
	text   []byte // of strings with escapes
	texts  int    // leaves with a log type

	root    *state
	states  int64 // bytes of all states
	counted int64 // of them, in Writer.held
	name    []byte
	key     []byte // tokens of the record, or a key
	number  []byte

	entries []int32 // of structured arrays: see structured.go
	nodes   []int32 // nodes of the values in them; their leaves are behind the others
	inner   []leaf
	odd     bool // the entries of the arrays do not give back the record
}

// record reads a line, and the keys of the other namespace if there are any. The leaves refer to both. It returns the state behind
// the last member.
func (g *ingest) record(line, auto []byte) (*state, bool) {
	g.reset(line)
	if len(auto) == 0 || isEmpty(auto) {
		return g.outermost(g.root, line, nodeObject, g.w.timePath(false))
	}
	s := g.root
	if !isEmpty(line) {
		var ok bool
		if s, ok = g.outermost(s, line, nodeObject, g.w.timePath(false)); !ok {
			return nil, false
		}
	}
	return g.outermost(g.toAuto(s), auto, g.w.node(-1, Object, autoKey), g.w.timePath(true))
}

// outermost reads an object that is in no other one, and whose node is a root.
func (g *ingest) outermost(s *state, text []byte, root int32, path []string) (*state, bool) {
	g.b = text
	pos := jsontext.SkipSpace(text, 0)
	if pos >= len(text) || text[pos] != '{' {
		return nil, false
	}
	s, pos = g.object(s, pos+1, root, path, 1)
	if pos < 0 || jsontext.SkipSpace(text, pos) != len(text) {
		return nil, false
	}
	return s, true
}

// isEmpty reports whether text is an object without members.
func isEmpty(text []byte) bool {
	pos := jsontext.SkipSpace(text, 0)
	if pos >= len(text) || text[pos] != '{' {
		return false
	}
	pos = jsontext.SkipSpace(text, pos+1)
	return pos < len(text) && text[pos] == '}' && jsontext.SkipSpace(text, pos+1) == len(text)
}

// timePath returns the path of the time if it is in the namespace.
func (w *Writer) timePath(auto bool) []string {
	if w.options.TimeAuto != auto {
		return nil
	}
	return w.options.TimeKey
}

// reset forgets the record before.
func (g *ingest) reset(b []byte) {
	g.b, g.leaves, g.text, g.entries, g.nodes, g.inner, g.texts = b, g.leaves[:0], g.text[:0], g.entries[:0], g.nodes[:0], g.inner[:0], 0
	g.odd = false
}

// empty returns the state behind a record without members: s is the first state, which no object ends in.
func (g *ingest) empty(s *state) *state {
	if s.end == nil {
		s.end = &state{from: s, token: nodeObject << 1}
		g.states += stateSize
	}
	return s.end
}

// object reads the members of the object id up to its end; pos is behind the brace that begins it. path is what is left of
// the time's path. A pos of -1 says that the text is wrong.
func (g *ingest) object(s *state, pos int, id int32, path []string, depth int) (*state, int) {
	b := g.b
	pos = jsontext.SkipSpace(b, pos)
	if pos < len(b) && b[pos] == '}' { // the outermost object: others are leaves
		return g.empty(s), pos + 1
	}
	for {
		k, next := s.find(b, pos)
		if k == nil {
			if pos >= len(b) || b[pos] != '"' {
				return nil, -1
			}
			end, _ := jsontext.ScanString(b, pos+1)
			if end < 0 {
				return nil, -1
			}
			if next = jsontext.SkipSpace(b, end); next >= len(b) || b[next] != ':' {
				return nil, -1
			}
			next++
			k = g.slot(s, b[pos:end], path)
		}
		if s, pos = g.value(s, k, jsontext.SkipSpace(b, next), id, depth); pos < 0 {
			return nil, -1
		}
		pos = jsontext.SkipSpace(b, pos)
		if pos >= len(b) {
			return nil, -1
		}
		if b[pos] != ',' {
			if b[pos] != '}' {
				return nil, -1
			}
			return s, pos + 1
		}
		pos = jsontext.SkipSpace(b, pos+1)
	}
}

// to returns the state behind a value of the given kind.
func (g *ingest) to(s *state, k *slot, parent int32, kind uint8) *state {
	if next := k.next(kind); next != nil {
		return next
	}
	return g.follow(s, k, parent, kind)
}

// value reads the value of key k in the object parent.
func (g *ingest) value(s *state, k *slot, pos int, parent int32, depth int) (*state, int) {
	b := g.b
	if pos >= len(b) {
		return nil, -1
	}
	switch c := b[pos]; c {
	case '"':
		end, kind := jsontext.ScanSpaced(b, pos+1)
		if end < 0 {
			return nil, -1
		}
		if k.time {
			if l, ok := g.w.times.string(b[pos:end]); ok {
				g.leaves = append(g.leaves, l)
				return g.to(s, k, parent, uint8(Timestamp)), end
			}
		}
		text := b[pos+1 : end-1]
		if kind&jsontext.Escapes != 0 {
			text = g.unescaped(text)
			kind &^= jsontext.Spaces
			for _, c := range text {
				if c == ' ' {
					kind |= jsontext.Spaces
				}
			}
		}
		g.leaves = append(g.leaves, leaf{text: text})
		if kind&jsontext.Spaces != 0 {
			g.texts++
			return g.to(s, k, parent, uint8(ClpString)), end
		}
		return g.to(s, k, parent, uint8(VarString)), end
	case '{':
		if next := jsontext.SkipSpace(b, pos+1); next < len(b) && b[next] == '}' {
			if depth == maxDepth {
				return nil, -1
			}
			return g.to(s, k, parent, uint8(Object)), next + 1
		}
		if depth == maxDepth {
			return nil, -1
		}
		s = g.to(s, k, parent, slotBegin)
		if s, pos = g.object(s, pos+1, int32(s.token>>1), k.path, depth+1); pos < 0 {
			return nil, -1
		}
		return g.leave(s), pos
	case '[':
		if g.w.options.Structured {
			before := s
			s = g.to(s, k, parent, uint8(StructuredArray))
			entries, inner, texts := len(g.entries), len(g.inner), g.texts
			pos = g.array(pos, int32(s.token>>1), depth)
			for p := before; p.from != nil; p = p.from {
				if p.token == s.token { // the key was there before: see newShape
					g.entries, g.nodes, g.inner, g.texts = g.entries[:entries], g.nodes[:inner], g.inner[:inner], texts
					break
				}
			}
			return s, pos
		}
		end, _ := jsontext.ScanValue(b, pos, depth)
		if end < 0 {
			return nil, -1
		}
		g.texts++
		g.leaves = append(g.leaves, leaf{text: b[pos:end]})
		return g.to(s, k, parent, uint8(UnstructuredArray)), end
	case 't', 'f':
		word, bit := "true", uint64(1)
		if c == 'f' {
			word, bit = "false", 0
		}
		if pos = jsontext.ScanWord(b, pos, word); pos < 0 {
			return nil, -1
		}
		g.leaves = append(g.leaves, leaf{bits: bit})
		return g.to(s, k, parent, uint8(Boolean)), pos
	case 'n':
		if pos = jsontext.ScanWord(b, pos, "null"); pos < 0 {
			return nil, -1
		}
		return g.to(s, k, parent, uint8(Null)), pos
	}
	n := jsontext.ScanNumber(b, pos)
	if n.End < 0 {
		return nil, -1
	}
	if k.time {
		if l, ok := g.w.times.number(b[pos:n.End]); ok {
			g.leaves = append(g.leaves, l)
			return g.to(s, k, parent, uint8(Timestamp)), n.End
		}
	}
	l, typ := g.numeral(b[pos:n.End], &n)
	g.leaves = append(g.leaves, l)
	return g.to(s, k, parent, uint8(typ)), n.End
}

// unescaped appends what the inside of a string says to g.text, and returns it. It stays valid when g.text moves.
func (g *ingest) unescaped(raw []byte) []byte {
	from := len(g.text)
	g.text = jsontext.AppendUnescaped(g.text, raw)
	return g.text[from:len(g.text):len(g.text)]
}

// numeral makes an integer of a number, a float whose spelling its format restores, or its text.
func (g *ingest) numeral(text []byte, n *jsontext.Number) (leaf, NodeType) {
	if i, ok := n.Int(); ok {
		return leaf{bits: uint64(i)}, Integer
	}
	if isPlain(n) {
		bits, format := formatPlain(text, n)
		return leaf{bits: bits, second: uint64(format)}, FormattedFloat
	}
	if n.Fraction == 0 && !n.Exponent {
		if i, ok := parseInteger(text); ok {
			return leaf{bits: uint64(i)}, Integer
		}
	}
	if bits, format, ok := formatLong(text, n); ok {
		return leaf{bits: bits, second: uint64(format)}, FormattedFloat
	}
	if bits, format, ok := formatSlow(text, &g.number); ok {
		return leaf{bits: bits, second: uint64(format)}, FormattedFloat
	}
	return leaf{text: text}, DictionaryFloat
}
