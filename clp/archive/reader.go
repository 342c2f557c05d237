package archive

import (
	"container/heap"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"

	"github.com/klauspost/compress/zstd"
)

// Options are the settings of a Reader. The zero value serves most.
type Options struct {
	// Memory is what the reader may use, in bytes: 128 MiB if it is 0, at least 16 MiB. What an archive is decompressed
	// to is kept up to that, then compressed again in memory, then the error is a *LimitError; see Scratch. A quarter of
	// it, 8 to 128 MiB, is what a zstd frame may ask for as its window.
	Memory int64

	// Scratch takes what does not fit into Memory, compressed. Temporary files serve; the caller removes them.
	Scratch Scratch

	// Stored has the records come table by table, as they are stored, instead of in the order of the log. Only one
	// stream of the archive is in memory then, and an archive that does not know the order is read so anyway.
	Stored bool
}

// Scratch is room for data that does not fit into memory. *os.File is one.
type Scratch interface {
	io.ReaderAt
	io.WriterAt
}

const (
	defaultMemory = 128 << 20
	minMemory     = 16 << 20
)

// Reader reads the records of an archive. It is not safe for concurrent use. It starts no goroutines.
type Reader struct {
	box     *container
	pool    *pool
	in      input
	tree    tree
	schemas schemas
	tables  tables
	stored  bool

	vars, logs, arrays   dictionary
	logTypes, arrayTypes logtypes
	rawTypes             logtypes // of logs, whose text is not for JSON
	patterns             map[uint64]*pattern
	streams              []blob

	indexSought bool
	found       *archiveIndex // by index
	indexErr    error

	filter   func(Table) (*Condition, error)
	filters  []Filter // of the tables, if filter is not nil
	chosen   bool
	openOnly bool // see CountSure
	scanned  ScanStats
	scanIn   *input
	looked   lookedUp

	started bool
	queue   queue        // of tables with records left, in the order of the log
	current *tableReader // the table of the last record
	at      int          // the next table if stored
	next    int          // the next stream to load, if stored
	record  Record
	damage  []error
	err     error // that no reading can pass
}

// Open opens a single-file archive of size bytes. It reads the header, the metadata, the schema tree and the lists of
// schemas and tables; damage there is a *CorruptError. The caller closes src, after the Reader.
func Open(src io.ReaderAt, size int64, o *Options) (*Reader, error) {
	return open(o, func(in *input) (*container, error) { return openFile(in, src, size) })
}

// OpenDir opens a directory archive, whose files have the names header, schema_tree, schema_ids, table_metadata,
// var.dict, log.dict, array.dict and 0. Files of dir must be io.ReaderAts, as those of os.DirFS are. Close closes them.
func OpenDir(dir fs.FS, o *Options) (*Reader, error) {
	return open(o, func(in *input) (*container, error) { return openDir(in, dir) })
}

func open(o *Options, find func(in *input) (*container, error)) (r *Reader, err error) {
	if o == nil {
		o = &Options{}
	}
	memory := o.Memory
	if memory == 0 {
		memory = defaultMemory
	}
	memory = max(memory, minMemory)
	r = &Reader{stored: o.Stored, pool: &pool{limit: memory, floor: plainFloor, scratch: o.Scratch}, patterns: map[uint64]*pattern{}}
	r.in.window = min(max(memory/4, 8<<20), 128<<20)
	r.in.decoder, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(uint64(r.in.window)))
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			r.Close()
			r = nil
		}
	}()
	if r.box, err = find(&r.in); err != nil {
		return r, err
	}
	s := r.box.sections
	if err = r.tree.load(r.pool, &r.in, s[sectionTree]); err != nil {
		return r, err
	}
	if err = r.schemas.load(r.pool, &r.in, s[sectionIDs], &r.tree); err != nil {
		return r, err
	}
	if err = r.tables.load(r.pool, &r.in, s[sectionTables], s[sectionData], &r.schemas); err != nil {
		return r, err
	}
	r.vars.name, r.logs.name, r.arrays.name = sectionVars, sectionLogs, sectionArrays
	r.logTypes = logtypes{dict: &r.logs, escape: true}
	r.arrayTypes = logtypes{dict: &r.arrays}
	r.rawTypes = logtypes{dict: &r.logs}
	r.stored = r.stored || r.tree.order < 0
	return r, nil
}

// Close frees what the reader holds, and closes the files of a directory archive.
func (r *Reader) Close() error {
	if r.in.decoder == nil {
		return nil
	}
	r.in.decoder.Close()
	if r.scanIn != nil {
		r.scanIn.decoder.Close()
	}
	r.in = input{}
	r.pool.close()
	r.err, r.queue, r.current, r.streams = ErrClosed, nil, nil, nil
	if r.box == nil {
		return nil
	}
	return r.box.close()
}

// Next returns the next record. It is valid until the next call. Records come in the order of the log, if the archive has
// it and Options.Stored is not set.
//
// Behind the last record, the error is io.EOF if the archive is whole. If parts of it are damaged, all records that can
// be read come first, and then the damage is reported: one or more *CorruptError, joined. (Damage of a single value is
// an error of [Record.AppendJSON].) A *LimitError ends reading at once.
func (r *Reader) Next() (*Record, error) {
	if r.err != nil {
		return nil, r.err
	}
	if !r.started {
		r.started = true
		if err := r.start(); err != nil {
			r.err = err
			return nil, err
		}
	}
	var err error
	if r.stored {
		err = r.nextStored()
	} else {
		err = r.nextOrdered()
	}
	if err == io.EOF {
		err = r.ended()
	}
	if err != nil {
		r.err = err
		return nil, err
	}
	return &r.record, nil
}

// All returns the records that Next would return. The iteration ends with the first error, which it yields.
func (r *Reader) All() iter.Seq2[*Record, error] {
	return func(yield func(*Record, error) bool) {
		for {
			record, err := r.Next()
			if err == io.EOF || !yield(record, err) || err != nil {
				return
			}
		}
	}
}

// ended returns what is said behind the last record.
func (r *Reader) ended() error {
	if r.box.meta.damage != nil {
		r.damage = append(r.damage, r.box.meta.damage)
	}
	for _, d := range []*dictionary{&r.vars, &r.logs, &r.arrays} {
		if d.err != nil {
			r.damage = append(r.damage, d.err)
		}
	}
	switch len(r.damage) {
	case 0:
		return io.EOF
	case 1:
		return r.damage[0]
	}
	return errors.Join(r.damage...)
}

// start loads the dictionaries, and, if the records are to come in order, all streams.
func (r *Reader) start() error {
	if err := r.choose(); err != nil {
		return err
	}
	for _, d := range []*dictionary{&r.vars, &r.logs, &r.arrays} {
		if r.filter != nil {
			break // those that are needed, when they are
		}
		if err := r.loadDictionary(d); err != nil {
			return err
		}
	}
	r.streams = make([]blob, len(r.tables.streams))
	if r.stored {
		return nil
	}
	for i := range r.streams {
		if r.filter != nil && r.tables.streams[i].tables == 0 {
			continue
		}
		if err := r.loadStream(i); err != nil {
			return err
		}
	}
	for i := range r.tables.list {
		if !r.wants(i) {
			continue
		}
		if err := r.enqueue(i); err != nil {
			return err
		}
	}
	heap.Init(&r.queue)
	return nil
}

// loadStream decompresses a stream. If it is damaged, its tables up to the damage are whole.
func (r *Reader) loadStream(i int) error {
	st := &r.tables.streams[i]
	b := &r.streams[i]
	b.pool = r.pool
	r.in.open(r.box.sections[sectionData].part(st.from, max(st.to-st.from, 0)), i)
	if err := b.load(&r.in, st.size); err != nil {
		return err
	}
	// Reading on to the end has a checksum looked at. More bytes than there should be are no harm.
	if r.in.err == nil && !r.in.fill(1) && r.in.clean {
		return nil
	}
	if r.in.err != nil {
		var limit *LimitError
		if errors.As(r.in.err, &limit) {
			return limit
		}
		r.damage = append(r.damage, r.in.err)
	}
	return nil
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
	if errors.As(err, &c) { // of the schema or of the table list
		r.damage = append(r.damage, c)
		return nil
	}
	r.damage = append(r.damage, &CorruptError{
		Section: sectionData, Stream: st, Offset: t.from, Record: -1, Schema: r.schemas.list[t.schema].id, Err: err,
	})
	return nil
}

// tableDone frees what only the table needed.
func (r *Reader) tableDone(i int) {
	st := r.tables.list[i].stream
	s := &r.tables.streams[st]
	if s.tables--; s.tables == 0 {
		r.streams[st].free()
	}
}

// nextStored goes to the next record of the tables as they are stored.
func (r *Reader) nextStored() error {
	for {
		if t := r.current; t != nil {
			if more, err := t.advance(); err != nil || more {
				r.show(t)
				return err
			}
			t.close()
			r.current = nil
			r.tableDone(r.at)
			r.at++
		}
		if r.at == len(r.tables.list) {
			return io.EOF
		}
		if !r.wants(r.at) {
			r.at++
			continue
		}
		t := &r.tables.list[r.at]
		for ; r.next <= int(t.stream); r.next++ {
			if r.tables.streams[r.next].tables == 0 {
				continue
			}
			if err := r.loadStream(r.next); err != nil {
				return err
			}
		}
		reader, err := r.beginTable(r.at)
		if err != nil {
			if err := r.tableFailed(r.at, err); err != nil {
				return err
			}
			r.at++
			continue
		}
		r.current = reader
	}
}

// show makes the current row of a table the record.
func (r *Reader) show(t *tableReader) { r.record = Record{table: t, row: t.row} }

// beginTable opens a table before its first row.
func (r *Reader) beginTable(i int) (*tableReader, error) {
	t, err := r.openTable(&r.tables.list[i])
	if err != nil {
		return nil, err
	}
	if err := t.compose(); err != nil {
		return nil, err
	}
	if r.filters != nil {
		t.wants = r.filters[i].Rows
	}
	t.row = -1
	t.index = i
	return t, nil
}

// waiting is a table with records left, and the place in the log of the next one.
type waiting struct {
	number int64
	table  int
	reader *tableReader // nil before the first record
}

// queue is a heap of tables, the one with the next record first.
type queue []waiting

func (q queue) Len() int { return len(q) }
func (q queue) Less(i, j int) bool {
	return q[i].number < q[j].number || q[i].number == q[j].number && q[i].table < q[j].table
}
func (q queue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q *queue) Push(x any)   { *q = append(*q, x.(waiting)) }
func (q *queue) Pop() any {
	last := (*q)[len(*q)-1]
	*q = (*q)[:len(*q)-1]
	return last
}

// enqueue looks at the place of a table's first record in the log. The table is opened for that, and closed again until
// the record's turn: an archive may have very many small tables.
func (r *Reader) enqueue(i int) error {
	t := &r.tables.list[i]
	reader, err := r.openTable(t)
	if err != nil {
		return r.tableFailed(i, err)
	}
	defer reader.close()
	if t.records == 0 {
		r.tableDone(i)
		return nil
	}
	w := waiting{table: i}
	if reader.order >= 0 {
		var first [1]uint64
		if err := reader.words(first[:], reader.cols[reader.order].off); err != nil {
			return err
		}
		w.number = int64(first[0])
	}
	if err := r.pool.take(32); err != nil {
		return err
	}
	r.queue = append(r.queue, w)
	return nil
}

// nextOrdered goes to the next record of the log. The table of the last record is still the first of the queue.
func (r *Reader) nextOrdered() error {
	step := r.current != nil // past the last record
	for len(r.queue) > 0 {
		first := &r.queue[0]
		if first.reader == nil {
			reader, err := r.beginTable(first.table)
			if err != nil {
				if err := r.tableFailed(first.table, err); err != nil {
					return err
				}
				heap.Pop(&r.queue)
				continue
			}
			first.reader, step = reader, true
		}
		if !step {
			r.current = first.reader
			r.show(r.current)
			return nil
		}
		step = false
		t := first.reader
		more, err := t.advance()
		if err != nil {
			return err
		}
		if !more {
			t.close()
			r.tableDone(first.table)
			heap.Pop(&r.queue)
			continue
		}
		if t.order >= 0 {
			first.number = t.number()
		}
		heap.Fix(&r.queue, 0)
	}
	r.current = nil
	return io.EOF
}

// pattern returns a pattern of times.
func (r *Reader) pattern(id uint64) (*pattern, error) {
	if p := r.patterns[id]; p != nil {
		return p, nil
	}
	text, ok := r.box.meta.patterns[id]
	if !ok {
		return nil, fmt.Errorf("%w: pattern %d is not there", ErrTimestamp, id)
	}
	p, err := parsePattern(text)
	if err != nil {
		return nil, fmt.Errorf("%w: pattern %d, %q: %v", ErrTimestamp, id, text, err)
	}
	r.patterns[id] = p
	return p, nil
}
