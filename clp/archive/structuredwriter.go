package archive

import "github.com/tracehandler/tracehandler/internal/jsontext"

// array takes apart the array at pos, whose node is id, and returns the index behind it, or -1 if the text is wrong. It appends
// the entries of the unordered region of the schema: see structured.go.
func (g *ingest) array(pos int, id int32, depth int) int {
	b := g.b
	if depth == maxDepth {
		return -1
	}
	if next := jsontext.SkipSpace(b, pos+1); next < len(b) && b[next] == ']' {
		g.entries = append(g.entries, id)
		return next + 1
	}
	at := len(g.entries)
	g.entries = append(g.entries, 0)
	for {
		g.name = g.name[:0]
		if pos = g.element(jsontext.SkipSpace(b, pos+1), id, depth+1, true); pos < 0 {
			return -1
		}
		if pos = jsontext.SkipSpace(b, pos); pos >= len(b) {
			return -1
		}
		if b[pos] == ']' {
			g.entries[at] = int32(StructuredArray)<<24 | int32(len(g.entries)-at-1)
			return pos + 1
		}
		if b[pos] != ',' {
			return -1
		}
	}
}

// element reads the value at pos, of the key g.name of node parent. An object that is an element of an array has a delimiter;
// one that is a member of another object has none.
func (g *ingest) element(pos int, parent int32, depth int, delimited bool) int {
	b := g.b
	if pos >= len(b) {
		return -1
	}
	put := func(typ NodeType, l leaf, end int) int {
		id := g.w.node(parent, typ, string(g.name))
		g.entries = append(g.entries, id)
		if typ.hasColumn() {
			g.nodes = append(g.nodes, id)
			g.inner = append(g.inner, l)
		}
		return end
	}
	switch c := b[pos]; c {
	case '"':
		end, _ := jsontext.ScanString(b, pos+1)
		if end < 0 {
			return -1
		}
		text := g.unescaped(b[pos+1 : end-1])
		for _, c := range text {
			if c == ' ' {
				g.texts++
				return put(ClpString, leaf{text: text}, end)
			}
		}
		return put(VarString, leaf{text: text}, end)
	case '{':
		return g.arrayObject(pos, g.w.node(parent, Object, string(g.name)), depth, delimited)
	case '[':
		return g.array(pos, g.w.node(parent, StructuredArray, string(g.name)), depth)
	case 't':
		return put(Boolean, leaf{bits: 1}, jsontext.ScanWord(b, pos, "true"))
	case 'f':
		return put(Boolean, leaf{}, jsontext.ScanWord(b, pos, "false"))
	case 'n':
		return put(Null, leaf{}, jsontext.ScanWord(b, pos, "null"))
	}
	n := jsontext.ScanNumber(b, pos)
	if n.End < 0 {
		return -1
	}
	l, typ := g.numeral(b[pos:n.End], &n)
	return put(typ, l, n.End)
}

// arrayObject reads the object at pos, whose node is id, somewhere in an array.
func (g *ingest) arrayObject(pos int, id int32, depth int, delimited bool) int {
	b := g.b
	if depth == maxDepth {
		return -1
	}
	if next := jsontext.SkipSpace(b, pos+1); next < len(b) && b[next] == '}' {
		g.entries = append(g.entries, id)
		return next + 1
	}
	at := len(g.entries)
	if delimited {
		g.entries = append(g.entries, 0)
	}
	last := int32(-1) // the object that the member before was
	for {
		if pos = jsontext.SkipSpace(b, pos+1); pos >= len(b) || b[pos] != '"' {
			return -1
		}
		end, _ := jsontext.ScanString(b, pos+1)
		if end < 0 {
			return -1
		}
		g.name = jsontext.AppendUnescaped(g.name[:0], b[pos+1:end-1])
		if pos = jsontext.SkipSpace(b, end); pos >= len(b) || b[pos] != ':' {
			return -1
		}
		pos = jsontext.SkipSpace(b, pos+1)
		now := int32(-1)
		if pos < len(b) && b[pos] == '{' {
			if next := jsontext.SkipSpace(b, pos+1); next < len(b) && b[next] != '}' {
				now = g.w.node(id, Object, string(g.name))
				g.odd = g.odd || now == last // it would be read as one object
			}
		}
		last = now
		if pos = g.element(pos, id, depth+1, false); pos < 0 {
			return -1
		}
		if pos = jsontext.SkipSpace(b, pos); pos >= len(b) {
			return -1
		}
		if b[pos] == '}' {
			if delimited {
				g.entries[at] = int32(Object)<<24 | int32(len(g.entries)-at-1)
			}
			return pos + 1
		}
		if b[pos] != ',' {
			return -1
		}
	}
}
