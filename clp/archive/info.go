package archive

import "iter"

// Info describes an archive as a whole.
type Info struct {
	Version      Version
	Size         int64  // bytes of the archive
	Uncompressed uint64 // bytes of JSON that went in, as the header has it; some writers got it wrong
	Records      int64
	Ordered      bool // the place of each record in the log is known
	Nodes        int  // of the schema tree
	Schemas      int
	Tables       int
	Streams      int
}

// Info returns what is known without reading records.
func (r *Reader) Info() Info {
	i := Info{
		Version: r.box.header.version, Size: r.box.size, Uncompressed: r.box.header.uncompressedSize, Ordered: r.tree.order >= 0,
		Nodes: len(r.tree.nodes), Schemas: len(r.schemas.list), Tables: len(r.tables.list), Streams: len(r.tables.streams),
	}
	for _, t := range r.tables.list {
		if t.err == nil {
			i.Records += t.records
		}
	}
	return i
}

// Ranges returns where the records came from, nil if the archive does not say. The caller must not change it.
func (r *Reader) Ranges() []Range { return r.box.meta.ranges }

// Times returns the columns that hold the time of records: one at most, in archives of 0.5.0 and later. The caller must
// not change it.
func (r *Reader) Times() []TimeIndex { return r.box.meta.times }

// Nodes returns the schema tree: parents come before their children. The caller must not change it.
func (r *Reader) Nodes() []Node { return r.tree.nodes }

// Section is a part of an archive and what it takes.
type Section struct {
	Name  string // "/schema_tree", "/schema_ids", "/table_metadata", "/var.dict", "/log.dict", "/array.dict" or "/0"
	Bytes int64  // compressed
}

// Sections returns the parts of the archive in their order.
func (r *Reader) Sections() []Section {
	var list []Section
	for _, name := range sectionNames {
		list = append(list, Section{name, r.box.sections[name].size})
	}
	return list
}

// Table describes the records of one schema.
type Table struct {
	Schema     int32 // ID
	Stream     int   // that it is in
	Records    int64
	Bytes      int64   // uncompressed
	Columns    []int32 // nodes with a value in each record; a node of a structured array may repeat
	Nulls      []int32 // nodes whose value is null in each record, those of structured arrays excepted
	Structured bool    // has structured arrays

	index int // in the list of tables
}

// Tables returns the tables in their order. Those with a damaged schema are left out.
func (r *Reader) Tables() iter.Seq[Table] {
	return func(yield func(Table) bool) {
		for i := range r.tables.list {
			if t := &r.tables.list[i]; t.err == nil && !yield(r.table(i)) {
				return
			}
		}
	}
}

func (r *Reader) table(i int) Table {
	t := &r.tables.list[i]
	s := &r.schemas.list[t.schema]
	out := Table{
		Schema: s.id, Stream: int(t.stream), Records: t.records, Bytes: t.size, Columns: r.schemas.columns(s, &r.tree), Structured: s.n > s.ordered,
		index: i,
	}
	for _, id := range r.schemas.ordered(s) {
		if r.tree.nodes[id].Type == Null {
			out.Nulls = append(out.Nulls, id)
		}
	}
	return out
}
