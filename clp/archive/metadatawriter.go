package archive

import (
	"encoding/binary"
	"slices"
	"strings"

	"github.com/tracehandler/tracehandler/internal/msgpack"
)

// metadata makes the packets, uncompressed.
func (w *Writer) metadata(offsets []uint64, own []ownPacket) ([]byte, error) {
	files := append([]byte("\x81\xA5files"), 0x90|byte(len(offsets)))
	for i, name := range sectionNames {
		files = append(files, 0x82, 0xA1, 'n')
		files = msgpack.AppendString(files, name)
		files = msgpack.AppendUint(append(files, 0xA1, 'o'), offsets[i])
	}
	packets := []ownPacket{{packetArchiveInfo, []byte("\x81\xACnum_segments\x01")}, {packetFiles, files}, {packetTimestamps, w.timeDictionary()}}
	packets = append(append(packets, ownPacket{packetRanges, w.ranges()}), own...)
	b := []byte{byte(len(packets))}
	for _, p := range packets {
		b = append(b, p.typ)
		b = binary.LittleEndian.AppendUint32(b, uint32(len(p.payload)))
		b = append(b, p.payload...)
	}
	return b, nil
}

// timeDictionary makes the packet of the times and their patterns.
func (w *Writer) timeDictionary() []byte {
	if !w.span.began {
		return bytesLE(nil, 0, 0)
	}
	var words []string
	for _, word := range w.options.TimeKey {
		words = append(words, escapeKey(word))
	}
	key := strings.Join(words, ".")
	if w.options.TimeAuto {
		key = autoKey + key
	}
	b := appendText(bytesLE(nil, 1), key)
	b = bytesLE(b, 1)
	b = binary.LittleEndian.AppendUint32(b, uint32(w.timeNode()))
	floor, ceil := w.span.first/1e6, w.span.last/1e6
	if w.span.first%1e6 < 0 {
		floor--
	}
	if w.span.last%1e6 > 0 {
		ceil++
	}
	b = bytesLE(b, 1, uint64(floor), uint64(ceil), uint64(len(w.times.spelling)))
	for id, p := range w.times.spelling {
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
