package archive

import "fmt"

// Filter says which records of a table are wanted.
type Filter struct {
	// None leaves the table out. A stream of which no table is wanted is not decompressed.
	None bool

	// Rows clears keep[i] for each row i of the batch that is not wanted; all are set when it is called. It may use the
	// columns whose indices, in Table.Columns, are in Columns. Rows that are not kept are not decoded further. nil keeps
	// all. Its error is that of Next.
	Rows    func(b *Batch, keep []bool) error
	Columns []int
}

// Select has Next return only the records that are wanted. filter is called once for each table, during the first Next at
// the latest; it may read dictionaries. Damage that the records wanted do not meet is not noticed. Select must come before
// the first Next.
func (r *Reader) Select(filter func(Table) (Filter, error)) { r.filter = filter }

// Batch is some consecutive rows of a table. It is valid during the call that it is given to.
type Batch struct{ t *tableReader }

// Len returns the number of rows.
func (b *Batch) Len() int { return int(b.t.to - b.t.from) }

// Values returns what the column has for each row: of an Integer or DeltaInteger its value, of a Float or
// FormattedFloat its bits, of a Boolean 0 or not, of a VarString or DictionaryFloat the entry of Variables, of a
// Timestamp nanoseconds and of a DateString milliseconds since 1970, of a ClpString or UnstructuredArray in its low 24 bits
// the entry of LogTypes or ArrayTypes. The caller must not change it.
func (b *Batch) Values(column int) []uint64 { return b.t.cols[column].values }

// AppendText appends the text of a ClpString.
func (b *Batch) AppendText(dst []byte, column, row int) ([]byte, error) {
	c := &b.t.cols[column]
	if c.typ != ClpString {
		return dst, fmt.Errorf("archive: column %d has a %v, not a text", column, c.typ)
	}
	return b.t.appendClp(dst, c, row, &b.t.r.rawTypes)
}

// Dictionary is a list of texts that columns refer to by number.
type Dictionary struct {
	r *Reader
	d *dictionary
}

// Variables returns the texts of variables, and of strings without a space.
func (r *Reader) Variables() Dictionary { return Dictionary{r, &r.vars} }

// LogTypes returns the log types of strings with a space. See package encoding.
func (r *Reader) LogTypes() Dictionary { return Dictionary{r, &r.logs} }

// ArrayTypes returns the log types of arrays that are kept as text.
func (r *Reader) ArrayTypes() Dictionary { return Dictionary{r, &r.arrays} }

// Len returns the number of entries. The dictionary is loaded if it is not yet; of a damaged one, the entries before the
// damage count.
func (d Dictionary) Len() (int, error) {
	err := d.r.loadDictionary(d.d)
	return len(d.d.ends), err
}

// Entry returns an entry, of those that Len counts. It is valid until the next call.
func (d Dictionary) Entry(id int) ([]byte, error) { return d.d.entry(uint64(id)) }

// loadDictionary loads a dictionary once.
func (r *Reader) loadDictionary(d *dictionary) error {
	if r.err == ErrClosed {
		return ErrClosed
	}
	if d.loaded {
		return d.failed
	}
	d.loaded = true
	d.failed = d.load(r.pool, &r.in, r.box.sections[d.name])
	return d.failed
}

// choose asks the filter about the tables.
func (r *Reader) choose() error {
	if r.filter == nil {
		return nil
	}
	r.filters = make([]Filter, len(r.tables.list))
	for i := range r.tables.list {
		t := &r.tables.list[i]
		if t.err != nil {
			continue
		}
		info := r.table(t)
		f, err := r.filter(info)
		if err != nil {
			return err
		}
		for _, c := range f.Columns {
			if c < 0 || c >= len(info.Columns) {
				return fmt.Errorf("archive: filter of column %d of %d", c, len(info.Columns))
			}
		}
		r.filters[i] = f
		if f.None {
			r.tables.streams[t.stream].tables--
		}
	}
	return nil
}

// wants reports whether a table is wanted at all.
func (r *Reader) wants(i int) bool { return r.filters == nil || !r.filters[i].None }

// use takes the filter of a table.
func (t *tableReader) use(f *Filter) {
	for _, i := range f.Columns {
		t.cols[i].early = true
	}
	t.rows = f.Rows
}
