package archive

// schema is the shape of the records of one table: the nodes that have a value, in two regions. The ordered one has the
// leaves outside of structured arrays, by ascending ID, and the nodes of empty objects. The other one spells out the
// structured arrays in document order; see structured.go.
type schema struct {
	id      int32
	ordered int32
	from    int64 // of its entries in schemas.entries
	n       int32
	err     error // why its tables cannot be read
}

// schemas is the schema map:
//
//	u64 schemas, each: i32 id, u32 n, u32 ordered, n × i32 entry
type schemas struct {
	list    []schema
	entries []int32
	byID    map[int32]int32
}

const schemaOverhead = 80

func (m *schemas) load(p *pool, in *input, s section, t *tree) error {
	m.byID = map[int32]int32{}
	in.open(s, -1)
	count := in.u64()
	for i := uint64(0); i < count && in.err == nil; i++ {
		at := in.offset()
		sc := schema{id: in.i32(), from: int64(len(m.entries))}
		n, ordered := in.u32(), in.u32()
		if in.err != nil {
			break
		}
		if n > 1<<31-1 || ordered > n {
			return corrupt(s.name, at, ErrSchema, "schema %d has %d entries, %d of them ordered", sc.id, n, ordered)
		}
		sc.n, sc.ordered = int32(n), int32(ordered)
		if err := p.take(schemaOverhead); err != nil {
			return err
		}
		for j := range n {
			e := in.i32()
			if in.err != nil {
				return in.err
			}
			if len(m.entries) == cap(m.entries) {
				if err := p.take(4 * int64(max(len(m.entries), 64))); err != nil {
					return err
				}
				m.entries = append(make([]int32, 0, 2*max(len(m.entries), 64)), m.entries...)
			}
			m.entries = append(m.entries, e)
			if sc.err == nil && (j < ordered || uint32(e)>>24 == 0) && uint32(e) >= uint32(len(t.nodes)) {
				sc.err = &CorruptError{Section: s.name, Stream: -1, Offset: at, Record: -1, Schema: sc.id, Err: ErrSchema, Detail: "an entry is no node"}
			}
		}
		if _, twice := m.byID[sc.id]; twice {
			return corrupt(s.name, at, ErrSchema, "schema %d twice", sc.id)
		}
		m.byID[sc.id] = int32(len(m.list))
		m.list = append(m.list, sc)
	}
	return in.finish()
}

// ordered returns the entries of the ordered region, each node once: the reference lists a key twice that a record has
// twice, but keeps one value.
func (m *schemas) ordered(s *schema) []int32 {
	entries := m.entries[s.from : s.from+int64(s.ordered)]
	var out []int32
	for i, e := range entries {
		if i == 0 || e != entries[i-1] {
			out = append(out, e)
		}
	}
	return out
}

// unordered returns the entries of the other region.
func (m *schemas) unordered(s *schema) []int32 {
	return m.entries[s.from+int64(s.ordered) : s.from+int64(s.n)]
}

// columns returns the nodes of the columns of s, in their order in a table.
func (m *schemas) columns(s *schema, t *tree) []int32 {
	var out []int32
	for _, id := range m.ordered(s) {
		if t.nodes[id].Type.hasColumn() {
			out = append(out, id)
		}
	}
	for _, e := range m.unordered(s) {
		if uint32(e)>>24 == 0 && t.nodes[e].Type.hasColumn() {
			out = append(out, e)
		}
	}
	return out
}
