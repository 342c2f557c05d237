package archive

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// spec is an archive to build in a test, from its parts.
type spec struct {
	version  uint32
	nodes    []Node
	schemas  []specSchema
	streams  [][]byte // uncompressed
	tables   []specTable
	vars     []string
	logs     []string
	arrays   []string
	patterns []string // their IDs are 0, 1, …
	level    zstd.EncoderLevel
}

type specSchema struct {
	id      int32
	entries []int32
	ordered int
}

type specTable struct {
	stream  int
	from    int
	schema  int32
	records int
}

// bytesOf appends little-endian numbers, strings with their length, and bytes as they are.
func bytesOf(parts ...any) []byte {
	var b []byte
	for _, p := range parts {
		switch p := p.(type) {
		case string:
			b = append(binary.LittleEndian.AppendUint64(b, uint64(len(p))), p...)
		case int: // a column's value
			b = binary.LittleEndian.AppendUint64(b, uint64(p))
		case []byte:
			b = append(b, p...)
		default:
			b, _ = binary.Append(b, binary.LittleEndian, p)
		}
	}
	return b
}

func (s *spec) build(t testing.TB) []byte {
	t.Helper()
	level := s.level
	if level == 0 {
		level = zstd.SpeedFastest
	}
	z := encoders[level]
	if z == nil {
		var err error
		z, err = zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(level), zstd.WithWindowSize(1<<20))
		check(t, err)
		encoders[level] = z
	}
	pack := func(b []byte) []byte { return z.EncodeAll(b, nil) }

	tree := bytesOf(len(s.nodes))
	for _, n := range s.nodes {
		tree = append(tree, bytesOf(n.Parent, n.Key, uint8(n.Type))...)
	}
	ids := bytesOf(len(s.schemas))
	for _, sc := range s.schemas {
		ids = append(ids, bytesOf(sc.id, uint32(len(sc.entries)), uint32(sc.ordered), sc.entries)...)
	}
	list := bytesOf(len(s.streams))
	var data []byte
	for _, stream := range s.streams {
		list = append(list, bytesOf(len(data), len(stream))...)
		data = append(data, pack(stream)...)
	}
	list = append(list, bytesOf(0, len(s.tables))...)
	for _, tb := range s.tables {
		list = append(list, bytesOf(tb.stream, tb.from, tb.schema, tb.records)...)
	}
	dict := func(entries []string) []byte {
		var b []byte
		for _, e := range entries {
			b = append(b, bytesOf(e)...)
		}
		return bytesOf(len(entries), pack(b))
	}
	sections := [][]byte{pack(tree), pack(ids), pack(list), dict(s.vars), dict(s.logs), dict(s.arrays), data}

	files := append([]byte("\x81\xA5files"), 0x90|byte(len(sections)))
	var body []byte
	for i, name := range sectionNames {
		files = append(files, 0x82, 0xA1, 'n', 0xA0|byte(len(name)))
		files = append(files, name...)
		files = append(files, 0xA1, 'o', 0xCF)
		files = binary.BigEndian.AppendUint64(files, uint64(len(body)))
		body = append(body, sections[i]...)
	}
	times := bytesOf(0, len(s.patterns))
	for i, p := range s.patterns {
		times = append(times, bytesOf(i, p)...)
	}
	meta := pack(bytesOf(uint8(2), uint8(packetFiles), uint32(len(files)), files, uint8(packetTimestamps), uint32(len(times)), times))
	version := s.version
	if version == 0 {
		version = 0x00050001
	}
	head := bytesOf([]byte(magic), version, uint64(0), uint64(headerSize+len(meta)+len(body)), make([]byte, 32), uint32(len(meta)), uint32(0))
	return bytes.Join([][]byte{head, meta, body}, nil)
}

var encoders = map[zstd.EncoderLevel]*zstd.Encoder{}

// base is the start of most trees: the number of the record, and the root of the records, which is node 2.
var base = []Node{{-1, Metadata, ""}, {0, DeltaInteger, "log_event_idx"}, {-1, Object, ""}}

func openBytes(t testing.TB, data []byte, o *Options) *Reader {
	t.Helper()
	r, err := Open(bytes.NewReader(data), int64(len(data)), o)
	check(t, err)
	return r
}
