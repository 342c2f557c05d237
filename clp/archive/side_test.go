package archive

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/tracehandler/tracehandler/event"
)

// testInput is an input of the reader for a test.
func testInput(t testing.TB, r *Reader) *input {
	in, err := r.inputs.get()
	check(t, err)
	return in
}

// readSide reads the side channel of an archive, nil if it has none.
func readSide(t testing.TB, r *Reader) *side {
	t.Helper()
	for _, p := range r.box.meta.own {
		if p.typ == packetSide {
			s, err := loadSide(r.pool, testInput(t, r), p.payload, r.box.sections[sectionData], &r.tree, &r.schemas, &r.tables)
			check(t, err)
			return s
		}
	}
	return nil
}

// readWithSide returns the lines of an archive with what its side channel says, by the number of the record.
func readWithSide(t testing.TB, data []byte) []string {
	t.Helper()
	r := openBytes(t, data, nil)
	defer r.Close()
	var lines []string
	for record, err := range r.All() {
		check(t, err)
		line, err := record.AppendJSON(nil)
		check(t, err)
		lines = append(lines, string(line))
	}
	return lines
}

func checkSame(t *testing.T, in, got []string) {
	t.Helper()
	if len(got) != len(in) {
		t.Fatalf("%d records, want %d", len(got), len(in))
	}
	for i := range in {
		if !event.Equal(event.Lazy([]byte(in[i])), event.Lazy([]byte(got[i]))) {
			t.Fatalf("record %d: got %s, want %s", i, got[i], in[i])
		}
	}
}

func toLines(list []string) (lines [][]byte) {
	for _, l := range list {
		lines = append(lines, []byte(l))
	}
	return lines
}

func TestSide(t *testing.T) {
	for _, c := range []struct {
		name string
		in   string
		side bool
	}{
		{"nothing to say", `{"a":1,"b":{"c":2,"d":3}} {"a":2,"b":{"c":3,"d":4}} {"x":[]} {}`, false},
		{"another order", `{"a":1,"b":2} {"b":1,"a":2}`, true},
		{"another order in another schema", `{"a":1,"b":2} {"b":1,"c":3,"a":2} {"b":1,"c":3,"a":2}`, true},
		{"object entered twice", `{"a":{"x":1},"b":3,"a":{"y":2}} {"a":{"x":1,"y":2},"b":3} {"a":{"x":1},"a":{"y":2},"b":1}`, true},
		{"empty and not", `{"a":{},"b":1,"a":{"c":2}} {"a":{"c":1},"b":1,"a":{}}`, true},
		{"null twice", `{"a":null,"a":null} {"a":{},"a":{}}`, true},
		{"key twice", `{"a":1,"a":2} {"a":3} {"a":4,"a":4}`, true},
		{"key twice, types differ", `{"a":1,"a":"x","a":2.5}`, false},
		{"array twice", `{"a":[1],"a":[2]}`, true},
		{"inner object first", `{"b":{"x":1,"y":{"z":1}},"a":1} {"a":1,"b":{"y":{"z":1},"x":1}} {"b":{"y":{"z":1},"x":1},"a":1}`, true},
		{"halves of pairs", `{"\ud800":1,"\udc00":2}`, true},
		{"empty keys", `{"":{"":1},"a":2} {"a":2,"":{"":1}}`, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			in := strings.Split(c.in, " ")
			data := write(t, toLines(in), nil)
			checkSame(t, in, readWithSide(t, data))
			r := openBytes(t, data, nil)
			defer r.Close()
			if got := readSide(t, r) != nil; got != c.side {
				t.Errorf("side channel: %v, want %v", got, c.side)
			}
		})
	}
}

// TestSideBlocks has more rows than a block, more shapes than a byte counts, and more lines than a block.
func TestSideBlocks(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	keys := []string{"a", "b", "c", "d", "e", "f"}
	var in []string
	for i := range 3*sideRows + 100 {
		order := []int{0, 1, 2, 3, 4, 5}
		if i > sideRows+10 && i < sideRows+20 || i > 2*sideRows {
			order = random.Perm(len(keys))
		}
		var b strings.Builder
		for _, k := range order {
			fmt.Fprintf(&b, `,"%s":%d`, keys[k], i)
		}
		if i%1000 == 7 {
			fmt.Fprintf(&b, `,"a":"%0300d","a":"%d"`, i, i)
		}
		if i%50_000 == 9 {
			b.WriteString(`,"b":2`)
		}
		in = append(in, "{"+b.String()[1:]+"}")
	}
	checkSame(t, in, readWithSide(t, write(t, toLines(in), nil)))
}

// randomMembers makes an object whose keys come in any order, and again.
func randomMembers(r *rand.Rand, depth int) string {
	if depth > 6 {
		return "{}"
	}
	keys := []string{"a", "b", "c", "d.e", "", `\u0061`, `"`}
	var members []string
	for range r.IntN(5) {
		value := randomJSON(r, 4)
		if r.IntN(6) == 0 {
			var list []string
			for range r.IntN(4) {
				list = append(list, []string{randomJSON(r, 4), randomMembers(r, depth+2), "[]", `[1,["x y",{}]]`}[r.IntN(4)])
			}
			value = "[" + strings.Join(list, ",") + "]"
		}
		if r.IntN(3) == 0 && depth < 3 {
			value = randomMembers(r, depth+1)
		}
		members = append(members, `"`+strings.ReplaceAll(keys[r.IntN(len(keys))], `"`, `\"`)+`":`+value)
	}
	return "{" + strings.Join(members, ",") + "}"
}

func TestSideRandom(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	for range 100 {
		var in []string
		for range 100 {
			in = append(in, randomMembers(random, 0))
		}
		for _, structured := range []bool{false, true} {
			checkSame(t, in, readWithSide(t, write(t, toLines(in), &WriterOptions{TimeKey: []string{"a"}, Structured: structured})))
		}
	}
}

// TestSideDamage changes each byte of the side channel: it is refused, or what it says about a row is an error, or nothing
// has changed. A short one is in the metadata, whose checksum is not asked here.
func TestSideDamage(t *testing.T) {
	var short, long []string
	for i := range 40 {
		short = append(short, []string{`{"a":1,"b":2}`, `{"b":1,"a":2}`, `{"a":1,"b":2,"a":7}`}[i%3])
	}
	random := rand.New(rand.NewPCG(9, 9))
	for i := range 1200 {
		var members []string
		for _, k := range random.Perm(8) {
			members = append(members, fmt.Sprintf(`"%c":%d`, 'a'+k, i))
		}
		if i%50 == 0 {
			members = append(members, fmt.Sprintf(`"a":"%0100d"`, i), `"a":7`)
		}
		long = append(long, "{"+strings.Join(members, ",")+"}")
	}
	for name, in := range map[string][]string{"short": short, "long": long} {
		t.Run(name, func(t *testing.T) { sideDamage(t, in, name == "short") })
	}
}

func sideDamage(t *testing.T, in []string, short bool) {
	data := write(t, toLines(in), nil)
	checkSame(t, in, readWithSide(t, data))
	r := openBytes(t, data, nil)
	defer r.Close()
	var packet []byte
	for _, p := range r.box.meta.own {
		if p.typ == packetSide {
			packet = p.payload
		}
	}
	load := func(data, packet []byte) error {
		section := r.box.sections[sectionData]
		section.src = bytes.NewReader(data)
		s, err := loadSide(r.pool, testInput(t, r), packet, section, &r.tree, &r.schemas, &r.tables)
		if err != nil || s == nil {
			return err
		}
		defer s.close()
		for id, o := range s.tables {
			for row := range o.rows {
				if _, err := o.shape(row); err != nil {
					return err
				}
				if _, _, err := o.appendException(nil, row); err != nil {
					return err
				}
			}
			for _, tokens := range o.shapes {
				if _, _, err := composeShape(r, &r.schemas.list[r.schemas.byID[id]], tokens); err != nil {
					return err
				}
			}
		}
		return nil
	}
	typed := func(err error) {
		t.Helper()
		var c *CorruptError
		if !errors.As(err, &c) && !errors.Is(err, ErrSide) {
			t.Errorf("%v", err)
		}
	}
	check(t, load(data, packet))
	first, _ := binary.Uvarint(packet[len(sideMagic)+1:])
	from := r.box.sections[sectionData].off + int64(first)
	if blocks := int64(len(data)) - from; short != (blocks == 0) {
		t.Errorf("%d bytes of blocks", blocks)
	}
	failed, step := 0, max(1, (int64(len(data))-from)/400)
	tried := 0
	for i := from; i < int64(len(data)); i += step {
		bad := bytes.Clone(data)
		bad[i] ^= 0x55
		tried++
		if err := load(bad, packet); err != nil {
			failed++
			typed(err)
		}
	}
	if failed < tried*3/4 {
		t.Errorf("%d of %d changes were noticed", failed, tried)
	}
	for i := range packet {
		bad := bytes.Clone(packet)
		bad[i] ^= 0x55
		err := load(data, bad)
		if err == nil && !short && i > len(sideMagic) {
			t.Errorf("byte %d of the packet: no error", i)
		}
		if err != nil {
			typed(err)
		}
		load(data, packet[:i])
	}
}

// FuzzSide reads a directory of arbitrary bytes.
func FuzzSide(f *testing.F) {
	in := [][]byte{[]byte(`{"a":1,"b":2}`), []byte(`{"b":1,"a":2}`), []byte(`{"a":1,"b":2,"a":7}`)}
	data := write(f, in, nil)
	r := openBytes(f, data, nil)
	s := readSide(f, r)
	if s == nil {
		f.Fatal("no side channel")
	}
	f.Add([]byte{1, 0, 2, 2, 6, 2, 2, 8, 1, 0, 1, 2, 0, 0})
	f.Add([]byte{1, 0, 1, 2, 6, 2, 1, 1, 0, 1, 3, 4, 3})
	f.Fuzz(func(t *testing.T, directory []byte) {
		w, err := NewWriter(io.Discard, nil)
		check(t, err)
		pack := w.packer.small(directory)
		section := append(binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(nil, sideSkippable), uint32(len(pack))), pack...)
		r := openBytes(t, data, nil)
		defer r.Close()
		for _, packet := range [][]byte{sideDirectory(sidePayload(0, 0), pack), append(append(sidePayload(0, 0), 0), directory...)} {
			s, err := loadSide(r.pool, testInput(t, r), packet, section0(section), &r.tree, &r.schemas, &r.tables)
			if err != nil {
				checkTyped(t, err)
				continue
			}
			for id, o := range s.tables {
				for row := range o.rows {
					o.shape(row)
					o.appendException(nil, row)
				}
				for _, tokens := range o.shapes {
					composeShape(r, &r.schemas.list[r.schemas.byID[id]], tokens)
				}
			}
			s.close()
		}
	})
}

func section0(b []byte) section {
	return section{name: sectionData, src: bytes.NewReader(b), size: int64(len(b))}
}
