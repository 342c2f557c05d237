package archive

import (
	"errors"
	"sort"
)

// compose makes the layout of the rows, and finds the columns that it shows.
func (t *tableReader) compose() error {
	made, taken, err := compose(t.r, t.s)
	t.taken.Add(taken)
	if err != nil {
		return err
	}
	t.layout = made
	for l := made; l != nil; l = l.auto {
		for _, cut := range l.cuts {
			t.cols[cut.column].used = true
		}
	}
	if o := t.r.side.order(t.s.id); o != nil {
		if err := t.take(8 * int64(len(o.shapes))); err != nil {
			return err
		}
		t.side, t.shapes = o, make([]atomicLayout, len(o.shapes))
	}
	return nil
}

// decodeSide notes what the side channel says about the rows of a batch.
func (t *tableReader) decodeSide(b *rowBatch) {
	b.shape, b.except = b.shape[:0], false
	if t.side == nil {
		return
	}
	at := t.side.at
	i := sort.Search(len(at), func(i int) bool { return at[i] >= b.from })
	b.except = i < len(at) && at[i] < b.to
	if len(t.shapes) < 2 {
		return
	}
	for row := b.from; row < b.to; row++ {
		k, err := t.side.shape(row)
		if err != nil {
			t.r.sideFailed(err)
			k = -1
		}
		b.shape = append(b.shape, int32(k))
	}
}

// shaped returns the layout of a row.
func (t *tableReader) shaped(b *rowBatch, row int64) *layout {
	k := len(t.shapes) - 1
	if len(b.shape) > 0 {
		k = int(b.shape[row-b.from])
	}
	if k < 0 {
		return t.layout
	}
	if l := t.shapes[k].Load(); l != nil {
		return l
	}
	l, taken, err := composeShape(t.r, t.s, t.side.shapes[k])
	t.taken.Add(taken)
	if err != nil {
		t.r.sideFailed(err)
		l = t.layout
	}
	t.shapes[k].Store(l)
	return l
}

// sideFailed notes that the side channel is damaged. Records it cannot help with are shown as the reference does.
func (r *Reader) sideFailed(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.sideErr != nil {
		return
	}
	var c *CorruptError
	var l *LimitError
	if !errors.As(err, &c) && !errors.As(err, &l) {
		err = corrupt(sectionData, 0, err, "side channel")
	}
	r.sideErr = err
}

// ready loads what is needed to show the records of the table.
func (t *tableReader) ready() error {
	if t.loaded {
		return nil
	}
	t.loaded = true
	for i := range t.cols {
		if !t.cols[i].used {
			continue
		}
		var list []*dictionary
		switch t.cols[i].typ {
		case VarString, DictionaryFloat:
			list = []*dictionary{&t.r.vars}
		case ClpString:
			list = []*dictionary{&t.r.logs, &t.r.vars}
		case UnstructuredArray:
			list = []*dictionary{&t.r.arrays, &t.r.vars}
		}
		for _, d := range list {
			if err := t.r.loadDictionary(d); err != nil {
				return err
			}
		}
	}
	return nil
}

// exceptionRows returns the rows of a table that the side channel has as they were written, ascending: their columns do not
// tell all of them.
func (r *Reader) exceptionRows(table int) []int64 {
	o := r.side.order(r.schemas.list[r.tables.list[table].schema].id)
	if o == nil {
		return nil
	}
	return o.at
}
