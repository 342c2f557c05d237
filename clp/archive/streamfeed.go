package archive

import (
	"encoding/binary"
	"fmt"
	"sync/atomic"
)

// streamFeed hands out the bytes of a stream of an archive without an index, which can only be read from its start. Pages of
// it are kept in a blob: those that are marked. As long as it is not known what will be needed, all pages of which something is
// read while shown is set are kept as well; these are packed, and others must be let go later.
type streamFeed struct {
	in    *input
	size  int64  // of the stream
	at    int64  // offset of the next byte
	first int64  // offset of page
	page  []byte // the page that the next byte is in, or that was read to its end
	buf   []byte

	blob *blob    // nil if nothing is kept
	need []uint64 // a bit for each page that is marked

	open    bool // it is not known yet what is needed
	shown   bool // what is read next may be
	touched bool // something of the page may be
	room    *keepRoom
	kept    int64 // bytes of room
	packing []byte
}

// keepRoom is what may be kept before it is known whether it is needed, in bytes. It is shared by streams.
type keepRoom struct{ left atomic.Int64 }

func (k *keepRoom) take(n int64) bool { return k.left.Add(-n) >= 0 }
func (k *keepRoom) give(n int64)      { k.left.Add(n) }

// feed opens a stream.
func (r *Reader) feed(in *input, i int) *streamFeed {
	r.openStream(in, i)
	return &streamFeed{in: in, size: int64(r.tables.streams[i].size), buf: make([]byte, pageSize)}
}

// get reads len(p) bytes.
func (f *streamFeed) get(p []byte) error {
	for len(p) > 0 {
		b, err := f.some(int64(len(p)))
		if err != nil {
			return err
		}
		p = p[copy(p, b):]
	}
	return nil
}

// grow appends n bytes to dst. What is allocated is in proportion to what came.
func (f *streamFeed) grow(dst []byte, n int64) ([]byte, error) {
	for n > 0 {
		b, err := f.some(n)
		if err != nil {
			return dst, err
		}
		if len(b) > cap(dst)-len(dst) {
			dst = append(make([]byte, 0, int64(len(dst))+min(n, max(int64(len(dst)), 1<<20))), dst...)
		}
		dst = append(dst, b...)
		n -= int64(len(b))
	}
	return dst, nil
}

// skip reads over n bytes.
func (f *streamFeed) skip(n int64) error {
	for n > 0 {
		b, err := f.some(n)
		if err != nil {
			return err
		}
		n -= int64(len(b))
	}
	return nil
}

// u64 reads a number.
func (f *streamFeed) u64() (uint64, error) {
	var b [8]byte
	err := f.get(b[:])
	return binary.LittleEndian.Uint64(b[:]), err
}

// some reads one byte to n.
func (f *streamFeed) some(n int64) ([]byte, error) {
	from := f.at - f.first
	if from == int64(len(f.page)) {
		if err := f.next(); err != nil {
			return nil, err
		}
		from = 0
	}
	f.touched = f.touched || f.shown
	b := f.page[from:min(from+n, int64(len(f.page)))]
	f.at += int64(len(b))
	return b, nil
}

// errStreamShort is what is wrong with a table that ends behind its stream.
var errStreamShort = fmt.Errorf("%w: it ends behind its stream", ErrTable)

// next makes the page behind the one that was read the current one.
func (f *streamFeed) next() error {
	if err := f.leave(); err != nil {
		return err
	}
	n := f.in.full(f.buf[:min(pageSize, max(f.size-f.first, 0))])
	if n == 0 && f.in.err == nil { // the stream is shorter than its tables
		return errStreamShort
	}
	f.page = f.buf[:n]
	if n == 0 {
		return f.in.err
	}
	return nil
}

// leave is done with the current page; bytes of it that were not read are passed over.
func (f *streamFeed) leave() error {
	page, p, touched := f.page, f.first/pageSize, f.touched
	f.first += int64(len(page))
	f.at, f.page, f.touched = f.first, nil, false
	switch {
	case f.blob == nil || len(page) == 0:
	case !f.marked(p) && !(f.open && touched):
		f.blob.put(nil, len(page))
	case f.room == nil:
		return f.blob.add(append(make([]byte, 0, len(page)), page...))
	default:
		f.keep(page)
	}
	return nil
}

// keep keeps a page if there is room, or nothing any more.
func (f *streamFeed) keep(page []byte) {
	f.packing = appendPacked(f.packing[:0], page)
	size := int64(len(f.packing)) + pageOverhead
	f.kept += size
	roomy := f.room.take(size)
	if err := f.blob.pool.take(size); err != nil || !roomy {
		f.blob.pool.give(size)
		f.drop()
		return
	}
	f.blob.put(packedPage(f.packing, len(page)), len(page))
}

// drop lets go what was kept, and keeps nothing more.
func (f *streamFeed) drop() {
	if f.blob == nil {
		return
	}
	f.blob.free()
	f.room.give(f.kept)
	f.blob, f.kept = nil, 0
}

// letGo drops the pages that were kept from page first on and are not marked.
func (f *streamFeed) letGo(first int64) {
	if f.blob == nil {
		return
	}
	for p := first; p < int64(len(f.blob.pages)); p++ {
		if f.marked(p) {
			continue
		}
		if pg := f.blob.pages[p].Swap(nil); pg != nil {
			size := int64(len(pg.packed)) + pageOverhead
			f.kept -= size
			f.room.give(size)
			f.blob.pool.free(pg)
		}
	}
}

// mark has the pages kept that hold n bytes at off, if they have not passed.
func (f *streamFeed) mark(off, n int64) {
	if n <= 0 {
		return
	}
	for p := off / pageSize; p <= (off+n-1)/pageSize; p++ {
		for p/64 >= int64(len(f.need)) {
			f.need = append(f.need, 0)
		}
		f.need[p/64] |= 1 << (p % 64)
	}
}

func (f *streamFeed) marked(p int64) bool {
	return p/64 < int64(len(f.need)) && f.need[p/64]>>(p%64)&1 != 0
}

// word returns the 8 bytes at off, of the current page or of pages that are kept.
func (f *streamFeed) word(off int64) (uint64, error) {
	var out [8]byte
	for n := 0; n < 8; {
		at := off + int64(n)
		if from := at - f.first; from >= 0 && from < int64(len(f.page)) {
			n += copy(out[n:], f.page[from:])
			continue
		}
		plain, from, err := f.blob.page(at)
		if err != nil {
			return 0, err
		}
		n += copy(out[n:], plain[from:])
	}
	return binary.LittleEndian.Uint64(out[:]), nil
}
