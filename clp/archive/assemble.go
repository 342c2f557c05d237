package archive

import (
	"cmp"
	"encoding/binary"
	"hash/crc32"
	"math"
	"slices"
)

// packSize is what tables are packed together up to, uncompressed.
const packSize = 1 << 20

// Close writes the archive: header, metadata, sections. An archive without records has no tables; the reference cannot
// decompress it, but finds nothing in it. Close does not close the destination. The writer cannot be used afterwards.
func (w *Writer) Close() error {
	if w.err == ErrClosed {
		return nil
	}
	err := w.err
	w.err = ErrClosed
	if w.closed {
		w.err = err
		return err
	}
	w.row.forget()
	if err == nil {
		err = w.assemble()
	}
	if err == nil {
		w.prove()
	}
	w.end()
	if err != nil {
		w.err = err // there is no archive: each Close says so
	}
	return err
}

// Abort ends the writer without an archive. After Close it does nothing.
func (w *Writer) Abort() {
	if !w.closed {
		w.end()
		w.err = ErrClosed
	}
}

// end ends the goroutines, and frees what is held.
func (w *Writer) end() {
	w.closed = true
	if w.batches != nil {
		close(w.batches)
		w.filling.Wait()
	}
	w.packer.wait()
	w.packer.close()
	w.nodes, w.ids, w.tables, w.order, w.shapes, w.ingest, w.row = nil, nil, nil, nil, nil, ingest{}, Row{w: w}
	w.places, w.paths, w.next = nil, nil, recordBatch{}
	w.vars, w.logs, w.arrays, w.young, w.filled = dictWriter{}, dictWriter{}, dictWriter{}, textBatch{}, nil
	w.held.Store(0)
}

// fragment is bytes of the archive: either plain ones or a frame.
type fragment struct {
	b []byte
	f *packed
}

func (c fragment) size() int64 {
	if c.f != nil {
		return int64(c.f.size)
	}
	return int64(len(c.b))
}

func fragmentSize(list []fragment) (n int64) {
	for _, c := range list {
		n += c.size()
	}
	return n
}

func (w *Writer) assemble() error {
	w.settle()
	w.ids, w.tables, w.shapes, w.places, w.ingest, w.row = nil, nil, nil, nil, ingest{}, Row{w: w} // what only records need
	w.packer.strong, w.packer.little, w.packer.bare = w.input <= strongBytes, w.input <= littleBytes, w.summed()
	for _, d := range []*dictWriter{&w.vars, &w.logs, &w.arrays} {
		d.flush(w)
	}
	w.renumber()
	tree := bytesLE(nil, uint64(len(w.nodes)))
	for _, n := range w.nodes {
		tree = binary.LittleEndian.AppendUint32(tree, uint32(n.Parent))
		tree = appendText(tree, n.Key)
		tree = append(tree, byte(n.Type))
	}
	ids := bytesLE(nil, uint64(len(w.order)))
	for i, t := range w.order {
		ids = binary.LittleEndian.AppendUint32(ids, uint32(i))
		ids = binary.LittleEndian.AppendUint32(ids, uint32(len(t.entries)))
		ids = binary.LittleEndian.AppendUint32(ids, uint32(t.ordered))
		ids = append(ids, int32Bytes(t.entries)...)
	}
	list, data, own := w.data()
	sections := [][]fragment{
		{{b: w.packer.small(tree)}}, {{b: w.packer.small(ids)}}, {{b: w.packer.small(list)}},
		w.vars.section(), w.logs.section(), w.arrays.section(), data,
	}
	var offsets []uint64
	size := uint64(0)
	for _, s := range sections {
		offsets = append(offsets, size)
		size += uint64(fragmentSize(s))
	}
	metadata, err := w.metadata(offsets, own)
	if err != nil {
		return err
	}
	metadata = w.packer.small(metadata)
	if err := w.packer.failed(); err != nil {
		return err
	}
	if uint64(len(metadata)) > math.MaxUint32 {
		return &LimitError{What: "bytes of metadata", Limit: math.MaxUint32}
	}
	head := append(make([]byte, 0, headerSize), magic...)
	head = binary.LittleEndian.AppendUint32(head, 5<<16|1)
	head = bytesLE(head, w.input, headerSize+uint64(len(metadata))+size, 0, 0, 0, 0)
	head = binary.LittleEndian.AppendUint32(head, uint32(len(metadata)))
	head = binary.LittleEndian.AppendUint32(head, 0)
	if w.packer.bare {
		sums, err := w.sums(metadata, sections)
		if err != nil {
			return err
		}
		sums.put(head)
	}
	for _, s := range append([][]fragment{{{b: head}, {b: metadata}}}, sections...) {
		for _, c := range s {
			if err := w.packer.write(w.dst, c); err != nil {
				return err
			}
		}
	}
	return nil
}

// summed reports whether the archive gets the checksums of sums instead of those of its frames, none of which is made yet.
func (w *Writer) summed() bool {
	if w.input > summed {
		return false
	}
	for _, d := range []*dictWriter{&w.vars, &w.logs, &w.arrays} {
		if len(d.frames) > 0 || len(d.text) > summed {
			return false
		}
	}
	size := int64(0)
	for _, t := range w.order {
		if size += t.size(); size > summed || t.packed() {
			return false
		}
	}
	return true
}

// sums returns the checksums of an archive.
func (w *Writer) sums(metadata []byte, sections [][]fragment) (s sums, err error) {
	s[sumMetadata] = crc32.Checksum(metadata, castagnoli)
	for i, section := range sections {
		which := max(i-1, sumLists) // the tree and the lists have one
		sum := sumWriter(s[which])
		for _, c := range section {
			if err := w.packer.write(&sum, c); err != nil {
				return s, err
			}
		}
		s[which] = uint32(sum)
	}
	return s, nil
}

func bytesLE(dst []byte, list ...uint64) []byte {
	for _, v := range list {
		dst = binary.LittleEndian.AppendUint64(dst, v)
	}
	return dst
}

func appendText(dst []byte, s string) []byte { return append(bytesLE(dst, uint64(len(s))), s...) }

// section returns a dictionary's section, when all of it is in frames.
func (d *dictWriter) section() []fragment {
	list := []fragment{{b: bytesLE(nil, uint64(d.count.Load()))}}
	for _, f := range d.frames {
		list = append(list, fragment{f: f})
	}
	return list
}

// streamLayout is a stream being made: tables, and the frames that hold them.
type streamLayout struct {
	tables []int // in the order of w.order
	from   []int64
	plain  []byte // of small tables
	size   int64
	frames []*packed
}

// data lays the tables into streams, and returns the table list, the section of the streams and what is said of it in packets
// of our own. A table that was large enough to have been compressed in part is a stream of its own, each column in frames of
// its own; the others are packed together, the largest first.
func (w *Writer) data() (list []byte, data []fragment, own []ownPacket) {
	sizes := make([]int64, len(w.order))
	order := make([]int, len(w.order))
	for i, t := range w.order {
		order[i], sizes[i] = i, t.size()
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(sizes[b], sizes[a]) })
	var streams []*streamLayout
	var open *streamLayout
	closeOpen := func() {
		if open != nil && len(open.plain) > 0 {
			f := &packed{plain: len(open.plain)}
			open.frames = []*packed{f}
			w.packer.pack(job{f: f, plain: open.plain, kind: kindTables})
			open.plain = nil
		}
		open = nil
	}
	for _, i := range order {
		t := w.order[i]
		if sizes[i] > packSize || t.packed() {
			closeOpen()
			streams = append(streams, &streamLayout{tables: []int{i}, from: []int64{0}, size: sizes[i], frames: w.tableFrames(t)})
			continue
		}
		if open == nil || len(open.plain) > packSize {
			closeOpen()
			open = &streamLayout{}
			streams = append(streams, open)
		}
		open.tables, open.from = append(open.tables, i), append(open.from, int64(len(open.plain)))
		t.parts(func(p *part, _ *columnWriter) { open.plain = append(open.plain, p.plain...) })
		open.size = int64(len(open.plain))
		t.drop()
	}
	closeOpen()
	w.packer.settle()

	index := newIndexBuilder()
	list = bytesLE(nil, uint64(len(streams)))
	offset := int64(0)
	for _, s := range streams {
		list = bytesLE(list, uint64(offset), uint64(s.size))
		index.stream()
		for _, f := range s.frames {
			data = append(data, fragment{f: f})
			offset += int64(f.size)
			index.frame(f.size, f.plain)
		}
	}
	list = bytesLE(list, 0, uint64(len(order)))
	for n, s := range streams {
		for k, i := range s.tables {
			t := w.order[i]
			list = bytesLE(list, uint64(n), uint64(s.from[k]))
			list = binary.LittleEndian.AppendUint32(list, uint32(i))
			list = bytesLE(list, uint64(t.records))
			index.table(t.records, t.statistics())
		}
	}
	frames, packet := w.sideFrames(offset)
	if packet != nil {
		own = append(own, ownPacket{packetSide, packet})
		for _, b := range frames {
			data = append(data, fragment{b: b})
			offset += int64(len(b))
		}
	}
	if w.indexPays() {
		for i, d := range []*dictWriter{&w.vars, &w.logs, &w.arrays} {
			var frames []dictFrame
			for _, f := range d.frames {
				frames = append(frames, f.dict)
			}
			index.dictionary(i, frames)
		}
		index.reuse(&w.reuse)
		if e, err := w.packer.effort(); err == nil {
			frame, packet := index.finish(e.usual, uint64(offset))
			w.packer.give(e)
			if packet != nil {
				own = append(own, ownPacket{packetIndex, packet})
				data = append(data, fragment{b: frame})
			}
		}
	}
	return list, data, own
}

// Of a table with columns in frames of their own, short runs of bytes share frames, and if it has few records the index says
// nothing of it: there may be thousands of columns.
const (
	shortPart   = 4 << 10
	sharedFrame = 64 << 10
	fewRecords  = 1 << 10
)

// tableFrames makes the frames of a table that is a stream of its own.
func (w *Writer) tableFrames(t *tableWriter) (frames []*packed) {
	var shared []byte
	share := func() {
		if len(shared) == 0 {
			return
		}
		f := &packed{plain: len(shared)}
		frames = append(frames, f)
		w.packer.pack(job{f: f, plain: shared, kind: kindTables})
		shared = nil
	}
	t.parts(func(p *part, c *columnWriter) {
		if t.records < fewRecords {
			c = nil
		}
		if p.full == nil && len(p.plain) <= shortPart {
			if c != nil {
				c.observe(w)
			}
			if shared = append(shared, p.plain...); len(shared) >= sharedFrame {
				share()
			}
			return
		}
		share()
		p.flush(w, c)
		frames = append(frames, p.frames()...)
	})
	share()
	return frames
}

// statistics returns what is known of the columns of a table in frames, nil of others.
func (t *tableWriter) statistics() []*columnIndex {
	if !t.packed() {
		return nil
	}
	var list []*columnIndex
	for i := range t.columns {
		c := &t.columns[i]
		if c.more == nil || c.more.index == nil {
			return nil
		}
		c.more.index.variables = c.more.second.size() / 8
		list = append(list, c.more.index)
	}
	return list
}

// indexPays reports whether there is anything that a search would not have to decode.
func (w *Writer) indexPays() bool {
	if w.options.NoIndex {
		return false
	}
	for _, t := range w.order {
		if t.packed() {
			return true
		}
	}
	return len(w.vars.frames) > 1 || len(w.logs.frames) > 1 || len(w.arrays.frames) > 1
}
