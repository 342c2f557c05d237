package archive

import (
	"encoding/binary"
	"fmt"
	"log/slog"
	"math"
	"slices"
	"strings"
)

// packSize is what tables are packed together up to, uncompressed.
const packSize = 1 << 20

// Close writes the archive: header, metadata, sections. An archive without records has no tables; the reference cannot
// decompress it, but finds nothing in it. Close does not close the destination. The writer cannot be used afterwards.
func (w *Writer) Close() error {
	if w.err == ErrClosed {
		return nil
	}
	if w.err != nil {
		return w.err
	}
	w.err = ErrClosed
	err := w.assemble()
	if err != nil {
		w.err = err // there is no archive: each Close says so
	}
	w.enc.Close()
	w.textEnc.Close()
	return err
}

func (w *Writer) assemble() error {

	tree := bytesLE(nil, uint64(len(w.nodes)))
	for _, n := range w.nodes {
		tree = binary.LittleEndian.AppendUint32(tree, uint32(n.Parent))
		tree = appendText(tree, n.Key)
		tree = append(tree, byte(n.Type))
	}
	ids := bytesLE(nil, uint64(len(w.order)))
	for i, t := range w.order {
		ids = binary.LittleEndian.AppendUint32(ids, uint32(i))
		ids = binary.LittleEndian.AppendUint32(ids, uint32(len(t.entries)))
		ids = binary.LittleEndian.AppendUint32(ids, uint32(len(t.entries)))
		ids = append(ids, int32Bytes(t.entries)...)
	}
	list, data := w.pack()
	var own []ownPacket
	offset := int64(0)
	for _, b := range data {
		offset += int64(len(b))
	}
	frames, packet := w.sideFrames(offset)
	if packet != nil {
		data = append(data, frames...)
		own = append(own, ownPacket{packetSide, packet})
	}
	sections := [][][]byte{
		{w.enc.EncodeAll(tree, nil)}, {w.enc.EncodeAll(ids, nil)}, {w.enc.EncodeAll(list, nil)},
		w.vars.section(w), w.logs.section(w), w.arrays.section(w), data,
	}
	var offsets []uint64
	size := uint64(0)
	for _, s := range sections {
		offsets = append(offsets, size)
		for _, b := range s {
			size += uint64(len(b))
		}
	}
	metadata, err := w.metadata(offsets, own)
	if err != nil {
		return err
	}
	metadata = w.enc.EncodeAll(metadata, nil)
	if uint64(len(metadata)) > math.MaxUint32 {
		return &LimitError{What: "bytes of metadata", Limit: math.MaxUint32}
	}
	head := append(make([]byte, 0, headerSize), magic...)
	head = binary.LittleEndian.AppendUint32(head, 5<<16|1)
	head = bytesLE(head, w.input, headerSize+uint64(len(metadata))+size, 0, 0, 0, 0)
	head = binary.LittleEndian.AppendUint32(head, uint32(len(metadata)))
	head = binary.LittleEndian.AppendUint32(head, 0)
	for _, s := range append([][][]byte{{head, metadata}}, sections...) {
		for _, b := range s {
			if _, err := w.dst.Write(b); err != nil {
				return fmt.Errorf("archive: write: %w", err)
			}
		}
	}
	return nil
}

func bytesLE(dst []byte, list ...uint64) []byte {
	for _, v := range list {
		dst = binary.LittleEndian.AppendUint64(dst, v)
	}
	return dst
}

func appendText(dst []byte, s string) []byte { return append(bytesLE(dst, uint64(len(s))), s...) }

// section returns the bytes of a dictionary's section.
func (d *dictWriter) section(w *Writer) [][]byte {
	d.flush(w)
	return [][]byte{bytesLE(nil, uint64(d.count)), d.pack}
}

// pack lays the tables into streams, and returns the table list and the section of the streams. A table that was large
// enough to have been compressed in part is a stream of its own, each column in frames of its own; the others are packed
// together, the largest first.
func (w *Writer) pack() (list []byte, data [][]byte) {
	type entry struct {
		id    int
		table *tableWriter
		size  int64
	}
	var entries []entry
	for i, t := range w.order {
		entries = append(entries, entry{i, t, t.size()})
	}
	slices.SortStableFunc(entries, func(a, b entry) int { return int(min(max(b.size-a.size, -1), 1)) })
	var streams, tables []byte
	var offset, count uint64
	var plain []byte
	end := func(size uint64) {
		streams = bytesLE(streams, offset, size)
		count++
	}
	put := func(b []byte) {
		offset += uint64(len(b))
		data = append(data, b)
	}
	closeStream := func() {
		if len(plain) == 0 {
			return
		}
		end(uint64(len(plain)))
		put(w.enc.EncodeAll(plain, nil))
		plain = plain[:0]
	}
	for _, e := range entries {
		from := uint64(len(plain))
		large := e.size > packSize || e.table.packed()
		if large {
			closeStream()
			from = 0
		}
		tables = bytesLE(tables, count, from)
		tables = binary.LittleEndian.AppendUint32(tables, uint32(e.id))
		tables = bytesLE(tables, uint64(e.table.records))
		if large {
			end(uint64(e.size))
			e.table.parts(func(p *part) {
				p.flush(w)
				put(p.pack)
			})
			continue
		}
		e.table.parts(func(p *part) { plain = append(plain, p.plain...) })
		if len(plain) > packSize {
			closeStream()
		}
	}
	closeStream()
	list = append(bytesLE(nil, count), streams...)
	list = bytesLE(list, 0, uint64(len(entries)))
	return append(list, tables...), data
}

// metadata makes the packets, uncompressed.
func (w *Writer) metadata(offsets []uint64, own []ownPacket) ([]byte, error) {
	files := append([]byte("\x81\xA5files"), 0x90|byte(len(offsets)))
	for i, name := range sectionNames {
		files = append(files, 0x82, 0xA1, 'n')
		files = appendMsgpackString(files, name)
		files = appendMsgpackUint(append(files, 0xA1, 'o'), offsets[i])
	}
	packets := []ownPacket{{packetArchiveInfo, []byte("\x81\xACnum_segments\x01")}, {packetFiles, files}, {packetTimestamps, w.times()}}
	fields, err := appendMsgpackMap(nil, w.options.Fields)
	if err != nil {
		return nil, err
	}
	ranges := appendMsgpackUint([]byte{0x91, 0x83, 0xA1, 'e'}, uint64(w.records))
	ranges = append(append(ranges, 0xA1, 'f'), fields...)
	packets = append(packets, ownPacket{packetRanges, append(ranges, 0xA1, 's', 0)})
	packets = append(packets, own...)
	b := []byte{byte(len(packets))}
	for _, p := range packets {
		b = append(b, p.typ)
		b = binary.LittleEndian.AppendUint32(b, uint32(len(p.payload)))
		b = append(b, p.payload...)
	}
	return b, nil
}

// times makes the timestamp dictionary.
func (w *Writer) times() []byte {
	if !w.began {
		return bytesLE(nil, 0, 0)
	}
	var words []string
	for _, word := range w.options.TimeKey {
		words = append(words, escapeKey(word))
	}
	b := appendText(bytesLE(nil, 1), strings.Join(words, "."))
	b = bytesLE(b, 1)
	b = binary.LittleEndian.AppendUint32(b, uint32(w.timeNode()))
	floor, ceil := w.first/1e6, w.last/1e6
	if w.first%1e6 < 0 {
		floor--
	}
	if w.last%1e6 > 0 {
		ceil++
	}
	b = bytesLE(b, 1, uint64(floor), uint64(ceil), uint64(len(w.spelling)))
	for id, p := range w.spelling {
		b = appendText(bytesLE(b, uint64(id)), p)
	}
	return b
}

func (w *Writer) timeNode() int32 {
	return int32(slices.IndexFunc(w.nodes, func(n Node) bool { return n.Type == Timestamp }))
}

// escapeKey writes a key as a word of a path in a query.
func escapeKey(key string) string {
	var b strings.Builder
	for i := range len(key) {
		if strings.IndexByte(`\.*@$!#"`, key[i]) >= 0 {
			b.WriteByte('\\')
		}
		b.WriteByte(key[i])
	}
	return b.String()
}

func appendMsgpackString(dst []byte, s string) []byte {
	switch n := len(s); {
	case n < 32:
		dst = append(dst, 0xA0|byte(n))
	case n < 1<<8:
		dst = append(dst, 0xD9, byte(n))
	case n < 1<<16:
		dst = binary.BigEndian.AppendUint16(append(dst, 0xDA), uint16(n))
	default:
		dst = binary.BigEndian.AppendUint32(append(dst, 0xDB), uint32(n))
	}
	return append(dst, s...)
}

func appendMsgpackUint(dst []byte, v uint64) []byte {
	switch {
	case v < 128:
		return append(dst, byte(v))
	case v < 1<<8:
		return append(dst, 0xCC, byte(v))
	case v < 1<<16:
		return binary.BigEndian.AppendUint16(append(dst, 0xCD), uint16(v))
	case v < 1<<32:
		return binary.BigEndian.AppendUint32(append(dst, 0xCE), uint32(v))
	}
	return binary.BigEndian.AppendUint64(append(dst, 0xCF), v)
}

// appendMsgpackMap appends attributes as a map, in the order of their keys, as the reference does.
func appendMsgpackMap(dst []byte, attrs []slog.Attr) ([]byte, error) {
	attrs = slices.Clone(attrs)
	slices.SortStableFunc(attrs, func(a, b slog.Attr) int { return strings.Compare(a.Key, b.Key) })
	if len(attrs) >= 1<<16 {
		return nil, &LimitError{What: "fields", Limit: 1<<16 - 1}
	}
	dst = binary.BigEndian.AppendUint16(append(dst, 0xDE), uint16(len(attrs)))
	for _, a := range attrs {
		dst = appendMsgpackString(dst, a.Key)
		switch v := a.Value.Resolve(); v.Kind() {
		case slog.KindString:
			dst = appendMsgpackString(dst, v.String())
		case slog.KindInt64:
			if i := v.Int64(); i >= 0 {
				dst = appendMsgpackUint(dst, uint64(i))
			} else {
				dst = binary.BigEndian.AppendUint64(append(dst, 0xD3), uint64(i))
			}
		case slog.KindUint64:
			dst = appendMsgpackUint(dst, v.Uint64())
		case slog.KindFloat64:
			dst = binary.BigEndian.AppendUint64(append(dst, 0xCB), math.Float64bits(v.Float64()))
		case slog.KindBool:
			dst = append(dst, 0xC2)
			if v.Bool() {
				dst[len(dst)-1]++
			}
		case slog.KindGroup:
			var err error
			if dst, err = appendMsgpackMap(dst, v.Group()); err != nil {
				return nil, err
			}
		default:
			return nil, fmt.Errorf("archive: field %q is a %v", a.Key, v.Kind())
		}
	}
	return dst, nil
}
