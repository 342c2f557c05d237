package archive

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/klauspost/compress/zstd"
)

// index returns the index of the archive, nil if there is none that can be used. It is loaded once.
func (r *Reader) index() *archiveIndex {
	if !r.indexSought {
		r.indexSought = true
		r.found, r.indexErr = r.loadIndex()
	}
	return r.found
}

// errNoIndex is why an archive has no index.
var errNoIndex = errors.New("archive: no index")

func (r *Reader) loadIndex() (*archiveIndex, error) {
	err := errNoIndex
	for _, p := range r.box.meta.own {
		if p.typ != packetIndex {
			continue
		}
		var x *archiveIndex
		if x, err = r.loadIndexOf(p.payload); err == nil {
			return x, nil
		}
		err = fmt.Errorf("archive: index not used: %w", err)
	}
	return nil, err
}

func (r *Reader) loadIndexOf(packet []byte) (*archiveIndex, error) {
	offset, size, sum, err := parseIndexPacket(packet)
	if err != nil {
		return nil, err
	}
	data := r.box.sections[sectionData]
	if offset > uint64(data.size) || int64(size) > data.size-int64(offset) {
		return nil, fmt.Errorf("it is at byte %d of %d", offset, data.size)
	}
	memory := r.pool.limit / 8
	if int64(size) > memory {
		return nil, fmt.Errorf("it has %d bytes", size)
	}
	facts, err := r.indexFacts()
	if err != nil {
		return nil, err
	}
	facts.filters, facts.memory = int64(offset)+int64(size), memory
	packed := make([]byte, size)
	if _, err := data.src.ReadAt(packed, data.off+int64(offset)); err != nil && err != io.EOF {
		return nil, err
	}
	if crc32.Checksum(packed, castagnoli) != sum {
		return nil, errors.New("its checksum is another one")
	}
	plain, err := unpackIndex(packed, memory)
	if err != nil {
		return nil, err
	}
	r.spent.index.add(int64(size), int64(len(plain)))
	x, err := parseIndex(plain, facts)
	if err != nil {
		return nil, err
	}
	return x, r.pool.take(int64(2 * len(plain))) // about: it keeps no more than memory
}

// unpackIndex decompresses an index, which must say how long it is unless it is short.
func unpackIndex(packed []byte, limit int64) ([]byte, error) {
	var h zstd.Header
	if err := h.Decode(packed); err != nil {
		return nil, err
	}
	if !h.HasFCS {
		h.FrameContentSize = 256
	}
	if h.FrameContentSize > uint64(limit) {
		return nil, fmt.Errorf("%d bytes, uncompressed", h.FrameContentSize)
	}
	d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(uint64(max(limit, 16<<20))))
	if err != nil {
		return nil, err
	}
	defer d.Close()
	plain, err := d.DecodeAll(packed, make([]byte, 0, h.FrameContentSize))
	if err == nil && uint64(len(plain)) > h.FrameContentSize {
		err = errors.New("it is longer than it says")
	}
	return plain, err
}

// indexFacts collects what an index must agree with.
func (r *Reader) indexFacts() (*indexFacts, error) {
	f := &indexFacts{streams: r.tables.streams, end: r.box.sections[sectionData].size, maxFrame: min(maxEntry+1<<20, r.pool.limit/4)}
	for d, name := range dictSections {
		s := r.box.sections[name]
		var b [8]byte
		if s.size < 8 {
			return nil, errors.New("a dictionary is too short")
		}
		if _, err := s.src.ReadAt(b[:], s.off); err != nil && err != io.EOF {
			return nil, err
		}
		f.dicts[d], f.entries[d] = s.size-8, binary.LittleEndian.Uint64(b[:])
	}
	for i := range r.tables.list {
		t := &r.tables.list[i]
		if t.err != nil {
			return nil, errors.New("a table is damaged")
		}
		it := indexTable{records: t.records, size: t.size}
		for _, id := range r.schemas.columns(&r.schemas.list[t.schema], &r.tree) {
			it.columns = append(it.columns, r.tree.nodes[id].Type)
		}
		f.tables = append(f.tables, it)
	}
	return f, nil
}

// dictFilters returns the filters of a dictionary's frames, nil if it has none, or if they are damaged. They are kept, unless they
// take more than a sixteenth of the memory.
func (r *Reader) dictFilters(x *archiveIndex, dict int) [][]byte {
	d := &x.dicts[dict]
	if d.held != nil {
		return d.held
	}
	n := len(d.filters)
	if n == 0 || d.filters[n-1] == 0 || d.filters[n-1] > r.pool.limit/4 {
		return nil
	}
	data := r.box.sections[sectionData]
	b := make([]byte, d.filters[n-1])
	if _, err := data.src.ReadAt(b, data.off+d.from); err != nil && err != io.EOF || crc32.Checksum(b, castagnoli) != d.sum {
		return nil
	}
	r.spent.index.add(int64(len(b)), int64(len(b)))
	list := make([][]byte, n)
	var from int64
	for i, end := range d.filters {
		list[i] = b[from:end]
		from = end
	}
	if size := int64(len(b) + 24*n); size <= r.pool.limit/16 {
		if r.pool.take(size) == nil {
			d.held = list
		} else {
			r.pool.give(size)
		}
	}
	return list
}
