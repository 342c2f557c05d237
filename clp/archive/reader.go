package archive

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"runtime"
	"sync"

	"github.com/klauspost/compress/zstd"
)

// Options are the settings of a Reader. The zero value serves most.
type Options struct {
	// Memory is what the reader may use, in bytes: 128 MiB if it is 0, at least 16 MiB. What an archive is decompressed
	// to is kept up to half of that, or a third if there is no index and the records come in order. Of an archive with an index, the rest is decompressed again when it is needed; of others
	// it is compressed again in memory, and if that does not fit, the error is a *LimitError; see Scratch. A quarter of
	// Memory, 8 to 128 MiB, is what a zstd frame may ask for as its window.
	Memory int64

	// Scratch takes what does not fit into Memory, compressed. Temporary files serve; the caller removes them.
	Scratch Scratch

	// Stored has the records come table by table, as they are stored, instead of in the order of the log. Only one
	// stream of the archive is in memory then, and an archive that does not know the order is read so anyway.
	Stored bool

	// Parallel is how many goroutines may decompress and make records ahead: as many as GOMAXPROCS if it is 0, none if
	// it is 1. A Reader with goroutines must be closed.
	Parallel int

	// Plain has records look as the reference prints them, whatever the archive has kept of how they were written.
	Plain bool
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

// Reader reads the records of an archive. It is not safe for concurrent use, but has goroutines of its own, from the first
// Next of a large archive to the end of the records or to Close; see Options.Parallel.
type Reader struct {
	box      *container
	pool     *pool
	inputs   inputs
	frames   *zstd.Decoder // of frames that the index knows
	tree     tree
	schemas  schemas
	tables   tables
	stored   bool
	parallel int
	eager    bool  // goroutines are worth it, whatever the archive's size
	first    int64 // number of the first record

	vars, logs, arrays dictionary
	streams            []streamState
	loaded             int // streams that were loaded, if stored

	indexSought bool
	found       *archiveIndex // by index
	indexErr    error

	side    *side       // nil if there is none, or it is not to be used
	project *projection // nil if all is to be shown

	filter    func(Table) (*Condition, error)
	filters   []tableFilter // of the tables, if filter is not nil
	chosen    bool
	openOnly  bool // see CountSure
	keepEarly bool // records are read next: what a scan goes over may be needed again
	scanned   ScanStats
	scanIn    *input

	started bool // it is known what to read
	running bool // since the last stop
	seq     sequence
	pipe    *pipeline // nil if records are made when they are asked for
	view    *renderer
	record  Record
	err     error // that no reading can pass

	damage []error
	noted  map[string]bool // what damage says

	mu      sync.Mutex // guards sideErr, and of streams what is not read
	sideErr error      // damage of the side channel

	spent byteCounts
}

// streamState is what was decompressed of a stream.
type streamState struct {
	blob
	left   int  // tables that are not read to their end
	loaded bool // what there is
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
	if o.Parallel < 0 {
		return nil, fmt.Errorf("archive: %d goroutines", o.Parallel)
	}
	r = &Reader{
		stored: o.Stored, parallel: o.Parallel, eager: o.Parallel > 1, noted: map[string]bool{},
		pool: &pool{limit: memory, floor: plainFloor, scratch: o.Scratch},
	}
	if r.parallel == 0 {
		r.parallel = runtime.GOMAXPROCS(0)
	}
	r.inputs.window = min(max(memory/4, 8<<20), 128<<20)
	r.frames, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(r.parallel), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxMemory(uint64(r.inputs.window)))
	if err != nil {
		return nil, err
	}
	in, err := r.inputs.get()
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			r.Close()
			r = nil
		}
	}()
	defer r.inputs.put(in)
	if r.box, err = find(in); err != nil {
		return r, err
	}
	s := r.box.sections
	if err = r.tree.load(r.pool, in, s[sectionTree]); err != nil {
		return r, err
	}
	if err = r.schemas.load(r.pool, in, s[sectionIDs], &r.tree); err != nil {
		return r, err
	}
	if err = r.tables.load(r.pool, in, s[sectionTables], s[sectionData], &r.schemas); err != nil {
		return r, err
	}
	if err = r.box.checkLists(); err != nil {
		return r, err
	}
	for name, d := range map[string]*dictionary{sectionVars: &r.vars, sectionLogs: &r.logs, sectionArrays: &r.arrays} {
		d.name, d.pool = name, r.pool
	}
	if !o.Plain {
		r.loadSide(in)
	}
	r.view = newRenderer(r)
	r.stored = r.stored || r.tree.order < 0
	r.seq.r = r
	return r, nil
}

// loadSide loads the side channel, if there is one. What is wrong with it is said behind the last record.
func (r *Reader) loadSide(in *input) {
	for _, p := range r.box.meta.own {
		if p.typ != packetSide || r.side != nil {
			continue
		}
		s, err := loadSide(r.pool, in, p.payload, r.box.sections[sectionData], &r.tree, &r.schemas, &r.tables)
		if err != nil {
			r.sideFailed(err)
			continue
		}
		if r.side = s; s != nil {
			s.spent = &r.spent.side
		}
	}
}

// Close ends the reader's goroutines, frees what it holds, and closes the files of a directory archive.
func (r *Reader) Close() error {
	if r.err == ErrClosed {
		return nil
	}
	r.stop()
	r.err = ErrClosed
	if r.scanIn != nil {
		r.scanIn.decoder.Close()
	}
	r.inputs.close()
	r.frames.Close()
	r.pool.close()
	if r.side != nil {
		r.side.close()
	}
	r.seq, r.streams, r.record = sequence{}, nil, Record{}
	if r.box == nil {
		return nil
	}
	return r.box.close()
}

// stop ends what goes on ahead.
func (r *Reader) stop() {
	r.running = false
	if r.pipe != nil {
		r.pipe.close()
		r.pipe = nil
	}
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
	if !r.running {
		r.running = true
		r.pipe = r.newPipeline()
	}
	err := r.advance()
	if err == io.EOF {
		r.stop()
		err = r.ended()
	}
	if err != nil {
		r.stop()
		r.err = err
		return nil, err
	}
	return &r.record, nil
}

// advance makes the next record the current one.
func (r *Reader) advance() error {
	if r.pipe != nil {
		return r.pipe.next(&r.record)
	}
	t, err := r.seq.next()
	if err == nil {
		r.record = Record{v: r.view, b: t.b, row: t.row}
	}
	return err
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
	damage := r.damage
	if r.box.meta.damage != nil {
		damage = append(damage, r.box.meta.damage)
	}
	for _, d := range []*dictionary{&r.vars, &r.logs, &r.arrays} {
		if err := d.damage(); err != nil {
			damage = append(damage, err)
		}
	}
	if r.sideErr != nil {
		damage = append(damage, r.sideErr)
	}
	switch len(damage) {
	case 0:
		return io.EOF
	case 1:
		return damage[0]
	}
	return errors.Join(damage...)
}

// start loads the dictionaries and, if the records are to come in order, all streams. Of an archive with an index, only the
// lists of their frames.
func (r *Reader) start() error {
	r.keepEarly = true
	if err := r.choose(); err != nil {
		return err
	}
	if r.streams == nil {
		r.streams = make([]streamState, len(r.tables.streams))
	}
	r.countTables()
	r.pool.tight = r.index() == nil && !r.stored // before goroutines ask for it
	if !r.stored {
		if err := r.loadStreams(len(r.streams)); err != nil {
			return err
		}
	}
	if r.wholly() { // otherwise those that are needed, when they are
		for _, d := range []*dictionary{&r.vars, &r.logs, &r.arrays} {
			if err := r.loadDictionary(d); err != nil {
				return err
			}
		}
	}
	if r.stored {
		return nil
	}
	return r.position(minNumber)
}

// wholly reports whether all of each record is wanted, and so all dictionaries.
func (r *Reader) wholly() bool { return r.filter == nil && r.project == nil }

// countTables notes how many tables of each stream are to be read.
func (r *Reader) countTables() {
	for i := range r.streams {
		r.streams[i].left = 0
	}
	for i := range r.tables.list {
		if r.wants(i) {
			r.streams[r.tables.list[i].stream].left++
		}
	}
}

// loadStreams decompresses the streams before number to that are not yet, or finds their frames in the index.
func (r *Reader) loadStreams(to int) error {
	tasks := parallelTasks{limit: r.parallel}
	from := r.loaded
	results := make([]error, max(to-from, 0))
	for i := from; i < to; i++ {
		st := &r.streams[i]
		if st.left == 0 || st.loaded {
			continue
		}
		st.pool, st.loaded = r.pool, true
		if x := r.index(); x != nil {
			base := r.tables.streams[i].from
			section := r.box.sections[sectionData]
			err := st.framed(x.streamFrames(i), func(dst []byte, f frame) ([]byte, error) { return r.decodeFrame(dst, section, base, i, f) })
			if err != nil {
				return err
			}
			continue
		}
		tasks.do(func() { results[i-from] = r.loadStream(i) })
	}
	if !r.stored && r.wholly() && r.index() == nil {
		for _, d := range []*dictionary{&r.vars, &r.logs, &r.arrays} {
			tasks.do(func() { r.loadDictionary(d) }) // its error comes again
		}
	}
	tasks.wait()
	r.loaded = max(r.loaded, to)
	for _, err := range results {
		var c *CorruptError
		switch {
		case err == nil:
		case errors.As(err, &c):
			r.note(c)
		default:
			return err
		}
	}
	return nil
}

// openStream makes in read a stream.
func (r *Reader) openStream(in *input, i int) {
	st := &r.tables.streams[i]
	in.count = &r.spent.columns
	in.open(r.box.sections[sectionData].part(st.from, max(st.to-st.from, 0)), i)
}

// loadStream decompresses a stream. If it is damaged, its tables up to the damage are whole.
func (r *Reader) loadStream(i int) error {
	in, err := r.inputs.get()
	if err != nil {
		return err
	}
	defer r.inputs.put(in)
	r.openStream(in, i)
	defer func() { r.spent.columns.add(0, r.streams[i].size) }()
	if r.filters != nil {
		return r.loadChosen(i, in)
	}
	if err := r.streams[i].load(in, r.tables.streams[i].size); err != nil {
		return err
	}
	// Reading on to the end has a checksum looked at. More bytes than there should be are no harm.
	if in.err == nil && !in.fill(1) && in.clean {
		return nil
	}
	return in.err
}
