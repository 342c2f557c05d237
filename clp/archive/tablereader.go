package archive

import (
	"encoding/binary"
	"fmt"
	"sync"
	"sync/atomic"
)

// batchRows is how many rows are decoded at a time.
const batchRows = 256

// rowBatch is some rows of a table, decoded. It does not change until all that use it have released it.
type rowBatch struct {
	t        *tableReader
	from, to int64
	cols     []values
	shape    []int32 // of each row, or nil if the table has one at most
	except   bool    // some row is an exception of the side channel
	refs     atomic.Int32
}

type atomicLayout = atomic.Pointer[layout]

// tableReader reads the rows of one table. Its batches can be shown by several goroutines.
type tableReader struct {
	r       *Reader
	index   int // in the list of tables
	t       *table
	s       *schema
	data    *blob
	layout  *layout
	side    *sideOrder     // nil if it says nothing about the table
	shapes  []atomicLayout // of side.shapes, once they are needed
	cols    []column
	order   int // column of the record's number, or -1
	taken   atomic.Int64
	loaded  bool    // ready
	wants   *rowSet // nil if all rows are wanted
	sparse  bool    // few are
	scratch []byte

	b    *rowBatch // the last one that was decoded
	row  int64     // the current one, in b
	next int64     // row behind b

	mu   sync.Mutex // guards what follows
	free []*rowBatch
	open int // batches that are in use, and 1 until the table is read to its end
}

// openTable finds the columns of a table, and checks it against its schema and its stream.
func (r *Reader) openTable(index int) (*tableReader, error) {
	t := &r.tables.list[index]
	if t.err != nil {
		return nil, t.err
	}
	s := &r.schemas.list[t.schema]
	tr := &tableReader{r: r, index: index, t: t, s: s, data: &r.streams[t.stream].blob, order: -1, row: -1, open: 1}
	if t.size > tr.data.size-t.from {
		return nil, fmt.Errorf("%w: it ends at byte %d of %d", ErrTable, t.from+t.size, tr.data.size)
	}
	nodes := r.schemas.columns(s, &r.tree)
	rows := min(t.records, batchRows)
	if err := tr.take(int64(len(nodes)) * (columnOverhead + 16*rows)); err != nil {
		tr.close()
		return nil, err
	}
	var stats []columnStats
	if x := r.index(); x != nil {
		stats = x.columns(index)
	}
	tr.cols = make([]column, len(nodes))
	off, left := t.from, t.size
	for i, id := range nodes {
		c := &tr.cols[i]
		c.node, c.typ, c.off = id, r.tree.nodes[id].Type, off
		if id == r.tree.order {
			tr.order, c.used = i, true
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
			var n uint64
			if stats != nil && stats[i].variables >= 0 {
				n = uint64(stats[i].variables)
			} else {
				b, err := tr.data.slice(off+size, 8, &tr.scratch)
				if err != nil {
					tr.close()
					return nil, err
				}
				n = binary.LittleEndian.Uint64(b)
			}
			if n > uint64(left-size-8)/8 {
				tr.close()
				return nil, fmt.Errorf("%w: %d variables in %d bytes (node %d)", ErrTable, n, left-size-8, id)
			}
			c.variables = int64(n)
			size += 8 + 8*c.variables
		}
		if stats != nil {
			c.blocks = stats[i].blocks
		}
		middle := off + c.typ.firstWidth()*t.records
		c.parts = [2]cursor{{-1, off, middle}, {-1, middle, off + size}}
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

const columnOverhead = 360

func (t *tableReader) take(n int64) error {
	t.taken.Add(n)
	return t.r.pool.take(n)
}

func (t *tableReader) close() { t.r.pool.give(t.taken.Swap(0)) }

// end says that no more batches are decoded. When those that were are released, nothing of the table is needed any more.
func (t *tableReader) end() {
	if t.b != nil {
		t.b.release()
		t.b = nil
	}
	t.leave(1)
}

func (t *tableReader) leave(n int) {
	t.mu.Lock()
	t.open -= n
	done := t.open == 0
	if done {
		t.free = nil
	}
	t.mu.Unlock()
	if done {
		t.close()
		t.r.tableDone(t.index)
	}
}

// newBatch returns a batch to decode rows into.
func (t *tableReader) newBatch() *rowBatch {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.open++
	var b *rowBatch
	if n := len(t.free); n > 0 {
		b = t.free[n-1]
		t.free = t.free[:n-1]
	} else {
		b = &rowBatch{t: t, cols: make([]values, len(t.cols))}
	}
	b.refs.Store(1)
	return b
}

// release gives a batch back.
func (b *rowBatch) release() {
	if b.refs.Add(-1) > 0 {
		return
	}
	t := b.t
	t.mu.Lock()
	t.free = append(t.free, b)
	t.mu.Unlock()
	t.leave(1)
}

// advance goes to the next row that is wanted. If rows are damaged, it says so, and the next call goes on behind them.
func (t *tableReader) advance() (bool, error) {
	row := t.wanted(t.row + 1)
	if t.b == nil || row >= t.b.to {
		if row = t.wanted(max(row, t.next)); row >= t.t.records {
			t.row = t.t.records - 1
			return false, nil
		}
		t.row = row
		return true, t.decode()
	}
	t.row = row
	return true, nil
}

// wanted returns the first row at or behind row that is wanted.
func (t *tableReader) wanted(row int64) int64 {
	if t.wants == nil || row >= t.t.records {
		return row
	}
	return t.wants.next(row)
}

// extent returns the end of the batch that row begins: if few rows are wanted, it has not many that are not.
func (t *tableReader) extent(row int64) int64 {
	end := min(row+batchRows, t.t.records)
	if t.wants == nil {
		return end
	}
	for to := row + 1; ; {
		next := t.wants.next(to)
		if next >= end || next > to+batchRows/16 {
			return to
		}
		to = next + 1
	}
}

// decode makes the batch the one that row begins.
func (t *tableReader) decode() error {
	if t.b != nil {
		t.b.release()
		t.b = nil
	}
	if t.next == 0 {
		t.begin()
	}
	b := t.newBatch()
	b.from, b.to = t.row, t.extent(t.row)
	t.next = b.to
	for i := range t.cols {
		if c := &t.cols[i]; c.used {
			if err := t.decodeColumn(b, c, &b.cols[i]); err != nil {
				b.release()
				t.skip(c)
				return err
			}
		}
	}
	t.decodeSide(b)
	t.b = b
	return nil
}

// begin has the frames decompressed that the first batch needs: others do that while this one takes them one by one.
func (t *tableReader) begin() {
	if t.r.seq.pipe == nil || t.data.frames == nil {
		return
	}
	for i := range t.cols {
		c := &t.cols[i]
		if !c.used {
			continue
		}
		width := c.typ.firstWidth()
		t.r.seq.pipe.ahead(t.data, findFrame(t.data.frames, c.off+width*t.row))
		if second := c.parts[1]; second.page < second.end && !t.sparse {
			width = (second.end - second.page) / t.t.records // of variables, about
			t.r.seq.pipe.ahead(t.data, findFrame(t.data.frames, second.page+width*t.row))
		}
	}
}

// skip finds the row with which to go on when c cannot be decoded. What builds on the values before needs a new start.
func (t *tableReader) skip(c *column) {
	if !c.typ.isDelta() {
		return
	}
	t.next = t.t.records
	if k := int(t.row / blockRows); k+1 < len(c.blocks) {
		t.next = int64(k+1) * blockRows
	}
}

// number returns the current row's place in the log.
func (t *tableReader) number() int64 {
	return int64(t.b.cols[t.order].first[t.row-t.b.from])
}
