package archive

import (
	"errors"
	"fmt"
)

// tableFilter says which records of a table are wanted, once it is known.
type tableFilter struct {
	// none leaves the table out. A stream of which no table is wanted is not decompressed.
	none bool

	// rows are the records wanted, nil if all are.
	rows *rowSet

	sure *rowSet // those of rows that match for certain
	all  bool    // all do
}

// Select has Next return only records of which a condition holds or is open; see [Reader.Sure]. condition is called once
// for each table, during the first Next at the latest; it may read dictionaries. Columns that conditions are about are
// scanned then, and what the index can tell is not decoded. Damage that the records wanted do not meet is not noticed.
// Select must come before the first Next.
func (r *Reader) Select(condition func(Table) (*Condition, error)) { r.filter = condition }

// Sure reports whether the condition that [Reader.Select] was given is certain to hold of a record.
func (r *Reader) Sure(record *Record) bool {
	if r.filters == nil {
		return false
	}
	table, row := record.Place()
	f := &r.filters[table]
	return f.all || f.sure != nil && f.sure.has(row)
}

// Scan evaluates the condition that [Reader.Select] was given now, instead of during the first Next: ScanStats say how many records
// are sure and open then, and Project may follow.
func (r *Reader) Scan() error {
	if r.err != nil {
		return r.err
	}
	return r.choose()
}

// CountSure returns the number of records of which the condition is certain to hold, and leaves them out of those that Next
// returns. It must come before Scan and the first Next.
func (r *Reader) CountSure() (int64, error) {
	if r.chosen && r.err == nil {
		return 0, errors.New("archive: CountSure comes too late")
	}
	r.openOnly = true
	err := r.Scan()
	return r.scanned.Sure, err
}

// ScanStats returns what the selection of records looked at so far.
func (r *Reader) ScanStats() ScanStats {
	s := r.scanned
	s.Spent = r.spent.spent()
	if r.index(); r.found == nil {
		s.Index = r.indexErr
	}
	return s
}

// choose asks the condition about the tables, once, and evaluates it.
func (r *Reader) choose() error {
	if r.filter == nil || r.chosen {
		return nil
	}
	r.chosen = true
	r.filters = make([]tableFilter, len(r.tables.list))
	conditions := make([]*Condition, len(r.tables.list)) // nil if there is nothing to scan
	r.scanned.Tables = int64(len(r.tables.list))
	for i := range r.tables.list {
		t := &r.tables.list[i]
		f := &r.filters[i]
		if t.err != nil {
			continue
		}
		info := r.table(i)
		c, err := r.filter(info)
		if err != nil {
			return err
		}
		if err := c.check(&info, &r.tree); err != nil {
			return err
		}
		v, simple := c.simple()
		if !simple {
			c.arrange()
			conditions[i] = c
			continue
		}
		r.scanned.TablesSkipped++
		f.none, f.all = v == no, v == yes
	}
	if err := r.scan(conditions); err != nil {
		return err
	}
	for i := range r.filters {
		if t := &r.tables.list[i]; t.err == nil {
			r.settle(&r.filters[i], t, r.exceptionRows(i))
		}
	}
	return nil
}

// settle counts the rows of a table, and says what is left of it to read. Of the rows in odd the columns do not tell.
func (r *Reader) settle(f *tableFilter, t *table, odd []int64) {
	if len(odd) > 0 && r.pool.take(t.records/4) != nil { // too many for sets: the records tell
		r.pool.give(t.records / 4)
		f.none, f.all, f.rows, f.sure = false, false, nil, nil
	} else if len(odd) > 0 {
		f.rows, f.sure = f.rows.clone(), f.sure.clone()
		if f.all {
			f.all, f.sure = false, newRowSet(t.records)
			for row := range t.records {
				f.sure.add(row)
			}
		}
		if f.none {
			f.none, f.rows = false, newRowSet(t.records)
		}
		for _, row := range odd {
			if f.rows != nil {
				f.rows.add(row)
			}
			if f.sure != nil {
				f.sure.remove(row)
			}
		}
	}
	var sure, rows int64
	switch {
	case f.all:
		sure, rows = t.records, t.records
	case f.sure != nil:
		sure = f.sure.count()
	}
	switch {
	case f.none:
	case f.rows != nil:
		rows = f.rows.count()
	default:
		rows = t.records
	}
	r.scanned.Sure += sure
	r.scanned.Open += rows - sure
	if r.openOnly && sure > 0 {
		if f.rows == nil && rows > sure {
			f.rows = newRowSet(t.records)
			for row := range t.records {
				f.rows.add(row)
			}
		}
		if f.rows != nil && f.sure != nil {
			f.rows.subtract(f.sure)
		}
		rows -= sure
	}
	if rows == 0 && t.records > 0 {
		f.none = true
	}
}

// check makes sure that a condition is about columns that are there, of types that it can be about.
func (c *Condition) check(t *Table, tree *tree) error {
	for _, p := range c.Parts {
		if err := p.check(t, tree); err != nil {
			return err
		}
	}
	if c.Kind < CondRange {
		if c.Kind == CondNot && len(c.Parts) != 1 {
			return errors.New("archive: a negation of more than one condition")
		}
		return nil
	}
	if c.Column < 0 || c.Column >= len(t.Columns) {
		return fmt.Errorf("archive: condition on column %d of %d", c.Column, len(t.Columns))
	}
	typ := tree.nodes[t.Columns[c.Column]].Type
	ok := false
	switch typ {
	case Integer, DeltaInteger, Float, FormattedFloat, Boolean, Timestamp, DateString:
		ok = c.Kind == CondRange
	case VarString, DictionaryFloat:
		ok = c.Kind == CondSet
	case ClpString:
		ok = c.Kind == CondText
	}
	if !ok {
		return fmt.Errorf("archive: condition of kind %d on column %d, a %v", c.Kind, c.Column, typ)
	}
	return nil
}

// scanFailed passes on what must end a search. A damaged table is left to reading, which says where the damage is.
func (r *Reader) scanFailed(err error) error {
	var damage *CorruptError
	if errors.As(err, &damage) || errors.Is(err, ErrTable) {
		return nil
	}
	return err
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
	return d.d.count, err
}

// Entry returns an entry, of those that Len counts. It is valid until the next call.
func (d Dictionary) Entry(id int) ([]byte, error) { return d.d.entry(uint64(id), &d.r.view.word) }

// wants reports whether a table is wanted at all.
func (r *Reader) wants(i int) bool { return r.filters == nil || !r.filters[i].none }
