package archive

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"slices"
	"sort"
)

// The index says what is where in an archive, so that a search need not decode the rest. Archives that this package writes
// have one; other programs do not see it, and nothing needs it. It stands at the end of section /0:
//
//	skippable zstd frame = u32 magic 0x184D2A5B, u32 size, content
//	content              = zstd( index ) filters of /var.dict, of /log.dict, of /array.dict
//
// A packet of the metadata, of type packetIndex, tells where:
//
//	"tixA", u8 version 1, u64 offset of the content in /0, u32 bytes of the compressed index, u32 CRC-32C of them
//
// The index itself is varints (of encoding/binary; zig-zag where a number may be negative), and little-endian words where
// it says so:
//
//	streams, each:        frames, each: bytes in the file, bytes of plain text
//	three dictionaries:   frames, each: bytes in the file, bytes of plain text, entries, bytes of its filter
//	                      u32 CRC-32C of the filters, which stand one behind the other; see filter.go
//	epochs, each:         entries of /var.dict that it adds; the last one's are not told
//	bytes, and so many:   a bit for each entry of /var.dict: it occurs in a later epoch, too; see reuseBits
//	tables, each:         records, columns (0: nothing is said of them), each: u8 what is said, as below
//	                      variables, if statVariables
//	                      blocks of blockRows rows, if statRange, each:
//	                        minimum (zig-zag, minus that of the block before), maximum - minimum
//	                        start - minimum (zig-zag), if statStart
//	                        u64 mask, entries listed, each: its number minus the one before, rows, if statSet
//
// Nothing of it is believed before it is known to be whole, and to agree with the lists of streams and tables and with the
// sizes of the sections.
const (
	indexMagic   = "tixA"
	indexVersion = 1
	packetIndex  = 0x90

	indexPacketSize = len(indexMagic) + 1 + 8 + 4 + 4

	skipMagic = 0x184D2A5B
)

// What the index says of a column.
const (
	statRange = 1 << iota
	statStart
	statSet
	statVariables
)

// frame is a zstd frame of a stream or of a dictionary.
type frame struct {
	at, size      int64 // in the file, from the begin of the first frame on
	plain, length int64 // in the plain text of the stream or dictionary
	entries       int64 // of a dictionary
}

// appendFrame appends a frame that follows the last one.
func appendFrame(list []frame, size, length, entries int64) []frame {
	f := frame{size: size, length: length, entries: entries}
	if n := len(list); n > 0 {
		f.at, f.plain = list[n-1].at+list[n-1].size, list[n-1].plain+list[n-1].length
	}
	return append(list, f)
}

// totals returns the bytes of all frames, in the file and plain.
func totals(list []frame) (size, length int64) {
	if n := len(list); n > 0 {
		f := &list[n-1]
		return f.at + f.size, f.plain + f.length
	}
	return 0, 0
}

// findFrame returns the number of the frame that holds a byte of the plain text, len(list) if none does.
func findFrame(list []frame, off int64) int {
	return sort.Search(len(list), func(i int) bool { return list[i].plain+list[i].length > off })
}

// dictIndex is what the index says of a dictionary.
type dictIndex struct {
	frames  []frame
	filters []int64  // where the filter of each frame ends among those of the dictionary
	from    int64    // of the filters in section /0
	sum     uint32   // of the filters
	held    [][]byte // the filters, if they were read and kept
}

// columnStats is what the index says of a column of a table.
type columnStats struct {
	blocks    []blockStats // nil if nothing
	variables int64        // -1 if it does not say
}

// archiveIndex is the index of an archive.
type archiveIndex struct {
	streams [][]frame
	dicts   [3]dictIndex
	epochs  []int64 // entries of /var.dict at the begin of each epoch
	reused  []byte
	tables  [][]columnStats // nil if nothing is said of a table
}

// streamFrames returns the frames of a stream.
func (x *archiveIndex) streamFrames(stream int) []frame { return x.streams[stream] }

// dictFrames returns the frames of a dictionary.
func (x *archiveIndex) dictFrames(section string) []frame {
	return x.dicts[slices.Index(dictSections[:], section)].frames
}

var dictSections = [3]string{sectionVars, sectionLogs, sectionArrays}

// columns returns what is known of the columns of a table, in their order; nil if nothing.
func (x *archiveIndex) columns(table int) []columnStats { return x.tables[table] }

// parseIndexPacket reads the metadata's packet.
func parseIndexPacket(b []byte) (offset uint64, size, sum uint32, err error) {
	switch {
	case len(b) < len(indexMagic)+1 || string(b[:len(indexMagic)]) != indexMagic:
		return 0, 0, 0, fmt.Errorf("no index of ours")
	case b[len(indexMagic)] != indexVersion:
		return 0, 0, 0, fmt.Errorf("version %d of the index", b[len(indexMagic)])
	case len(b) != indexPacketSize:
		return 0, 0, 0, fmt.Errorf("a packet of %d bytes", len(b))
	}
	b = b[len(indexMagic)+1:]
	return binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint32(b[8:]), binary.LittleEndian.Uint32(b[12:]), nil
}

// varints takes numbers off a slice. When it is too short, or a number is too large, short is set and what follows is
// zero.
type varints struct {
	b      []byte
	short  bool
	memory int64 // that what is read may still take
}

const (
	frameBytes = 40
	blockBytes = 72
)

// take accounts for memory.
func (p *varints) take(n int64) {
	if p.memory -= n; p.memory < 0 {
		p.fail()
	}
}

func (p *varints) fail() {
	p.short, p.b = true, nil
}

// number reads a number that is at most limit.
func (p *varints) number(limit int64) int64 {
	v, n := binary.Uvarint(p.b)
	if n <= 0 || limit < 0 || v > uint64(limit) {
		p.fail()
		return 0
	}
	p.b = p.b[n:]
	return int64(v)
}

// count reads the number of things that follow and take size bytes each, at least.
func (p *varints) count(size int) int { return int(p.number(int64(len(p.b) / size))) }

func (p *varints) uint64() uint64 {
	v, n := binary.Uvarint(p.b)
	if n <= 0 {
		p.fail()
		return 0
	}
	p.b = p.b[n:]
	return v
}

func (p *varints) signed() int64 {
	v := p.uint64()
	return int64(v>>1) ^ -int64(v&1)
}

func (p *varints) bytes(n int) []byte {
	if n > len(p.b) {
		p.fail()
		return zeros[:0]
	}
	b := p.b[:n:n]
	p.b = p.b[n:]
	return b
}

func (p *varints) u32() uint32 {
	if b := p.bytes(4); len(b) == 4 {
		return binary.LittleEndian.Uint32(b)
	}
	return 0
}

func (p *varints) u64() uint64 {
	if b := p.bytes(8); len(b) == 8 {
		return binary.LittleEndian.Uint64(b)
	}
	return 0
}

// indexFacts is what an index must agree with.
type indexFacts struct {
	streams  []stream
	tables   []indexTable
	dicts    [3]int64 // bytes of the dictionaries' frames, before the skippable frame
	entries  [3]uint64
	filters  int64 // where they begin in section /0
	end      int64 // of section /0
	maxFrame int64 // plain bytes
	memory   int64 // bytes that the index may take
}

type indexTable struct {
	records int64
	size    int64
	columns []NodeType
}

// parseIndex reads the index from its plain bytes and holds it against the facts.
func parseIndex(b []byte, facts *indexFacts) (*archiveIndex, error) {
	p := &varints{b: b, memory: facts.memory}
	x := &archiveIndex{}
	if n := p.count(1); n != len(facts.streams) {
		return nil, fmt.Errorf("%d streams, the archive has %d", n, len(facts.streams))
	}
	for i := range facts.streams {
		st := &facts.streams[i]
		var list []frame
		for range p.count(2) {
			p.take(frameBytes)
			list = appendFrame(list, p.number(st.to-st.from), p.number(facts.maxFrame), 0)
			if size, _ := totals(list); size > st.to-st.from {
				return nil, fmt.Errorf("frames of stream %d have more bytes than it", i)
			}
		}
		if _, length := totals(list); uint64(length) != st.size {
			return nil, fmt.Errorf("frames of stream %d have %d bytes of %d", i, length, st.size)
		}
		x.streams = append(x.streams, list)
	}
	at := facts.filters
	for d := range x.dicts {
		di := &x.dicts[d]
		var entries, filters int64
		for range p.count(4) {
			p.take(frameBytes + 8)
			size, length := p.number(facts.dicts[d]), p.number(facts.maxFrame)
			n := p.number(length / 8)
			di.frames = appendFrame(di.frames, size, length, n)
			entries += n
			filters += p.number(facts.end - at - filters)
			di.filters = append(di.filters, filters)
			if size, _ := totals(di.frames); size > facts.dicts[d] {
				return nil, fmt.Errorf("frames of %s have more bytes than it", dictSections[d])
			}
		}
		if size, _ := totals(di.frames); uint64(entries) != facts.entries[d] || size != facts.dicts[d] {
			return nil, fmt.Errorf("%s has %d entries in %d bytes of frames", dictSections[d], entries, size)
		}
		di.from, di.sum = at, p.u32()
		at += filters
	}
	var count int64
	for range p.count(1) {
		x.epochs = append(x.epochs, count)
		count += p.number(int64(min(facts.entries[0], 1<<62)) - count)
	}
	x.reused = p.bytes(p.count(1))
	if len(x.epochs) > 0 && uint64(len(x.reused)) != (facts.entries[0]+7)/8 {
		p.fail()
	}
	if n := p.count(2); n != len(facts.tables) {
		return nil, fmt.Errorf("%d tables, the archive has %d", n, len(facts.tables))
	}
	for i := range facts.tables {
		columns, err := p.table(&facts.tables[i])
		if err != nil {
			return nil, fmt.Errorf("table %d: %w", i, err)
		}
		x.tables = append(x.tables, columns)
	}
	if p.short || len(p.b) > 0 {
		return nil, fmt.Errorf("it is too short or too long")
	}
	return x, nil
}

// table reads what is said of a table.
func (p *varints) table(t *indexTable) ([]columnStats, error) {
	if n := p.number(1 << 62); n != t.records {
		return nil, fmt.Errorf("%d records, the archive has %d", n, t.records)
	}
	n := p.count(1)
	if n == 0 {
		return nil, nil
	}
	if n != len(t.columns) {
		return nil, fmt.Errorf("%d columns, the archive has %d", n, len(t.columns))
	}
	p.take(40 * int64(n))
	list := make([]columnStats, n)
	left := t.size
	for i := range list {
		c, typ := &list[i], t.columns[i]
		var flags byte
		if b := p.bytes(1); len(b) == 1 {
			flags = b[0]
		}
		left -= min(typ.width(), left/max(t.records, 1)) * t.records
		encoded := typ == ClpString || typ == UnstructuredArray
		ranges := flags&statRange != 0
		if flags > 2*statVariables-1 || (flags&statStart != 0) != (ranges && typ.isDelta()) || (flags&statSet != 0) != (ranges && typ.isID()) ||
			(flags&statVariables != 0) != encoded {
			return nil, fmt.Errorf("column %d, a %v, has %#x said of it", i, typ, flags)
		}
		if c.variables = -1; encoded {
			c.variables = p.number(left / 8)
			left -= 8 + 8*c.variables
		}
		if !ranges {
			continue
		}
		blocks := (t.records + blockRows - 1) / blockRows
		if blocks > int64(len(p.b)/2) {
			return nil, fmt.Errorf("too short for %d blocks", blocks)
		}
		if p.take(blocks * blockBytes); p.short {
			return nil, fmt.Errorf("too many blocks")
		}
		c.blocks = make([]blockStats, blocks)
		var last int64
		for j := range c.blocks {
			st := &c.blocks[j]
			st.min = last + p.signed()
			width := p.uint64()
			st.max = st.min + int64(width)
			last = st.min
			if uint64(st.max)-uint64(st.min) != width || st.max < st.min {
				return nil, fmt.Errorf("column %d, block %d: from %d on %d", i, j, st.min, width)
			}
			if flags&statStart != 0 {
				st.start = st.min + p.signed()
			}
			if flags&statSet != 0 {
				st.mask = p.u64()
				st.set = p.set(min(blockRows, t.records-int64(j)*blockRows))
			}
		}
	}
	return list, nil
}

// set reads the entries of a block of so many rows.
func (p *varints) set(rows int64) []idCount {
	n := p.count(2)
	if n == 0 || n > maxSet {
		if n > maxSet {
			p.fail()
		}
		return nil
	}
	p.take(16 * int64(n))
	list := make([]idCount, n)
	var last uint64
	for i := range list {
		d := p.uint64()
		id, carry := bits.Add64(last, d, 0)
		c := p.number(rows)
		if carry != 0 || i > 0 && d == 0 || c == 0 {
			p.fail()
		}
		list[i] = idCount{id, c}
		last, rows = id, rows-c
	}
	if rows != 0 {
		p.fail()
	}
	return list
}
