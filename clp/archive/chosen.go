package archive

import "errors"

// chosenPages has of a stream of an archive without an index only the pages kept that rows touch which a search has chosen. The
// others are dropped as they come. If one of them is needed all the same, all are loaded: see blob.refill.
type chosenPages struct {
	r *Reader
	*streamFeed
	dense bool // of some table, much of each page is needed
}

// loadChosen loads a stream for the rows that were chosen of its tables: it is decompressed from its start up to the end of the
// last table that has such rows.
func (r *Reader) loadChosen(i int, in *input) error {
	l := &chosenPages{r: r, streamFeed: r.feed(in, i)}
	l.blob = &r.streams[i].blob
	l.blob.refill = func() error { return r.refill(i) }
	var err error
	for k := range r.tables.list {
		t := &r.tables.list[k]
		if int(t.stream) != i || t.err != nil || !r.wants(k) {
			continue
		}
		if err = l.table(t, r.filters[k].rows); err != nil {
			break
		}
	}
	if left := l.leave(); err == nil {
		err = left
	}
	if err == errStreamShort {
		return nil // that is said when the table is opened
	}
	return err
}

// table reads on to the end of a table and marks what is needed of it. What is wrong with its columns is found when it is opened.
func (l *chosenPages) table(t *table, rows *rowSet) error {
	if rows == nil || rows.count() > t.records/sparseRows {
		l.dense = true
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
func (l *chosenPages) rows(rows *rowSet, off, width, behind int64) {
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
func (l *chosenPages) variables(rows *rowSet, off, records, count int64) error {
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

// read reads on up to a byte. If nothing is kept any more, it is errNotKept.
func (l *chosenPages) read(to int64) error {
	if err := l.skip(to - l.at); err != nil {
		return err
	}
	if l.blob == nil {
		return errNotKept
	}
	return nil
}

// errNotKept ends the search for what is needed of pages that were kept early: there are too many of them.
var errNotKept = errors.New("archive: pages are not kept")

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
