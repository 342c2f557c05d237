package archive

import "strings"

// Stats says what a Reader did so far.
type Stats struct {
	Read    int64 // bytes of streams and dictionaries that were read from the archive
	Decoded int64 // bytes that they were decompressed to
	Index   bool  // the archive has an index, and it can be used
	Side    bool  // the archive has kept how its records were written, and that is used
}

// Stats returns what was done so far.
func (r *Reader) Stats() Stats {
	columns, dicts := r.spent.columns.bytes(), r.spent.dicts.bytes()
	return Stats{Read: columns.Read + dicts.Read, Decoded: columns.Decoded + dicts.Decoded, Index: r.index() != nil, Side: r.side != nil}
}

// KeyStats says what the values of a node of the schema tree take.
type KeyStats struct {
	Node    int32
	Path    string // in the syntax of KQL; words of arrays' elements are empty
	Type    NodeType
	Records int64 // that have a value; elements of arrays count each
	Bytes   int64 // of the columns, decompressed; texts are in the dictionaries, which columns share
	Packed  int64 // of the columns, compressed
	Exact   bool  // Packed is that of the columns' own frames; otherwise their share of the frames that they are in
}

// Keys returns what each node takes that has a column, by ascending node. Of an archive without an index all streams are
// decompressed for that. The next record is the first one afterwards.
func (r *Reader) Keys() ([]KeyStats, error) {
	r.stop()
	stored := r.stored
	r.stored = false // so that all streams are there
	defer func() { r.stored = stored }()
	if err := r.seekable(); err != nil {
		return nil, err
	}
	if err := r.rewind(); err != nil {
		return nil, err
	}
	list := make([]KeyStats, len(r.tree.nodes))
	for i := range r.tables.list {
		t, err := r.openTable(i)
		if err != nil {
			continue // reading says so
		}
		for k := range t.cols {
			c := &t.cols[k]
			s := &list[c.node]
			if s.Records == 0 {
				*s = KeyStats{Node: c.node, Path: r.path(c.node), Type: c.typ, Exact: true}
			}
			s.Records += t.t.records
			size := c.parts[1].end - c.off
			packed, exact := r.packed(int(t.t.stream), c.off, size)
			s.Bytes += size
			s.Packed += packed
			s.Exact = s.Exact && exact
		}
		t.close()
	}
	n := 0
	for _, s := range list {
		if s.Records > 0 {
			list[n] = s
			n++
		}
	}
	if stored {
		r.seq.at, r.loaded = 0, 0
		return list[:n], nil
	}
	return list[:n], r.position(minNumber)
}

// packed returns what a range of a stream takes in the archive, and whether its frames have nothing else.
func (r *Reader) packed(stream int, off, size int64) (bytes int64, exact bool) {
	frames := r.streams[stream].frames
	if frames == nil {
		st := &r.tables.streams[stream]
		return int64(float64(st.to-st.from) * float64(size) / float64(max(st.size, 1))), uint64(size) == st.size
	}
	exact = true
	for k := findFrame(frames, off); k < len(frames) && frames[k].plain < off+size; k++ {
		f := &frames[k]
		shared := min(off+size, f.plain+f.length) - max(off, f.plain)
		exact = exact && shared == f.length
		bytes += int64(float64(f.size) * float64(shared) / float64(max(f.length, 1)))
	}
	return bytes, exact
}

// path returns the path of a node, from the root of the records on.
func (r *Reader) path(id int32) string {
	var words []string
	for ; r.tree.nodes[id].Parent >= 0; id = r.tree.nodes[id].Parent {
		words = append(words, escapeKey(r.tree.nodes[id].Key))
	}
	var b strings.Builder
	if n := &r.tree.nodes[id]; n.Key == autoKey {
		b.WriteByte('@')
	}
	for i := len(words) - 1; i >= 0; i-- {
		b.WriteString(words[i])
		if i > 0 {
			b.WriteByte('.')
		}
	}
	return b.String()
}
