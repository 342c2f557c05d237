package archive

// stream is a packed stream of section /0: tables one behind the other, compressed together.
type stream struct {
	from, to int64 // in section /0
	size     uint64
}

// table is the records of one schema: its columns, one behind the other, somewhere in a stream.
type table struct {
	stream  int32
	schema  int32 // index in schemas.list
	from    int64 // in the stream
	size    int64
	records int64
	err     error // why it cannot be read
}

// tables is the table list:
//
//	u64 streams, each: u64 offset in /0, u64 uncompressed size
//	u64 0
//	u64 tables,  each: u64 stream, u64 offset in it, i32 schema, u64 records
type tables struct {
	streams []stream
	list    []table
}

const (
	streamOverhead = 128
	tableOverhead  = 160

	// maxEmpty is what a table may have of records whose values take no bytes at all: nothing else bounds their number.
	maxEmpty = 1 << 26
)

func (ts *tables) load(p *pool, in *input, s section, data section, m *schemas) error {
	in.open(s, -1)
	count := in.u64()
	for i := uint64(0); i < count && in.err == nil; i++ {
		at := in.offset()
		from, size := in.u64(), in.u64()
		if in.err != nil {
			break
		}
		from = min(from, uint64(data.size)) // a stream behind the end has no bytes: its tables cannot be read, those of others can
		if i > 0 && int64(from) < ts.streams[i-1].from || size > 1<<62 {
			return corrupt(s.name, at, ErrTable, "stream %d begins at %d of %d bytes and has %d", i, from, data.size, size)
		}
		if i > 0 {
			ts.streams[i-1].to = int64(from)
		}
		if err := p.take(streamOverhead); err != nil {
			return err
		}
		ts.streams = append(ts.streams, stream{from: int64(from), to: data.size, size: size})
	}
	if n := in.u64(); n != 0 && in.err == nil {
		return corrupt(s.name, in.offset()-8, ErrTable, "%d tables of separate columns", n)
	}
	count = in.u64()
	for i := uint64(0); i < count && in.err == nil; i++ {
		at := in.offset()
		streamID, from, schemaID, records := in.u64(), in.u64(), in.i32(), in.u64()
		if in.err != nil {
			break
		}
		if streamID >= uint64(len(ts.streams)) {
			return corrupt(s.name, at, ErrTable, "table %d is in stream %d of %d", i, streamID, len(ts.streams))
		}
		st := &ts.streams[streamID]
		if from > st.size {
			return corrupt(s.name, at, ErrTable, "table %d begins at byte %d of a stream of %d", i, from, st.size)
		}
		t := table{stream: int32(streamID), from: int64(from), size: int64(st.size - from)}
		if i > 0 {
			last := &ts.list[i-1]
			if t.stream < last.stream || t.stream == last.stream && t.from < last.from {
				return corrupt(s.name, at, ErrTable, "table %d is before table %d", i, i-1)
			}
			if t.stream == last.stream {
				last.size = t.from - last.from
			}
		}
		index, ok := m.byID[schemaID]
		if !ok {
			return corrupt(s.name, at, ErrTable, "table %d has schema %d, which is not there", i, schemaID)
		}
		t.schema, t.err = index, m.list[index].err
		if records > 1<<62 {
			t.err = corrupt(s.name, at, ErrTable, "table %d has %d records", i, records)
			records = 0
		}
		t.records = int64(records)
		if err := p.take(tableOverhead); err != nil {
			return err
		}
		ts.list = append(ts.list, t)
	}
	return in.finish()
}
