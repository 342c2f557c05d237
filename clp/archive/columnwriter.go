package archive

import (
	"encoding/binary"
	"unsafe"

	"github.com/tracehandler/tracehandler/clp/encoding"
)

// What the writer holds in plain form of each column and each dictionary, and compresses as one zstd frame. Larger frames
// compress better.
const (
	columnFrame     = 512 << 10
	dictionaryFrame = 4 << 20
)

// unsafeString is b as a string, for a look-up that does not keep it.
func unsafeString(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

// part is a run of bytes of a table that is being made.
type part struct {
	plain []byte
	pack  []byte // compressed frames of what was before
	size  int64  // uncompressed
}

func (p *part) word(w *Writer, v uint64) {
	p.plain = binary.LittleEndian.AppendUint64(p.plain, v)
	p.grown(w, 8)
}

func (p *part) grown(w *Writer, n int64) {
	p.size += n
	w.held += n
	if len(p.plain) >= columnFrame {
		p.flush(w)
	}
}

// flush compresses what is not yet.
func (p *part) flush(w *Writer) {
	if len(p.plain) == 0 {
		return
	}
	n := len(p.pack)
	p.pack = w.enc.EncodeAll(p.plain, p.pack)
	w.held += int64(len(p.pack)-n) - int64(len(p.plain))
	p.plain = p.plain[:0]
}

// tableWriter is a table that is being made.
type tableWriter struct {
	entries []int32
	columns []columnWriter
	records int64
	side    sideTable
}

// columnWriter is a column that is being made; see column for how it is laid out.
type columnWriter struct {
	node   int32
	typ    NodeType
	values part
	second part // formats, patterns or variables
	before uint64
}

func (c *columnWriter) delta(w *Writer, v int64) {
	c.values.word(w, uint64(v)-c.before)
	c.before = uint64(v)
}

// add appends the value of a leaf.
func (c *columnWriter) add(w *Writer, g *ingest, l *leaf) {
	switch c.typ {
	case Integer:
		c.values.word(w, l.bits)
	case Boolean:
		c.values.plain = append(c.values.plain, byte(l.bits))
		c.values.grown(w, 1)
	case FormattedFloat:
		c.values.word(w, l.bits)
		c.second.plain = binary.LittleEndian.AppendUint16(c.second.plain, uint16(l.second))
		c.second.grown(w, 2)
	case VarString, DictionaryFloat:
		c.values.word(w, w.vars.id(w, g.text[l.from:l.to]))
	case Timestamp:
		c.delta(w, int64(l.bits))
		c.second.word(w, l.second)
		w.sawTime(int64(l.bits))
	case ClpString:
		c.encode(w, g, l, &w.logs)
	case UnstructuredArray:
		c.encode(w, g, l, &w.arrays)
	}
}

// encode appends a text as its log type and variables.
func (c *columnWriter) encode(w *Writer, g *ingest, l *leaf, types *dictWriter) {
	m := &g.msg
	encoding.EncodeMessage(m, encoding.EightByte, g.text[l.from:l.to])
	at := uint64(c.second.size / 8)
	encoded, word := 0, 0
	for i := 0; i < len(m.Logtype); i++ {
		switch m.Logtype[i] {
		case encoding.Escape:
			i++
		case encoding.DictPlaceholder:
			c.second.word(w, w.vars.id(w, m.Word(word)))
			word++
		case encoding.IntPlaceholder, encoding.FloatPlaceholder:
			c.second.word(w, uint64(m.Encoded[encoded]))
			encoded++
		}
	}
	c.values.word(w, types.id(w, m.Logtype)|at<<24)
}

// parts calls f for each run of bytes of the table, in their order.
func (t *tableWriter) parts(f func(p *part)) {
	for i := range t.columns {
		c := &t.columns[i]
		f(&c.values)
		switch c.typ {
		case ClpString, UnstructuredArray:
			f(&part{plain: binary.LittleEndian.AppendUint64(nil, uint64(c.second.size/8)), size: 8})
			f(&c.second)
		case FormattedFloat, Timestamp:
			f(&c.second)
		}
	}
}

func (t *tableWriter) size() (n int64) {
	t.parts(func(p *part) { n += p.size })
	return n
}

// packed reports whether some of the table is compressed already.
func (t *tableWriter) packed() (any bool) {
	t.parts(func(p *part) { any = any || len(p.pack) > 0 })
	return any
}
