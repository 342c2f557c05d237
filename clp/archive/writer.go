package archive

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"sync/atomic"

	"github.com/tracehandler/tracehandler/event"
)

// ErrFull is returned by Write when the archive has reached its limits. The record was not taken; Close makes an archive of
// those before, and the record is the first of the next one.
var ErrFull = errors.New("archive: full")

// WriterOptions are the settings of a Writer. The zero value serves most.
type WriterOptions struct {
	// Level is zstd's: 1 to 19, 3 if it is 0. Data on which a lower level does as well is compressed at that. There are five: from
	// 3, 6, 10 and 16 on, more is tried; from 16 on, a second for a few megabytes, and searches for a text decode more.
	Level int

	// Memory is what the writer may take, in bytes: 256 MiB if it is 0, 64 KiB at least. Five sixteenths are for what it holds: what it
	// knows of the dictionaries' entries, the columns, most of them compressed, and the compressed dictionaries. As much is
	// garbage when Go's collector comes round, and the rest is for the encoders. Beyond it, Write returns ErrFull; but an archive takes one record, however large it is, and
	// that takes eight times its size meanwhile. Close needs little more.
	Memory int64

	// Spill takes compressed data beyond a sixteenth of Memory. A temporary file serves; the caller removes it after Close.
	// It must take writes from several goroutines, as *os.File does. With it, how much an archive can hold depends on the
	// number of its different strings: 20 to 25 bytes of memory each.
	Spill Scratch

	// TimeKey is the path of the key that holds the time of records, from the outermost object inwards. Values that are
	// spelt in a way the format knows are kept as times, 16 bytes before compression instead of their text. With TimeAuto it
	// is one of the keys that the logging library made: see WriteAuto.
	TimeKey  []string
	TimeAuto bool

	// Fields say where the records come from; searches find them with a $ in front. Strings, numbers, bools, nil, groups, and
	// lists as events have them. The reference has _filename, _file_split_number and _archive_creator_id, which other programs show.
	// NextSource says it of records that come later.
	Fields []slog.Attr

	// Concurrency is the number of processors to use, the caller's included: 1 if it is 0. With more, goroutines fill columns
	// and compress; Close and Abort end them.
	Concurrency int

	// Structured takes arrays apart instead of keeping them as text: their values are columns, which searches can compare.
	// Arrays of different lengths or types make different tables, so that it suits logs whose arrays are all alike.
	Structured bool

	// NoIndex leaves out the index, with which searches of this package decode only what they need.
	NoIndex bool

	// Check has each frame decompressed and compared with what went into it, before that is forgotten, for about a tenth of the time. Where
	// it differs, Write or Close fails with an error that wraps ErrDiffers. Verify says more, but only when the archive is there.
	Check bool
}

// Writer makes a single-file archive of version 0.5.1. It holds the archive, compressed for the most part, and writes it when
// it is closed. It is not safe for concurrent use. Every Writer must be ended by Close or Abort.
type Writer struct {
	dst     io.Writer
	options WriterOptions
	memory  int64        // limit of held: the rest of WriterOptions.Memory is for garbage and for encoders
	held    atomic.Int64 // bytes of memory, about
	relief  int64        // held when memory was last made free
	err     error
	closed  bool
	packer  packer

	nodes   []Node
	ids     map[nodeKey]int32
	tables  map[string]*tableWriter // by the entries of the schema
	order   []*tableWriter          // as they were first seen
	shapes  map[string]*shape       // by the tokens of a record
	records int64
	input   uint64 // bytes of JSON
	texts   int64  // texts with a log type
	texted  int64  // how many of them there may be before the log types are counted
	times   times
	sources []origin
	ingest  ingest
	places  []int32 // of newShape: column of a node
	row     Row
	next    recordBatch // records that are not handed over yet

	// Of checksums; see proof.
	paths []uint64 // of nodes
	text  []byte
	open  []int32
	proof *proof // when the archive is written

	batches chan recordBatch // to the goroutine that fills columns, nil if there is none
	used    chan recordBatch // from it, empty
	filling sync.WaitGroup

	// Of that goroutine, if there is one, and the columns of all tables with it. It does not share lines of a processor's cache
	// with what is above: dictionaries are large.
	vars, logs, arrays dictWriter
	filled             []*tableWriter // those of order that have a record
	stored             int64          // records in columns
	reuse              reuseBits
	span               timeSpan
	sideLines          sideLinesWriter
	young              textBatch // texts of tables with few records
	logtype            []byte
	touched            uint64 // see dictWriter.touch: keeps the compiler from dropping it
}

type nodeKey struct {
	parent int32
	typ    NodeType
	key    string
}

// The nodes that each archive of ours has.
const (
	nodeMetadata = iota
	nodeOrder
	nodeObject
)

const (
	maxLogTypes     = 1 << 24 // cells have 24 bits for one
	minWriterMemory = 64 << 10
)

// NewWriter returns a Writer of an archive to dst, to which nothing is written before Close.
func NewWriter(dst io.Writer, o *WriterOptions) (*Writer, error) {
	w := &Writer{dst: dst, ids: map[nodeKey]int32{}, tables: map[string]*tableWriter{}, shapes: map[string]*shape{}}
	if o != nil {
		w.options = *o
	}
	if w.options.Level == 0 {
		w.options.Level = 3
	}
	if w.options.Level < 1 || w.options.Level > 19 {
		return nil, fmt.Errorf("archive: level %d, want 1 to 19", w.options.Level)
	}
	if w.options.Concurrency < 0 {
		return nil, fmt.Errorf("archive: concurrency of %d", w.options.Concurrency)
	}
	memory := w.options.Memory
	if memory == 0 {
		memory = 256 << 20
	}
	memory = max(memory, minWriterMemory)
	w.memory = memory / 4 // the collector lets as much again be garbage, and buffers, compressors and what is being sorted come on top
	if err := w.NextSource(w.options.Fields); err != nil {
		return nil, err
	}
	w.packer = packer{held: &w.held, level: w.options.Level, spill: w.options.Spill, check: w.options.Check, most: memory / 16}
	w.ingest.w, w.ingest.root, w.row.w = w, &state{}, w
	w.texted = maxLogTypes
	w.times = times{ids: map[string]uint64{}}
	w.vars.init(kindVars)
	w.logs.init(kindLogs)
	w.arrays.init(kindArrays)
	w.node(-1, Metadata, "")
	w.node(nodeMetadata, DeltaInteger, "log_event_idx")
	w.node(-1, Object, "")
	n := w.options.Concurrency
	w.options.Concurrency = 1
	w.SetConcurrency(n)
	return w, nil
}

// SetConcurrency has the writer use n processors from now on, if these are more than before: for a Close that somebody
// waits for, after records that came in the background.
func (w *Writer) SetConcurrency(n int) {
	if w.closed || n <= w.options.Concurrency {
		return
	}
	w.packer.start(max(n-2, 0) - max(w.options.Concurrency-2, 0)) // the caller and the one that fills compress, too
	w.options.Concurrency = n
	if w.batches == nil {
		w.batches, w.used = make(chan recordBatch, queuedBatches), make(chan recordBatch, queuedBatches)
		w.filling.Go(w.fill)
	}
}

// settle waits until all records are in columns, all texts are looked up, and all frames compressed.
func (w *Writer) settle() {
	w.drain(true)
	w.packer.settle()
}

// node returns the node of a key, which is new if it was not seen before.
func (w *Writer) node(parent int32, typ NodeType, key string) int32 {
	k := nodeKey{parent, typ, key}
	if id, ok := w.ids[k]; ok {
		return id
	}
	id := int32(len(w.nodes))
	w.nodes = append(w.nodes, Node{parent, typ, key})
	w.ids[k] = id
	w.held.Add(nodeSize(key))
	return id
}

func nodeSize(key string) int64 { return int64(2*len(key) + 136) }

// Records returns the number of records so far.
func (w *Writer) Records() int64 { return w.records }

// Held returns the bytes of memory that the writer holds, about, without the buffers of its encoders.
func (w *Writer) Held() int64 { return w.held.Load() }

// Write adds a record: one JSON object, perhaps with white space around it. If it is not that, the error is a
// *event.SyntaxError and the writer can go on. ErrFull says that the archive has reached its limits and the record was not
// taken. line is not kept.
func (w *Writer) Write(line []byte) error { return w.WriteAuto(line, nil) }

// WriteAuto adds a record that has keys of another namespace besides: auto is a JSON object of those that the logging library made,
// as CLP's key-value streams have them; nil is none. Searches find them with an @ in front, and other programs do not print them
// with the record; see Record.AppendAuto. Everything else is as of Write.
func (w *Writer) WriteAuto(line, auto []byte) error {
	w.row.forget()
	if w.err != nil {
		return w.err
	}
	if err := w.admit(int64(len(line) + len(auto))); err != nil {
		return err
	}
	g := &w.ingest
	known := len(w.nodes)
	end, ok := g.record(line, auto)
	if ok {
		return w.take(end, line, auto, int64(len(line)+len(auto)))
	}
	w.forgetNodes(known)
	if _, err := event.Parse(line); err != nil {
		return err
	}
	if _, err := event.Parse(auto); len(auto) > 0 && err != nil {
		return err
	}
	return fmt.Errorf("archive: a line of %d bytes is an event but cannot be taken apart", len(line)+len(auto))
}

// admit looks now and then whether a record of size bytes still fits.
func (w *Writer) admit(size int64) error {
	if w.records&1023 == 0 || w.held.Load() > w.memory || size > 1<<20 {
		return w.room(size)
	}
	return nil
}

// take adds the record that is in ingest and ends in the state end. line and auto are its text, size the length of that. Without a
// line, a record that is an exception is not taken.
func (w *Writer) take(end *state, line, auto []byte, size int64) error {
	g := &w.ingest
	if w.texts += int64(g.texts); w.texts > w.texted {
		if err := w.countLogTypes(g.texts); err != nil {
			w.texts -= int64(g.texts)
			return err
		}
	}
	s := g.shapeOf(end)
	w.row.begun = false // its nodes are those of the shape
	if s.number == noShape && line == nil {
		return ErrUnfit
	}
	if s.number != noShape && !g.odd {
		line = nil
	} else if len(auto) > 0 {
		line = append(append(make([]byte, 0, len(line)+len(auto)), line...), auto...)
	}
	if w.batches == nil {
		w.store(s, g, line)
	} else {
		w.queue(s, g, line)
	}
	w.records++
	w.input += uint64(size) + 1
	return nil
}

// WriteEvent adds an event.
func (w *Writer) WriteEvent(e event.Event) error {
	if line := e.Line(); line != nil {
		return w.Write(line)
	}
	b := event.GetBuffer()
	defer b.Free()
	b.B = e.AppendJSON(b.B)
	return w.Write(b.B)
}

// forgetNodes drops the nodes that a record brought which was wrong in the end.
func (w *Writer) forgetNodes(known int) {
	if len(w.nodes) == known {
		return
	}
	for _, n := range w.nodes[known:] {
		delete(w.ids, nodeKey{n.Parent, n.Type, n.Key})
		w.held.Add(-nodeSize(n.Key))
	}
	w.nodes = w.nodes[:known]
	w.ingest.forgetAll()
}

// room checks that a record of size bytes fits, about, and makes memory free if it can.
func (w *Writer) room(size int64) error {
	w.ingest.forget()
	if err := w.packer.failed(); err != nil {
		w.err = err
		return err
	}
	if w.vars.full(size + mostQueued) {
		w.drain(true)
	}
	if w.vars.full(size) || int64(len(w.nodes)) >= maxNodes-size {
		if w.records == 0 {
			return &LimitError{What: "bytes of a record", Limit: maxNodes}
		}
		return ErrFull
	}
	if w.held.Load()+8*size > w.memory {
		w.drain(false) // what is on its way, and what is not compressed yet, does not stay as it is
		w.packer.settle()
		if w.held.Load()-w.relief > w.memory/16 {
			w.relieve()
		}
	}
	if w.records > 0 && w.held.Load()+4*size > w.memory {
		return ErrFull
	}
	return nil
}

// relieve compresses what is not yet, in frames that are smaller than they would have been.
func (w *Writer) relieve() {
	w.settle()
	for _, t := range w.order {
		least := 2 << 10
		if t.records < fewRecords {
			least = packSize / 16 // small ones are better off together
		}
		t.parts(func(p *part, c *columnWriter) {
			if len(p.plain) > least {
				p.flush(w, c)
			}
		})
	}
	w.packer.settle()
	w.relief = w.held.Load()
}

// countLogTypes counts the log types, of which columns have 24 bits, before n more.
func (w *Writer) countLogTypes(n int) error {
	w.settle()
	left := maxLogTypes - int64(max(w.logs.count.Load(), w.arrays.count.Load()))
	if left < int64(n) {
		return ErrFull
	}
	w.texted = w.texts - int64(n) + left
	return nil
}
