package archive

import "encoding/binary"

// column is where the values of one node are in a table.
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
	used      bool  // a record shows it, or a filter looks at it
	off       int64 // of its first byte in the stream
	variables int64
	blocks    []blockStats // what the index says of it, or nil

	row int64  // up to which sum goes, of deltas
	sum uint64 // of the rows before

	parts [2]cursor // of values, and of what is behind them
}

// cursor is how far a run of bytes of a column has been read: the page up to page is the one it is in.
type cursor struct{ from, page, end int64 }

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

// firstWidth returns the bytes a row takes in the first of a column's two parts.
func (t NodeType) firstWidth() int64 {
	if t == Boolean {
		return 1
	}
	return 8
}

// values are those of a column in a batch.
type values struct {
	first  []uint64
	second []uint64 // formats or patterns
	vars   []uint64 // variables
	at     int64    // index of vars[0]
}

// resize returns s with n elements, whatever they are.
func resize(s []uint64, n int) []uint64 {
	if cap(s) < n {
		return make([]uint64, n, max(n, batchRows))
	}
	return s[:n]
}

func (t *tableReader) decodeColumn(b *rowBatch, c *column, v *values) error {
	n := int(b.to - b.from)
	v.first = resize(v.first, n)
	if c.typ == Boolean {
		bytes, err := t.part(c, 0, c.off+b.from, n)
		if err != nil {
			return err
		}
		for j := range v.first {
			v.first[j] = uint64(bytes[j])
		}
		return nil
	}
	if c.typ.isDelta() {
		if err := t.reach(c, b.from); err != nil {
			return err
		}
	}
	bytes, err := t.part(c, 0, c.off+8*b.from, 8*n)
	if err != nil {
		return err
	}
	words(v.first, bytes)
	if c.typ.isDelta() {
		sum := c.sum
		for j, delta := range v.first {
			sum += delta
			v.first[j] = sum
		}
		c.sum, c.row = sum, b.to
	}
	second := c.off + 8*t.t.records
	switch c.typ {
	case Timestamp, DateString:
		v.second = resize(v.second, n)
		if bytes, err = t.part(c, 1, second+8*b.from, 8*n); err == nil {
			words(v.second, bytes)
		}
	case FormattedFloat:
		v.second = resize(v.second, n)
		if bytes, err = t.part(c, 1, second+2*b.from, 2*n); err == nil {
			for j := range v.second {
				v.second[j] = uint64(binary.LittleEndian.Uint16(bytes[2*j:]))
			}
		}
	case ClpString, UnstructuredArray:
		return t.decodeVariables(b, c, v)
	}
	return err
}

// words reads little-endian numbers of 64 bits.
func words(dst []uint64, b []byte) {
	b = b[:8*len(dst)]
	for i := range dst {
		dst[i] = binary.LittleEndian.Uint64(b[8*i:])
	}
}

// part reads n bytes at off, which lie in one of the two runs of bytes that a column has. Pages of that run which are before
// off are not needed again.
func (t *tableReader) part(c *column, which int, off int64, n int) ([]byte, error) {
	p := &c.parts[which]
	if off >= p.page && t.data.frames != nil {
		if off > p.from && p.from >= 0 {
			t.data.discard(p.from, off)
		}
		k := findFrame(t.data.frames, off)
		f := &t.data.frames[k]
		begin := off - (off-f.plain)%pageSize
		if p.from < 0 { // the page may begin before the run
			p.from = off
		} else {
			p.from = begin
		}
		p.page = min(begin+pageSize, f.plain+f.length)
		if p.page == f.plain+f.length && p.page < p.end && !t.sparse {
			t.r.seq.pipe.ahead(t.data, k+1)
		}
	}
	return t.data.slice(off, n, &t.scratch)
}

// reach brings the sum of a column's deltas to a row.
func (t *tableReader) reach(c *column, row int64) error {
	if c.row == row {
		return nil
	}
	from, sum := c.row, c.sum
	if c.row > row {
		from, sum = 0, 0
	}
	k := row / blockRows
	if c.blocks != nil && k*blockRows >= from {
		from = k * blockRows
		b, err := t.data.slice(c.off+8*from, 8, &t.scratch)
		if err != nil {
			return err
		}
		sum = uint64(c.blocks[k].start) - binary.LittleEndian.Uint64(b)
	}
	for from < row {
		n := int(min(row-from, batchRows))
		b, err := t.data.slice(c.off+8*from, 8*n, &t.scratch)
		if err != nil {
			return err
		}
		for j := range n {
			sum += binary.LittleEndian.Uint64(b[8*j:])
		}
		from += int64(n)
	}
	c.row, c.sum = row, sum
	return nil
}

// maxWindow is how many variables a batch may have for them to be decoded with it.
const maxWindow = 64 * batchRows

// decodeVariables reads the variables of a batch, which as a rule are those from the first row's on up to those of the row
// behind the last.
func (t *tableReader) decodeVariables(b *rowBatch, c *column, v *values) error {
	v.vars, v.at = v.vars[:0], 0
	n := len(v.first)
	from, to := int64(v.first[0]>>24), c.variables
	if b.to < t.t.records {
		to = int64(v.first[n-1]>>24) + 8
		if bytes, err := t.data.slice(c.off+8*b.to, 8, &t.scratch); err == nil { // otherwise it is not yet the time to say so
			to = int64(binary.LittleEndian.Uint64(bytes) >> 24)
		}
	}
	if from >= c.variables || from >= to || to-from > maxWindow {
		return nil // variables reads those of each row then
	}
	to = min(to, c.variables)
	bytes, err := t.part(c, 1, c.off+8*t.t.records+8+8*from, int(8*(to-from)))
	if err != nil {
		return err
	}
	v.vars, v.at = resize(v.vars, int(to-from)), from
	words(v.vars, bytes)
	return nil
}
