package archive

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"math"
	"slices"
)

// The side channel keeps what the format loses of records, so that they can be had back as they were: the order of their
// members, and the members of which an object has several with the same key and type. It stands in skippable zstd frames
// behind the last stream of section /0, where other programs do not look, and is found by a metadata packet of a type of
// its own. An archive without it has nothing to say: all records have their members in the order that their schema gives.
//
//	packet    = "THside" u8 version=2; offset in /0 of the first block; bytes of the blocks;
//	            bytes of the directory, compressed, u32 CRC-32C of these; or 0, directory
//	section   = streams … block … directory    each block, and the directory: 0x184D2A5D, u32 bytes, zstd frame
//	directory = number of tables, table …; number of line blocks, each: lines, bytes, compressed bytes; or lines, bytes, 0, line block
//	table     = schema ID, less the one before; number of shapes, shape …; block of rows …; exceptions
//	shape     = number of tokens; token …, each as its zigzag difference to the one before, the first to 0; no tokens: the
//	            order that the format gives
//	token     = 2·node for a leaf, 2·node+1 for an object that begins; objects end where the next token is not inside them.
//	            Behind the members of the record stand those of the root "@"
//	rows      = only of a table with two shapes or more, one for each 65,536 rows, the last for the rest:
//	            4·bytes+width; width 1 or 2: bytes of the block, which has the shape of each row in so many bytes;
//	            width 0: there is no block, all rows have shape number bytes; 3 as a whole: the shape of each row follows, in a byte
//	exceptions = number; row …, each less the one before, the first as it is; line …, likewise
//	line block = bytes of JSON of each line, then the lines
//
// All numbers without a width are unsigned varints. What is short stands where it is told of. Blocks stand in the order of the directory: rows, table by table, then
// lines. Tables of which every record has the order that the format gives, and no exception, are left out. The shape of
// an exception says nothing: its line is the record, and behind it the object of the root "@" if it has members; the columns of the table have the first of each value that it has
// twice.
const (
	packetSide    = 0x91
	sideMagic     = "THside"
	sideVersion   = 2
	sideSkippable = 0x184D2A5D

	sideRows  = 1 << 16   // of a block
	sideLines = 256 << 10 // bytes of lines that make a block
	maxShapes = 1 << 16   // of a table; records of more are exceptions
	noShape   = -1

	// What stands in the packet and in the directory: a directory, the rows of a table, lines.
	shortDirectory = 4 << 10
	shortRows      = 256
	shortLines     = 1 << 10

	tokenBegin    = 1
	skippableHead = 8
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// sideTable is what the side channel keeps of one table, as it is being made.
type sideTable struct {
	shapes [][]uint32 // tokens
	rows   int64      // before the block
	blocks []rowBlock // of rows, that are full
	block  []uint16   // shapes of the rows since, nil if they all have the last one of fill
	fill   uint16     // shape of the rows of the block, if block is nil
	count  int        // rows of the block

	exceptions int
	at         []byte // rows of exceptions, as differences
	lines      []byte // their numbers, likewise
	lastAt     int64
	lastLine   int64
}

// rowBlock is the shapes of 65,536 rows.
type rowBlock struct {
	pack  []byte // nil if all have the same
	width int    // 3: pack is not compressed
	shape uint16
}

// number makes the tokens of a record, as ingest has them, a shape of the table and returns its number, or noShape if there are
// too many.
func (s *sideTable) number(w *Writer, key []byte) int {
	if len(s.shapes) == maxShapes {
		return noShape
	}
	tokens := make([]uint32, len(key)/4)
	for i := range tokens {
		tokens[i] = binary.LittleEndian.Uint32(key[4*i:])
	}
	s.shapes = append(s.shapes, tokens)
	w.held.Add(int64(int64(len(key)) + 24))
	return len(s.shapes) - 1
}

// add notes the shape of the next row; noShape is that of an exception.
func (s *sideTable) add(w *Writer, shape int) {
	if shape == noShape {
		shape = int(s.fill)
	}
	v := uint16(shape)
	switch {
	case s.block != nil:
		before := cap(s.block)
		s.block = append(s.block, v)
		if now := cap(s.block); now != before {
			w.held.Add(int64(2 * (now - before)))
		}
	case s.count == 0:
		s.fill = v
	case v != s.fill:
		s.block = make([]uint16, s.count, s.count+s.count/2+16)
		for i := range s.block {
			s.block[i] = s.fill
		}
		s.block = append(s.block, v)
		w.held.Add(int64(2 * cap(s.block)))
	}
	if s.count++; s.count == sideRows {
		s.flush(w)
	}
}

// flush ends the block of rows.
func (s *sideTable) flush(w *Writer) {
	b := rowBlock{shape: s.fill}
	if s.block != nil {
		b.width = 1
		for _, v := range s.block {
			if v > math.MaxUint8 {
				b.width = 2
			}
		}
		plain := make([]byte, 0, b.width*len(s.block))
		for _, v := range s.block {
			plain = append(plain, byte(v))
			if b.width == 2 {
				plain = append(plain, byte(v>>8))
			}
		}
		if len(plain) <= shortRows && b.width == 1 {
			b.pack, b.width = plain, 3
		} else {
			b.pack = w.packer.small(plain)
		}
		w.held.Add(int64(len(b.pack) - 2*cap(s.block)))
		s.fill = s.block[len(s.block)-1]
	}
	s.blocks = append(s.blocks, b)
	s.rows += int64(s.count)
	s.block, s.count = nil, 0
}

// except notes that the record that comes next in the table is an exception, whose line is the one with the number.
func (s *sideTable) except(w *Writer, row, line int64) {
	n := len(s.at) + len(s.lines)
	s.at = binary.AppendUvarint(s.at, uint64(row-s.lastAt))
	s.lines = binary.AppendUvarint(s.lines, uint64(line-s.lastLine))
	s.lastAt, s.lastLine = row, line
	s.exceptions++
	w.held.Add(int64(int64(len(s.at) + len(s.lines) - n)))
}

// sideLinesWriter collects the lines of exceptions.
type sideLinesWriter struct {
	count  int64 // of all
	sizes  []byte
	text   []byte
	lines  int // of the block
	blocks []lineBlockHead
	packs  [][]byte
}

// lineBlockHead is what the directory says of lines; packed is 0 if they stand there.
type lineBlockHead struct{ lines, plain, packed int }

func (l *sideLinesWriter) add(w *Writer, line []byte) (number int64) {
	l.sizes = binary.AppendUvarint(l.sizes, uint64(len(line)))
	l.text = append(l.text, line...)
	w.held.Add(int64(int64(len(line)) + 2))
	l.lines++
	if len(l.text) >= sideLines {
		l.flush(w)
	}
	l.count++
	return l.count - 1
}

func (l *sideLinesWriter) flush(w *Writer) {
	if l.lines == 0 {
		return
	}
	plain := append(l.sizes, l.text...)
	var pack []byte
	if len(plain) <= shortLines {
		pack = bytes.Clone(plain)
		l.blocks = append(l.blocks, lineBlockHead{l.lines, len(plain), 0})
	} else {
		pack = w.packer.small(plain)
		l.blocks = append(l.blocks, lineBlockHead{l.lines, len(plain), len(pack)})
	}
	l.packs = append(l.packs, pack)
	w.held.Add(int64(int64(len(pack)) - int64(len(l.text)) - 2*int64(l.lines)))
	l.sizes, l.text, l.lines = l.sizes[:0], l.text[:0], 0
}

// sideFrames makes the frames of the side channel, which are to stand at offset of section /0, and the payload of the packet
// that finds them. Both are nil if there is nothing to say.
func (w *Writer) sideFrames(offset int64) (frames [][]byte, packet []byte) {
	first := offset
	put := func(pack []byte) {
		head := binary.LittleEndian.AppendUint32(nil, sideSkippable)
		frames = append(frames, binary.LittleEndian.AppendUint32(head, uint32(len(pack))), pack)
		offset += skippableHead + int64(len(pack))
	}
	var tables []byte
	count, lastID := 0, 0
	for id, t := range w.order {
		s := &t.side
		if s.exceptions == 0 && (len(s.shapes) == 0 || len(s.shapes) == 1 && t.canonical(w.nodes, s.shapes[0])) {
			continue
		}
		count++
		tables = binary.AppendUvarint(tables, uint64(id-lastID))
		lastID = id
		tables = binary.AppendUvarint(tables, uint64(len(s.shapes)))
		for _, tokens := range s.shapes {
			if t.canonical(w.nodes, tokens) {
				tokens = nil
			}
			tables = binary.AppendUvarint(tables, uint64(len(tokens)))
			before := int64(0)
			for _, t := range tokens {
				tables = binary.AppendVarint(tables, int64(t)-before)
				before = int64(t)
			}
		}
		if len(s.shapes) > 1 {
			if s.count > 0 {
				s.flush(w)
			}
			for i := range s.blocks {
				b := &s.blocks[i]
				switch b.width {
				case 0:
					tables = binary.AppendUvarint(tables, uint64(b.shape)<<2)
				case 3:
					tables = append(append(tables, 3), b.pack...)
				default:
					tables = binary.AppendUvarint(tables, uint64(len(b.pack))<<2|uint64(b.width))
					put(b.pack)
				}
			}
		}
		tables = binary.AppendUvarint(tables, uint64(s.exceptions))
		tables = append(append(tables, s.at...), s.lines...)
	}
	if count == 0 {
		return nil, nil
	}
	w.sideLines.flush(w)
	directory := append(binary.AppendUvarint(nil, uint64(count)), tables...)
	directory = binary.AppendUvarint(directory, uint64(len(w.sideLines.blocks)))
	for i, b := range w.sideLines.blocks {
		directory = binary.AppendUvarint(directory, uint64(b.lines))
		directory = binary.AppendUvarint(directory, uint64(b.plain))
		directory = binary.AppendUvarint(directory, uint64(b.packed))
		if b.packed == 0 {
			directory = append(directory, w.sideLines.packs[i]...)
		} else {
			put(w.sideLines.packs[i])
		}
	}
	packet = sidePayload(first, offset)
	if len(directory) <= shortDirectory {
		return frames, append(append(packet, 0), directory...)
	}
	pack := w.packer.small(directory)
	put(pack)
	return frames, sideDirectory(packet, pack)
}

// sidePayload begins the packet that finds the blocks from first up to end.
func sidePayload(first, end int64) []byte {
	packet := append([]byte(sideMagic), sideVersion)
	packet = binary.AppendUvarint(packet, uint64(first))
	return binary.AppendUvarint(packet, uint64(end-first))
}

// sideDirectory ends the packet with a directory that stands behind the blocks.
func sideDirectory(packet, pack []byte) []byte {
	packet = binary.AppendUvarint(packet, uint64(len(pack)))
	return binary.LittleEndian.AppendUint32(packet, crc32.Checksum(pack, castagnoli))
}

// canonical reports whether tokens are the order that the format gives.
func (t *tableWriter) canonical(nodes []Node, tokens []uint32) bool {
	if len(t.roots) == 0 {
		ascending := true
		for i, token := range tokens[min(1, len(tokens)):] {
			if ascending = token>>1 > tokens[i]>>1; !ascending {
				break
			}
		}
		if ascending { // an object's node comes before what is in it, and those are all inside the object that is open
			return true
		}
	}
	return slices.Equal(tokens, canonicalTokens(nodes, append(slices.Clone(t.entries[:t.ordered]), t.roots...)))
}

// canonicalTokens returns the shape that the format gives the records of a schema without structured arrays: each entry by
// ascending ID, with the objects around it where they are first needed.
func canonicalTokens(nodes []Node, entries []int32) []uint32 {
	members := map[int32][]int32{}
	known := map[int32]bool{}
	auto := int32(-1)
	insert := func(id int32) {
		for id != nodeObject && !known[id] {
			if nodes[id].Parent < 0 {
				auto = id
				return
			}
			known[id] = true
			members[nodes[id].Parent] = append(members[nodes[id].Parent], id)
			id = nodes[id].Parent
		}
	}
	arrays := []int32{}
	for _, id := range entries {
		switch {
		case id <= nodeOrder:
		case nodes[id].Type == StructuredArray:
			arrays = append(arrays, id)
		default:
			insert(id)
		}
	}
	for _, id := range arrays {
		insert(id)
	}
	if len(known) == 0 {
		return []uint32{nodeObject << 1}
	}
	var tokens []uint32
	var walk func(id int32)
	walk = func(id int32) {
		for _, m := range members[id] {
			if len(members[m]) == 0 {
				tokens = append(tokens, uint32(m)<<1)
				continue
			}
			tokens = append(tokens, uint32(m)<<1|tokenBegin)
			walk(m)
		}
	}
	walk(nodeObject)
	if auto >= 0 {
		walk(auto)
	}
	return tokens
}
