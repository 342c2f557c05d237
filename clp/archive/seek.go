package archive

import (
	"encoding/binary"
	"errors"
	"slices"
)

// ErrOrder is returned by SeekRecord and SeekTime if the archive does not know the order of the log, or is read as it is stored.
var ErrOrder = errors.New("archive: no order to seek in")

// ErrNoTime is returned by SeekTime if no key of the archive holds times.
var ErrNoTime = errors.New("archive: no key holds times")

// Len returns the number of records. Those of damaged tables whose schema is known are counted, too.
func (r *Reader) Len() int64 { return r.Info().Records }

// TimeRange returns the least and the greatest time of the records in nanoseconds since 1970, both rounded outwards to
// milliseconds, if the archive has a key that holds times and says so.
func (r *Reader) TimeRange() (begin, end int64, ok bool) {
	const most = 1<<63/1_000_000 - 1 // milliseconds
	for _, t := range r.box.meta.times {
		if t.Float || t.Begin > t.End || t.Begin < -most || t.End > most || len(t.Nodes) == 0 || !r.holdsTime(t.Nodes[0]) {
			continue
		}
		return t.Begin * 1e6, t.End * 1e6, true
	}
	return 0, 0, false
}

func (r *Reader) holdsTime(node int32) bool {
	if node < 0 || int(node) >= len(r.tree.nodes) {
		return false
	}
	typ := r.tree.nodes[node].Type
	return typ == Timestamp || typ == DateString
}

// SeekRecord has Next return the first record whose number is record or more; there may be none. It may come at any time before
// Close, also behind the last record. With an index, only what is needed from there on is decompressed. The records must
// be read in the order of the log, otherwise the error is ErrOrder.
func (r *Reader) SeekRecord(record int64) error {
	if err := r.seekable(); err != nil {
		return err
	}
	if err := r.rewind(); err != nil {
		return err
	}
	return r.position(record - r.first)
}

// seekable makes the reader one that was started and can be sent elsewhere.
func (r *Reader) seekable() error {
	var limit *LimitError
	if r.err == ErrClosed || errors.As(r.err, &limit) {
		return r.err
	}
	if r.stored {
		return ErrOrder
	}
	r.stop()
	r.err = nil
	if r.started {
		return nil
	}
	r.started = true
	if err := r.start(); err != nil {
		r.err = err
		return err
	}
	return nil
}

// rewind makes everything be there again, whatever was read before.
func (r *Reader) rewind() error {
	r.seq.close()
	r.record = Record{}
	r.countTables()
	r.loaded = 0
	r.err = r.loadStreams(len(r.streams))
	return r.err
}

// minNumber is before all numbers.
const minNumber = -1 << 63

// position makes the next record, after rewind, the first one whose number is at least number.
func (r *Reader) position(number int64) error {
	for i := range r.tables.list {
		if !r.wants(i) {
			continue
		}
		if err := r.seq.enqueue(i, number); err != nil {
			r.err = err
			return err
		}
	}
	r.seq.heapify()
	return nil
}

// SeekTime has Next return the first record of the log whose time is ns, nanoseconds since 1970, or later; there may be none.
// The log need not be sorted: records behind that one may be earlier, all before it are, or have no time. The times are
// those of the key that the archive says holds them (see [Reader.Times]); without one the error is ErrNoTime.
//
// With an index, only those parts of the times are decompressed in which such a record can be.
func (r *Reader) SeekTime(ns int64) error {
	if err := r.seekable(); err != nil {
		return err
	}
	var nodes []int32
	for _, t := range r.box.meta.times {
		for _, id := range t.Nodes {
			if r.holdsTime(id) {
				nodes = append(nodes, id)
			}
		}
	}
	if len(nodes) == 0 {
		return ErrNoTime
	}
	if err := r.rewind(); err != nil {
		return err
	}
	best := int64(1<<63 - 1)
	for i := range r.tables.list {
		if !r.wants(i) || r.tables.list[i].err != nil {
			continue
		}
		number, err := r.firstAfter(i, nodes, ns, best)
		if err != nil {
			var limit *LimitError
			if errors.As(err, &limit) {
				r.err = err
				return err
			}
			continue // it comes again when the records are read
		}
		best = min(best, number)
	}
	return r.position(best)
}

// firstAfter returns the number of the first record of a table whose time is at least ns, or best if that is less.
func (r *Reader) firstAfter(i int, nodes []int32, ns, best int64) (int64, error) {
	st := &r.streams[r.tables.list[i].stream]
	if st.frames == nil && st.size == 0 && st.left == 0 {
		return best, nil
	}
	t, err := r.openTable(i)
	if err != nil {
		return best, err
	}
	defer t.close()
	k := slices.IndexFunc(t.cols, func(c column) bool { return slices.Contains(nodes, c.node) })
	if k < 0 || t.order < 0 {
		return best, nil
	}
	c, order := &t.cols[k], &t.cols[t.order]
	ns = c.typ.notBefore(ns)
	var sum uint64
	for row := int64(0); row < t.t.records; {
		block := int(row / blockRows)
		if row%blockRows == 0 && len(c.blocks) > block {
			if o := order.blocks; len(o) > block && o[block].min >= best {
				return best, nil
			}
			if c.blocks[block].max < ns {
				row += blockRows
				continue
			}
			c.row, c.sum = row+1, 0 // reach begins with the block
			if err := t.reach(c, row); err != nil {
				return best, err
			}
			sum = c.sum
		}
		n := int(min(t.t.records-row, batchRows))
		b, err := t.data.slice(c.off+8*row, 8*n, &t.scratch)
		if err != nil {
			return best, err
		}
		for j := range n {
			v := binary.LittleEndian.Uint64(b[8*j:])
			if c.typ.isDelta() {
				sum += v
				v = sum
			}
			if int64(v) >= ns {
				return t.numberOf(row + int64(j))
			}
		}
		row += int64(n)
	}
	return best, nil
}

// notBefore returns the least value of a column of times that is ns, nanoseconds since 1970, or later. DateStrings are milliseconds.
func (t NodeType) notBefore(ns int64) int64 {
	const ms = 1_000_000
	if t != DateString {
		return ns
	}
	if ns%ms > 0 {
		return ns/ms + 1
	}
	return ns / ms
}

// notAfter returns the greatest value that is ns or earlier.
func (t NodeType) notAfter(ns int64) int64 {
	const ms = 1_000_000
	if t != DateString {
		return ns
	}
	if ns%ms < 0 {
		return ns/ms - 1
	}
	return ns / ms
}

// numberOf returns the number of a row.
func (t *tableReader) numberOf(row int64) (int64, error) {
	c := &t.cols[t.order]
	if !c.typ.isDelta() {
		b, err := t.data.slice(c.off+8*row, 8, &t.scratch)
		if err != nil {
			return 0, err
		}
		return int64(binary.LittleEndian.Uint64(b)), nil
	}
	if err := t.reach(c, row+1); err != nil {
		return 0, err
	}
	return int64(c.sum), nil
}

// rowOf returns the first row whose number is at least number, and that, the number of rows if there is none.
func (t *tableReader) rowOf(number int64) (row, found int64, err error) {
	if t.order < 0 { // of an archive that has the order of other tables; they are as if at the begin
		if number > 0 {
			return t.t.records, 0, nil
		}
		return 0, 0, nil
	}
	c := &t.cols[t.order]
	if number <= 0 && len(c.blocks) > 0 {
		return 0, c.blocks[0].start, nil
	}
	var sum uint64
	if len(c.blocks) > 0 {
		k, exact := slices.BinarySearchFunc(c.blocks, number, func(b blockStats, n int64) int {
			if b.start < n {
				return -1
			} else if b.start > n {
				return 1
			}
			return 0
		})
		if !exact && k > 0 {
			k--
		}
		row = int64(k) * blockRows
		if err := t.reach(c, row); err != nil {
			return 0, 0, err
		}
		sum = c.sum
	}
	for row < t.t.records {
		n := int(min(t.t.records-row, batchRows))
		b, err := t.data.slice(c.off+8*row, 8*n, &t.scratch)
		if err != nil {
			return 0, 0, err
		}
		for j := range n {
			v := binary.LittleEndian.Uint64(b[8*j:])
			if c.typ.isDelta() {
				sum += v
				v = sum
			}
			if int64(v) >= number {
				return row + int64(j), int64(v), nil
			}
		}
		row += int64(n)
	}
	return row, 0, nil
}
