package archive

import (
	"encoding/binary"
	"hash/crc32"
	"math"

	"github.com/klauspost/compress/zstd"
)

// dictFrame is a frame of a dictionary that is being made.
type dictFrame struct {
	packed, plain, entries int
	filter                 []byte
}

// newDictFrame describes a frame of whole entries: plain is what it holds, packed how many bytes it takes in the file. Its filter gets so
// many bits an entry.
func newDictFrame(plain []byte, packed, bits int) dictFrame {
	f := dictFrame{packed: packed, plain: len(plain)}
	var hashes []uint64
	for len(plain) >= 8 {
		n := binary.LittleEndian.Uint64(plain)
		plain = plain[8:]
		if n > uint64(len(plain)) {
			break // no entries of ours
		}
		hashes = append(hashes, hashText(plain[:n]))
		plain = plain[n:]
	}
	f.entries = len(hashes)
	f.filter = makeFilter(hashes, bits)
	return f
}

// filterFrames is how many frames a dictionary has, at least, for filters to pay.
const filterFrames = 3

// indexBuilder puts the index of an archive together when all its parts are known. What is told to it comes in the order
// of the archive: streams with their frames, tables.
type indexBuilder struct {
	streams [][2]int // first and last frame
	frames  [][2]int // packed, plain
	dicts   [3][]dictFrame
	epochs  *reuseBits
	tables  []byte
	count   int // of tables
}

func newIndexBuilder() *indexBuilder { return &indexBuilder{} }

// stream begins a stream.
func (b *indexBuilder) stream() {
	b.streams = append(b.streams, [2]int{len(b.frames), len(b.frames)})
}

// frame adds a frame to the stream.
func (b *indexBuilder) frame(packed, plain int) {
	b.frames = append(b.frames, [2]int{packed, plain})
	b.streams[len(b.streams)-1][1]++
}

// dictionary says what the frames of a dictionary are: 0 is /var.dict, 1 /log.dict, 2 /array.dict.
func (b *indexBuilder) dictionary(which int, frames []dictFrame) { b.dicts[which] = frames }

// reuse says which entries of /var.dict occur late.
func (b *indexBuilder) reuse(u *reuseBits) { b.epochs = u }

// table adds a table and its columns, of which there may be nothing to say: nil.
func (b *indexBuilder) table(records int64, columns []*columnIndex) {
	b.count++
	t := binary.AppendUvarint(b.tables, uint64(records))
	t = binary.AppendUvarint(t, uint64(len(columns)))
	for _, c := range columns {
		t = c.append(t)
	}
	b.tables = t
}

func (c *columnIndex) append(t []byte) []byte {
	c.finish()
	flags := byte(0)
	encoded := c.typ == ClpString || c.typ == UnstructuredArray
	if encoded {
		flags |= statVariables
	}
	if len(c.blocks) > 0 {
		flags |= statRange
		if c.typ.isDelta() {
			flags |= statStart
		}
		if c.typ.isID() {
			flags |= statSet
		}
	}
	t = append(t, flags)
	if encoded {
		t = binary.AppendUvarint(t, uint64(c.variables))
	}
	var last int64
	for i := range c.blocks {
		st := &c.blocks[i]
		t = binary.AppendVarint(t, st.min-last)
		last = st.min
		t = binary.AppendUvarint(t, uint64(st.max)-uint64(st.min))
		if flags&statStart != 0 {
			t = binary.AppendVarint(t, st.start-st.min)
		}
		if flags&statSet != 0 {
			t = binary.LittleEndian.AppendUint64(t, st.mask)
			t = binary.AppendUvarint(t, uint64(len(st.set)))
			var last uint64
			for _, e := range st.set {
				t = binary.AppendUvarint(t, e.id-last)
				t = binary.AppendUvarint(t, uint64(e.count))
				last = e.id
			}
		}
	}
	return t
}

// finish returns the skippable frame, and the packet of the metadata that says that it is at offset of section /0. It
// returns nothing if the index would be too large for a frame.
func (b *indexBuilder) finish(enc *zstd.Encoder, offset uint64) (frame, packet []byte) {
	x := binary.AppendUvarint(nil, uint64(len(b.streams)))
	for _, s := range b.streams {
		x = binary.AppendUvarint(x, uint64(s[1]-s[0]))
		for _, f := range b.frames[s[0]:s[1]] {
			x = binary.AppendUvarint(x, uint64(f[0]))
			x = binary.AppendUvarint(x, uint64(f[1]))
		}
	}
	var filters []byte
	entries := 0
	for d, frames := range b.dicts {
		x = binary.AppendUvarint(x, uint64(len(frames)))
		from := len(filters)
		for _, f := range frames {
			if len(frames) < filterFrames {
				f.filter = nil
			}
			for _, n := range []int{f.packed, f.plain, f.entries, len(f.filter)} {
				x = binary.AppendUvarint(x, uint64(n))
			}
			filters = append(filters, f.filter...)
			if d == 0 {
				entries += f.entries
			}
		}
		x = binary.LittleEndian.AppendUint32(x, crc32.Checksum(filters[from:], castagnoli))
	}
	x = b.appendReuse(x, entries)
	x = binary.AppendUvarint(x, uint64(b.count))
	x = append(x, b.tables...)

	frame = append(make([]byte, 0, len(x)/2+len(filters)+64), 0, 0, 0, 0, 0, 0, 0, 0)
	frame = enc.EncodeAll(x, frame)
	packed := frame[8:]
	packet = append(append(packet, indexMagic...), indexVersion)
	packet = binary.LittleEndian.AppendUint64(packet, offset+8)
	packet = binary.LittleEndian.AppendUint32(packet, uint32(len(packed)))
	packet = binary.LittleEndian.AppendUint32(packet, crc32.Checksum(packed, castagnoli))
	frame = append(frame, filters...)
	if uint64(len(frame)-8) > math.MaxUint32 {
		return nil, nil
	}
	binary.LittleEndian.PutUint32(frame, skipMagic)
	binary.LittleEndian.PutUint32(frame[4:], uint32(len(frame)-8))
	return frame, packet
}

// appendReuse appends the epochs and what occurs in more than one.
func (b *indexBuilder) appendReuse(x []byte, entries int) []byte {
	if b.epochs == nil || len(b.epochs.counts) < 2 { // of one epoch there is nothing to say
		return append(x, 0, 0)
	}
	x = binary.AppendUvarint(x, uint64(len(b.epochs.counts)))
	for i, at := range b.epochs.counts {
		next := at
		if i+1 < len(b.epochs.counts) {
			next = b.epochs.counts[i+1]
		}
		x = binary.AppendUvarint(x, uint64(next-at))
	}
	reused := b.epochs.bytes(entries)
	x = binary.AppendUvarint(x, uint64(len(reused)))
	return append(x, reused...)
}
