package archive

import (
	"encoding/binary"
	"slices"
)

// shape says where the leaves of a record go, which come in the order of the document, in a table.
type shape struct {
	table   *tableWriter
	columns []*columnWriter // of each leaf; nil if the key was there before
	number  int             // among the shapes of the table, or noShape: the columns do not give back the record
}

// newShape finds the table of the record in g, whose tokens are g.key.
func (w *Writer) newShape(g *ingest) *shape {
	s := &shape{}
	entries := []int32{nodeOrder}
	var leaves, roots []int32
	used := map[int32]bool{}
	for i := 0; i < len(g.key); i += 4 {
		token := binary.LittleEndian.Uint32(g.key[i:])
		id := int32(token >> 1)
		if token&tokenBegin != 0 {
			continue
		}
		typ := w.nodes[id].Type
		if used[id] && (typ.hasColumn() || typ == StructuredArray) {
			s.number = noShape
		}
		if typ.hasColumn() {
			leaves = append(leaves, id)
		}
		if !used[id] && typ == StructuredArray {
			roots = append(roots, id)
		} else if !used[id] {
			entries = append(entries, id)
		}
		used[id] = true
	}
	slices.Sort(entries)
	slices.Sort(roots)
	t := w.table(entries, g.entries, roots)
	s.table = t
	clear(used)
	for _, id := range leaves {
		c := (*columnWriter)(nil)
		if !used[id] {
			i := slices.IndexFunc(t.columns, func(c columnWriter) bool { return c.node == id })
			c = &t.columns[i]
		}
		used[id] = true
		s.columns = append(s.columns, c)
	}
	for i := range g.nodes { // their columns are the last ones
		s.columns = append(s.columns, &t.columns[len(t.columns)-len(g.nodes)+i])
	}
	if s.number != noShape {
		s.number = t.side.number(w, g.key)
	}
	return s
}

// table returns the table of a schema, which is new if it was not seen before. roots are the structured arrays in it.
func (w *Writer) table(ordered, unordered, roots []int32) *tableWriter {
	key := string(int32Bytes(append(append(slices.Clone(ordered), -1), unordered...)))
	if t := w.tables[key]; t != nil {
		return t
	}
	t := &tableWriter{entries: append(slices.Clone(ordered), unordered...), ordered: len(ordered), roots: roots}
	for _, id := range t.entries {
		if isDelimiter(id) {
			continue
		}
		if typ := w.nodes[id].Type; typ.hasColumn() {
			t.columns = append(t.columns, columnWriter{node: id, typ: typ})
		}
	}
	w.tables[key] = t
	w.order = append(w.order, t)
	w.held.Add(int64(2*len(key) + 300*len(t.columns) + 512))
	return t
}

// add appends a record to its table.
func (s *shape) add(w *Writer, g *ingest, line []byte) {
	t := s.table
	t.columns[0].delta(w, w.records) // the order: the node with the least ID
	for i := range g.leaves {
		if c := s.columns[i]; c != nil {
			c.add(w, &g.leaves[i])
		}
	}
	for i := range g.inner {
		s.columns[len(g.leaves)+i].add(w, &g.inner[i])
	}
	number := s.number
	if number == noShape || g.odd {
		number = noShape
		t.side.except(w, t.records, w.sideLines.add(w, line))
	}
	t.side.add(w, number)
	t.records++
}

func int32Bytes(list []int32) []byte {
	b := make([]byte, 0, 4*len(list))
	for _, v := range list {
		b = binary.LittleEndian.AppendUint32(b, uint32(v))
	}
	return b
}
