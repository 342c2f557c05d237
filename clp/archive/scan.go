package archive

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
)

// scan evaluates a condition on rows of one table, block by block. One goroutine uses it; clones of it, of which each has
// decoded for itself what it needs, can be used at the same time.
type scan struct {
	r       *Reader
	table   *table
	known   []columnStats // by the index, or nil
	frames  []frame       // of the stream, nil without an index
	shared  *run          // of a stream of small tables, which are frames together
	columns []scanColumn
	order   int // column of the number of a record, or -1
	taken   int64
	decoded int64 // frames

	leaves map[*Condition]*scanLeaf // of a stream that can only be read from its start, otherwise nil

	message, word []byte // a text that is put together, and a variable of it
}

// scanColumn is a column, and the part of it that was read last.
type scanColumn struct {
	typ       NodeType
	off       int64 // of its values in the stream
	variables int64

	values run
	vars   run
	sums   []int64 // of differences, for the rows of block
	block  int
}

// run is bytes of a stream that are at hand.
type run struct {
	from  int64
	plain []byte
	keep  int64 // from where on they are kept when those behind them are read
}

// maxKept is how many bytes of a column are kept at most.
const maxKept = 4 << 20

// clone returns a scan of the same table that has decoded nothing yet.
func (s *scan) clone() *scan {
	c := *s
	c.columns = slices.Clone(s.columns)
	return &c
}

// ScanStats says what a search looked at before records were read.
type ScanStats struct {
	Index         error // why the archive has no index that can be used, nil if it has one
	Tables        int64 // of the archive
	TablesSkipped int64 // whose columns were not looked at: by their keys, the dictionaries or the range of time
	Blocks        int64 // of 65,536 rows, of the other tables
	BlocksSkipped int64 // whose columns were not looked at: the index told
	Frames        int64 // of columns that were decoded
	Sure          int64 // rows that are certain to match
	Open          int64 // rows that only the record itself can tell of

	Spent Spent // so far, by the records that were read, too
}

// openScan finds the columns of a table.
func (r *Reader) openScan(i int, x *archiveIndex, shared *run) (*scan, error) {
	t := &r.tables.list[i]
	s := &scan{r: r, table: t, order: -1}
	nodes := r.schemas.columns(&r.schemas.list[t.schema], &r.tree)
	s.columns = make([]scanColumn, len(nodes))
	if x != nil {
		s.known, s.frames = x.columns(i), x.streamFrames(int(t.stream))
		if s.known == nil {
			s.shared = shared
		}
	}
	off, left := t.from, t.size
	for k, id := range nodes {
		c := &s.columns[k]
		c.typ, c.off, c.block = r.tree.nodes[id].Type, off, -1
		if id == r.tree.order {
			s.order = k
		}
		width := c.typ.width()
		if t.records > left/width {
			return nil, ErrTable
		}
		if x == nil {
			continue // the stream tells, in its order
		}
		size := width * t.records
		if c.typ == ClpString || c.typ == UnstructuredArray {
			if s.known != nil {
				c.variables = s.known[k].variables
			} else {
				b, err := s.bytes(&c.vars, off+size, 8)
				if err != nil {
					return nil, err
				}
				c.variables = int64(binary.LittleEndian.Uint64(b))
			}
			if c.variables < 0 || left-size < 8 || c.variables > (left-size-8)/8 {
				return nil, ErrTable
			}
			size += 8 + 8*c.variables
		}
		off, left = off+size, left-size
	}
	if x != nil && left != 0 {
		return nil, ErrTable
	}
	return s, nil
}

// evaluate evaluates a condition on those rows of a block that are in rows. may are those of which it holds or is open;
// must, a part of them, those of which it is certain to hold.
func (s *scan) evaluate(c *Condition, block int, rows []uint64) (may, must []uint64, err error) {
	switch c.judge(s.known, s.order, block) {
	case no:
		return nil, nil, nil
	case yes:
		return rows, rows, nil
	}
	switch c.Kind {
	case CondMaybe:
		return rows, nil, nil
	case CondAll:
		may, must = rows, rows
		for _, p := range c.Parts {
			m, u, err := s.evaluate(p, block, may)
			if err != nil {
				return nil, nil, err
			}
			if may, must = m, andBits(must, u); may == nil {
				break
			}
		}
		return may, must, nil
	case CondSome:
		for _, p := range c.Parts {
			m, u, err := s.evaluate(p, block, rows)
			if err != nil {
				return nil, nil, err
			}
			may, must = orBits(may, m), orBits(must, u)
			if rows = andNot(rows, u); rows == nil {
				break
			}
		}
		return may, must, nil
	case CondNot:
		m, u, err := s.evaluate(c.Parts[0], block, rows)
		return andNot(rows, u), andNot(rows, m), err
	}
	may, must, err = s.leaf(c, block, rows)
	var damage *CorruptError
	if errors.As(err, &damage) { // the reader will meet it, too
		return rows, nil, nil
	}
	return may, must, err
}

// leaf evaluates a condition on the values of a column, or looks up what was found when they came. If they have not come yet,
// it is open.
func (s *scan) leaf(c *Condition, block int, rows []uint64) (may, must []uint64, err error) {
	if s.leaves == nil {
		return s.values(c, block, rows)
	}
	l := s.leaves[c]
	if !l.come {
		return rows, nil, nil
	}
	return andBits(l.may[block], rows), andBits(l.must[block], rows), nil
}

// values evaluates a condition on the values of a column.
func (s *scan) values(c *Condition, block int, rows []uint64) (may, must []uint64, err error) {
	col := &s.columns[c.Column]
	from := int64(block) * blockRows
	n := int(min(blockRows, s.table.records-from))
	if c.Kind == CondText {
		return s.text(c.Text, col, from, n, rows)
	}
	out := make([]uint64, (n+63)/64)
	if col.typ.isDelta() && c.Kind == CondRange && s.frames != nil { // otherwise they were summed up as they came
		if err := s.sums(c.Column, block, n); err != nil {
			return nil, nil, err
		}
		rangeInts(out, col.sums, c.Min, c.Max)
	} else {
		width := min(col.typ.width(), 8)
		b, err := s.bytes(&col.values, col.off+from*width, int64(n)*width)
		if err != nil {
			return nil, nil, err
		}
		switch {
		case c.Kind == CondSet && c.Set.n == 1:
			rangeWords(out, b, int64(c.Set.min), int64(c.Set.min))
		case c.Kind == CondSet:
			setWords(out, b, c.Set.bits)
		case col.typ == Boolean:
			boolBytes(out, b, c.Min <= 0 && 0 <= c.Max, c.Min <= 1 && 1 <= c.Max)
		case col.typ == FormattedFloat || col.typ == Float:
			rangeFloats(out, b, c.Min, c.Max)
		default:
			rangeWords(out, b, col.typ.notBefore(c.Min), col.typ.notAfter(c.Max))
		}
	}
	out = andBits(out, rows)
	return out, out, nil
}

// sums makes the values of a block of differences.
func (s *scan) sums(column, block, n int) error {
	c := &s.columns[column]
	if c.block == block {
		return nil
	}
	from := int64(block) * blockRows
	b, err := s.bytes(&c.values, c.off+8*from, 8*int64(n))
	if err != nil {
		return err
	}
	// The first value is known, or the last one of the block before.
	var first int64
	switch {
	case s.known != nil && s.known[column].blocks != nil:
		first = s.known[column].blocks[block].start
	case block > 0 && c.block == block-1:
		first = c.sums[len(c.sums)-1] + int64(binary.LittleEndian.Uint64(b))
	case block == 0:
		first = int64(binary.LittleEndian.Uint64(b))
	default:
		if err := s.sums(column, block-1, blockRows); err != nil {
			return err
		}
		return s.sums(column, block, n)
	}
	if c.sums == nil {
		c.sums = make([]int64, 0, blockRows)
	}
	c.sums = c.sums[:n]
	c.sums[0] = first
	for i := 1; i < n; i++ {
		first += int64(binary.LittleEndian.Uint64(b[8*i:]))
		c.sums[i] = first
	}
	c.block = block
	return nil
}

// bytes returns n bytes of the stream from off on, valid until the next call with the same run.
func (s *scan) bytes(r *run, off, n int64) ([]byte, error) {
	if n == 0 {
		return nil, nil
	}
	if s.shared != nil {
		r = s.shared
	}
	end := r.from + int64(len(r.plain))
	if off >= r.from && off+n <= end {
		return r.plain[off-r.from:][:n], nil
	}
	if n < 0 || off < 0 || off+n > s.table.from+s.table.size || s.frames == nil {
		return nil, fmt.Errorf("%w: bytes %d to %d of it", ErrTable, off, off+n)
	}
	next := findFrame(s.frames, off)
	if s.shared == nil && off >= r.from && off <= end {
		// It goes on behind what is there.
		from := off
		if r.from <= r.keep && r.keep < off && off+n-r.keep <= maxKept {
			from = r.keep
		}
		r.plain = r.plain[:copy(r.plain, r.plain[from-r.from:])]
		r.from = from
		next = findFrame(s.frames, end)
	} else {
		r.plain, r.from = r.plain[:0], s.frames[next].plain
	}
	section := s.r.box.sections[sectionData]
	st := &s.r.tables.streams[s.table.stream]
	for i := next; i < len(s.frames) && s.frames[i].plain < off+n; i++ {
		var err error
		if r.plain, err = s.r.decodeFrame(r.plain, section, st.from, int(s.table.stream), s.frames[i]); err != nil {
			r.plain, r.from = r.plain[:0], 0
			return nil, err
		}
		s.decoded++
	}
	return r.plain[off-r.from:][:n], nil
}

// variable returns an entry of /var.dict, valid until the next call.
func (s *scan) variable(id uint64) ([]byte, error) {
	if err := s.r.loadDictionary(&s.r.vars); err != nil {
		return nil, err
	}
	return s.r.vars.entry(id, &s.word)
}
