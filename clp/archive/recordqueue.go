package archive

import "hash/maphash"

// With several processors, the caller's goroutine takes records apart, and another one puts them into columns: each has
// about half of the work, without compression. Frames are compressed by whoever of the two has to wait for the other, and by
// more goroutines if there are more processors. Most frames are full at the same time, since all columns of a table have the same number of
// rows; the queue of records is so long that meanwhile nobody waits.

// recordBatch is records that were taken apart, on their way into columns.
type recordBatch struct {
	records []queuedRecord
	cells   []queuedCell // of each record: one for each column of its shape, and the line of an exception
	bytes   []byte       // of texts
	counted int64        // bytes that are counted as held, also while it is empty
	do      func()       // instead of all that: see Writer.drain
}

type queuedRecord struct {
	shape  *shape
	except bool // the columns do not give it back
}

// queuedCell is the two values of a leaf, or where its text begins and ends.
type queuedCell struct{ first, second uint64 }

const (
	queuedRecordSize = 16
	queuedCellSize   = 16

	batchSize     = 64 << 10 // bytes, about
	queuedBatches = 32
	batchShare    = 16 * queuedBatches // what part of the writer's memory one may take

	// mostQueued is how many texts may be queued, about.
	mostQueued = (queuedBatches + 2) * batchSize
)

// held returns the bytes of its buffers.
func (b *recordBatch) held() int64 {
	return int64(cap(b.records)*queuedRecordSize + cap(b.cells)*queuedCellSize + cap(b.bytes))
}

// add appends what the leaves of a record are.
func (b *recordBatch) add(leaves []leaf) {
	for i := range leaves {
		if l := &leaves[i]; l.text != nil {
			b.text(l.text)
		} else {
			b.cells = append(b.cells, queuedCell{l.bits, l.second})
		}
	}
}

func (b *recordBatch) text(text []byte) {
	from := len(b.bytes)
	b.bytes = append(b.bytes, text...)
	b.cells = append(b.cells, queuedCell{uint64(from), uint64(len(b.bytes))})
}

// queue adds the record in g to the batch that is handed over next. line is that of an exception, or nil.
func (w *Writer) queue(s *shape, g *ingest, line []byte) {
	b := &w.next
	b.records = append(b.records, queuedRecord{s, line != nil})
	b.add(g.leaves)
	b.add(g.inner)
	if line != nil {
		b.text(line)
	}
	if int64(len(b.records)*queuedRecordSize+len(b.cells)*queuedCellSize+len(b.bytes)) > w.batchLimit() {
		w.handOver()
	}
}

// batchLimit returns how many bytes a batch has, about.
func (w *Writer) batchLimit() int64 { return min(batchSize, w.memory/batchShare) }

// handOver hands over the records that were collected.
func (w *Writer) handOver() {
	if len(w.next.records) == 0 {
		return
	}
	held := w.next.held()
	w.held.Add(held - w.next.counted)
	w.next.counted = held
	w.send(w.next)
	select {
	case w.next = <-w.used:
	default:
		w.next = recordBatch{}
	}
}

// send sends a batch, and compresses while it has to wait.
func (w *Writer) send(b recordBatch) {
	for {
		select {
		case w.batches <- b: // rather than to compress
			return
		default:
		}
		select {
		case w.batches <- b:
			return
		case j := <-w.packer.jobs:
			w.packer.run(j)
		}
	}
}

// receive receives a batch, and compresses while it has to wait. It reports false if there will be no more of them.
func (w *Writer) receive() (recordBatch, bool) {
	for {
		select {
		case b, ok := <-w.batches: // rather than to compress
			return b, ok
		default:
		}
		select {
		case b, ok := <-w.batches:
			return b, ok
		case j := <-w.packer.jobs:
			w.packer.run(j)
		}
	}
}

// drain waits until all records are in columns, and all texts looked up if texts says so. It compresses meanwhile.
func (w *Writer) drain(texts bool) {
	if w.batches == nil {
		if texts {
			w.flushAllTexts()
		}
		return
	}
	w.handOver()
	done := make(chan struct{})
	w.send(recordBatch{do: func() {
		if texts {
			w.flushAllTexts()
		}
		close(done)
	}})
	for {
		select {
		case <-done:
			return
		case j := <-w.packer.jobs:
			w.packer.run(j)
		}
	}
}

// fill is the goroutine that puts records into columns.
func (w *Writer) fill() {
	for {
		b, ok := w.receive()
		switch {
		case !ok:
			return
		case b.do != nil:
			b.do()
			continue
		}
		w.storeBatch(&b)
		if b.counted <= 4*w.batchLimit() {
			clear(b.records)
			select {
			case w.used <- recordBatch{records: b.records[:0], cells: b.cells[:0], bytes: b.bytes[:0], counted: b.counted}:
				continue
			default:
			}
		}
		w.held.Add(-b.counted)
	}
}

// storeBatch puts records into columns.
func (w *Writer) storeBatch(b *recordBatch) {
	cells := b.cells
	for i := range b.records {
		r := &b.records[i]
		s := r.shape
		t := s.table
		w.beginRecord(t)
		for k, column := range s.columns {
			if column < 0 {
				continue
			}
			c := &t.columns[column]
			l := leaf{bits: cells[k].first, second: cells[k].second}
			if c.typ.isText() {
				l.text = b.bytes[l.bits:l.second]
			}
			c.add(w, &l, t.young)
		}
		cells = cells[len(s.columns):]
		var line []byte
		if r.except {
			line = b.bytes[cells[0].first:cells[0].second]
			cells = cells[1:]
		}
		w.endRecord(s, line)
	}
}

// store puts the record in g into columns. line is that of an exception, or nil.
func (w *Writer) store(s *shape, g *ingest, line []byte) {
	t := s.table
	w.beginRecord(t)
	for i := range g.leaves {
		if c := s.columns[i]; c >= 0 {
			t.columns[c].add(w, &g.leaves[i], t.young)
		}
	}
	for i := range g.inner {
		t.columns[s.columns[len(g.leaves)+i]].add(w, &g.inner[i], t.young)
	}
	w.endRecord(s, line)
}

// beginRecord begins a record of a table.
func (w *Writer) beginRecord(t *tableWriter) {
	if w.stored%blockRows == 0 {
		w.epoch()
	}
	if t.records == 0 {
		w.filled = append(w.filled, t)
	}
	order := &t.columns[0] // the node with the least ID
	order.prove(uint64(w.stored))
	order.delta(w, w.stored)
	if t.young && t.records == youngRecords {
		w.flushYoung()
		t.young = false
	}
}

// epoch tells the index that 65,536 records are over.
func (w *Writer) epoch() {
	w.flushAllTexts()
	w.reuse.epoch(int(w.vars.count.Load()))
}

// endRecord ends a record. line is that of an exception, or nil.
func (w *Writer) endRecord(s *shape, line []byte) {
	t := s.table
	number, text := s.number, s.text
	if line != nil {
		number, text = noShape, maphash.Bytes(w.vars.seeds[0], line)
		t.side.except(w, t.records, w.sideLines.add(w, line))
	}
	t.side.add(w, number)
	t.shapes += cell(t.records, text)
	t.records++
	w.stored++
}
