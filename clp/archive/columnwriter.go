package archive

import (
	"encoding/binary"
	"hash/maphash"
	"unsafe"

	"github.com/tracehandler/tracehandler/clp/encoding"
)

// unsafeString is b as a string, for a look-up that does not keep it.
func unsafeString(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

// tableWriter is a table that is being made.
type tableWriter struct {
	entries []int32 // of its schema
	ordered int     // of them are in the ordered region
	roots   []int32 // structured arrays
	columns []columnWriter
	records int64
	young   bool
	side    sideTable
	shapes  uint64 // checksum of what the records are made of; see proof
}

// columnWriter is a column that is being made; see column for how it is laid out. Texts are collected before they are looked
// up in the dictionaries: many at once are faster. A log whose records have thousands of keys that no other has makes
// millions of columns, so that there is little in it.
type columnWriter struct {
	node   int32
	typ    NodeType
	values part
	before uint64
	more   *columnMore // nil if it was not needed yet
	sum    uint64      // of the values; see proof
}

// columnMore is what many columns do not have.
type columnMore struct {
	second part         // formats, patterns or variables
	index  *columnIndex // of the values in frames, nil if there are none
	texts  *textBatch   // that are not looked up yet
}

// What a column and its columnMore take, in bytes.
const (
	columnSize     = 64
	columnMoreSize = 48
)

// textBatch is some texts of a column, in the order of the records, or one each of several columns.
type textBatch struct {
	column  *columnWriter
	columns []*columnWriter // if column is nil
	bytes   []byte
	ends    []uint32
}

const (
	batchBytes = 32 << 10
	batchTexts = 2048

	// Behind the first fewTables tables, the texts of the first youngRecords records of a table are collected together with
	// those of other tables: see textBatch.
	fewTables    = 64
	youngRecords = 8
)

// add appends a text, of which the batch's column is not told. It reports false if the batch is full.
func (t *textBatch) add(w *Writer, text []byte) bool {
	if len(t.ends) == batchTexts || len(t.bytes)+len(text) > batchBytes && len(t.ends) > 0 {
		return false
	}
	before := cap(t.bytes) + 4*cap(t.ends)
	t.bytes = append(t.bytes, text...)
	t.ends = append(t.ends, uint32(len(t.bytes)))
	if now := cap(t.bytes) + 4*cap(t.ends); now != before {
		w.held.Add(int64(now - before))
	}
	return true
}

// rest returns the column's more.
func (c *columnWriter) rest(w *Writer) *columnMore {
	if c.more == nil {
		c.more = &columnMore{}
		w.held.Add(columnMoreSize)
	}
	return c.more
}

// second returns the column's second part, which may not be there.
func (c *columnWriter) second() *part {
	if c.more == nil {
		return &part{}
	}
	return &c.more.second
}

// observe tells the index of the values that are not in a frame yet.
func (c *columnWriter) observe(w *Writer) {
	if w.options.NoIndex || len(c.values.plain) == 0 {
		return
	}
	m := c.rest(w)
	if m.index == nil {
		m.index = &columnIndex{}
		w.held.Add(1500)
	}
	m.index.add(c.typ, c.values.plain)
}

func (c *columnWriter) delta(w *Writer, v int64) {
	c.values.word(w, c, uint64(v)-c.before)
	c.before = uint64(v)
}

// prove adds the value that comes next to the checksum.
func (c *columnWriter) prove(v uint64) {
	row := c.values.size()
	if c.typ != Boolean {
		row /= 8
	}
	c.sum += cell(row, v)
}

// add appends the value of a leaf. The table is young or not.
func (c *columnWriter) add(w *Writer, l *leaf, young bool) {
	switch c.typ {
	case Integer:
		c.prove(l.bits)
		c.values.word(w, c, l.bits)
	case Boolean:
		c.prove(l.bits)
		c.values.byte(w, c, byte(l.bits))
	case FormattedFloat:
		c.prove(both(l.bits, l.second))
		c.values.word(w, c, l.bits)
		c.rest(w).second.short(w, uint16(l.second))
	case Timestamp:
		c.prove(both(l.bits, l.second))
		c.delta(w, int64(l.bits))
		c.rest(w).second.word(w, nil, l.second)
		w.span.saw(int64(l.bits))
	default:
		if young {
			w.youngText(c, l.text)
			return
		}
		m := c.rest(w)
		if m.texts == nil {
			m.texts = &textBatch{}
		}
		if !m.texts.add(w, l.text) {
			w.flushTexts(c)
			m.texts.add(w, l.text)
		}
	}
}

// youngText adds a text of a column of a young table.
func (w *Writer) youngText(c *columnWriter, text []byte) {
	if !w.young.add(w, text) {
		w.flushYoung()
		w.young.add(w, text)
	}
	before := cap(w.young.columns)
	w.young.columns = append(w.young.columns, c)
	w.held.Add(8 * int64(cap(w.young.columns)-before))
}

// flushYoung looks up the texts of young tables. They come before those of the same tables when these are not young any more.
func (w *Writer) flushYoung() { w.lookUp(&w.young) }

// flushTexts looks up the texts of a column.
func (w *Writer) flushTexts(c *columnWriter) {
	if c.more == nil || c.more.texts == nil {
		return
	}
	c.more.texts.column = c
	w.lookUp(c.more.texts)
}

// flushAllTexts looks up all texts there are.
func (w *Writer) flushAllTexts() {
	w.flushYoung()
	for _, t := range w.filled {
		if t.young {
			continue
		}
		for i := range t.columns {
			w.flushTexts(&t.columns[i])
		}
	}
}

// lookUp appends the texts of a batch to their columns, and empties it.
func (w *Writer) lookUp(t *textBatch) {
	if len(t.ends) == 0 {
		return
	}
	w.encode(t)
	if cap(t.bytes) > 2*batchBytes {
		w.held.Add(-int64(cap(t.bytes)))
		t.bytes = nil
	}
	clear(t.columns)
	t.columns, t.bytes, t.ends = t.columns[:0], t.bytes[:0], t.ends[:0]
}

// encode appends the texts of a batch to their columns.
func (w *Writer) encode(t *textBatch) {
	from := uint32(0)
	c := t.column
	if c == nil {
		for i, end := range t.ends {
			c, text := t.columns[i], t.bytes[from:end]
			switch from = end; c.typ {
			case ClpString:
				c.text(w, text, &w.logs)
			case UnstructuredArray:
				c.text(w, text, &w.arrays)
			default:
				low, high := w.vars.hash(text)
				c.prove(low)
				c.values.word(w, c, w.vars.lookUp(w, text, low, high))
			}
		}
		return
	}
	switch c.typ {
	case ClpString:
		for _, end := range t.ends {
			c.text(w, t.bytes[from:end], &w.logs)
			from = end
		}
	case UnstructuredArray:
		for _, end := range t.ends {
			c.text(w, t.bytes[from:end], &w.arrays)
			from = end
		}
	default:
		w.words(c, t)
	}
}

// words appends texts that are entries of the dictionary, some at a time: see dictWriter.touch.
func (w *Writer) words(c *columnWriter, t *textBatch) {
	var hashes [64]hashSlot
	var last []byte
	id, low, from := uint64(0), uint64(0), uint32(0)
	for ends := t.ends; len(ends) > 0; {
		now := ends[:min(len(ends), len(hashes))]
		ends = ends[len(now):]
		start, n := from, 0
		before := last
		for _, end := range now {
			text := t.bytes[start:end]
			if start = end; before == nil || string(text) != string(before) {
				hashes[n].low, hashes[n].high = w.vars.hash(text)
				before = text
				n++
			}
		}
		w.touched += w.vars.touch(hashes[:n])
		n = 0
		for _, end := range now {
			text := t.bytes[from:end:end]
			if from = end; last == nil || string(text) != string(last) {
				low = hashes[n].low
				id, last = w.vars.lookUp(w, text, low, hashes[n].high), text
				n++
			}
			c.prove(low)
			c.values.word(w, c, id)
		}
	}
}

// text appends a text as its log type and variables.
func (c *columnWriter) text(w *Writer, text []byte, types *dictWriter) {
	variables := &c.rest(w).second
	at := uint64(variables.size() / 8)
	logtype := w.logtype[:0]
	for from := 0; ; {
		start, end, escapes := encoding.NextVariable(text, from)
		if escapes {
			logtype = encoding.AppendConstant(logtype, text[from:start])
		} else {
			logtype = append(logtype, text[from:start]...)
		}
		if start == end {
			break
		}
		kind, bits := encoding.EncodeVariable(encoding.EightByte, text[start:end])
		logtype = append(logtype, kind.Placeholder())
		if kind == encoding.Dict {
			bits = int64(w.vars.id(w, text[start:end]))
		}
		variables.word(w, nil, uint64(bits))
		from = end
	}
	w.logtype = logtype
	c.prove(maphash.Bytes(w.vars.seeds[0], text))
	c.values.word(w, c, types.id(w, logtype)|at<<24)
}

// parts calls f for each run of bytes of the table, in their order.
func (t *tableWriter) parts(f func(p *part, c *columnWriter)) {
	for i := range t.columns {
		c := &t.columns[i]
		f(&c.values, c)
		switch c.typ {
		case ClpString, UnstructuredArray:
			second := c.second()
			f(&part{plain: binary.LittleEndian.AppendUint64(nil, uint64(second.size()/8))}, nil)
			f(second, nil)
		case FormattedFloat, Timestamp:
			f(c.second(), nil)
		}
	}
}

// drop forgets the values of the table, which are somewhere else.
func (t *tableWriter) drop() {
	for i := range t.columns {
		c := &t.columns[i]
		c.values, c.more = part{}, nil
	}
}

// size returns the bytes of the table, uncompressed.
func (t *tableWriter) size() (n int64) {
	for i := range t.columns {
		c := &t.columns[i]
		n += c.values.size()
		if c.more != nil {
			n += c.more.second.size()
		}
		if c.typ == ClpString || c.typ == UnstructuredArray {
			n += 8
		}
	}
	return n
}

// packed reports whether some of the table is compressed already.
func (t *tableWriter) packed() bool {
	for i := range t.columns {
		c := &t.columns[i]
		if c.values.full != nil || c.more != nil && c.more.second.full != nil {
			return true
		}
	}
	return false
}
