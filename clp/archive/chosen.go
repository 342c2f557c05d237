package archive

import "encoding/binary"

// chosenPages loads of a stream of an archive without an index only the pages that rows touch which a search has chosen. The
// stream is decompressed from its start up to the end of the last table that has such rows, and the other pages are dropped as
// they come. If one of them is needed all the same, all are loaded: see blob.refill.
type chosenPages struct {
	r    *Reader
	in   *input
	blob *blob
	size int64    // of the stream
	need []uint64 // a bit for each page
	buf  []byte
}

// loadChosen loads a stream for the rows that were chosen of its tables.
func (r *Reader) loadChosen(i int, in *input) error {
	l := &chosenPages{r: r, in: in, blob: &r.streams[i].blob, size: int64(r.tables.streams[i].size), buf: make([]byte, pageSize)}
	l.blob.refill = func() error { return r.refill(i) }
	for k := range r.tables.list {
		if t := &r.tables.list[k]; int(t.stream) != i || t.err != nil || !r.wants(k) {
			continue
		}
		if err := l.table(&r.tables.list[k], r.filters[k].Rows); err != nil {
			return err
		}
	}
	return nil
}

// table loads what is needed of a table. What is wrong with its columns is found when it is opened.
func (l *chosenPages) table(t *table, rows *RowSet) error {
	if rows == nil || rows.Count() > t.records/sparseRows {
		l.mark(t.from, t.size)
		return l.read(t.from + t.size)
	}
	nodes := &l.r.tree.nodes
	off, left := t.from, t.size
	for _, id := range l.r.schemas.columns(&l.r.schemas.list[t.schema], &l.r.tree) {
		typ := (*nodes)[id].Type
		if t.records > left/typ.width() {
			break
		}
		size := typ.width() * t.records
		text := typ == ClpString || typ == UnstructuredArray
		shown := l.r.project.keeps(id) || id == l.r.tree.order
		switch first := typ.firstWidth(); {
		case !shown:
		case text:
			l.rows(rows, off, first, 1)
		case typ.isDelta():
			l.mark(off, first*min(rows.last()+batchRows, t.records))
		default:
			l.rows(rows, off, first, 0)
		}
		if width := typ.width() - typ.firstWidth(); shown && width > 0 {
			l.rows(rows, off+8*t.records, width, 0)
		}
		if text {
			if left-size < 8 {
				break
			}
			l.mark(off+size, 8)
			if err := l.read(off + size + 8); err != nil {
				return err
			}
			n, err := l.word(off + size)
			if err != nil {
				return err
			}
			if n > uint64(left-size-8)/8 {
				break
			}
			if shown {
				if err := l.variables(rows, off, t.records, int64(n)); err != nil {
					return err
				}
			}
			size += 8 + 8*int64(n)
		}
		off, left = off+size, left-size
	}
	return l.read(t.from + t.size)
}

// rows marks the pages of values of the rows, width bytes each from off on, and of so many behind each.
func (l *chosenPages) rows(rows *RowSet, off, width, behind int64) {
	for row := rows.next(0); row < rows.n; {
		n := min(1+behind, rows.n-row)
		l.mark(off+width*row, width*n)
		// The next one that is not in this page as a whole.
		end := ((off+width*(row+n)-1)/pageSize + 1) * pageSize
		row = rows.next(max(row+1, (end-off)/width-behind))
	}
}

// variables marks the pages of the variables of the rows' texts, whose cells are at off and were read. There are count of them
// behind the cells of all records.
func (l *chosenPages) variables(rows *RowSet, off, records, count int64) error {
	begin := off + 8*records + 8
	for row := rows.next(0); row < records; {
		last := row
		next := rows.next(row + 1)
		for next < records && next <= last+batchRows/16+1 { // rows that are decoded together
			last, next = next, rows.next(next+1)
		}
		cell, err := l.word(off + 8*row)
		if err != nil {
			return err
		}
		from, to := int64(cell>>24), count
		if last+1 < records {
			if cell, err = l.word(off + 8*(last+1)); err != nil {
				return err
			}
			to = int64(cell >> 24)
		}
		if from < count && from <= to {
			l.mark(begin+8*from, 8*min(to-from+1, count-from, maxWindow))
		}
		row = next
	}
	return nil
}

// word returns 8 bytes at off, of pages that are kept.
func (l *chosenPages) word(off int64) (uint64, error) {
	b, err := l.blob.slice(off, 8, &l.buf)
	if err != nil {
		return 0, err
	}
	return binary.LittleEndian.Uint64(b), nil
}

// mark has the pages kept that hold n bytes at off.
func (l *chosenPages) mark(off, n int64) {
	if n <= 0 {
		return
	}
	for p := off / pageSize; p <= (off+n-1)/pageSize; p++ {
		for p/64 >= int64(len(l.need)) {
			l.need = append(l.need, 0)
		}
		l.need[p/64] |= 1 << (p % 64)
	}
}

// read reads on until the stream was read up to a byte.
func (l *chosenPages) read(to int64) error {
	page := make([]byte, pageSize)
	for b := l.blob; b.size < to; {
		p := b.size / pageSize
		n := l.in.full(page[:min(pageSize, l.size-b.size)])
		if p/64 < int64(len(l.need)) && l.need[p/64]>>(p%64)&1 != 0 {
			if err := b.add(append(make([]byte, 0, n), page[:n]...)); err != nil {
				return err
			}
		} else {
			b.put(nil, n)
		}
		if l.in.err != nil {
			return l.in.err
		}
		if n == 0 {
			return nil // the stream is shorter than the table: that is said when it is opened
		}
	}
	return nil
}

// refill loads the pages of a stream that were dropped.
func (r *Reader) refill(i int) error {
	in, err := r.inputs.get()
	if err != nil {
		return err
	}
	defer r.inputs.put(in)
	r.openStream(in, i)
	b := &r.streams[i].blob
	buf := make([]byte, pageSize)
	for p := range b.pages {
		n := in.full(buf[:min(pageSize, b.size-int64(p)*pageSize)])
		if in.err != nil {
			return in.err
		}
		if b.pages[p].Load() != nil {
			continue
		}
		pg, err := r.pool.add(append(make([]byte, 0, n), buf[:n]...))
		if pg != nil {
			b.pages[p].Store(pg)
		}
		if err != nil {
			return err
		}
	}
	r.spent.columns.add(0, in.offset())
	return nil
}
