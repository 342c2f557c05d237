package archive

import (
	"encoding/binary"
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
	side    sideTable
}

// columnWriter is a column that is being made; see column for how it is laid out. Texts are collected before they are looked
// up in the dictionaries: many at once are faster, and another goroutine can do it. The parts of such columns are that
// goroutine's, those of other columns are the writer's.
type columnWriter struct {
	node   int32
	typ    NodeType
	values part
	second part // formats, patterns or variables
	before uint64
	index  *columnIndex // of the values in frames, nil if there are none

	texts textBatch
}

// textBatch is some texts of a column, in the order of the records.
type textBatch struct {
	column *columnWriter
	bytes  []byte
	ends   []uint32
	do     func() // instead of all that: see Writer.inOrder
}

const (
	batchBytes = 32 << 10
	batchTexts = 2048
)

func (c *columnWriter) delta(w *Writer, v int64) {
	c.values.word(w, c, uint64(v)-c.before)
	c.before = uint64(v)
}

// add appends the value of a leaf.
func (c *columnWriter) add(w *Writer, l *leaf) {
	switch c.typ {
	case Integer:
		c.values.word(w, c, l.bits)
	case Boolean:
		c.values.byte(w, c, byte(l.bits))
	case FormattedFloat:
		c.values.word(w, c, l.bits)
		c.second.short(w, uint16(l.second))
	case Timestamp:
		c.delta(w, int64(l.bits))
		c.second.word(w, nil, l.second)
		w.times.saw(int64(l.bits))
	default:
		t := &c.texts
		if len(t.ends) == batchTexts || len(t.bytes)+len(l.text) > batchBytes && len(t.ends) > 0 {
			w.flushTexts(c)
		}
		before := cap(t.bytes) + 4*cap(t.ends)
		t.bytes = append(t.bytes, l.text...)
		t.ends = append(t.ends, uint32(len(t.bytes)))
		if now := cap(t.bytes) + 4*cap(t.ends); now != before {
			w.held.Add(int64(now - before))
		}
	}
}

// flushTexts hands the texts of a column to whoever looks them up.
func (w *Writer) flushTexts(c *columnWriter) {
	if len(c.texts.ends) == 0 {
		return
	}
	if w.batches == nil {
		w.encode(c, &c.texts)
		c.texts.bytes, c.texts.ends = c.texts.bytes[:0], c.texts.ends[:0]
		if cap(c.texts.bytes) > 2*batchBytes {
			w.held.Add(-int64(cap(c.texts.bytes)))
			c.texts.bytes = nil
		}
		return
	}
	c.texts.column = c
	w.batches <- c.texts
	c.texts = textBatch{}
	select {
	case c.texts = <-w.used:
		w.held.Add(int64(cap(c.texts.bytes) + 4*cap(c.texts.ends)))
	default:
	}
}

// encode appends the texts of a batch to its column.
func (w *Writer) encode(c *columnWriter, t *textBatch) {
	from := uint32(0)
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
	id, from := uint64(0), uint32(0)
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
				id, last = w.vars.lookUp(w, text, hashes[n].low, hashes[n].high), text
				n++
			}
			c.values.word(w, c, id)
		}
	}
}

// text appends a text as its log type and variables.
func (c *columnWriter) text(w *Writer, text []byte, types *dictWriter) {
	at := uint64(c.second.size / 8)
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
		c.second.word(w, nil, uint64(bits))
		from = end
	}
	w.logtype = logtype
	c.values.word(w, c, types.id(w, logtype)|at<<24)
}

// parts calls f for each run of bytes of the table, in their order.
func (t *tableWriter) parts(f func(p *part, c *columnWriter)) {
	for i := range t.columns {
		c := &t.columns[i]
		f(&c.values, c)
		switch c.typ {
		case ClpString, UnstructuredArray:
			f(&part{plain: binary.LittleEndian.AppendUint64(nil, uint64(c.second.size/8)), size: 8}, nil)
			f(&c.second, nil)
		case FormattedFloat, Timestamp:
			f(&c.second, nil)
		}
	}
}

func (t *tableWriter) size() (n int64) {
	t.parts(func(p *part, _ *columnWriter) { n += p.size })
	return n
}

// packed reports whether some of the table is compressed already.
func (t *tableWriter) packed() (any bool) {
	t.parts(func(p *part, _ *columnWriter) { any = any || len(p.frames) > 0 })
	return any
}
