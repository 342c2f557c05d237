package archive

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"sort"
	"sync"
)

const maxEntry = 64 << 20 // bytes of a dictionary entry, or of a key

// dictionary is one of the three lists of texts that columns refer to by number:
//
//	u64 entries, not compressed; then in zstd each entry: u64 length, bytes
//
// If the archive has an index, the frames of the dictionary are decoded when an entry of them is needed. Otherwise all of it
// is. Once it is loaded, it is safe for concurrent use.
type dictionary struct {
	name  string
	pool  *pool
	count int // entries that are there

	once   sync.Once
	failed error // why it could not be loaded

	flat flatEntries // of a small dictionary that was decoded as a whole

	// of a large one
	text  blob
	ends  []uint32 // where entries end in flat or in text, modulo 2³²
	wraps []int    // the entries in which the next 2³² bytes begin

	// of one that has frames
	frames []entryFrame
	near   []int32 // the frame of each entry whose number is a multiple of 256
	decode func(dst []byte, f frame) ([]byte, error)

	mu  sync.Mutex
	err error // damage that was seen; what was read before it is there
}

// entryFrame is a frame of a dictionary.
type entryFrame struct {
	frame
	first int // entry
	page  page
	mu    sync.Mutex
	err   error // why it cannot be read
}

// load reads the dictionary as a whole. Damage is kept in d.err; what is returned is the lack of memory.
func (d *dictionary) load(in *input, s section) error {
	p := d.pool
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
	if d.flat.whole { // a search has read it
		return d.locate()
	}
	in.open(s.part(8, s.size-8), -1)
	var tail []byte // what has not filled a page yet
	pages := func(plain []byte) error {
		for len(plain) >= 8 {
			n := binary.LittleEndian.Uint64(plain)
			from := d.text.size + int64(len(tail))
			tail = append(tail, plain[8:8+n]...)
			plain = plain[8+n:]
			if len(d.ends) == cap(d.ends) {
				if err := p.take(4 * int64(max(len(d.ends), 64))); err != nil {
					return err
				}
				d.ends = append(make([]uint32, 0, 2*max(len(d.ends), 64)), d.ends...)
			}
			end := d.text.size + int64(len(tail))
			if end>>32 > from>>32 {
				d.wraps = append(d.wraps, len(d.ends))
			}
			d.ends = append(d.ends, uint32(end))
			if len(tail) >= pageSize {
				rest := tail
				for ; len(rest) >= pageSize; rest = rest[pageSize:] {
					if err := d.addPage(rest[:pageSize]); err != nil {
						return err
					}
				}
				tail = append(tail[:0], rest...)
			}
		}
		return nil
	}
	flat, large := flatEntries{pool: p, expect: flatRatio * s.size}, !p.flattens(s)
	err := in.entries(count, min(maxEntry, p.limit/2), func(_ uint64, plain []byte) error {
		if large {
			return pages(plain)
		}
		if flat.add(plain) {
			return nil
		}
		large = true
		before := flat.text
		flat.drop()
		if err := pages(before); err != nil {
			return err
		}
		return pages(plain)
	})
	var damage *CorruptError
	switch {
	case err == nil:
		d.err = in.finish()
	case errors.As(err, &damage) || err == in.err:
		d.err = err
	default:
		return err
	}
	if !large {
		flat.whole = d.err == nil
		d.flat = flat
		return d.locate()
	}
	d.count = len(d.ends)
	if len(tail) > 0 {
		return d.addPage(tail)
	}
	return nil
}

// locate finds the entries of flat, all of which are whole.
func (d *dictionary) locate() error {
	n := 0
	_ = eachEntry(d.flat.text, func([]byte) error { n++; return nil })
	if err := d.pool.take(4 * int64(n)); err != nil {
		return err
	}
	d.ends = make([]uint32, 0, n)
	at := uint32(0)
	_ = eachEntry(d.flat.text, func(text []byte) error {
		at += 8 + uint32(len(text))
		d.ends = append(d.ends, at)
		return nil
	})
	d.count = n
	return nil
}

func (d *dictionary) addPage(b []byte) error {
	return d.text.add(append(make([]byte, 0, len(b)), b...))
}

// flatEntries is the entries of a dictionary as they are stored, up to a bound.
type flatEntries struct {
	pool   *pool
	expect int64 // bytes, about
	text   []byte
	whole  bool // it is all of them
}

const (
	flatShare = 12 // the part of the memory that entries may take
	flatRatio = 5  // what a dictionary is compressed by, at most as a rule
)

// flattens reports whether the entries of a dictionary may be few enough.
func (p *pool) flattens(s section) bool { return s.size <= p.limit/flatShare/3 }

// add adds whole entries, unless they become too many.
func (e *flatEntries) add(plain []byte) bool {
	n, most := int64(len(e.text)+len(plain)), e.pool.limit/flatShare
	if n > most {
		return false
	}
	if n > int64(cap(e.text)) {
		grown := max(n, min(max(2*int64(cap(e.text)), e.expect), most))
		more := grown - int64(cap(e.text))
		if e.pool.take(more) != nil {
			e.pool.give(more)
			return false
		}
		e.text = append(make([]byte, 0, grown), e.text...)
	}
	e.text = append(e.text, plain...)
	return true
}

// drop lets them go.
func (e *flatEntries) drop() {
	e.pool.give(int64(cap(e.text)))
	e.text, e.whole = nil, false
}

// framed has the dictionary read the frames that it needs when it needs them.
func (d *dictionary) framed(list []frame, decode func(dst []byte, f frame) ([]byte, error)) error {
	count := int64(0)
	for _, f := range list {
		count += f.entries
	}
	if count > math.MaxInt32 {
		return &LimitError{What: "entries of a dictionary", Limit: math.MaxInt32}
	}
	if err := d.pool.take(int64(len(list))*(pageOverhead+64) + count/64); err != nil {
		return err
	}
	d.decode = decode
	d.frames = make([]entryFrame, len(list))
	for i, f := range list {
		df := &d.frames[i]
		df.frame, df.first = f, d.count
		df.page.again = true
		d.count += int(f.entries)
	}
	d.near = make([]int32, d.count/256+1)
	k := 0
	for i := range d.near {
		for k+1 < len(d.frames) && d.frames[k+1].first <= i*256 {
			k++
		}
		d.near[i] = int32(k)
	}
	return nil
}

// fetch returns the content of a frame.
func (d *dictionary) fetch(f *entryFrame) (*content, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if c := f.page.load(); c != nil {
		return c, nil
	}
	if f.err != nil {
		return nil, f.err
	}
	c, err := d.read(f)
	if err != nil {
		f.err = err
		d.damaged(err)
		return nil, err
	}
	return c, d.pool.put(&f.page, c)
}

// read decodes a frame and finds its entries.
func (d *dictionary) read(f *entryFrame) (*content, error) {
	plain, err := d.decode(nil, f.frame)
	if err != nil {
		return nil, err
	}
	c := &content{bytes: plain, ends: make([]uint32, 0, f.entries)}
	at := 0
	for range f.entries {
		if len(plain)-at < 8 {
			return nil, corrupt(d.name, f.plain+int64(at), ErrShort, "frame of %d entries", f.entries)
		}
		n := binary.LittleEndian.Uint64(plain[at:])
		if at += 8; n > uint64(len(plain)-at) {
			return nil, corrupt(d.name, f.plain+int64(at)-8, ErrLength, "a string of %d bytes", n)
		}
		at += int(n)
		c.ends = append(c.ends, uint32(at))
	}
	if at != len(plain) {
		return nil, corrupt(d.name, f.plain+int64(at), ErrTrailing, "in a frame of %d entries", f.entries)
	}
	return c, nil
}

// end returns where entry id ends.
func (d *dictionary) end(id int) int64 {
	if len(d.wraps) == 0 {
		return int64(d.ends[id])
	}
	return int64(d.ends[id]) + int64(sort.SearchInts(d.wraps, id+1))<<32
}

// entry returns an entry. It does not change; if it is in several pages, it is put into scratch, and valid as long as that is.
func (d *dictionary) entry(id uint64, scratch *[]byte) ([]byte, error) {
	if id >= uint64(d.count) {
		return nil, d.missing(id)
	}
	if d.frames != nil {
		k := int(d.near[id>>8])
		for k+1 < len(d.frames) && d.frames[k+1].first <= int(id) {
			k++
		}
		f := &d.frames[k]
		c := f.page.load()
		if c == nil {
			var err error
			if c, err = d.fetch(f); err != nil {
				return nil, fmt.Errorf("%w: entry %d of %s; %w", ErrEntry, id, d.name, err)
			}
		}
		i, from := int(id)-f.first, uint32(8)
		if i > 0 {
			from += c.ends[i-1]
		}
		return c.bytes[from:c.ends[i]], nil
	}
	if d.flat.text != nil {
		from := uint32(8)
		if id > 0 {
			from += d.ends[id-1]
		}
		return d.flat.text[from:d.ends[id]], nil
	}
	var from int64
	if id > 0 {
		from = d.end(int(id) - 1)
	}
	n := int(d.end(int(id)) - from)
	if n == 0 {
		return nil, nil
	}
	return d.text.slice(from, n, scratch)
}

// missing is the error of an entry that is not there.
func (d *dictionary) missing(id uint64) error {
	if err := d.damage(); err != nil {
		return fmt.Errorf("%w: entry %d of %s; %w", ErrEntry, id, d.name, err)
	}
	return fmt.Errorf("%w: entry %d of %s, which has %d", ErrEntry, id, d.name, d.count)
}

// damaged notes damage; what was seen first counts.
func (d *dictionary) damaged(err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.err == nil {
		d.err = err
	}
}

// damage returns what is wrong with the dictionary, as far as it was read.
func (d *dictionary) damage() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.err
}

// loadDictionary loads a dictionary once: the list of its frames, or all of it.
func (r *Reader) loadDictionary(d *dictionary) error {
	if r.err == ErrClosed {
		return ErrClosed
	}
	d.once.Do(func() {
		s := r.box.sections[d.name]
		if x := r.index(); x != nil {
			d.failed = d.framed(x.dictFrames(d.name), func(dst []byte, f frame) ([]byte, error) { return r.decodeFrame(dst, s, 8, -1, f) })
			return
		}
		in, err := r.inputs.get()
		if err != nil {
			d.failed = err
			return
		}
		defer r.inputs.put(in)
		in.count = &r.spent.dicts
		d.failed = d.load(in, s)
		r.spent.dicts.add(0, in.offset())
	})
	return d.failed
}
