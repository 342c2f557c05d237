package archive

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// streamScan is the scan of the tables of a stream of an archive without an index. The stream is decompressed from its start up
// to the last column that a condition is about; only such columns are kept, one table's at a time.
type streamScan struct {
	stream int32
	tables []*tableScan
	need   int64 // bytes of memory, at most
	err    error // what must end the search
}

// scanStreams evaluates the conditions of tables of an archive without an index: of several streams at a time, if the columns
// fit into half of the memory, because records are read while the pool has them.
func (r *Reader) scanStreams(conditions []*Condition) error {
	var streams []*streamScan
	for i, c := range conditions {
		if c == nil {
			continue
		}
		t := &r.tables.list[i]
		if n := len(streams); n == 0 || streams[n-1].stream != t.stream {
			streams = append(streams, &streamScan{stream: t.stream})
		}
		s := streams[len(streams)-1]
		s.tables = append(s.tables, &tableScan{table: i, condition: c})
		s.need = max(s.need, r.columnBytes(i, c))
	}
	room := r.pool.limit / 2
	for len(streams) > 0 {
		// As many as fit, and one at least.
		n, need := 0, int64(0)
		for n < len(streams) && (n == 0 || need+streams[n].need <= room) {
			need += streams[n].need
			n++
		}
		group := parallelTasks{limit: r.parallel}
		for _, s := range streams[:n] {
			group.do(func() { s.err = s.run(r) })
		}
		group.wait()
		for _, s := range streams[:n] {
			if s.err != nil {
				return s.err
			}
			for _, ts := range s.tables {
				if err := ts.end(r); err != nil {
					return err
				}
			}
		}
		streams = streams[n:]
	}
	return nil
}

// columnBytes returns how many bytes the columns of a table have at most that a condition is about.
func (r *Reader) columnBytes(table int, c *Condition) (n int64) {
	t := &r.tables.list[table]
	nodes := r.schemas.columns(&r.schemas.list[t.schema], &r.tree)
	left := t.size // all that is not of a fixed width is variables
	for _, id := range nodes {
		left -= min(r.tree.nodes[id].Type.width(), left/max(t.records, 1)) * t.records
	}
	wanted := make([]bool, len(nodes))
	texts := false
	c.columns(func(column int, variables bool) {
		if !wanted[column] {
			n += min(8, t.size/max(t.records, 1)) * t.records
		}
		wanted[column], texts = true, texts || variables
	})
	if texts {
		n += left
	}
	return n
}

// run evaluates the conditions of the tables. Damage is left to those who read them: tables without a result.
func (st *streamScan) run(r *Reader) error {
	in, err := r.inputs.get()
	if err != nil {
		return err
	}
	defer r.inputs.put(in)
	place := &r.tables.streams[st.stream]
	r.openStream(in, int(st.stream))
	at := int64(0)
	for i, ts := range st.tables {
		t := &r.tables.list[ts.table]
		var s *scan
		if s, ts.err = r.openScan(ts.table, nil, nil); ts.err != nil {
			continue
		}
		if ts.err = in.skip(t.from - at); ts.err == nil {
			var used int64
			used, ts.err = s.read(in, ts.condition, place.to-place.from)
			r.spent.columns.add(0, t.from+used-at)
			at = t.from + used
		}
		if ts.err == nil {
			ts.scan = s
			ts.evaluate(r)
		}
		r.pool.give(s.taken)
		var limit *LimitError
		if errors.As(ts.err, &limit) { // columns that are too large to be kept: the records tell, here and behind it
			ts.err = errUnread
		}
		if ts.err != nil && in.err != nil || ts.err == errUnread {
			for _, rest := range st.tables[i+1:] {
				rest.err = errUnread
			}
			return nil
		}
	}
	return nil
}

// errUnread is why a table was not scanned that may be whole.
var errUnread = fmt.Errorf("%w: it was not read", ErrTable)

// evaluate evaluates the condition on all blocks of a table whose columns are there.
func (ts *tableScan) evaluate(r *Reader) {
	if ts.err = ts.begin(r); ts.err != nil {
		return
	}
	blocks := make([]int, len(ts.may.blocks))
	for k := range blocks {
		blocks[k] = k
	}
	group := parallelTasks{limit: r.parallel}
	for _, task := range ts.split(blocks, r.parallel) {
		group.do(func() { task.run(r, nil) })
	}
	group.wait()
	ts.scan = nil // its columns are not needed any more
}

// read reads the columns that a condition is about, and says how much of the table was read. The stream, which is at the
// table's begin, has so many bytes, compressed.
func (s *scan) read(in *input, c *Condition, packed int64) (used int64, err error) {
	type want struct{ values, variables bool }
	wants := make([]want, len(s.columns))
	last := -1
	c.columns(func(column int, variables bool) {
		wants[column].values = true
		wants[column].variables = wants[column].variables || variables
		last = max(last, column)
	})
	get := func(r *run, n int64) error {
		r.from = s.table.from + used
		// What is allocated is in proportion to what is there, or to what came.
		for left := n; left > 0; {
			k := min(left, max(1<<20, 64*packed, int64(len(r.plain))))
			if err := s.take(k); err != nil {
				return err
			}
			from := len(r.plain)
			r.plain = append(r.plain, make([]byte, k)...)
			if in.full(r.plain[from:]); in.err != nil {
				return in.err
			}
			left -= k
		}
		used += n
		return nil
	}
	skip := func(n int64) error {
		used += n
		return in.skip(n)
	}
	for k := 0; k <= last; k++ {
		col := &s.columns[k]
		col.off = s.table.from + used
		size := col.typ.width() * s.table.records
		if size > s.table.size-used {
			return used, ErrTable
		}
		if wants[k].values {
			n := size
			if col.typ.width() > 8 { // its second part is not looked at
				n = 8 * s.table.records
			}
			if err := get(&col.values, n); err != nil {
				return used, err
			}
			if col.typ.isDelta() {
				sumUp(col.values.plain)
			}
			size -= n
		}
		if err := skip(size); err != nil {
			return used, err
		}
		if col.typ != ClpString && col.typ != UnstructuredArray {
			continue
		}
		var count run
		if err := get(&count, 8); err != nil {
			return used, err
		}
		col.variables = int64(binary.LittleEndian.Uint64(count.plain))
		if col.variables < 0 || col.variables > (s.table.size-used)/8 {
			return used, ErrTable
		}
		if wants[k].variables {
			err = get(&col.vars, 8*col.variables)
		} else {
			err = skip(8 * col.variables)
		}
		if err != nil {
			return used, err
		}
	}
	return used, nil
}

// sumUp makes values of differences.
func sumUp(words []byte) {
	var sum uint64
	for ; len(words) >= 8; words = words[8:] {
		sum += binary.LittleEndian.Uint64(words)
		binary.LittleEndian.PutUint64(words, sum)
	}
}

// take accounts for memory that the scan holds: half of what there is, because records are read while the pool has it.
func (s *scan) take(n int64) error {
	if s.taken+n > s.r.pool.limit/2 {
		return &LimitError{What: "bytes of memory", Limit: s.r.pool.limit}
	}
	s.taken += n
	return s.r.pool.take(n)
}

// skip reads over n bytes.
func (in *input) skip(n int64) error {
	for n > 0 {
		if !in.fill(1) {
			return in.err
		}
		k := min(n, int64(in.end-in.pos))
		in.pos += int(k)
		n -= k
	}
	return nil
}
