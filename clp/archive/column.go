package archive

import (
	"encoding/binary"
	"fmt"
	"math"
	"strconv"
)

// column is where the values of one node are in a table, and the rows of it that are decoded.
//
//	Integer, DeltaInteger            8 bytes a row; deltas to the row before
//	Float, DictionaryFloat, VarString 8
//	Boolean                          1
//	FormattedFloat                   8, and behind all of them 2
//	Timestamp, DateString            8, and behind all of them 8; times are deltas in Timestamp
//	ClpString, UnstructuredArray     8, then u64 number of variables, then 8 bytes each
type column struct {
	node      int32
	typ       NodeType
	used      bool  // the record shows it
	early     bool  // decoded with each batch, not only when a record of it is shown
	off       int64 // of its first byte in the stream
	variables int64

	values []uint64
	second []uint64 // formats or patterns
	sum    uint64   // of deltas up to the end of the batch
	window []uint64 // variables
	first  int64    // index of window[0]
}

// width returns the bytes a row takes, at least.
func (t NodeType) width() int64 {
	switch t {
	case Boolean:
		return 1
	case FormattedFloat:
		return 10
	case Timestamp, DateString:
		return 16
	}
	return 8
}

// batchRows is how many rows are decoded at a time.
const batchRows = 256

// tableReader reads the rows of one table.
type tableReader struct {
	r      *Reader
	t      *table
	data   *blob
	layout *layout
	auto   *layout // nil if the archive has no such keys
	cols   []column
	order  int // column of the record's number, or -1
	taken  int64

	row, from, to int64 // row, and the batch that is decoded
	full          bool  // the columns that are not early, too
	wants         *RowSet
	index         int
	scratch       []byte
}

// openTable finds the columns of a table, and checks it against its schema and its stream.
func (r *Reader) openTable(t *table) (*tableReader, error) {
	if t.err != nil {
		return nil, t.err
	}
	tr := &tableReader{r: r, t: t, data: &r.streams[t.stream], order: -1}
	s := &r.schemas.list[t.schema]
	if t.size > tr.data.size-t.from {
		return nil, fmt.Errorf("%w: it ends at byte %d of %d", ErrTable, t.from+t.size, tr.data.size)
	}
	nodes := r.schemas.columns(s, &r.tree)
	rows := int64(min(t.records, batchRows))
	tr.taken = int64(len(nodes)) * (columnOverhead + 16*rows)
	if err := r.pool.take(tr.taken); err != nil {
		tr.close()
		return nil, err
	}
	tr.cols = make([]column, len(nodes))
	off, left := t.from, t.size
	for i, id := range nodes {
		c := &tr.cols[i]
		c.node, c.typ, c.off = id, r.tree.nodes[id].Type, off
		if id == r.tree.order {
			tr.order, c.early = i, true
		}
		width := c.typ.width()
		if t.records > left/width {
			tr.close()
			return nil, fmt.Errorf("%w: %d records in %d bytes (node %d)", ErrTable, t.records, left, id)
		}
		size := width * t.records
		if c.typ == ClpString || c.typ == UnstructuredArray {
			if left-size < 8 {
				tr.close()
				return nil, fmt.Errorf("%w: no number of variables (node %d)", ErrTable, id)
			}
			var n [1]uint64
			if err := tr.words(n[:], off+size); err != nil {
				tr.close()
				return nil, err
			}
			if n[0] > uint64(left-size-8)/8 {
				tr.close()
				return nil, fmt.Errorf("%w: %d variables in %d bytes (node %d)", ErrTable, n[0], left-size-8, id)
			}
			c.variables = int64(n[0])
			size += 8 + 8*c.variables
		}
		off += size
		left -= size
	}
	if left != 0 {
		tr.close()
		return nil, fmt.Errorf("%w: %d bytes behind the last column", ErrTable, left)
	}
	if len(nodes) == 0 && t.records > maxEmpty {
		tr.close()
		return nil, &LimitError{What: "records without values", Limit: maxEmpty}
	}
	return tr, nil
}

// compose makes the layouts of the rows, and closes the table if that fails.
func (t *tableReader) compose() error {
	s := &t.r.schemas.list[t.t.schema]
	for _, l := range []struct {
		to   **layout
		root int32
	}{{&t.layout, t.r.tree.object}, {&t.auto, t.r.tree.auto}} {
		if l.to == &t.auto && l.root < 0 {
			continue
		}
		made, taken, err := compose(t.r, s, l.root)
		t.taken += taken
		if err != nil {
			t.close()
			return err
		}
		for _, cut := range made.cuts {
			c := &t.cols[cut.column]
			c.used = true
			c.early = c.early || c.typ == DeltaInteger || c.typ == Timestamp // whose values build on those before
		}
		*l.to = made
	}
	return nil
}

const columnOverhead = 200

func (t *tableReader) close() {
	t.r.pool.give(t.taken)
	t.taken, t.cols = 0, nil
}

// words reads little-endian numbers of 64 bits at a place of the stream that has been checked.
func (t *tableReader) words(dst []uint64, off int64) error {
	for len(dst) > 0 {
		n := min(len(dst), batchRows)
		b, err := t.data.slice(off, 8*n, t.space())
		if err != nil {
			return err
		}
		b = b[:8*n]
		for i := range dst[:n] {
			dst[i] = binary.LittleEndian.Uint64(b[8*i:])
		}
		dst, off = dst[n:], off+int64(8*n)
	}
	return nil
}

func (t *tableReader) space() []byte {
	if t.scratch == nil {
		t.scratch = make([]byte, 0, 8*batchRows)
	}
	return t.scratch
}

// advance goes to the next row that is wanted.
func (t *tableReader) advance() (bool, error) {
	next := t.wanted(t.row + 1)
	for {
		if t.row++; t.row >= t.t.records {
			return false, nil
		}
		if t.row >= t.to {
			if err := t.decode(); err != nil {
				return false, err
			}
		}
		if t.row == next {
			return true, nil
		}
	}
}

// decode makes the batch the one that row begins. Batches come one after the other.
func (t *tableReader) decode() error {
	t.from, t.to = t.row, min(t.row+batchRows, t.t.records)
	t.full = false
	return t.decodeColumns(true)
}

// fill decodes the rest of the batch.
func (t *tableReader) fill() error {
	if t.full {
		return nil
	}
	t.full = true
	return t.decodeColumns(false)
}

// decodeColumns decodes the batch of the columns that are early, or of the others that are used.
func (t *tableReader) decodeColumns(early bool) error {
	n := int(t.to - t.from)
	for i := range t.cols {
		c := &t.cols[i]
		if c.early != early || !early && !c.used {
			continue
		}
		if c.values == nil {
			c.values = make([]uint64, n)
		}
		c.values = c.values[:n]
		if c.typ == Boolean {
			b, err := t.data.slice(c.off+t.from, n, t.space())
			if err != nil {
				return err
			}
			for j := range c.values {
				c.values[j] = uint64(b[j])
			}
			continue
		}
		if err := t.words(c.values, c.off+8*t.from); err != nil {
			return err
		}
		if c.typ == DeltaInteger || c.typ == Timestamp {
			for j, delta := range c.values {
				c.sum += delta
				c.values[j] = c.sum
			}
		}
		second := c.off + 8*t.t.records
		switch c.typ {
		case Timestamp, DateString:
			if c.second == nil {
				c.second = make([]uint64, n)
			}
			c.second = c.second[:n]
			if err := t.words(c.second, second+8*t.from); err != nil {
				return err
			}
		case FormattedFloat:
			if c.second == nil {
				c.second = make([]uint64, n)
			}
			c.second = c.second[:n]
			b, err := t.data.slice(second+2*t.from, 2*n, t.space())
			if err != nil {
				return err
			}
			for j := range c.second {
				c.second[j] = uint64(binary.LittleEndian.Uint16(b[2*j:]))
			}
		}
	}
	return nil
}

// appendRow appends the JSON of a row of the batch, as l lays it out.
func (t *tableReader) appendRow(dst []byte, row int64, l *layout) ([]byte, error) {
	if err := t.fill(); err != nil {
		return dst, err
	}
	i := int(row - t.from)
	at := int32(0)
	var err error
	for _, cut := range l.cuts {
		dst = append(dst, l.text[at:cut.at]...)
		at = cut.at
		if dst, err = t.appendValue(dst, &t.cols[cut.column], i); err != nil {
			return dst, err
		}
	}
	return append(dst, l.text[at:]...), nil
}

func (t *tableReader) appendValue(dst []byte, c *column, i int) ([]byte, error) {
	v := c.values[i]
	switch c.typ {
	case Integer, DeltaInteger:
		return strconv.AppendInt(dst, int64(v), 10), nil
	case VarString:
		text, err := t.r.variable(v)
		if err != nil {
			return dst, err
		}
		dst = append(dst, '"')
		return append(appendEscaped(dst, text), '"'), nil
	case ClpString:
		dst, err := t.appendClp(append(dst, '"'), c, i, &t.r.logTypes)
		return append(dst, '"'), err
	case UnstructuredArray:
		return t.appendArray(dst, c, i)
	case Boolean:
		return strconv.AppendBool(dst, v != 0), nil
	case FormattedFloat:
		return appendFormatted(dst, math.Float64frombits(v), uint16(c.second[i]))
	case DictionaryFloat:
		text, err := t.r.variable(v)
		if err == nil && !isNumber(text) {
			err = ErrFloat
		}
		if err != nil {
			return dst, err
		}
		return append(dst, text...), nil
	case Float:
		return appendFixed(dst, math.Float64frombits(v)), nil
	case Timestamp:
		p, err := t.r.pattern(c.second[i])
		if err != nil {
			return dst, err
		}
		return p.append(dst, int64(v))
	default: // DateString
		text, ok := t.r.box.meta.patterns[c.second[i]]
		if !ok {
			return dst, fmt.Errorf("%w: pattern %d is not there", ErrTimestamp, c.second[i])
		}
		dst, err := appendDateString(append(dst, '"'), text, int64(v))
		return append(dst, '"'), err
	}
}

// number returns the row's place in the log.
func (t *tableReader) number() int64 { return int64(t.cols[t.order].values[t.row-t.from]) }
