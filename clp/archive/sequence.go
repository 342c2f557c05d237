package archive

import (
	"errors"
	"io"
)

// sequence goes through the records that are wanted: in the order of the log, or as they are stored. One goroutine at a time
// uses it.
type sequence struct {
	r       *Reader
	queue   []waiting    // of tables with records left, a heap: the one with the next record first
	current *tableReader // the table of the last record
	at      int          // the next table if stored
	taken   int64        // of memory
	pipe    *pipeline    // that goes through the sequence, or nil
}

// waiting is a table with records left, and the place in the log of the next one.
type waiting struct {
	number int64
	row    int64 // to begin with
	table  int
	reader *tableReader // nil before the first record
}

func (w *waiting) before(o *waiting) bool {
	return w.number < o.number || w.number == o.number && w.table < o.table
}

// sink moves the first of the queue to where it belongs. Records of one table often follow each other: then it stays.
func (q *sequence) sink(i int) {
	for {
		k := 2*i + 1
		if k >= len(q.queue) {
			return
		}
		if k+1 < len(q.queue) && q.queue[k+1].before(&q.queue[k]) {
			k++
		}
		if q.queue[i].before(&q.queue[k]) {
			return
		}
		q.queue[i], q.queue[k] = q.queue[k], q.queue[i]
		i = k
	}
}

// heapify makes the queue a heap.
func (q *sequence) heapify() {
	for i := len(q.queue)/2 - 1; i >= 0; i-- {
		q.sink(i)
	}
}

// pop takes the first off the queue.
func (q *sequence) pop() {
	n := len(q.queue) - 1
	q.queue[0] = q.queue[n]
	q.queue[n] = waiting{}
	q.queue = q.queue[:n]
	q.sink(0)
}

// next goes to the next record, which is the current row of the table that it returns.
func (q *sequence) next() (*tableReader, error) {
	find := q.ordered
	if q.r.stored {
		find = q.stored
	}
	t, err := find()
	if err == nil {
		err = t.ready()
	}
	return t, err
}

// enqueue looks for a table's first record whose number is at least number. The table is opened for that, and closed again
// until the record's turn: an archive may have very many small tables.
func (q *sequence) enqueue(i int, number int64) error {
	r := q.r
	t := &r.tables.list[i]
	if t.records == 0 && t.err == nil {
		r.tableDone(i)
		return nil
	}
	reader, err := r.openTable(i)
	if err != nil {
		return r.tableFailed(i, err)
	}
	defer reader.close()
	w := waiting{table: i}
	if w.row, w.number, err = reader.rowOf(number); err != nil {
		return r.tableFailed(i, err)
	}
	if w.row >= t.records {
		r.tableDone(i)
		return nil
	}
	if err := r.pool.take(40); err != nil {
		return err
	}
	q.taken += 40
	q.queue = append(q.queue, w)
	return nil
}

// ordered goes to the next record of the log. The table of the last record is still the first of the queue.
func (q *sequence) ordered() (*tableReader, error) {
	r := q.r
	step := q.current != nil // past the last record
	for len(q.queue) > 0 {
		first := &q.queue[0]
		if first.reader == nil {
			reader, err := r.beginTable(first.table, first.row)
			if err != nil {
				if err := r.tableFailed(first.table, err); err != nil {
					return nil, err
				}
				q.pop()
				continue
			}
			first.reader, step = reader, true
		}
		if !step {
			q.current = first.reader
			return q.current, nil
		}
		step = false
		t := first.reader
		more, err := t.advance()
		if err != nil {
			if err := r.rowsFailed(err); err != nil {
				return nil, err
			}
			step = true
			continue
		}
		if !more {
			t.end()
			q.pop()
			continue
		}
		if t.order >= 0 {
			first.number = t.number()
		}
		q.sink(0)
	}
	q.current = nil
	return nil, io.EOF
}

// stored goes to the next record of the tables as they are stored.
func (q *sequence) stored() (*tableReader, error) {
	r := q.r
	for {
		if t := q.current; t != nil {
			more, err := t.advance()
			if err != nil {
				if err := r.rowsFailed(err); err != nil {
					return nil, err
				}
				continue
			}
			if more {
				return t, nil
			}
			t.end()
			q.current = nil
			q.at++
		}
		if q.at == len(r.tables.list) {
			return nil, io.EOF
		}
		if !r.wants(q.at) {
			q.at++
			continue
		}
		if err := r.loadStreams(int(r.tables.list[q.at].stream) + 1); err != nil {
			return nil, err
		}
		reader, err := r.beginTable(q.at, 0)
		if err != nil {
			if err := r.tableFailed(q.at, err); err != nil {
				return nil, err
			}
			q.at++
			continue
		}
		q.current = reader
	}
}

// close lets all tables go.
func (q *sequence) close() {
	for _, w := range q.queue {
		if w.reader != nil {
			w.reader.end()
		}
	}
	if q.r.stored && q.current != nil {
		q.current.end()
	}
	q.r.pool.give(q.taken)
	q.queue, q.current, q.taken = nil, nil, 0
}

// sparseRows is how many rows there must be to a wanted one for others' frames not to be decompressed ahead.
const sparseRows = 16

// beginTable opens a table before a row.
func (r *Reader) beginTable(i int, row int64) (*tableReader, error) {
	t, err := r.openTable(i)
	if err != nil {
		return nil, err
	}
	if err := t.compose(); err != nil {
		t.close()
		return nil, err
	}
	if r.filters != nil {
		if t.wants = r.filters[i].rows; t.wants != nil {
			t.sparse = t.wants.count() < t.t.records/sparseRows
		}
	}
	t.row = row - 1
	return t, nil
}

// tableFailed notes that a table cannot be read, and is done with it. What must not be passed is returned.
func (r *Reader) tableFailed(i int, err error) error {
	defer r.tableDone(i)
	var limit *LimitError
	if errors.As(err, &limit) {
		return limit
	}
	t := &r.tables.list[i]
	st := int(t.stream)
	for _, d := range r.damage {
		// The damage of a stream is that of the tables which it cuts.
		if c, ok := d.(*CorruptError); ok && c.Section == sectionData && c.Stream == st && c.Schema < 0 && t.from+t.size > r.streams[st].size {
			return nil
		}
	}
	var c *CorruptError
	if errors.As(err, &c) { // of the schema, the table list, or a frame
		r.note(c)
		return nil
	}
	r.note(&CorruptError{Section: sectionData, Stream: st, Offset: t.from, Record: -1, Schema: r.schemas.list[t.schema].id, Err: err})
	return nil
}

// rowsFailed notes that rows of a table cannot be read. What must not be passed is returned.
func (r *Reader) rowsFailed(err error) error {
	c, ok := err.(*CorruptError)
	if !ok {
		return err
	}
	r.note(c)
	return nil
}

// note keeps damage until the end, each once.
func (r *Reader) note(c *CorruptError) {
	if text := c.Error(); !r.noted[text] {
		r.noted[text] = true
		r.damage = append(r.damage, c)
	}
}

// tableDone frees what only the table needed.
func (r *Reader) tableDone(i int) {
	st := &r.streams[r.tables.list[i].stream]
	r.mu.Lock()
	st.left--
	done := st.left == 0
	r.mu.Unlock()
	if done {
		st.loaded = st.frames != nil // frames can be had again
		st.free()
	}
}
