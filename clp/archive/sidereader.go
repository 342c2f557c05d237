package archive

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"slices"
	"sync"

	"github.com/klauspost/compress/zstd"
)

// side is the side channel of an archive that is read. It is safe for concurrent use.
type side struct {
	tables map[int32]*sideOrder // by the ID of the schema
	lines  []lineBlock
	data   section
	limit  int64 // bytes of a block
	spent  *byteCount

	mu    sync.Mutex // guards what is below, and what of a sideOrder is said to be guarded
	dec   *zstd.Decoder
	block int    // of lines, that is decoded; -1 for none
	text  []byte // of it
	ends  []int  // of the lines in text, the first one's beginning before them
}

// sideOrder is what the side channel says about the records of one table.
type sideOrder struct {
	side   *side
	shapes [][]uint32 // the orders of members: see [side]; none if there are only exceptions
	rows   int64      // of the table
	blocks []sideBlock
	at     []int64 // rows that are exceptions, ascending
	line   []int64 // their lines

	block int    // of rows, that is decoded; -1 for none; guarded
	now   []byte // its content; guarded
}

type sideBlock struct {
	at    int64 // in section /0, of the zstd frame
	size  int64
	width int
	shape int
	short []byte // the content, if it stood in the directory
}

type lineBlock struct {
	sideBlock
	first, lines int64
	plain        int64
}

// sideReader takes varints off an input.
type sideReader struct{ in *input }

func (r sideReader) uvarint() uint64 {
	var v uint64
	for shift := 0; shift < 64; shift += 7 {
		b := r.in.u8()
		if r.in.err != nil {
			return 0
		}
		if shift == 63 && b > 1 {
			break
		}
		v |= uint64(b&0x7F) << shift
		if b < 0x80 {
			return v
		}
	}
	r.in.fail(r.in.offset(), ErrLength, "a number of more than 64 bits")
	return 0
}

func (r sideReader) varint() int64 {
	v := r.uvarint()
	return int64(v>>1) ^ -int64(v&1)
}

// openPlain makes in read b, which is said to be from a section.
func (in *input) openPlain(name string, b []byte) {
	in.open(section{name: name}, -1)
	in.src = bytes.NewReader(b)
}

// short reads the content of a block that stands in the directory. What is returned is lack of memory.
func (r sideReader) short(p *pool, b *sideBlock, size int64) error {
	b.short = []byte{}
	for int64(len(b.short)) < size && r.in.err == nil {
		piece := make([]byte, min(size-int64(len(b.short)), 4<<10))
		if err := p.take(int64(len(piece))); err != nil {
			return err
		}
		r.in.full(piece)
		b.short = append(b.short, piece...)
	}
	return nil
}

// loadSide reads the directory of the side channel that payload finds in section data. It returns nil if the version is
// unknown. An error is what makes the side channel useless, a *CorruptError, or a *LimitError; the archive can be read
// without it.
func loadSide(p *pool, in *input, payload []byte, data section, t *tree, m *schemas, ts *tables) (*side, error) {
	wrong := func(err error, detail string, args ...any) error {
		return corrupt("metadata", 0, err, "side channel: "+detail, args...)
	}
	if len(payload) < len(sideMagic)+1 || string(payload[:len(sideMagic)]) != sideMagic || payload[len(sideMagic)] != sideVersion {
		return nil, nil // of somebody else, or of another version
	}
	f := &varints{b: payload[len(sideMagic)+1:]}
	first := f.number(data.size)
	at := first + f.number(data.size-first)
	size := f.number(data.size - at)
	if f.short {
		return nil, wrong(ErrShort, "packet of %d bytes, section of %d", len(payload), data.size)
	}
	s := &side{tables: map[int32]*sideOrder{}, data: data, limit: p.limit / 4, block: -1}
	if size == 0 {
		in.openPlain(sectionData, f.b)
	} else {
		sum := f.u32()
		if f.short || len(f.b) > 0 || size+skippableHead > data.size-at {
			return nil, wrong(ErrLength, "packet of %d bytes, directory of %d", len(payload), size)
		}
		directory := data.part(at+skippableHead, size)
		hash := crc32.New(castagnoli)
		if _, err := io.Copy(hash, io.NewSectionReader(directory.src, directory.off, directory.size)); err != nil {
			return nil, fmt.Errorf("archive: %s: %w", data.name, err)
		}
		if hash.Sum32() != sum {
			return nil, wrong(ErrSide, "checksum of the directory")
		}
		in.open(directory, -1)
	}
	records := map[int32]int64{}
	for i := range ts.list {
		if tb := &ts.list[i]; tb.err == nil {
			records[m.list[tb.schema].id] = tb.records
		}
	}
	r := sideReader{in}
	next, end := first, at
	place := func(b *sideBlock, n uint64) bool {
		if n == 0 || n > uint64(end-next) || uint64(end-next)-n < skippableHead {
			in.fail(in.offset(), ErrShort, "side channel: a block of %d bytes at %d", n, next)
			return false
		}
		b.at, b.size = next+skippableHead, int64(n)
		next = b.at + b.size
		return true
	}
	id := uint64(0)
	for n := r.uvarint(); n > 0 && in.err == nil; n-- {
		id += r.uvarint()
		rows, ok := records[int32(id)]
		if in.err != nil {
			break
		}
		if id > math.MaxInt32 || !ok || s.tables[int32(id)] != nil {
			in.fail(in.offset(), ErrSide, "table of schema %d", id)
			break
		}
		o := &sideOrder{side: s, rows: rows, block: -1}
		s.tables[int32(id)] = o
		if err := p.take(200); err != nil {
			return nil, err
		}
		if err := o.load(r, p, t, place); err != nil {
			return nil, err
		}
	}
	lines := int64(0)
	for n := r.uvarint(); n > 0 && in.err == nil; n-- {
		b := lineBlock{first: lines}
		count, plain, packed := r.uvarint(), r.uvarint(), r.uvarint()
		if in.err == nil && (plain > uint64(s.limit) || count > plain) {
			in.fail(in.offset(), ErrLength, "side channel: %d lines of %d bytes", count, plain)
		}
		if in.err == nil && packed == 0 {
			if err := r.short(p, &b.sideBlock, int64(plain)); err != nil {
				return nil, err
			}
		}
		if in.err != nil || packed > 0 && !place(&b.sideBlock, packed) {
			break
		}
		if err := p.take(64); err != nil {
			return nil, err
		}
		b.lines, b.plain = int64(count), int64(plain)
		lines += b.lines
		s.lines = append(s.lines, b)
	}
	if err := in.finish(); err != nil {
		return nil, err
	}
	for id, o := range s.tables {
		if n := len(o.line); n > 0 && o.line[n-1] >= lines {
			return nil, wrong(ErrSide, "schema %d has line %d of %d", id, o.line[n-1], lines)
		}
	}
	var err error
	s.dec, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(8<<20))
	return s, err
}

// load reads what the directory has of one table. What is wrong with it is in.err; what is returned is lack of memory.
func (o *sideOrder) load(r sideReader, p *pool, t *tree, place func(*sideBlock, uint64) bool) error {
	in := r.in
	for n := r.uvarint(); n > 0 && in.err == nil; n-- {
		if len(o.shapes) == maxShapes {
			in.fail(in.offset(), ErrSide, "%d shapes more", n)
			return nil
		}
		var tokens []uint32
		token := int64(0)
		for n := r.uvarint(); n > 0 && in.err == nil; n-- {
			token += r.varint()
			if in.err == nil && (token < 0 || token>>1 >= int64(len(t.nodes))) {
				in.fail(in.offset(), ErrSide, "node %d in a shape", token>>1)
			}
			if len(tokens) == cap(tokens) {
				if err := p.take(4 * int64(max(len(tokens), 16))); err != nil {
					return err
				}
				tokens = append(make([]uint32, 0, 2*max(len(tokens), 16)), tokens...)
			}
			tokens = append(tokens, uint32(token))
		}
		if err := p.take(24); err != nil {
			return err
		}
		o.shapes = append(o.shapes, tokens)
	}
	if len(o.shapes) > 1 {
		for from := int64(0); from < o.rows && in.err == nil; from += sideRows {
			v := r.uvarint()
			b := sideBlock{width: int(v & 3)}
			switch {
			case in.err != nil:
			case b.width == 0 && v>>2 < uint64(len(o.shapes)):
				b.shape = int(v >> 2)
			case v == 3:
				b.width = 1
				if err := r.short(p, &b, min(o.rows-from, sideRows)); err != nil {
					return err
				}
			case b.width == 1 || b.width == 2:
				place(&b, v>>2)
			default:
				in.fail(in.offset(), ErrSide, "shapes of rows: %d", v)
			}
			if err := p.take(40); err != nil {
				return err
			}
			o.blocks = append(o.blocks, b)
		}
	}
	n := r.uvarint()
	if in.err == nil && n > uint64(o.rows) {
		in.fail(in.offset(), ErrSide, "%d exceptions of %d rows", n, o.rows)
	}
	for _, list := range []*[]int64{&o.at, &o.line} {
		last := int64(0)
		for i := uint64(0); i < n && in.err == nil; i++ {
			d := r.uvarint()
			if in.err == nil && (d > math.MaxInt64-uint64(last) || i > 0 && d == 0) {
				in.fail(in.offset(), ErrSide, "exceptions out of order")
			}
			if last += int64(d); in.err == nil && list == &o.at && last >= o.rows {
				in.fail(in.offset(), ErrSide, "exception %d of %d rows", last, o.rows)
			}
			if len(*list) == cap(*list) {
				if err := p.take(8 * int64(max(len(*list), 16))); err != nil {
					return err
				}
				*list = append(make([]int64, 0, 2*max(len(*list), 16)), *list...)
			}
			*list = append(*list, last)
		}
	}
	return nil
}

// close frees what s holds. Its blocks cannot be read afterwards.
func (s *side) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.dec != nil {
		s.dec.Close()
		s.dec = nil
	}
}

// order returns what is said about the records of a schema, nil if they have the order that the format gives and none is an
// exception. s may be nil.
func (s *side) order(schema int32) *sideOrder {
	if s == nil {
		return nil
	}
	return s.tables[schema]
}

// shape returns the index in o.shapes of the order of a row's members, or -1 if it is the one that the format gives.
func (o *sideOrder) shape(row int64) (int, error) {
	if len(o.shapes) < 2 {
		return len(o.shapes) - 1, nil
	}
	i := int(row / sideRows)
	if row < 0 || i >= len(o.blocks) {
		return 0, fmt.Errorf("%w: shape of row %d of %d", ErrSide, row, o.rows)
	}
	b := &o.blocks[i]
	if b.width == 0 {
		return b.shape, nil
	}
	o.side.mu.Lock()
	defer o.side.mu.Unlock()
	if o.block != i {
		o.block = -1
		want := min(o.rows-int64(i)*sideRows, sideRows) * int64(b.width)
		var err error
		if o.now, err = o.side.decode(b, want, o.now[:0]); err != nil {
			return 0, err
		}
		o.block = i
	}
	at := int(row%sideRows) * b.width
	shape := int(o.now[at])
	if b.width == 2 {
		shape |= int(o.now[at+1]) << 8
	}
	if shape >= len(o.shapes) {
		return 0, fmt.Errorf("%w: shape %d of %d", ErrSide, shape, len(o.shapes))
	}
	return shape, nil
}

// appendException appends the JSON of a row that is an exception, as it was written. It reports whether the row is one.
func (o *sideOrder) appendException(dst []byte, row int64) ([]byte, bool, error) {
	i, found := slices.BinarySearch(o.at, row)
	if !found {
		return dst, false, nil
	}
	dst, err := o.side.appendLine(dst, o.line[i])
	return dst, true, err
}

func (s *side) appendLine(dst []byte, number int64) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	i, found := slices.BinarySearchFunc(s.lines, number, func(b lineBlock, n int64) int { return cmp.Compare(b.first, n) })
	if !found {
		i--
	}
	b := &s.lines[i]
	if s.block != i {
		s.block = -1
		var err error
		if s.text, err = s.decode(&b.sideBlock, b.plain, s.text[:0]); err != nil {
			return dst, err
		}
		at := 0
		s.ends = append(s.ends[:0], 0)
		for range b.lines {
			n, k := binary.Uvarint(s.text[at:])
			if k <= 0 || n > uint64(len(s.text)) {
				return dst, fmt.Errorf("%w: length of a line", ErrSide)
			}
			at += k
			s.ends = append(s.ends, int(n))
		}
		for j := range s.ends {
			if at += s.ends[j]; at > len(s.text) {
				return dst, fmt.Errorf("%w: lines end at byte %d of %d", ErrSide, at, len(s.text))
			}
			s.ends[j] = at
		}
		s.block = i
	}
	n := number - b.first
	if n >= b.lines {
		return dst, fmt.Errorf("%w: line %d", ErrSide, number)
	}
	return append(dst, s.text[s.ends[n]:s.ends[n+1]]...), nil
}

// decode appends the want bytes of a block to dst. s.mu is held.
func (s *side) decode(b *sideBlock, want int64, dst []byte) ([]byte, error) {
	if s.dec == nil {
		return dst, ErrClosed
	}
	if b.short != nil {
		if int64(len(b.short)) != want {
			return dst, fmt.Errorf("%w: block of %d bytes, want %d", ErrSide, len(b.short), want)
		}
		return append(dst, b.short...), nil
	}
	block := s.data.part(b.at, b.size)
	if err := s.dec.Reset(io.NewSectionReader(block.src, block.off, block.size)); err != nil {
		return dst, fmt.Errorf("%w: %w", ErrSide, err)
	}
	buf := bytes.NewBuffer(dst)
	n, err := io.Copy(buf, io.LimitReader(s.dec, want+1))
	if err != nil {
		return dst, fmt.Errorf("%w: %w", ErrSide, err)
	}
	s.spent.add(b.size, n)
	if n != want {
		return dst, fmt.Errorf("%w: block of %d bytes, want %d", ErrSide, n, want)
	}
	return buf.Bytes(), nil
}
