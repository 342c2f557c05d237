package archive

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/klauspost/compress/zstd"
)

// pool holds what an archive is decompressed to, in pages. As long as everything fits the memory that the reader may
// use, pages are plain bytes. Beyond that, pages that were not used lately give up theirs. A page of a stream is compressed
// again, by itself, so that it can be had back at once; that a stream of an archive cannot do, and reading in log order
// needs a place in each column of each table at the same time. With a Scratch the compressed pages go there. A page that
// can be read from the archive again is forgotten.
//
// A pool is safe for concurrent use. Plain bytes never change, and stay valid as long as they are referred to.
type pool struct {
	limit   int64        // bytes of memory
	floor   int64        // bytes that plain pages may take, whatever else is held
	held    atomic.Int64 // taken for good: tree, schemas, tables, compressed pages
	scratch Scratch
	tight   bool // all of an archive is loaded: pages come and go, and what is garbage takes memory, too

	mu      sync.Mutex // guards what follows, and of pages what is not atomic
	plain   int64      // bytes of plain pages
	end     int64      // of what is in scratch
	ring    []*page    // the plain pages
	hand    int
	enc     *zstd.Encoder // made when they are needed first
	dec     *zstd.Decoder
	packing []byte // buffer of packed forms
	closed  bool

	buffers sync.Pool // of *[]byte, for frames on their way into pages
}

// buffer lends a buffer, which is to be given to p.buffers again.
func (p *pool) buffer() *[]byte {
	if b, ok := p.buffers.Get().(*[]byte); ok {
		return b
	}
	return new([]byte)
}

// page is a piece of decompressed data.
type page struct {
	plain  atomic.Pointer[content] // nil if it is only packed, or forgotten
	used   atomic.Bool             // since the hand came by
	again  bool                    // can be read from the archive again
	packed []byte                  // compressed, or packed; nil if it never was, or if it is in scratch
	at     int64                   // in scratch, if size > 0
	size   int32                   // of the compressed form in scratch
	words  bool                    // the compressed form is that of packWords
	length int32                   // of the plain form
	ring   int32                   // index in ring, if plain is not nil
	freed  bool
}

// errFreed is returned for a page that was freed meanwhile.
var errFreed = errors.New("archive: page freed")

// content is the plain form of a page.
type content struct {
	bytes []byte
	ends  []uint32 // of a dictionary's frame: where its entries end
}

func (c *content) size() int64 { return int64(len(c.bytes) + 4*len(c.ends)) }

const (
	plainFloor   = 2 << 20
	pageOverhead = 160 // bytes of memory, besides the content
)

// take accounts for n bytes of memory that are held until give.
func (p *pool) take(n int64) error {
	if p.held.Add(n) > p.limit {
		return &LimitError{What: "bytes of memory", Limit: p.limit}
	}
	return nil
}

func (p *pool) give(n int64) { p.held.Add(-n) }

// add makes a page of b, which it keeps.
func (p *pool) add(b []byte) (*page, error) {
	if err := p.take(pageOverhead); err != nil {
		p.give(pageOverhead)
		return nil, err
	}
	pg := &page{length: int32(len(b))}
	p.mu.Lock()
	defer p.mu.Unlock()
	return pg, p.keep(pg, &content{bytes: b})
}

// packedPage makes a page of the packed form of n bytes, which it copies. The caller has taken memory for both.
func packedPage(packed []byte, n int) *page {
	return &page{packed: append(make([]byte, 0, len(packed)), packed...), words: true, length: int32(n)}
}

// put gives a page that was forgotten its content back.
func (p *pool) put(pg *page, c *content) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if pg.plain.Load() != nil {
		return nil
	}
	return p.keep(pg, c)
}

// keep gives a page its plain bytes, and others' room for them. p.mu is held.
func (p *pool) keep(pg *page, c *content) error {
	pg.plain.Store(c)
	pg.used.Store(true)
	pg.ring = int32(len(p.ring))
	p.ring = append(p.ring, pg)
	p.plain += c.size()
	most := p.limit / 2
	if p.tight {
		most = p.limit / 16 * 5
	}
	for p.plain > max(most-p.held.Load(), p.floor) && len(p.ring) > 1 {
		if p.hand >= len(p.ring) {
			p.hand = 0
		}
		old := p.ring[p.hand]
		if old == pg || old.used.Swap(false) {
			p.hand++
			continue
		}
		if !old.again {
			if err := p.pack(old); err != nil {
				return err
			}
		}
		p.drop(old)
	}
	return nil
}

// drop forgets the plain bytes of a page. p.mu is held.
func (p *pool) drop(pg *page) {
	last := p.ring[len(p.ring)-1]
	last.ring = pg.ring
	p.ring[pg.ring] = last
	p.ring[len(p.ring)-1] = nil
	p.ring = p.ring[:len(p.ring)-1]
	p.plain -= pg.plain.Swap(nil).size()
}

// pack makes the compressed form of a page, once. p.mu is held.
func (p *pool) pack(pg *page) error {
	if pg.packed != nil || pg.size > 0 {
		return nil
	}
	plain := pg.plain.Load().bytes
	if p.scratch == nil {
		b, err := p.compress(nil, plain)
		if err != nil {
			return err
		}
		pg.packed = append(make([]byte, 0, len(b)), b...)
		return p.take(int64(len(b)))
	}
	b, words := packWords(p.packing[:0], plain)
	if !words {
		var err error
		if b, err = p.compress(b[:0], plain); err != nil {
			return err
		}
	}
	p.packing = b
	if _, err := p.scratch.WriteAt(b, p.end); err != nil {
		return fmt.Errorf("archive: scratch: %w", err)
	}
	pg.at, pg.size, pg.words = p.end, int32(len(b)), words
	p.end += int64(len(b))
	return nil
}

// compress appends bytes as a zstd frame. p.mu is held.
func (p *pool) compress(dst, plain []byte) ([]byte, error) {
	if p.enc == nil {
		var err error
		p.enc, err = zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithWindowSize(pageSize),
			zstd.WithLowerEncoderMem(true), zstd.WithEncoderCRC(false))
		if err != nil {
			return nil, err
		}
		if p.dec, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true)); err != nil {
			return nil, err
		}
	}
	if cap(dst) == 0 {
		dst = make([]byte, 0, len(plain)/4+64)
	}
	return p.enc.EncodeAll(plain, dst), nil
}

// bytes returns the plain bytes of a page that is not one to be read again.
func (p *pool) bytes(pg *page) ([]byte, error) {
	if c := pg.load(); c != nil {
		return c.bytes, nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if c := pg.load(); c != nil {
		return c.bytes, nil
	}
	if pg.freed {
		return nil, errFreed
	}
	if p.closed {
		return nil, ErrClosed
	}
	packed := pg.packed
	if pg.size > 0 {
		if cap(p.packing) < int(pg.size) {
			p.packing = make([]byte, pg.size)
		}
		packed = p.packing[:pg.size]
		if _, err := p.scratch.ReadAt(packed, pg.at); err != nil {
			return nil, fmt.Errorf("archive: scratch: %w", err)
		}
	}
	b := make([]byte, 0, pg.length)
	var err error
	if pg.words {
		b, err = unpackWords(b, packed, int(pg.length))
	} else {
		b, err = p.dec.DecodeAll(packed, b)
	}
	if err != nil {
		return nil, fmt.Errorf("archive: scratch: %w", err)
	}
	return b, p.keep(pg, &content{bytes: b})
}

// part returns n bytes of a page that is packed by words, without making it plain. They are in scratch. Of other pages it is nil.
func (p *pool) part(pg *page, from, n int, scratch *[]byte) ([]byte, error) {
	p.mu.Lock()
	packed, words := pg.packed, pg.words
	p.mu.Unlock()
	if packed == nil || !words || pg.plain.Load() != nil {
		return nil, nil
	}
	plain, begin, err := unpackPart((*scratch)[:0], packed, int(pg.length), from, from+n)
	if err != nil {
		return nil, fmt.Errorf("archive: %w", err)
	}
	*scratch = plain
	return plain[from-begin:][:n], nil
}

// load returns the plain form of a page, nil if it is not there.
func (pg *page) load() *content {
	c := pg.plain.Load()
	if c != nil && !pg.used.Load() {
		pg.used.Store(true)
	}
	return c
}

// free forgets a page.
func (p *pool) free(pg *page) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if pg.plain.Load() != nil {
		p.drop(pg)
	}
	p.give(int64(len(pg.packed)) + pageOverhead)
	pg.packed, pg.freed = nil, true
}

func (p *pool) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.enc != nil {
		p.enc.Close()
		p.dec.Close()
	}
	p.ring, p.enc, p.dec, p.packing, p.closed = nil, nil, nil, nil, true
}
