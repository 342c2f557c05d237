package archive

import (
	"encoding/binary"
	"errors"
)

// scanStreams evaluates the conditions of tables of an archive without an index. A stream is decompressed from its start up
// to the last column that a condition is about; only such columns are kept, one table's at a time.
func (r *Reader) scanStreams(conditions []*Condition) error {
	last := map[int32]int{} // table of a stream whose columns are looked at
	for i, c := range conditions {
		if c != nil {
			last[r.tables.list[i].stream] = i
		}
	}
	stream, at, broken := int32(-1), int64(0), false
	for i := range r.tables.list {
		t := &r.tables.list[i]
		end, any := last[t.stream]
		if !any || i > end || conditions[i] == nil {
			continue
		}
		in, err := r.scanInput()
		if err != nil {
			return err
		}
		if t.stream != stream {
			st := &r.tables.streams[t.stream]
			in.count = &r.spent.columns
			in.open(r.box.sections[sectionData].part(st.from, max(st.to-st.from, 0)), int(t.stream))
			stream, at, broken = t.stream, 0, false
		}
		if broken {
			continue
		}
		s, err := r.openScan(i, nil, nil)
		if err == nil {
			err = in.skip(t.from - at)
		}
		var used int64
		if err == nil {
			used, err = s.read(in, conditions[i])
		}
		r.spent.columns.add(0, t.from+used-at)
		at = t.from + used
		if err == nil {
			err = r.apply(s, conditions[i], i)
		}
		var limit *LimitError
		if errors.As(err, &limit) { // columns that are too large to be kept: the records tell
			err, broken = nil, true
		}
		broken = broken || in.err != nil
		if err := r.scanFailed(err); err != nil {
			return err
		}
		if s != nil {
			r.pool.give(s.taken)
		}
	}
	return nil
}

// read reads the columns that a condition is about, and says how much of the table was read. The stream is at its begin.
func (s *scan) read(in *input, c *Condition) (used int64, err error) {
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
		// What is allocated is backed by bytes that came: pieces, unless there is not much.
		for left := n; left > 0; {
			k := min(left, max(1<<20, int64(len(r.plain))))
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
