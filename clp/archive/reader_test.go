package archive

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/klauspost/compress/zstd"

	"github.com/tracehandler/tracehandler/event"
)

func TestDateStringColumn(t *testing.T) {
	s := spec{
		version: 0x00040001,
		nodes:   append(slices.Clone(base), Node{2, DateString, "t"}, Node{2, DictionaryFloat, "f"}),
		schemas: []specSchema{{7, []int32{1, 3, 4}, 3}},
		streams: [][]byte{bytesOf(0, 1, int64(1704207845670), -1, 0, 1, 0, 1)},
		tables:  []specTable{{0, 0, 7, 2}},
		vars:    []string{"1e-400", "12\n"}, patterns: []string{"%Y-%m-%d \"%H:%M:%S.%3\"", "%E"},
	}
	r := openBytes(t, s.build(t), nil)
	record, err := r.Next()
	check(t, err)
	line, err := record.AppendJSON(nil)
	if want := `{"t":"2024-01-02 \"15:04:05.670\"","f":1e-400}`; err != nil || string(line) != want {
		t.Errorf("got %s, %v, want %s", line, err, want)
	}
	if record.Number() != 0 || record.Schema() != 7 {
		t.Errorf("number %d, schema %d", record.Number(), record.Schema())
	}
	record, err = r.Next()
	check(t, err)
	_, err = record.AppendJSON(nil)
	var c *CorruptError
	if !errors.As(err, &c) || !errors.Is(err, ErrFloat) || c.Record != 1 || c.Schema != 7 || c.Stream != 0 || c.Section != "/0" {
		t.Errorf("a line break in a number: %v", err)
	}
	if _, err := r.Next(); err != io.EOF {
		t.Errorf("%v, want EOF", err)
	}
}

// structured has two records of one table: {"k":[1,{"a":"x","":{"b":null},"c":[]},[],{}],"z":true}.
func structured() spec {
	return spec{
		nodes: append(slices.Clone(base),
			Node{2, StructuredArray, "k"}, // 3
			Node{3, Integer, ""},          // 4
			Node{3, Object, ""},           // 5
			Node{5, VarString, "a"},       // 6
			Node{5, Object, ""},           // 7
			Node{7, Null, "b"},            // 8
			Node{5, StructuredArray, "c"}, // 9
			Node{3, StructuredArray, ""},  // 10
			Node{2, Boolean, "z"},         // 11
		),
		schemas: []specSchema{{0, []int32{1, 11, 0x09000007, 4, 0x05000003, 6, 8, 9, 10, 5}, 2}},
		streams: [][]byte{bytesOf(0, 1, uint8(1), uint8(0), 1, -2, 0, 1)},
		tables:  []specTable{{0, 0, 0, 2}},
		vars:    []string{"x", "y"},
	}
}

func TestStructuredArray(t *testing.T) {
	s := structured()
	lines, err := readLines(openBytes(t, s.build(t), nil))
	want := `{"z":true,"k":[1,{"a":"x","":{"b":null},"c":[]},[],{}]}` + "\n" + `{"z":false,"k":[-2,{"a":"y","":{"b":null},"c":[]},[],{}]}` + "\n"
	if err != nil || string(lines) != want {
		t.Errorf("got %s, %v, want %s", lines, err, want)
	}
}

func TestBadSchemas(t *testing.T) {
	for name, entries := range map[string][]int32{
		"delimiter of nothing":       {1, 11, 0x09000000, 4, 6},
		"delimiter of another type":  {1, 11, 0x01000002, 4, 6},
		"delimiter without nodes":    {1, 11, 0x09000001, 0x09000002, 4, 6},
		"object outside of an array": {1, 11, 0x05000001, 6, 4},
		"value outside of an array":  {1, 11, 4, 6},
		"element of another array":   {1, 11, 0x09000003, 6, 0x05000001, 4},
		"array in the ordered part":  {1, 3},
		"metadata in a record":       {1, 11, 0x09000003, 4, 6, 0},
	} {
		t.Run(name, func(t *testing.T) {
			s := structured()
			s.schemas[0].entries = entries
			if len(entries) == 2 {
				s.streams = [][]byte{bytesOf(0, 1)}
			}
			r := openBytes(t, s.build(t), nil)
			lines, err := readLines(r)
			if !errors.Is(err, ErrSchema) || len(lines) > 0 {
				t.Errorf("got %s, %v", lines, err)
			}
		})
	}
}

func TestDeep(t *testing.T) {
	build := func(depth int) []byte {
		s := spec{nodes: slices.Clone(base), schemas: []specSchema{{0, []int32{1, int32(depth + 2)}, 2}}, streams: [][]byte{bytesOf(0)}, tables: []specTable{{0, 0, 0, 1}}}
		for i := range depth {
			s.nodes = append(s.nodes, Node{int32(2 + i), Object, "k"})
		}
		return s.build(t)
	}
	const depth = event.MaxDepth
	lines, err := readLines(openBytes(t, build(depth), nil))
	if want := strings.Repeat(`{"k":`, depth) + "{}" + strings.Repeat("}", depth) + "\n"; err != nil || string(lines) != want {
		t.Errorf("%d bytes, %v", len(lines), err)
	}
	data := build(depth + 1)
	_, err = Open(bytes.NewReader(data), int64(len(data)), nil)
	if limit := (*LimitError)(nil); !errors.As(err, &limit) {
		t.Errorf("got %v, want a *LimitError", err)
	}
}

func TestEmptyTableBomb(t *testing.T) {
	s := spec{nodes: []Node{{-1, Object, ""}, {0, Null, "a"}}, schemas: []specSchema{{0, []int32{1}, 1}}, streams: [][]byte{nil}, tables: []specTable{{0, 0, 0, math.MaxInt32}}}
	_, err := readLines(openBytes(t, s.build(t), nil))
	if limit := (*LimitError)(nil); !errors.As(err, &limit) {
		t.Errorf("got %v, want a *LimitError", err)
	}
}

// TestDamagedStream cuts the second of two streams, and the records of the first come before the error.
func TestDamagedStream(t *testing.T) {
	s := spec{
		nodes:   append(slices.Clone(base), Node{2, Integer, "a"}, Node{2, VarString, "b"}),
		schemas: []specSchema{{0, []int32{1, 3}, 2}, {1, []int32{1, 4}, 2}},
		streams: [][]byte{bytesOf(1, 2, 10, 11), bytesOf(0, 3, 0, 0)},
		tables:  []specTable{{0, 0, 0, 2}, {1, 0, 1, 2}},
		vars:    []string{"x"},
	}
	data := s.build(t)
	lines, err := readLines(openBytes(t, data, nil))
	if want := `{"b":"x"}` + "\n" + `{"a":10}` + "\n" + `{"a":12}` + "\n"; err != nil || len(lines) != len(want)+len(`{"b":"x"}`)+1 {
		t.Fatalf("got %s, %v", lines, err)
	}
	for _, stored := range []bool{false, true} {
		lines, err = readLines(openBytes(t, data[:len(data)-5], &Options{Stored: stored}))
		if string(lines) != "{\"a\":10}\n{\"a\":11}\n" {
			t.Errorf("got %s", lines)
		}
		var c *CorruptError
		if !errors.As(err, &c) || c.Stream != 1 || c.Section != "/0" {
			t.Errorf("got %v, want damage of stream 1", err)
		}
	}
}

// large has n records of two tables with texts that do not repeat.
func large(t testing.TB, n int) ([]byte, func(i int) string) {
	s := spec{
		nodes:   append(slices.Clone(base), Node{2, VarString, "id"}, Node{2, ClpString, "msg"}, Node{2, FormattedFloat, "f"}, Node{2, Boolean, "ok"}),
		schemas: []specSchema{{0, []int32{1, 3, 4}, 3}, {1, []int32{1, 3, 5, 6}, 4}},
		logs:    []string{"took \x11 ms of \x13 s, \x12"},
	}
	text := func(i int) string { return fmt.Sprintf("%016x", uint64(i)*0x9E3779B97F4A7C15) }
	var columns [2][4][]byte
	var vars []byte
	last := [2]int{}
	for i := range n {
		s.vars = append(s.vars, text(i))
		k := i % 2
		columns[k][0] = append(columns[k][0], bytesOf(i-last[k])...)
		last[k] = i
		columns[k][1] = append(columns[k][1], bytesOf(i)...)
		if k == 0 {
			columns[k][2] = append(columns[k][2], bytesOf(int64(3*(i/2))<<24)...)
			vars = append(vars, bytesOf(i, 250<<8|0x21, i)...)
		} else {
			columns[k][2] = append(columns[k][2], bytesOf(float64(i))...)
			columns[k][3] = append(columns[k][3], bytesOf(uint8(i>>1&1))...)
		}
	}
	formats := make([]byte, 0, n)
	for i := 1; i < n; i += 2 {
		formats = append(formats, bytesOf(uint16(len(strconv.Itoa(i)))<<5)...)
	}
	columns[0][2] = append(append(columns[0][2], bytesOf(len(vars)/8)...), vars...)
	columns[1][2] = append(columns[1][2], formats...)
	for k := range columns {
		s.streams = append(s.streams, bytes.Join(columns[k][:], nil))
		s.tables = append(s.tables, specTable{k, 0, int32(k), (n + 1 - k) / 2})
	}
	want := func(i int) string {
		if i%2 == 0 {
			return fmt.Sprintf(`{"id":"%s","msg":"took %d ms of 2.50 s, %s"}`, text(i), i, text(i))
		}
		return fmt.Sprintf(`{"id":"%s","f":%d.0,"ok":%v}`, text(i), i, i>>1&1 == 1)
	}
	return s.build(t), want
}

// TestMemory reads an archive that does not fit into memory: pages are compressed again, in memory and on disk.
func TestMemory(t *testing.T) {
	const n = 100_000
	data, want := large(t, n)
	scratch, err := os.Create(filepath.Join(t.TempDir(), "scratch"))
	check(t, err)
	defer scratch.Close()
	for _, tt := range []struct {
		name  string
		limit int64
		o     Options
		fails bool
	}{
		{"enough", 0, Options{}, false},
		{"enough, parallel", 0, Options{Parallel: 4}, false},
		{"packed, parallel", 5 << 20, Options{Parallel: 4}, false},
		{"packed", 5 << 20, Options{}, false},
		{"packed, stored", 4 << 20, Options{Stored: true}, false},
		{"scratch", 1 << 20, Options{Scratch: scratch}, false},
		{"too little", 1 << 20, Options{}, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := openBytes(t, data, &tt.o)
			defer r.Close()
			if tt.limit > 0 {
				r.pool.limit, r.pool.floor = tt.limit, 256<<10
			}
			i, peak := 0, int64(0)
			var line []byte
			for record, err := range r.All() {
				if tt.fails {
					if limit := (*LimitError)(nil); !errors.As(err, &limit) || i > 0 {
						t.Fatalf("got %v after %d records, want a *LimitError", err, i)
					}
					return
				}
				if err == nil {
					line, err = record.AppendJSON(line[:0])
				}
				if err != nil {
					t.Fatal(err)
				}
				number := i
				if tt.o.Stored {
					number = 2*i%n + 2*i/n
				}
				if string(line) != want(number) || record.Number() != int64(number) {
					t.Fatalf("record %d, %d: got %s, want %s", i, record.Number(), line, want(number))
				}
				if i%1000 == 0 {
					r.pool.mu.Lock()
					peak = max(peak, r.pool.held.Load()+r.pool.plain)
					r.pool.mu.Unlock()
				}
				i++
			}
			if i != n {
				t.Errorf("%d records", i)
			}
			if tt.limit > 0 && peak > tt.limit+r.pool.floor+pageSize {
				t.Errorf("%d bytes held, %d allowed", peak, tt.limit)
			}
			if tt.limit > 0 && r.pool.enc == nil && r.pool.end == 0 {
				t.Error("nothing was packed; the test tests nothing")
			}
		})
	}
}

func TestInfo(t *testing.T) {
	for _, v := range loadVectors(t) {
		for _, a := range v.Archive {
			if a.File == "" {
				continue
			}
			r := openVector(t, a.File, nil)
			i := r.Info()
			want := Info{
				Version: Version{0, 5, 1}, Size: i.Size, Uncompressed: i.Uncompressed, Records: int64(a.Counts.Records), Ordered: i.Ordered,
				Nodes: a.Counts.Nodes, Schemas: a.Counts.Schemas, Tables: a.Counts.Tables, Streams: a.Counts.Streams,
			}
			if i != want {
				t.Errorf("%s: %+v, want %+v", a.File, i, want)
			}
			var bytes, records int64
			for _, s := range r.Sections() {
				bytes += s.Bytes
			}
			if bytes >= i.Size || bytes < i.Size/4 {
				t.Errorf("%s: sections of %d bytes, archive of %d", a.File, bytes, i.Size)
			}
			for table := range r.Tables() {
				records += table.Records
			}
			if records != i.Records {
				t.Errorf("%s: tables have %d records of %d", a.File, records, i.Records)
			}
			_, err := readLines(r)
			check(t, err)
			for name, got := range map[string][2]int{
				"var": {r.vars.count, a.Counts.Var}, "log": {r.logs.count, a.Counts.Log}, "array": {r.arrays.count, a.Counts.Array},
			} {
				if got[0] != got[1] {
					t.Errorf("%s: %d entries of the %s dictionary, want %d", a.File, got[0], name, got[1])
				}
			}
			check(t, r.Close())
		}
	}
}

func TestRangesAndTimes(t *testing.T) {
	r := openVector(t, "26-two-files.clp", nil)
	defer r.Close()
	ranges := r.Ranges()
	if len(ranges) != 2 || ranges[0].Start != 0 || ranges[0].End != ranges[1].Start || ranges[1].End != r.Info().Records {
		t.Fatalf("%+v of %d records", ranges, r.Info().Records)
	}
	name, ok := ranges[1].Fields.Get("_filename")
	if !ok || !strings.HasSuffix(name.String(), "26-two-files.b.jsonl") {
		t.Errorf("file %v", name)
	}
	r = openVector(t, "16-ts-unordered+tskey-ts.clp", nil)
	defer r.Close()
	times := r.Times()
	if len(times) != 1 || times[0].Key != "ts" || times[0].Begin >= times[0].End || r.Nodes()[times[0].Nodes[0]].Type != Timestamp {
		t.Errorf("%+v", times)
	}
}

func TestOpenDir(t *testing.T) {
	dir := filepath.Join(vectors(), "36-directory+dir.dir")
	files := fstest.MapFS{}
	entries, err := os.ReadDir(dir)
	check(t, err)
	for _, e := range entries {
		data, err := os.ReadFile(filepath.Join(dir, e.Name()))
		check(t, err)
		files[e.Name()] = &fstest.MapFile{Data: data}
	}
	for _, missing := range []string{"header", "log.dict", "0"} {
		without := fstest.MapFS{}
		for name, f := range files {
			if name != missing {
				without[name] = f
			}
		}
		if _, err := OpenDir(without, nil); !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), missing) {
			t.Errorf("without %s: %v", missing, err)
		}
	}
}

func TestClosed(t *testing.T) {
	r := openVector(t, "24-single.clp", nil)
	check(t, r.Close())
	check(t, r.Close())
	if _, err := r.Next(); err != ErrClosed {
		t.Errorf("got %v", err)
	}
}

func TestAuto(t *testing.T) {
	r := openVector(t, "29-kvir-pairs-four.clp", nil)
	defer r.Close()
	levels := 0
	for record, err := range r.All() {
		check(t, err)
		auto, err := record.AppendAuto(nil)
		check(t, err)
		if level, ok := event.Lazy(auto).Get("level", "name"); ok && level.String() == "WARN" {
			levels++
		}
	}
	if levels != 11 {
		t.Errorf("%d warnings", levels)
	}
	r = openVector(t, "24-single.clp", nil)
	defer r.Close()
	record, err := r.Next()
	check(t, err)
	if auto, err := record.AppendAuto(nil); err != nil || string(auto) != "{}" {
		t.Errorf("%s, %v", auto, err)
	}
}

// TestReadError passes on what the source says.
func TestReadError(t *testing.T) {
	data := readVector(t, "01-scalars.clp")
	broken := errors.New("broken")
	for at := range int64(len(data)) {
		r, err := Open(failingAt{bytes.NewReader(data), at, broken}, int64(len(data)), nil)
		if err == nil {
			_, err = readLines(r)
		}
		if err == nil {
			t.Fatalf("no error when byte %d cannot be read", at)
		}
		if !errors.Is(err, broken) {
			t.Fatalf("byte %d: %v", at, err)
		}
	}
}

type failingAt struct {
	io.ReaderAt
	at  int64
	err error
}

func (f failingAt) ReadAt(p []byte, off int64) (int, error) {
	if off <= f.at && f.at < off+int64(len(p)) {
		return 0, f.err
	}
	return f.ReaderAt.ReadAt(p, off)
}

// TestChecksum notices a byte that was changed if the writer had zstd make checksums.
func TestChecksum(t *testing.T) {
	s := structured()
	s.level = zstd.SpeedDefault
	data := s.build(t)
	data[len(data)-1] ^= 1 // of the last frame's checksum
	lines, err := readLines(openBytes(t, data, nil))
	if c := (*CorruptError)(nil); !errors.As(err, &c) || c.Section != "/0" || !errors.Is(err, zstd.ErrCRCMismatch) {
		t.Errorf("got %v", err)
	}
	if len(lines) > 0 {
		t.Errorf("got %s, which cannot be trusted", lines)
	}
}

// TestSelect takes a range of records of one of two tables; the other stream is not read, and may be damaged.
func TestSelect(t *testing.T) {
	const n = 10_000
	data, want := large(t, n)
	data[len(data)-10] ^= 0xFF // in the second stream
	for _, stored := range []bool{false, true} {
		r := openBytes(t, data, &Options{Stored: stored})
		r.Select(func(table Table) (*Condition, error) {
			if table.Schema == 1 {
				return &Condition{}, nil
			}
			if count, err := r.Variables().Len(); err != nil || count != n {
				t.Errorf("%d variables, %v", count, err)
			}
			return &Condition{Kind: CondRange, Column: 0, Min: 1001, Max: 3000}, nil
		})
		number := 1002
		for record, err := range r.All() {
			check(t, err)
			line, err := record.AppendJSON(nil)
			check(t, err)
			if record.Number() != int64(number) || string(line) != want(number) || !r.Sure(record) {
				t.Fatalf("record %d: %s, want %s", record.Number(), line, want(number))
			}
			number += 2
		}
		if s := r.ScanStats(); number != 3002 || s.Sure != 1000 || s.Open != 0 || s.TablesSkipped != 1 || s.Index == nil {
			t.Errorf("records up to %d, %+v", number, s)
		}
		check(t, r.Close())
	}
	r := openBytes(t, data, nil)
	failed := errors.New("failed")
	r.Select(func(Table) (*Condition, error) { return nil, failed })
	if _, err := r.Next(); err != failed {
		t.Errorf("got %v", err)
	}
	for _, c := range []Condition{
		{Kind: CondRange, Column: 99}, {Kind: CondRange, Column: -1}, {Kind: CondSet, Column: 0}, {Kind: CondNot}, {Kind: CondAll, Parts: []*Condition{{Kind: CondText}}},
	} {
		r = openBytes(t, data, nil)
		r.Select(func(Table) (*Condition, error) { return &c, nil })
		if _, err := r.Next(); err == nil || err == io.EOF {
			t.Errorf("%+v: got %v", c, err)
		}
	}
}

// TestCutStreams cuts an archive where streams begin: the tables before are read, those behind are damaged.
func TestCutStreams(t *testing.T) {
	var lines [][]byte
	for i := range 300_000 {
		lines = append(lines, fmt.Appendf(nil, `{"k%d":%d,"n":%d}`, i%4, i, i))
	}
	for _, index := range []bool{true, false} {
		data := write(t, lines, &WriterOptions{NoIndex: !index})
		r := openBytes(t, data, nil)
		begin := r.box.sections[sectionData].off
		streams, tables := r.tables.streams, r.tables.list
		check(t, r.Close())
		if len(streams) < 4 {
			t.Fatalf("%d streams", len(streams))
		}
		for i, st := range streams[1:] {
			want := int64(0)
			for _, tb := range tables {
				if int(tb.stream) <= i {
					want += tb.records
				}
			}
			r := openBytes(t, data[:begin+st.from], nil)
			n := int64(0)
			for {
				record, err := r.Next()
				if err != nil {
					checkTyped(t, err)
					if err == io.EOF {
						t.Error("no damage")
					}
					break
				}
				line, err := record.JSON()
				check(t, err)
				if !bytes.Equal(line, lines[record.Number()]) {
					t.Fatalf("record %d is %s", record.Number(), line)
				}
				n++
			}
			if n != want {
				t.Errorf("cut before stream %d of %d: %d records, want %d", i+1, len(streams), n, want)
			}
			check(t, r.Close())
		}
	}
}
