package archive

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"

	"github.com/klauspost/compress/zstd"

	"github.com/tracehandler/tracehandler/event"
)

// ErrFull is returned by Write when the archive has reached its limits. The record was not taken; Close makes an archive of
// those before, and the record is the first of the next one.
var ErrFull = errors.New("archive: full")

// WriterOptions are the settings of a Writer. The zero value serves most.
type WriterOptions struct {
	// Level is zstd's: 1 to 19, 3 if it is 0. The dictionaries, in which long texts repeat, are compressed a step higher.
	Level int

	// Memory is what the writer may hold, about, in bytes: the dictionaries, and the columns, most of them compressed. 256
	// MiB if it is 0. Beyond it, Write returns ErrFull. Close needs no more.
	Memory int64

	// TimeKey is the path of the key that holds the time of records, from the outermost object inwards. Values that are
	// spelt in a way the format knows are kept as times, 16 bytes before compression instead of their text.
	TimeKey []string

	// Fields say where the records come from; searches find them with a $ in front. Strings, integers, floats, bools and
	// groups of them. The reference has _filename, and other programs show it.
	Fields []slog.Attr
}

// Writer makes a single-file archive of version 0.5.1. It holds the archive in memory, compressed for the most part, and
// writes it when it is closed. It is not safe for concurrent use, and starts no goroutines.
//
// What the format loses is lost: see the package's documentation. Integers beyond int64, and -0, are kept by their text.
type Writer struct {
	dst     io.Writer
	options WriterOptions
	enc     *zstd.Encoder
	textEnc *zstd.Encoder // of dictionaries
	memory  int64         // limit
	held    int64
	err     error

	nodes    []Node
	ids      map[nodeKey]int32
	vars     dictWriter
	logs     dictWriter
	arrays   dictWriter
	tables   map[string]*tableWriter // by the entries of the schema
	order    []*tableWriter          // as they were first seen
	shapes   map[string]*shape       // by the nodes of a record as they come
	records  int64
	input    uint64 // bytes of JSON
	patterns map[string]uint64
	parsed   map[string]*pattern
	spelling []string // of patterns, by their ID
	began    bool     // a time has been seen
	first    int64    // time, ns
	last     int64
	ingest   ingest

	sideLines sideLinesWriter
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

const maxLogTypes = 1 << 24 // cells have 24 bits for one

// NewWriter returns a Writer of an archive to dst, to which nothing is written before Close.
func NewWriter(dst io.Writer, o *WriterOptions) (*Writer, error) {
	w := &Writer{dst: dst, ids: map[nodeKey]int32{}, tables: map[string]*tableWriter{}, shapes: map[string]*shape{}, patterns: map[string]uint64{}, parsed: map[string]*pattern{}}
	if o != nil {
		w.options = *o
	}
	if w.options.Level == 0 {
		w.options.Level = 3
	}
	if w.options.Level < 1 || w.options.Level > 19 {
		return nil, fmt.Errorf("archive: level %d, want 1 to 19", w.options.Level)
	}
	if w.memory = w.options.Memory; w.memory == 0 {
		w.memory = 256 << 20
	}
	if _, err := appendMsgpackMap(nil, w.options.Fields); err != nil {
		return nil, err
	}
	for _, e := range []struct {
		to    **zstd.Encoder
		level int
	}{{&w.enc, w.options.Level}, {&w.textEnc, w.options.Level + 4}} {
		var err error
		*e.to, err = zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.EncoderLevelFromZstd(e.level)),
			zstd.WithWindowSize(4<<20), zstd.WithLowerEncoderMem(true))
		if err != nil {
			return nil, err
		}
	}
	w.node(-1, Metadata, "")
	w.node(nodeMetadata, DeltaInteger, "log_event_idx")
	w.node(-1, Object, "")
	return w, nil
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
	w.held += int64(2*len(key) + 128)
	return id
}

// Records returns the number of records so far.
func (w *Writer) Records() int64 { return w.records }

// Write adds a record: one JSON object, perhaps with white space around it. If it is not that, the error is a
// *event.SyntaxError and the writer can go on. line is not kept.
func (w *Writer) Write(line []byte) error {
	if w.err != nil {
		return w.err
	}
	if _, err := event.Parse(line); err != nil {
		return err
	}
	if w.held > w.memory || w.logs.count >= maxLogTypes || w.arrays.count >= maxLogTypes || len(w.nodes) >= maxNodes-len(line) {
		if w.records == 0 {
			return &LimitError{What: "bytes of memory", Limit: w.memory}
		}
		return ErrFull
	}
	g := &w.ingest
	g.begin(w)
	g.record(line)
	s := w.shapes[string(g.key)]
	if s == nil {
		s = w.newShape(g)
		w.shapes[string(g.key)] = s
		w.held += int64(len(g.key) + 4*len(g.leaves) + 64)
	}
	s.add(w, g, line)
	w.records++
	w.input += uint64(len(line)) + 1
	return w.err
}

// WriteEvent adds an event.
func (w *Writer) WriteEvent(e event.Event) error {
	if line := e.Line(); line != nil {
		return w.Write(line)
	}
	return w.Write(e.AppendJSON(nil))
}

// shape says where the leaves of a record go, which come in the order of the document, in a table.
type shape struct {
	table  *tableWriter
	column []int32 // of each leaf; -1 if it has none or was there before
	number int     // among the shapes of the table, or noShape: the columns do not give back the record
}

// newShape finds the table of a record.
func (w *Writer) newShape(g *ingest) *shape {
	entries := []int32{nodeOrder}
	for _, l := range g.leaves {
		entries = append(entries, l.node)
	}
	slices.Sort(entries)
	entries = slices.Compact(entries)
	key := string(int32Bytes(entries))
	t := w.tables[key]
	if t == nil {
		t = &tableWriter{entries: entries}
		for _, id := range entries {
			if typ := w.nodes[id].Type; typ.hasColumn() {
				t.columns = append(t.columns, columnWriter{node: id, typ: typ})
			}
		}
		w.tables[key] = t
		w.order = append(w.order, t)
		w.held += int64(2*len(key) + 160*len(t.columns) + 256)
	}
	s := &shape{table: t}
	used := map[int32]bool{}
	for _, l := range g.leaves {
		c := int32(slices.IndexFunc(t.columns, func(c columnWriter) bool { return c.node == l.node }))
		if c >= 0 && used[l.node] {
			c, s.number = -1, noShape
		}
		used[l.node] = true
		s.column = append(s.column, c)
	}
	if s.number != noShape {
		s.number = t.side.number(w, g.key)
	}
	return s
}

// add appends a record to its table.
func (s *shape) add(w *Writer, g *ingest, line []byte) {
	t := s.table
	t.columns[0].delta(w, w.records) // the order: the node with the least ID
	for i := range g.leaves {
		if c := s.column[i]; c >= 0 {
			t.columns[c].add(w, g, &g.leaves[i])
		}
	}
	if s.number == noShape {
		t.side.except(w, t.records, w.sideLines.add(w, line))
	}
	t.side.add(w, s.number)
	t.records++
}

func int32Bytes(list []int32) []byte {
	b := make([]byte, 0, 4*len(list))
	for _, v := range list {
		b = binary.LittleEndian.AppendUint32(b, uint32(v))
	}
	return b
}

// dictWriter is a dictionary that is being made.
type dictWriter struct {
	ids   map[string]uint64
	text  []byte // entries as they are stored, the last ones
	pack  []byte // compressed frames of those before
	count int
}

// id returns the entry of text, which is new if it was not seen before.
func (d *dictWriter) id(w *Writer, text []byte) uint64 {
	if id, ok := d.ids[string(text)]; ok {
		return id
	}
	if d.ids == nil {
		d.ids = map[string]uint64{}
	}
	id := uint64(d.count)
	d.ids[string(text)] = id
	d.count++
	d.text = binary.LittleEndian.AppendUint64(d.text, uint64(len(text)))
	d.text = append(d.text, text...)
	w.held += int64(len(text)) + 64
	if len(d.text) >= dictionaryFrame {
		d.flush(w)
	}
	return id
}

// flush compresses what is not yet.
func (d *dictWriter) flush(w *Writer) {
	if len(d.text) == 0 {
		return
	}
	n := len(d.pack)
	d.pack = w.textEnc.EncodeAll(d.text, d.pack)
	w.held += int64(len(d.pack) - n)
	d.text = d.text[:0]
}
