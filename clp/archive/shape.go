package archive

import (
	"encoding/binary"
	"slices"
)

// shape says where the leaves of a record go, which come in the order of the document, in a table.
type shape struct {
	table   *tableWriter
	columns []int32 // of the table, of each leaf; -1 if the key was there before
	number  int     // among the shapes of the table, or noShape: the columns do not give back the record
	text    uint64  // hash of the record's text without its values; see proof
}

// newShape finds the table of the record in g, whose tokens are g.key.
func (w *Writer) newShape(g *ingest) *shape {
	s := &shape{}
	entries, roots := []int32{nodeOrder}, []int32(nil)
	leaves := 0
	for i := 0; i < len(g.key); i += 4 {
		token := binary.LittleEndian.Uint32(g.key[i:])
		id := int32(token >> 1)
		if token&tokenBegin != 0 {
			continue
		}
		typ := w.nodes[id].Type
		if typ.hasColumn() {
			leaves++
		}
		if typ == StructuredArray {
			roots = append(roots, id)
		} else {
			entries = append(entries, id)
		}
	}
	slices.Sort(entries)
	slices.Sort(roots)
	for i, id := range entries[1:] {
		if id == entries[i] && w.nodes[id].Type.hasColumn() {
			s.number = noShape
		}
	}
	once := len(roots)
	if roots = slices.Compact(roots); len(roots) < once {
		s.number = noShape
	}
	t := w.table(slices.Compact(entries), g.entries, roots)
	s.table = t
	if n := len(w.nodes) - len(w.places); n > 0 {
		w.places = append(w.places, make([]int32, n)...)
	}
	inner := len(t.columns) - len(g.nodes) // the columns of what is in structured arrays are the last ones
	for i := range t.columns[:inner] {
		w.places[t.columns[i].node] = int32(i)
	}
	s.columns = make([]int32, 0, leaves+len(g.nodes))
	for i := 0; i < len(g.key); i += 4 {
		token := binary.LittleEndian.Uint32(g.key[i:])
		id := int32(token >> 1)
		if token&tokenBegin != 0 || !w.nodes[id].Type.hasColumn() {
			continue
		}
		s.columns = append(s.columns, w.places[id])
		w.places[id] = -1
	}
	for i := range g.nodes {
		s.columns = append(s.columns, int32(inner+i))
	}
	if s.number != noShape {
		s.number = t.side.number(w, g.key)
	}
	if s.number != noShape && !w.options.Structured {
		s.text = w.skeleton(g.key)
	}
	return s
}

// table returns the table of a schema, which is new if it was not seen before. roots are the structured arrays in it.
func (w *Writer) table(ordered, unordered, roots []int32) *tableWriter {
	key := string(int32Bytes(append(append(slices.Clone(ordered), -1), unordered...)))
	if t := w.tables[key]; t != nil {
		return t
	}
	t := &tableWriter{entries: append(slices.Clone(ordered), unordered...), ordered: len(ordered), roots: roots, young: len(w.order) >= fewTables}
	columns, width := 0, 0
	for _, id := range t.entries {
		if !isDelimiter(id) {
			if size := w.nodes[id].Type.cellSize(); size > 0 {
				columns++
				width += size
			}
		}
	}
	t.columns = make([]columnWriter, 0, columns)
	cells := make([]byte, width) // for the first record
	for _, id := range t.entries {
		if isDelimiter(id) {
			continue
		}
		if size := w.nodes[id].Type.cellSize(); size > 0 {
			t.columns = append(t.columns, columnWriter{node: id, typ: w.nodes[id].Type, values: part{plain: cells[:0:size]}})
			cells = cells[size:]
		}
	}
	w.tables[key] = t
	w.order = append(w.order, t)
	w.held.Add(int64(2*len(key) + columnSize*columns + width + 512))
	return t
}

// cellSize returns the bytes of a value in a column, without what belongs to it elsewhere: 0 if there is no column.
func (t NodeType) cellSize() int {
	switch {
	case !t.hasColumn():
		return 0
	case t == Boolean:
		return 1
	}
	return 8
}

// isText reports whether the values of a column come as texts.
func (t NodeType) isText() bool {
	switch t {
	case ClpString, VarString, UnstructuredArray, DictionaryFloat:
		return true
	}
	return false
}

func int32Bytes(list []int32) []byte {
	b := make([]byte, 0, 4*len(list))
	for _, v := range list {
		b = binary.LittleEndian.AppendUint32(b, uint32(v))
	}
	return b
}
