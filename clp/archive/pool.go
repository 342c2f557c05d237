package archive

import (
	"fmt"

	"github.com/klauspost/compress/zstd"
)

// pool holds what an archive is decompressed to, in pages. As long as everything fits the memory that the reader may
// use, pages are plain bytes. Beyond that, pages that were not used lately are compressed again, each by itself, so that
// any of them can be had back at once; that a stream of an archive cannot do, and reading in log order needs a place in
// each column of each table at the same time. With a Scratch the compressed pages go there.
type pool struct {
	limit   int64 // bytes of memory
	floor   int64 // bytes that plain pages may take, whatever else is held
	held    int64 // taken for good: tree, schemas, tables, compressed pages
	plain   int64 // bytes of plain pages
	scratch Scratch
	end     int64 // of what is in scratch

	ring []*page // the plain pages
	hand int
	enc  *zstd.Encoder
	dec  *zstd.Decoder
}

// page is a piece of decompressed data.
type page struct {
	plain  []byte // nil if it is only packed
	packed []byte // compressed; nil if it never was, or if it is in scratch
	at     int64  // in scratch, if size > 0
	size   int32  // of the compressed form in scratch
	length int32  // of the plain form
	ring   int32  // index in ring, if plain is not nil
	used   bool   // since the hand came by
}

const (
	plainFloor   = 2 << 20
	pageOverhead = 96 // bytes of memory, besides the content
)

// take accounts for n bytes of memory that are held until give.
func (p *pool) take(n int64) error {
	p.held += n
	if p.held > p.limit {
		return &LimitError{What: "bytes of memory", Limit: p.limit}
	}
	return nil
}

func (p *pool) give(n int64) { p.held -= n }

// add makes a page of b, which it keeps.
func (p *pool) add(b []byte) (*page, error) {
	if err := p.take(pageOverhead); err != nil {
		p.give(pageOverhead)
		return nil, err
	}
	pg := &page{length: int32(len(b))}
	return pg, p.keep(pg, b)
}

// keep gives a page its plain bytes, and others' room for them.
func (p *pool) keep(pg *page, b []byte) error {
	pg.plain, pg.used, pg.ring = b, true, int32(len(p.ring))
	p.ring = append(p.ring, pg)
	p.plain += int64(len(b))
	for p.plain > max(p.limit-p.held, p.floor) && len(p.ring) > 1 {
		if p.hand >= len(p.ring) {
			p.hand = 0
		}
		old := p.ring[p.hand]
		if old.used || old == pg {
			old.used = false
			p.hand++
			continue
		}
		if err := p.pack(old); err != nil {
			return err
		}
		p.drop(old)
	}
	return nil
}

// drop forgets the plain bytes of a page.
func (p *pool) drop(pg *page) {
	last := p.ring[len(p.ring)-1]
	last.ring = pg.ring
	p.ring[pg.ring] = last
	p.ring = p.ring[:len(p.ring)-1]
	p.plain -= int64(len(pg.plain))
	pg.plain = nil
}

// pack makes the compressed form of a page, once.
func (p *pool) pack(pg *page) error {
	if pg.packed != nil || pg.size > 0 {
		return nil
	}
	if p.enc == nil {
		var err error
		p.enc, err = zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithWindowSize(pageSize),
			zstd.WithLowerEncoderMem(true), zstd.WithEncoderCRC(false))
		if err != nil {
			return err
		}
		if p.dec, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true)); err != nil {
			return err
		}
	}
	b := p.enc.EncodeAll(pg.plain, make([]byte, 0, len(pg.plain)/4+64))
	if p.scratch != nil {
		if _, err := p.scratch.WriteAt(b, p.end); err != nil {
			return fmt.Errorf("archive: scratch: %w", err)
		}
		pg.at, pg.size = p.end, int32(len(b))
		p.end += int64(len(b))
		return nil
	}
	pg.packed = append(make([]byte, 0, len(b)), b...)
	return p.take(int64(len(b)))
}

// bytes returns the plain bytes of a page. They do not change, and stay valid as long as they are referred to.
func (p *pool) bytes(pg *page) ([]byte, error) {
	pg.used = true
	if pg.plain != nil {
		return pg.plain, nil
	}
	packed := pg.packed
	if pg.size > 0 {
		packed = make([]byte, pg.size)
		if _, err := p.scratch.ReadAt(packed, pg.at); err != nil {
			return nil, fmt.Errorf("archive: scratch: %w", err)
		}
	}
	b, err := p.dec.DecodeAll(packed, make([]byte, 0, pg.length))
	if err != nil {
		return nil, fmt.Errorf("archive: scratch: %w", err)
	}
	return b, p.keep(pg, b)
}

// free forgets a page.
func (p *pool) free(pg *page) {
	if pg.plain != nil {
		p.drop(pg)
	}
	p.give(int64(len(pg.packed)) + pageOverhead)
	pg.packed = nil
}

func (p *pool) close() {
	if p.enc != nil {
		p.enc.Close()
		p.dec.Close()
	}
	p.ring, p.enc, p.dec = nil, nil, nil
}

const pageSize = 64 << 10

// blob is a run of bytes in pages of pageSize.
type blob struct {
	pool  *pool
	pages []*page
	size  int64
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
			pg, err := b.pool.add(buf[:n])
			if pg != nil {
				b.pages = append(b.pages, pg)
				b.size += int64(n)
			}
			if err != nil {
				return err
			}
		}
		if in.err != nil {
			return nil
		}
	}
	return nil
}

// slice returns n bytes at off, which the caller has checked to be there. scratch is used if they lie in two pages or
// more.
func (b *blob) slice(off int64, n int, scratch []byte) ([]byte, error) {
	from := int(off % pageSize)
	first, err := b.pool.bytes(b.pages[off/pageSize])
	if err != nil || from+n <= len(first) {
		return first[min(from, len(first)):min(from+n, len(first))], err
	}
	scratch = append(scratch[:0], first[from:]...)
	for i := off/pageSize + 1; len(scratch) < n; i++ {
		next, err := b.pool.bytes(b.pages[i])
		if err != nil {
			return nil, err
		}
		scratch = append(scratch, next[:min(n-len(scratch), len(next))]...)
	}
	return scratch, nil
}

func (b *blob) free() {
	for _, pg := range b.pages {
		b.pool.free(pg)
	}
	b.pages, b.size = nil, 0
}
