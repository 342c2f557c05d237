package archive

import (
	"sync"
	"sync/atomic"
)

const pageSize = 64 << 10

// blob is a run of decompressed bytes, in pages of pageSize. Either all of them were loaded once, or it knows the frames that
// they are in: then the pages of a frame come when one of them is needed, and can be let go. It is safe for concurrent
// use, except for load, add, put and free.
type blob struct {
	pool  *pool
	pages []atomic.Pointer[page]
	size  int64

	frames []frame
	state  []frameState
	decode func(dst []byte, f frame) ([]byte, error)

	sparse bool // pages are packed, and little of each is needed

	refill  func() error // loads the pages that were left out, if any were
	filling sync.Mutex   // held by who calls it
}

// frameState is what is known of a frame of a blob.
type frameState struct {
	first int32 // page
	mu    sync.Mutex
	known bool  // was decompressed once
	err   error // why it cannot be read
}

// framed makes the blob one that reads frames when they are needed.
func (b *blob) framed(list []frame, decode func(dst []byte, f frame) ([]byte, error)) error {
	pages := int64(0)
	for _, f := range list {
		pages += (f.length + pageSize - 1) / pageSize
	}
	if err := b.pool.take(int64(len(list))*32 + pages*8); err != nil {
		return err
	}
	b.frames, b.decode = list, decode
	b.state = make([]frameState, len(list))
	b.pages = make([]atomic.Pointer[page], pages)
	first := int32(0)
	for i, f := range list {
		b.state[i].first = first
		first += int32((f.length + pageSize - 1) / pageSize)
	}
	_, b.size = totals(list)
	return nil
}

// load fills the blob with up to size bytes of in. If they do not come, in.err says why, and what came is there.
func (b *blob) load(in *input, size uint64) error {
	for uint64(b.size) < size {
		buf := make([]byte, min(size-uint64(b.size), pageSize))
		n := in.full(buf)
		if n > 0 {
			if n < len(buf)/2 {
				buf = append(make([]byte, 0, n), buf[:n]...)
			}
			if err := b.add(buf[:n]); err != nil {
				return err
			}
		}
		if in.err != nil {
			return nil
		}
	}
	return nil
}

// add appends a page, which all but the last one must fill.
func (b *blob) add(buf []byte) error {
	pg, err := b.pool.add(buf)
	if pg != nil {
		b.put(pg, len(buf))
	}
	return err
}

// put appends a page of n bytes, nil if it is left out.
func (b *blob) put(pg *page, n int) {
	if len(b.pages) == cap(b.pages) {
		grown := make([]atomic.Pointer[page], len(b.pages), 2*len(b.pages)+8)
		for i := range b.pages {
			grown[i].Store(b.pages[i].Load())
		}
		b.pages = grown
	}
	b.pages = b.pages[:len(b.pages)+1]
	b.pages[len(b.pages)-1].Store(pg)
	b.size += int64(n)
}

// page returns the page that holds a byte, and where that is in it.
func (b *blob) page(off int64) (plain []byte, from int, err error) {
	if b.frames == nil {
		pg := &b.pages[off/pageSize]
		if pg.Load() == nil {
			if err := b.fill(pg); err != nil {
				return nil, 0, err
			}
		}
		plain, err = b.pool.bytes(pg.Load())
		return plain, int(off % pageSize), err
	}
	k := findFrame(b.frames, off)
	i, from := b.inFrame(k, off)
	for {
		if pg := b.pages[i].Load(); pg != nil {
			if plain, err = b.pool.bytes(pg); err != errFreed {
				return plain, from, err
			}
		}
		if err := b.fetch(k, i); err != nil {
			return nil, 0, err
		}
	}
}

// fill has pages that were left out loaded, one of which is pg.
func (b *blob) fill(pg *atomic.Pointer[page]) error {
	b.filling.Lock()
	defer b.filling.Unlock()
	if pg.Load() != nil {
		return nil
	}
	if err := b.refill(); err != nil {
		return err
	}
	if pg.Load() == nil {
		return errFreed
	}
	return nil
}

// inFrame returns the page in which a byte of a frame is, and where in the page.
func (b *blob) inFrame(k int, off int64) (page, from int) {
	off -= b.frames[k].plain
	return int(b.state[k].first) + int(off/pageSize), int(off % pageSize)
}

// ahead makes the pages of a frame that was not needed yet.
func (b *blob) ahead(k int) {
	st := &b.state[k]
	st.mu.Lock()
	known := st.known
	st.mu.Unlock()
	if !known {
		b.fetch(k, int(st.first)) // an error comes again when the frame is needed
	}
}

// fetch makes the pages of a frame from page i on; those before were let go.
func (b *blob) fetch(k, i int) error {
	st, f := &b.state[k], b.frames[k]
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.err != nil {
		return st.err
	}
	if b.pages[i].Load() != nil {
		return nil
	}
	st.known = true
	first := i - int(st.first)
	pages := b.pages[st.first:][:(f.length+pageSize-1)/pageSize]
	buf := b.pool.buffer()
	defer b.pool.buffers.Put(buf)
	plain, err := b.decode((*buf)[:0], f)
	*buf = plain[:0]
	if err != nil {
		if _, damaged := err.(*CorruptError); damaged {
			st.err = err
		}
		return err
	}
	for i := first; i < len(pages); i++ {
		if pages[i].Load() != nil {
			continue
		}
		piece := plain[i*pageSize : min((i+1)*pageSize, len(plain))]
		pg, err := b.pool.add(append(make([]byte, 0, len(piece)), piece...))
		if pg != nil {
			pages[i].Store(pg)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// discard lets pages go that lie in [from, to) as a whole. They come again if they are needed after all, which of a blob
// that was loaded they could not: it keeps them.
func (b *blob) discard(from, to int64) {
	if b.frames == nil {
		return
	}
	for from < to {
		k := findFrame(b.frames, from)
		if k == len(b.frames) {
			return
		}
		i, in := b.inFrame(k, from)
		begin := from - int64(in)
		end := min(begin+pageSize, b.frames[k].plain+b.frames[k].length)
		if in == 0 && end <= to {
			if pg := b.pages[i].Swap(nil); pg != nil {
				b.pool.free(pg)
			}
		}
		from = end
	}
}

// slice returns n bytes at off, which the caller has checked to be there. If they lie in two pages or more, they are put
// into scratch.
func (b *blob) slice(off int64, n int, scratch *[]byte) ([]byte, error) {
	if n == 0 {
		return nil, nil
	}
	if b.sparse {
		if pg, from := b.pages[off/pageSize].Load(), int(off%pageSize); pg != nil && from+n <= int(pg.length) {
			if part, err := b.pool.part(pg, from, n, scratch); part != nil || err != nil {
				return part, err
			}
		}
	}
	plain, from, err := b.page(off)
	if err != nil {
		return nil, err
	}
	if from+n <= len(plain) {
		return plain[from : from+n], nil
	}
	out := append((*scratch)[:0], plain[from:]...)
	for len(out) < n {
		plain, from, err := b.page(off + int64(len(out)))
		if err != nil {
			return nil, err
		}
		out = append(out, plain[from:min(from+n-len(out), len(plain))]...)
	}
	*scratch = out
	return out, nil
}

// free forgets all pages.
func (b *blob) free() {
	for i := range b.pages {
		if pg := b.pages[i].Swap(nil); pg != nil {
			b.pool.free(pg)
		}
	}
	if b.frames == nil {
		b.pages, b.size, b.sparse = nil, 0, false
	}
}
