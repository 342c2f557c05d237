package archive

import (
	"encoding/binary"
	"fmt"
	"io"
	"sort"
)

const maxEntry = 64 << 20 // bytes of a dictionary entry, or of a key

// dictionary is one of the three lists of texts that columns refer to by number:
//
//	u64 entries, not compressed; then in zstd each entry: u64 length, bytes
type dictionary struct {
	name  string
	text  blob
	ends  []uint32 // where entries end, modulo 2³²
	wraps []int    // the entries in which the next 2³² bytes begin
	err   error    // damage; what was read before it is there

	loaded bool
	failed error // why it could not be loaded

	scratch []byte
}

// load reads the dictionary. Damage is kept in d.err; what is returned is the lack of memory.
func (d *dictionary) load(p *pool, in *input, s section) error {
	d.text.pool = p
	var b [8]byte
	if s.size < 8 {
		d.err = corrupt(s.name, 0, ErrShort, "a dictionary has at least 8 bytes")
		return nil
	}
	if _, err := s.src.ReadAt(b[:], s.off); err != nil && err != io.EOF {
		d.err = fmt.Errorf("archive: %s: %w", s.name, err)
		return nil
	}
	count := binary.LittleEndian.Uint64(b[:])
	in.open(s.part(8, s.size-8), -1)
	limit := min(maxEntry, p.limit/2)
	var tail []byte // what has not filled a page yet
	for uint64(len(d.ends)) < count {
		from := len(tail)
		if tail = in.text(tail, limit); in.err != nil {
			tail = tail[:from]
			break
		}
		if len(d.ends) == cap(d.ends) {
			if err := p.take(4 * int64(max(len(d.ends), 64))); err != nil {
				return err
			}
			d.ends = append(make([]uint32, 0, 2*max(len(d.ends), 64)), d.ends...)
		}
		end := d.text.size + int64(len(tail))
		if end>>32 > (d.text.size+int64(from))>>32 {
			d.wraps = append(d.wraps, len(d.ends))
		}
		d.ends = append(d.ends, uint32(end))
		for len(tail) >= pageSize {
			if err := d.addPage(tail[:pageSize]); err != nil {
				return err
			}
			tail = append(tail[:0], tail[pageSize:]...)
		}
	}
	d.err = in.finish()
	if len(tail) > 0 {
		return d.addPage(tail)
	}
	return nil
}

func (d *dictionary) addPage(b []byte) error {
	pg, err := d.text.pool.add(append(make([]byte, 0, len(b)), b...))
	if pg != nil {
		d.text.pages = append(d.text.pages, pg)
		d.text.size += int64(len(b))
	}
	return err
}

// end returns where entry id ends.
func (d *dictionary) end(id int) int64 {
	if len(d.wraps) == 0 {
		return int64(d.ends[id])
	}
	return int64(d.ends[id]) + int64(sort.SearchInts(d.wraps, id+1))<<32
}

// entry returns an entry. It is valid until the next call.
func (d *dictionary) entry(id uint64) ([]byte, error) {
	if id >= uint64(len(d.ends)) {
		if d.err != nil {
			return nil, fmt.Errorf("%w: entry %d of %s; %w", ErrEntry, id, d.name, d.err)
		}
		return nil, fmt.Errorf("%w: entry %d of %s, which has %d", ErrEntry, id, d.name, len(d.ends))
	}
	var from int64
	if id > 0 {
		from = d.end(int(id) - 1)
	}
	n := int(d.end(int(id)) - from)
	if n == 0 {
		return nil, nil
	}
	if int(from%pageSize)+n > pageSize && cap(d.scratch) < n {
		d.scratch = make([]byte, 0, n)
	}
	return d.text.slice(from, n, d.scratch)
}

// variable returns an entry of /var.dict.
func (r *Reader) variable(id uint64) ([]byte, error) {
	if err := r.loadDictionary(&r.vars); err != nil {
		return nil, err
	}
	return r.vars.entry(id)
}
