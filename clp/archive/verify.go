package archive

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"math"
	"sync"
	"sync/atomic"
)

// ErrDiffers is wrapped by the error of Verify for an archive that can be read and does not hold the records that were written.
var ErrDiffers = errors.New("archive: the archive differs from what was written")

// Verify reads the archive that Close has written, size bytes of src, and compares it with the records that the writer took:
// each value of each, its place in the log, the order of its members and, of records that columns cannot give back, the line.
// It compares checksums of 64 bits of the values as they were before they were encoded, and as they are after they were decoded, and does not make
// JSON of them. It fails with an error that wraps ErrDiffers, or that of reading. It uses as many processors as the
// writer may, and less memory than writing has taken. A writer with WriterOptions.Structured cannot verify.
func (w *Writer) Verify(ctx context.Context, src io.ReaderAt, size int64) error {
	if w.proof == nil || w.options.Structured {
		return errors.New("archive: Verify without an archive, or of structured arrays")
	}
	parallel := w.options.Concurrency
	r, err := Open(src, size, &Options{Stored: true, Parallel: parallel, Memory: w.memory})
	if err != nil {
		return err
	}
	defer r.Close()
	v := &verifier{r: r, want: w.proof, got: make([]tableSum, len(w.proof.tables))}
	v.ctx, v.cancel = context.WithCancelCause(ctx)
	defer v.cancel(nil)
	v.tasks.limit = parallel
	return v.run()
}

// verifier makes the proof of an archive that is read.
type verifier struct {
	ctx    context.Context
	cancel context.CancelCauseFunc
	r      *Reader
	want   *proof
	tasks  parallelTasks
	paths  []uint64
	vars   []uint64 // hashes of the entries of /var.dict

	scratch   sync.Pool // of *verifyScratch
	small     []int     // small tables that are not yet in a task
	smallRows int64

	mu  sync.Mutex // guards the sums
	got []tableSum
}

func differs(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrDiffers, fmt.Sprintf(format, args...))
}

func (v *verifier) run() error {
	r := v.r
	if n := r.Info().Records; n != v.want.records || len(r.tables.list) != len(v.want.tables) {
		return differs("%d records in %d tables, want %d in %d", n, len(r.tables.list), v.want.records, len(v.want.tables))
	}
	if len(r.box.meta.patterns) != len(v.want.patterns) {
		return differs("%d spellings of times, want %d", len(r.box.meta.patterns), len(v.want.patterns))
	}
	for id, p := range v.want.patterns {
		if r.box.meta.patterns[uint64(id)] != p {
			return differs("spelling of times %q, want %q", r.box.meta.patterns[uint64(id)], p)
		}
	}
	v.paths = appendPaths(nil, r.tree.nodes, v.want.seed)
	r.streams = make([]streamState, len(r.tables.streams))
	r.countTables()
	r.index()
	for _, d := range []*dictionary{&r.vars, &r.logs, &r.arrays} {
		if err := r.loadDictionary(d); err != nil {
			return err
		}
	}
	v.hashEntries()
	for i := range r.tables.list {
		if v.ctx.Err() != nil {
			break
		}
		if err := v.table(i); err != nil {
			v.cancel(err)
		}
	}
	v.smallTables()
	v.tasks.wait()
	if err := context.Cause(v.ctx); err != nil {
		return err
	}
	if err := r.ended(); err != io.EOF {
		return err
	}
	for id, want := range v.want.tables {
		if got := v.got[id]; got != want {
			return differs("the %d records of schema %d", want.records, id)
		}
	}
	return nil
}

// do runs f in a goroutine, if there may be more of them.
func (v *verifier) do(f func(x *verifyScratch) error) {
	v.tasks.do(func() {
		if v.ctx.Err() != nil {
			return
		}
		x, ok := v.scratch.Get().(*verifyScratch)
		if !ok {
			x = &verifyScratch{view: newRenderer(v.r)}
		}
		if err := f(x); err != nil {
			v.cancel(err)
		}
		v.scratch.Put(x)
	})
}

// hashEntries hashes the entries of the dictionary of variables, and waits until that is done.
func (v *verifier) hashEntries() {
	d := &v.r.vars
	v.vars = make([]uint64, d.count)
	if d.frames == nil {
		var word []byte
		for id := range v.vars {
			text, err := d.entry(uint64(id), &word)
			if err != nil {
				v.cancel(err)
				return
			}
			v.vars[id] = maphash.Bytes(v.want.seed, text)
		}
		return
	}
	for i := range d.frames {
		f := &d.frames[i]
		v.do(func(*verifyScratch) error {
			c, err := d.read(f)
			if err != nil {
				return err
			}
			from := uint32(8)
			for j, end := range c.ends {
				v.vars[f.first+j] = maphash.Bytes(v.want.seed, c.bytes[from:end])
				from = end + 8
			}
			return nil
		})
	}
	v.tasks.wait()
}

// columnRows is how many rows a table must have for each of its columns to be a task.
const columnRows = 4096

// table sums up a table.
func (v *verifier) table(i int) error {
	r := v.r
	t := &r.tables.list[i]
	id := r.schemas.list[t.schema].id
	if int(id) < 0 || int(id) >= len(v.got) || v.got[id].records != 0 {
		return differs("schema %d", id)
	}
	if err := r.loadStreams(int(t.stream) + 1); err != nil {
		return err
	}
	if len(r.damage) > 0 {
		return errors.Join(r.damage...)
	}
	v.got[id].records = t.records
	if t.records < columnRows {
		v.small = append(v.small, i)
		if v.smallRows += t.records + 64; v.smallRows >= columnRows {
			v.smallTables()
		}
		return nil
	}
	columns := len(r.schemas.columns(&r.schemas.list[t.schema], &r.tree))
	var left atomic.Int64
	left.Store(int64(columns) + 1)
	for c := -1; c < columns; c++ {
		v.do(func(x *verifyScratch) error {
			err := v.part(x, i, c, c+1)
			if left.Add(-1) == 0 {
				r.tableDone(i)
			}
			return err
		})
	}
	return nil
}

// smallTables makes a task of the small tables that were collected.
func (v *verifier) smallTables() {
	tables := v.small
	v.small, v.smallRows = nil, 0
	if len(tables) == 0 {
		return
	}
	v.do(func(x *verifyScratch) error {
		for _, i := range tables {
			if err := v.part(x, i, -1, math.MaxInt); err != nil {
				return err
			}
			v.r.tableDone(i)
		}
		return nil
	})
}

// verifyScratch is what a task needs; another one can have it then.
type verifyScratch struct {
	view  *renderer
	batch rowBatch
	line  []byte
}

// part adds columns of a table to the sum of the table; column -1 is what its records are made of.
func (v *verifier) part(x *verifyScratch, table, from, to int) error {
	t, err := v.r.openTable(table)
	if err != nil {
		return err
	}
	defer t.close()
	b := &x.batch
	b.t = t
	if n := len(t.cols); cap(b.cols) < n {
		b.cols = append(b.cols[:cap(b.cols)], make([]values, n-cap(b.cols))...)
	}
	b.cols = b.cols[:len(t.cols)]
	total := uint64(0)
	for column := from; column < min(to, len(t.cols)); column++ {
		sum, err := v.column(x, column)
		if err != nil {
			return err
		}
		total += sum
	}
	v.mu.Lock()
	v.got[t.s.id].sum += total
	v.mu.Unlock()
	return nil
}

// column returns what a column of the table in x adds to the sum of the table.
func (v *verifier) column(x *verifyScratch, column int) (uint64, error) {
	b, t := &x.batch, x.batch.t
	var part func() (uint64, error)
	path := uint64(0)
	if column >= 0 {
		c := &t.cols[column]
		path = v.paths[c.node]
		part = func() (uint64, error) { return v.values(x, c, column) }
	} else {
		if err := t.compose(); err != nil {
			return 0, err
		}
		known := map[*layout]uint64{}
		part = func() (uint64, error) { return v.shapes(x, known) }
	}
	sum := uint64(0)
	b.from, b.to = 0, 0
	for n := 1; b.to < t.t.records; n++ {
		if n%64 == 0 && v.ctx.Err() != nil {
			return 0, context.Cause(v.ctx)
		}
		b.from, b.to = b.to, min(b.to+batchRows, t.t.records)
		some, err := part()
		if err != nil {
			return 0, &CorruptError{Section: sectionData, Stream: int(t.t.stream), Offset: t.t.from, Record: b.from, Schema: t.s.id, Err: err}
		}
		sum += some
	}
	return columnSum(path, sum), nil
}

// values sums up the values of a column in the batch.
func (v *verifier) values(x *verifyScratch, c *column, index int) (sum uint64, err error) {
	b := &x.batch
	vs := &b.cols[index]
	if err := b.t.decodeColumn(b, c, vs); err != nil {
		return 0, err
	}
	switch c.typ {
	case Integer, DeltaInteger, Boolean:
		for i, n := range vs.first {
			sum += cell(b.from+int64(i), n)
		}
	case FormattedFloat, Timestamp:
		for i, n := range vs.first {
			sum += cell(b.from+int64(i), both(n, vs.second[i]))
		}
	case VarString, DictionaryFloat:
		for i, id := range vs.first {
			if id >= uint64(len(v.vars)) {
				return 0, v.r.vars.missing(id)
			}
			sum += cell(b.from+int64(i), v.vars[id])
		}
	case ClpString, UnstructuredArray:
		types := &x.view.raw
		if c.typ == UnstructuredArray {
			types = &x.view.arrays
		}
		for i := range vs.first {
			if x.line, err = x.view.appendClp(x.line[:0], b, index, i, types); err != nil {
				return 0, err
			}
			sum += cell(b.from+int64(i), maphash.Bytes(v.want.seed, x.line))
		}
	default:
		return 0, differs("a column of type %v", c.typ)
	}
	return sum, nil
}

// shapes sums up what the records of the batch are made of.
func (v *verifier) shapes(x *verifyScratch, known map[*layout]uint64) (sum uint64, err error) {
	b, t := &x.batch, x.batch.t
	t.decodeSide(b)
	for row := b.from; row < b.to; row++ {
		if b.except {
			var is bool
			if x.line, is, err = t.side.appendException(x.line[:0], row); err != nil {
				return 0, err
			}
			if is {
				sum += cell(row, maphash.Bytes(v.want.seed, x.line))
				continue
			}
		}
		l := t.layout
		if t.side != nil {
			l = t.shaped(b, row)
		}
		text, ok := known[l]
		if !ok {
			text = v.skeleton(x, l)
			known[l] = text
		}
		sum += cell(row, text)
	}
	return sum, nil
}

// skeleton returns what Writer.skeleton returned of such a record.
func (v *verifier) skeleton(x *verifyScratch, l *layout) uint64 {
	x.line = v.appendSkeleton(x.line[:0], x, l)
	if l.auto != nil {
		x.line = v.appendSkeleton(x.line, x, l.auto)
	}
	return maphash.Bytes(v.want.seed, x.line)
}

func (v *verifier) appendSkeleton(text []byte, x *verifyScratch, l *layout) []byte {
	at := int32(0)
	for _, cut := range l.cuts {
		text = appendCut(append(text, l.text[at:cut.at]...), v.paths[x.batch.t.cols[cut.column].node])
		at = cut.at
	}
	return append(text, l.text[at:]...)
}
