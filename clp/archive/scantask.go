package archive

import "sync"

// tableScan is the scan of one table in tasks.
type tableScan struct {
	table     int
	condition *Condition
	scan      *scan // that tasks clone, or use if there is one task only
	may, must *rowSet
	judged    bool     // blocks were, before those that need data were looked at
	every     []uint64 // all rows of a block, but for the last one
	last      []uint64

	mu  sync.Mutex // guards what follows
	at  int        // block of err
	err error      // the one of the first block that has one
}

// scanTask is blocks of a table that follow each other, or the small tables of a stream. Tasks do not share what they decode, and
// frames are not cut where blocks are.
type scanTask struct {
	scans   []*tableScan
	blocks  []int // of the only table; nil if the tables are small, whose blocks are all looked at
	decoded int64 // frames
}

// Tasks have this many blocks at least, so that not much is decoded twice.
const taskBlocks = 4

// scan evaluates the conditions of tables.
func (r *Reader) scan(conditions []*Condition) error {
	x := r.index()
	if x == nil {
		return r.scanStreams(conditions)
	}
	var scans []*tableScan
	var tasks []*scanTask
	small := int32(-1) // the stream of the last task, if its tables are small
	width := int64(1)  // columns that are looked at, at most
	for i, c := range conditions {
		if c == nil {
			continue
		}
		t := &r.tables.list[i]
		ts := &tableScan{table: i, condition: c}
		scans = append(scans, ts)
		if x.columns(i) == nil {
			if t.stream != small {
				small = t.stream
				tasks = append(tasks, &scanTask{})
			}
			last := tasks[len(tasks)-1]
			last.scans = append(last.scans, ts)
			continue
		}
		small = -1
		if ts.scan, ts.err = r.openScan(i, x, nil); ts.err == nil {
			ts.err = ts.begin(r)
		}
		if ts.err != nil {
			continue
		}
		n := int64(0)
		c.columns(func(int, bool) { n++ })
		width = max(width, n)
		tasks = append(tasks, ts.split(ts.judge(r), r.parallel)...)
	}
	// What a task has decoded of a column takes a megabyte, as a rule.
	group := parallelTasks{limit: max(1, min(r.parallel, int(r.pool.limit/2/(width<<20))))}
	for _, task := range tasks {
		group.do(func() { task.run(r, x) })
	}
	group.wait()
	for _, task := range tasks {
		r.scanned.Frames += task.decoded
	}
	for _, ts := range scans {
		if err := ts.end(r); err != nil {
			return err
		}
	}
	return nil
}

// begin makes the sets.
func (ts *tableScan) begin(r *Reader) error {
	rows := ts.scan.table.records
	if err := r.pool.take(48 * ((rows + blockRows - 1) / blockRows)); err != nil {
		return err
	}
	ts.may, ts.must = newRowSet(rows), newRowSet(rows)
	if rows == 0 {
		return nil
	}
	ts.every = full(min(blockRows, rows))
	ts.last = full(rows - int64(len(ts.may.blocks)-1)*blockRows)
	return nil
}

// all returns all rows of a block.
func (ts *tableScan) all(block int) []uint64 {
	if block == len(ts.may.blocks)-1 {
		return ts.last
	}
	return ts.every
}

// judge settles the blocks that need no data, and returns the others.
func (ts *tableScan) judge(r *Reader) (open []int) {
	ts.judged = true
	for k := range ts.may.blocks {
		r.scanned.Blocks++
		switch ts.condition.judge(ts.scan.known, ts.scan.order, k) {
		case maybe:
			open = append(open, k)
			continue
		case yes:
			ts.may.blocks[k], ts.must.blocks[k] = ts.all(k), ts.all(k)
		}
		r.scanned.BlocksSkipped++
	}
	return open
}

// split makes tasks of blocks: so many that all goroutines have something to do most of the time.
func (ts *tableScan) split(blocks []int, parallel int) (tasks []*scanTask) {
	n := max(1, min(2*parallel, len(blocks)/taskBlocks))
	if parallel == 1 {
		n = 1
	}
	for i := range n {
		if part := blocks[i*len(blocks)/n : (i+1)*len(blocks)/n]; len(part) > 0 {
			tasks = append(tasks, &scanTask{scans: []*tableScan{ts}, blocks: part})
		}
	}
	return tasks
}

// run evaluates the conditions.
func (task *scanTask) run(r *Reader, x *archiveIndex) {
	if task.blocks != nil {
		ts := task.scans[0]
		s := ts.scan.clone()
		for _, k := range task.blocks {
			if !ts.block(s, k) {
				break
			}
		}
		task.decoded = s.decoded
		return
	}
	shared := &run{}
	for _, ts := range task.scans {
		var s *scan
		if s, ts.err = r.openScan(ts.table, x, shared); ts.err != nil {
			continue
		}
		ts.scan = s
		if ts.err = ts.begin(r); ts.err != nil {
			continue
		}
		for k := range ts.may.blocks {
			if !ts.block(s, k) {
				break
			}
		}
		task.decoded += s.decoded
	}
}

// block evaluates the condition on the rows of a block. It reports whether others should be tried.
func (ts *tableScan) block(s *scan, k int) bool {
	m, u, err := s.evaluate(ts.condition, k, ts.all(k))
	for _, p := range []struct {
		set  *rowSet
		bits []uint64
	}{{ts.may, m}, {ts.must, u}} {
		if err == nil && p.bits != nil {
			if &p.bits[0] != &ts.all(k)[0] {
				err = s.r.pool.take(8 * int64(len(p.bits)))
			}
			p.set.blocks[k] = p.bits
		}
	}
	if err != nil {
		ts.failed(k, err)
	}
	return err == nil
}

func (ts *tableScan) failed(block int, err error) {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	if ts.err == nil || block < ts.at {
		ts.at, ts.err = block, err
	}
}

// end gives the reader what was found. A table that could not be scanned is left to those who read it.
func (ts *tableScan) end(r *Reader) error {
	if ts.err != nil {
		return r.scanFailed(ts.err)
	}
	if !ts.judged {
		r.scanned.Blocks += int64(len(ts.may.blocks))
	}
	f := &r.filters[ts.table]
	f.rows, f.sure = ts.may, ts.must
	return nil
}
