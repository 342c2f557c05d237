package archive

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"log/slog"
	"math"

	"github.com/tracehandler/tracehandler/event"
	"github.com/tracehandler/tracehandler/internal/msgpack"
)

// The metadata section is one zstd stream:
//
//	u8 packets, then each: u8 type, u32 size, payload
//
// Types that are not known are skipped; those from firstOwn on are kept for whom they concern.
const (
	packetArchiveInfo = 0 // MessagePack: {"num_segments": 1}
	packetFiles       = 1 // MessagePack: {"files": [{"n": name, "o": offset}, …]}
	packetTimestamps  = 2 // see timestampIndex
	packetRanges      = 3 // MessagePack: [{"s": start, "e": end, "f": {…}}, …]
)

const maxMetadata = 16 << 20

// Range says where a run of records came from.
type Range struct {
	Start, End int64       // numbers of the first record and of the one behind the last
	Fields     event.Event // what is known of them: _filename, _file_split_number, _archive_creator_id, and what the writer added
}

// TimeIndex is what an archive says of the column that holds its records' time.
type TimeIndex struct {
	Key   string  // path of the key in the syntax of a KQL column: a.b.c
	Nodes []int32 // nodes of the schema tree

	// Begin and End are the first and the last time. They are milliseconds since 1970, rounded outwards; in archives
	// before 0.5.0 they have the unit that the log has, and are floats in seconds if Float is set.
	Begin, End           int64
	Float                bool
	BeginFloat, EndFloat float64
}

type fileOffset struct {
	name   string
	offset uint64
}

type metadata struct {
	files    []fileOffset
	times    []TimeIndex
	patterns map[uint64]string
	ranges   []Range
	own      []ownPacket // in their order
	damage   error       // of a packet that is not needed to read records
}

// ownPacket is a packet of a type that the format leaves to others: from firstOwn on.
type ownPacket struct {
	typ     uint8
	payload []byte
}

const firstOwn = 128

// readMetadata reads the metadata section s.
func readMetadata(in *input, s section) (*metadata, error) {
	in.open(s, -1)
	var pieces [][]byte // that are joined when all is known to be within the limit
	size := 0
	for in.err == nil {
		piece := make([]byte, min(max(size, 4<<10), 1<<20))
		piece = piece[:in.full(piece)]
		if size += len(piece); size > maxMetadata {
			return nil, &LimitError{What: "bytes of metadata", Limit: maxMetadata}
		}
		pieces = append(pieces, piece)
	}
	if !in.clean {
		return nil, in.err
	}
	return parseMetadata(bytes.Join(pieces, nil))
}

func parseMetadata(b []byte) (*metadata, error) {
	const name = "metadata"
	m := &metadata{patterns: map[uint64]string{}}
	if len(b) == 0 {
		return nil, corrupt(name, 0, ErrShort, "no packets")
	}
	packets, pos := int(b[0]), 1
	seen := [4]bool{}
	for i := range packets {
		if len(b)-pos < 5 {
			return nil, corrupt(name, int64(pos), ErrShort, "packet %d of %d", i, packets)
		}
		typ, size := b[pos], binary.LittleEndian.Uint32(b[pos+1:])
		pos += 5
		if uint64(size) > uint64(len(b)-pos) {
			return nil, corrupt(name, int64(pos), ErrLength, "packet %d has %d bytes, %d are left", i, size, len(b)-pos)
		}
		payload := b[pos : pos+int(size)]
		at := int64(pos)
		pos += int(size)
		if int(typ) < len(seen) {
			if seen[typ] {
				return nil, corrupt(name, at, ErrMetadata, "second packet of type %d", typ)
			}
			seen[typ] = true
		}
		var err error
		switch typ {
		case packetArchiveInfo:
			err = m.parseInfo(payload)
		case packetFiles:
			err = m.parseFiles(payload)
		case packetTimestamps:
			err = m.parseTimestamps(payload)
		case packetRanges:
			if err := m.parseRanges(payload); err != nil {
				m.ranges = nil
				m.damage = corrupt(name, at, ErrRange, "%v", err)
			}
		default:
			if typ >= firstOwn {
				m.own = append(m.own, ownPacket{typ, payload})
			}
		}
		if err != nil {
			return nil, corrupt(name, at, ErrMetadata, "packet %d, type %d: %v", i, typ, err)
		}
	}
	return m, nil
}

func (m *metadata) parseInfo(b []byte) error {
	v, err := msgpack.Decode(b)
	if err != nil {
		return err
	}
	info, _ := v.([]slog.Attr)
	if n, _ := member(info, "num_segments"); n != int64(1) {
		return fmt.Errorf("num_segments is %v, 1 is what can be read", n)
	}
	return nil
}

func (m *metadata) parseFiles(b []byte) error {
	v, err := msgpack.Decode(b)
	if err != nil {
		return err
	}
	top, _ := v.([]slog.Attr)
	if len(top) == 0 {
		return fmt.Errorf("no list of sections")
	}
	list, ok := top[0].Value.Any().([]any)
	if !ok {
		return fmt.Errorf("no list of sections")
	}
	for _, v := range list {
		e, ok := v.(event.Event)
		if !ok {
			return fmt.Errorf("a section is no map")
		}
		name, _ := e.Get("n")
		offset, _ := e.Get("o")
		if name.Kind() != slog.KindString || offset.Kind() != slog.KindInt64 || offset.Int64() < 0 {
			return fmt.Errorf("a section without name and offset")
		}
		m.files = append(m.files, fileOffset{name.String(), uint64(offset.Int64())})
	}
	return nil
}

func (m *metadata) parseRanges(b []byte) error {
	v, err := msgpack.Decode(b)
	if err != nil {
		return err
	}
	list, ok := v.([]any)
	if !ok {
		return fmt.Errorf("no array")
	}
	for i, v := range list {
		e, _ := v.(event.Event)
		start, _ := e.Get("s")
		end, _ := e.Get("e")
		fields, ok := e.Get("f")
		if start.Kind() != slog.KindInt64 || end.Kind() != slog.KindInt64 || start.Int64() > end.Int64() || !ok || fields.Kind() != slog.KindGroup {
			return fmt.Errorf("range %d has no start, end and fields", i)
		}
		m.ranges = append(m.ranges, Range{start.Int64(), end.Int64(), event.New(fields.Group()...)})
	}
	return nil
}

// The timestamp dictionary has the columns of time and the patterns that print it:
//
//	u64 entries, each:  string key; u64 n, n × i32 node; u64 encoding; 1: i64 begin, end; 2: f64 begin, end
//	u64 patterns, each: u64 id, string pattern
func (m *metadata) parseTimestamps(b []byte) error {
	p := fields{b: b}
	for n := p.u64(); n > 0 && !p.short; n-- {
		t := TimeIndex{Key: p.text()}
		for n := p.u64(); n > 0 && !p.short; n-- {
			t.Nodes = append(t.Nodes, int32(p.u32()))
		}
		switch encoding := p.u64(); encoding {
		case 0:
		case 1:
			t.Begin, t.End = int64(p.u64()), int64(p.u64())
		case 2:
			t.Float = true
			t.BeginFloat, t.EndFloat = math.Float64frombits(p.u64()), math.Float64frombits(p.u64())
		default:
			return fmt.Errorf("encoding %d of times", encoding)
		}
		m.times = append(m.times, t)
	}
	for n := p.u64(); n > 0 && !p.short; n-- {
		id := p.u64()
		pattern := p.text()
		if _, twice := m.patterns[id]; twice {
			return fmt.Errorf("pattern %d twice", id)
		}
		m.patterns[id] = pattern
	}
	if p.short {
		return fmt.Errorf("too short")
	}
	if len(p.b) > 0 {
		return fmt.Errorf("%d bytes too many", len(p.b))
	}
	return nil
}

// fields takes little-endian fields off a slice. When it is too short, short is set and what follows is zero.
type fields struct {
	b     []byte
	short bool
}

func (p *fields) take(n uint64) []byte {
	if n > uint64(len(p.b)) {
		p.short, p.b = true, nil
		return zeros[:min(n, 8)]
	}
	b := p.b[:n]
	p.b = p.b[n:]
	return b
}

func (p *fields) u32() uint32  { return binary.LittleEndian.Uint32(p.take(4)) }
func (p *fields) u64() uint64  { return binary.LittleEndian.Uint64(p.take(8)) }
func (p *fields) text() string { return string(p.take(p.u64())) }

// member returns the value of a key of a map.
func member(attrs []slog.Attr, key string) (any, bool) {
	for _, a := range attrs {
		if a.Key == key {
			return a.Value.Any(), true
		}
	}
	return nil, false
}
