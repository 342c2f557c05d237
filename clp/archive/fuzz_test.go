package archive

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/tracehandler/tracehandler/event"
)

// FuzzReader reads arbitrary bytes: no panic, errors of known types, and records that are JSON.
func FuzzReader(f *testing.F) {
	for _, dir := range []string{vectorDir, filepath.Join(vectorDir, "bad")} {
		files, err := filepath.Glob(filepath.Join(dir, "*.clp"))
		check(f, err)
		for _, file := range files {
			data, err := os.ReadFile(file)
			check(f, err)
			if len(data) < 3000 {
				f.Add(data)
			}
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, stored := range []bool{false, true} {
			readAll(t, data, &Options{Memory: minMemory, Stored: stored})
		}
	})
}

// FuzzSections reads an archive whose sections are arbitrary: compression does not stand in the fuzzer's way.
func FuzzSections(f *testing.F) {
	s := structured()
	f.Add([]byte{2, 9, 0, 0, 'k', 3, 0, 0}, []byte{1, 11, 0x87, 4, 0x53, 6, 8, 9, 10, 5}, s.streams[0], uint8(2), "took \x11 s \x12", `"\Y-\m-\d"`)
	f.Add([]byte{2, 14, 't', 2, 2, 'm', 2, 6, 'a'}, []byte{1, 3, 4}, bytesOf(0, 5, 0, 0, 0), uint8(1), "[\x13]", `\E.\3`)
	f.Fuzz(func(t *testing.T, tree, entries, stream []byte, records uint8, text, pattern string) {
		s := spec{
			nodes: append([]Node{}, base...), streams: [][]byte{stream}, tables: []specTable{{0, 0, 0, int(records)}},
			vars: []string{"x", text, "1.5e5"}, logs: []string{text, "a \x12"}, arrays: []string{text, "[\x11,\x12]"}, patterns: []string{pattern, `\N`},
		}
		for len(tree) >= 3 { // parent, type, key
			s.nodes = append(s.nodes, Node{int32(tree[0]) % int32(len(s.nodes)), NodeType(tree[1] % 16), string(tree[2:3])})
			tree = tree[3:]
		}
		sc := specSchema{}
		for _, e := range entries {
			switch {
			case e < 0x40:
				sc.entries = append(sc.entries, int32(e))
			case e < 0x80:
				sc.entries = append(sc.entries, 0x05000000|int32(e&0x3F))
			default:
				sc.entries = append(sc.entries, 0x09000000|int32(e&0x7F))
			}
			if e < 0x40 && len(sc.entries) == sc.ordered+1 {
				sc.ordered++
			}
		}
		if len(entries) > 0 && sc.ordered > 0 {
			sc.ordered = 1 + int(entries[len(entries)-1])%sc.ordered
		}
		s.schemas = []specSchema{sc}
		readAll(t, s.build(t), &Options{Memory: minMemory})
	})
}

func readAll(t *testing.T, data []byte, o *Options) {
	r, err := Open(bytes.NewReader(data), int64(len(data)), o)
	if err != nil {
		checkTyped(t, err)
		return
	}
	defer r.Close()
	r.Info()
	for range r.Tables() {
	}
	var line []byte
	n := 0
	for record, err := range r.All() {
		if err != nil {
			checkTyped(t, err)
			break
		}
		if line, err = record.AppendJSON(line[:0]); err != nil {
			checkTyped(t, err)
		} else if _, err := event.Parse(line); err != nil {
			t.Fatalf("%v: %q", err, line)
		}
		if n++; n == 10_000 {
			break
		}
	}
	if _, err := r.Keys(); err != nil {
		checkTyped(t, err)
		return
	}
	for _, seek := range []func() error{func() error { return r.SeekRecord(int64(n / 2)) }, func() error { return r.SeekTime(1e18) }} {
		if err := seek(); err == ErrOrder || err == ErrNoTime {
			continue
		} else if err != nil {
			checkTyped(t, err)
			return
		}
		if record, err := r.Next(); err == nil {
			record.AppendJSON(line[:0])
		} else if err != io.EOF {
			checkTyped(t, err)
		}
	}
}

// FuzzPackets reads arbitrary bytes as packets are read.
func FuzzPackets(f *testing.F) {
	f.Add([]byte("\x81\xA5files\x91\x82\xA1n\xA2/0\xA1o\xCC\x80"))
	f.Add([]byte("\x91\x83\xA1s\x00\xA1e\xD1\x01\x00\xA1f\xDE\x00\x01\xA1k\xCB\x40\x00\x00\x00\x00\x00\x00\x00"))
	f.Fuzz(func(t *testing.T, data []byte) {
		m := metadata{patterns: map[uint64]string{}}
		m.parseInfo(data)
		m.parseFiles(data)
		m.parseRanges(data)
		m.parseTimestamps(data)
	})
}
