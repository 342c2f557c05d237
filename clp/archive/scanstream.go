package archive

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// streamScan is the scan of the tables of a stream of an archive without an index. The stream is decompressed from its start up
// to the last column that a condition is about. A condition is evaluated on each column as it comes, block by block; nothing is
// kept of it but which rows it holds of.
//
// If records are read next, pages of all columns are kept, packed, until it is known which rows are wanted, and then those that
// these touch. If they are too many, none are: the stream is decompressed once more, see loadChosen.
type streamScan struct {
	stream int32
	tables []*tableScan
	need   int64 // bytes of memory, at most
	keep   bool
	err    error // what must end the search
}

// scanLeaf is what was found of a condition on a column, once the column has come: of texts first what their log types tell.
type scanLeaf struct {
	may, must [][]uint64 // of each block
	come      bool
}

// scanStreams evaluates the conditions of tables of an archive without an index: of several streams at a time, if what is needed
// of the columns fits into half of the memory, because records are read while the pool has it.
func (r *Reader) scanStreams(conditions []*Condition) error {
	var streams []*streamScan
	for i, c := range conditions {
		if c == nil {
			continue
		}
		t := &r.tables.list[i]
		if n := len(streams); n == 0 || streams[n-1].stream != t.stream {
			streams = append(streams, &streamScan{stream: t.stream, keep: r.keepEarly && !r.openOnly && r.side == nil})
		}
		s := streams[len(streams)-1]
		s.tables = append(s.tables, &tableScan{table: i, condition: c})
		s.need = max(s.need, r.columnBytes(i, c))
	}
	k := 0
	for i, c := range conditions { // pages are kept of tables that are scanned
		for k < len(streams) && streams[k].stream < r.tables.list[i].stream {
			k++
		}
		if k < len(streams) && streams[k].stream == r.tables.list[i].stream && c == nil && !r.filters[i].none {
			streams[k].keep = false
		}
	}
	r.streams = make([]streamState, len(r.tables.streams))
	kept := &keepRoom{}
	kept.give(r.pool.limit/8*3 - r.pool.held.Load())
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
			group.do(func() { s.err = s.run(r, kept) })
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

// columnBytes returns how many bytes are needed of a table at most while a condition is evaluated, but for variables.
func (r *Reader) columnBytes(table int, c *Condition) (n int64) {
	t := &r.tables.list[table]
	c.columns(func(_ int, variables bool) {
		n += 8*blockRows + t.records/4
		if variables {
			n += min(8, t.size/max(t.records, 1)) * t.records
		}
	})
	return n
}

// run evaluates the conditions of the tables. Damage is left to those who read them: tables without a result.
func (st *streamScan) run(r *Reader, room *keepRoom) error {
	in, err := r.inputs.get()
	if err != nil {
		return err
	}
	defer r.inputs.put(in)
	l := &chosenPages{r: r, streamFeed: r.feed(in, int(st.stream))}
	defer func() { r.spent.columns.add(0, l.at) }()
	if st.keep && r.keepable(st.tables, room) {
		l.blob, l.room = &blob{pool: r.pool, refill: func() error { return r.refill(int(st.stream)) }}, room
	}
	wanted := false
	for i, ts := range st.tables {
		var rows int64
		rows, ts.err = ts.read(r, l)
		wanted = wanted || rows > 0
		var limit *LimitError
		if errors.As(ts.err, &limit) { // columns that are too large to be kept: the records tell, here and behind it
			ts.err = errUnread
		}
		if ts.err != nil {
			l.drop()
			if in.err != nil || ts.err == errUnread {
				for _, rest := range st.tables[i+1:] {
					rest.err = errUnread
				}
				return nil
			}
		}
	}
	return l.settle(&r.streams[st.stream], wanted)
}

// keepable reports whether pages of the tables may be few enough: as a rule, they are packed to a quarter or a third.
func (r *Reader) keepable(tables []*tableScan, room *keepRoom) bool {
	for _, ts := range tables {
		if r.tables.list[ts.table].size/4 > room.left.Load() {
			return false
		}
	}
	return true
}

// settle gives the stream what was kept of it, if it is wanted.
func (l *chosenPages) settle(st *streamState, wanted bool) error {
	if !wanted {
		l.drop()
		return nil
	}
	if err := l.leave(); err != nil || l.blob == nil {
		return err
	}
	st.pool, st.refill, st.loaded = l.blob.pool, l.blob.refill, true
	st.pages, st.size, st.sparse = l.blob.pages, l.blob.size, !l.dense
	return nil
}

// errUnread is why a table was not scanned that may be whole.
var errUnread = fmt.Errorf("%w: it was not read", ErrTable)

// read goes through a table up to the last column that the condition is about, evaluates that, and returns how many rows it may
// hold of. If pages are kept, it goes on to those that these rows touch.
func (ts *tableScan) read(r *Reader, l *chosenPages) (rows int64, err error) {
	t := &r.tables.list[ts.table]
	if ts.scan, err = r.openScan(ts.table, nil, nil); err != nil {
		return 0, err
	}
	defer func() { r.pool.give(ts.scan.taken); ts.scan = nil }()
	l.shown = false
	if err := l.skip(t.from - l.at); err != nil {
		return 0, err
	}
	l.open = l.blob != nil
	defer func() { l.open = false }()
	if err := ts.begin(r); err != nil {
		return 0, err
	}
	if err := ts.columns(r, l.streamFeed); err != nil {
		return 0, err
	}
	for k := range ts.may.blocks {
		if !ts.block(ts.scan, k) {
			return 0, ts.err
		}
	}
	rows = ts.may.count()
	if l.open = false; l.blob == nil {
		return rows, nil
	}
	if rows > 0 {
		if err := l.table(t, ts.may); err != nil {
			l.drop() // whoever reads the records meets the damage
		}
	}
	l.letGo(t.from / pageSize)
	return rows, nil
}

// columns reads the columns up to the last one that the condition is about, and evaluates the parts of the condition as their
// columns come.
func (ts *tableScan) columns(r *Reader, f *streamFeed) error {
	s, t := ts.scan, &r.tables.list[ts.table]
	s.leaves = map[*Condition]*scanLeaf{}
	leaves := make([][]*Condition, len(s.columns))
	texts := make([]bool, len(s.columns))
	last := -1
	ts.condition.leaves(func(c *Condition) {
		if s.leaves[c] == nil {
			s.leaves[c] = &scanLeaf{may: make([][]uint64, len(ts.may.blocks)), must: make([][]uint64, len(ts.may.blocks))}
			leaves[c.Column] = append(leaves[c.Column], c)
			texts[c.Column] = texts[c.Column] || c.Kind == CondText && c.Text.open
			last = max(last, c.Column)
		}
	})
	if err := s.take(int64(len(s.leaves)) * (48*int64(len(ts.may.blocks)) + t.records/4)); err != nil {
		return err
	}
	nodes := r.schemas.columns(&r.schemas.list[t.schema], &r.tree)
	for k := 0; k <= last; k++ {
		col := &s.columns[k]
		f.shown = r.project.keeps(nodes[k]) || k == s.order
		col.off = f.at
		size := col.typ.width() * t.records
		if size > t.from+t.size-f.at {
			return ErrTable
		}
		c := columnScan{ts: ts, f: f, column: k, leaves: leaves[k]}
		if len(c.leaves) > 0 {
			more, err := c.values(texts[k])
			if err != nil || !more || k == last && !texts[k] {
				return err
			}
		}
		if err := f.skip(col.off + size - f.at); err != nil {
			return err
		}
		if col.typ != ClpString && col.typ != UnstructuredArray {
			continue
		}
		shown := f.shown
		f.shown = true // whoever looks for the variables of rows needs their number
		count, err := f.u64()
		if err != nil {
			return err
		}
		f.shown = shown
		if col.variables = int64(count); col.variables < 0 || col.variables > (t.from+t.size-f.at)/8 {
			return ErrTable
		}
		end := f.at + 8*col.variables
		if texts[k] {
			if err := c.texts(); err != nil || k == last {
				return err
			}
		}
		if err := f.skip(end - f.at); err != nil {
			return err
		}
	}
	return nil
}

// sumUp makes values of differences, and returns the last one. sum is the value before the first one.
func sumUp(words []byte, sum uint64) uint64 {
	for ; len(words) >= 8; words = words[8:] {
		sum += binary.LittleEndian.Uint64(words)
		binary.LittleEndian.PutUint64(words, sum)
	}
	return sum
}

// take accounts for memory that the scan holds: half of what there is, because records are read while the pool has it.
func (s *scan) take(n int64) error {
	if s.taken+n > s.r.pool.limit/2 {
		return &LimitError{What: "bytes of memory", Limit: s.r.pool.limit}
	}
	s.taken += n
	return s.r.pool.take(n)
}
