package archive

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
)

func TestFilter(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var plain []byte
	var texts []string
	for i := range 20_000 {
		s := strings.Repeat("x", random.IntN(12)) + fmt.Sprint("Entry-", i)
		texts = append(texts, s)
		plain = appendText(plain, s)
	}
	f := newDictFrame(plain, 0, filterBits)
	if f.entries != len(texts) {
		t.Fatalf("%d entries of %d", f.entries, len(texts))
	}
	for _, s := range texts {
		for _, s := range []string{s, strings.ToUpper(s), strings.ToLower(s)} {
			if !inFilter(f.filter, hashText([]byte(s))) {
				t.Fatalf("%q is not in the filter", s)
			}
		}
	}
	passed := 0
	for i := range 20_000 {
		if inFilter(f.filter, hashText(fmt.Appendf(nil, "entry+%d", i))) {
			passed++
		}
	}
	if share := float64(passed) / 20_000; share > 0.07 || share < 0.03 {
		t.Errorf("%.3f of other texts pass", share)
	}
}

func TestHashFolds(t *testing.T) {
	for c := range 256 {
		for at := range 17 {
			b := bytes.Repeat([]byte{'-'}, 17)
			b[at] = byte(c)
			lower := []byte(strings.ToLower(string(rune(c))))
			folded := slices.Clone(b)
			if 'A' <= c && c <= 'Z' {
				folded[at] = lower[0]
			}
			if hashText(b) != hashText(folded) {
				t.Fatalf("byte %#x at %d", c, at)
			}
			if b[at] ^= 0x20; (hashText(b) == hashText(folded)) != ('A' <= c && c <= 'Z' || 'a' <= c && c <= 'z') {
				t.Fatalf("byte %#x at %d is taken for another", c, at)
			}
		}
	}
}

// columnSample is a column for the tests, with values as a reader has them.
type columnSample struct {
	typ    NodeType
	values []uint64
}

func (s *columnSample) plain() []byte {
	var b []byte
	var before uint64
	for _, v := range s.values {
		switch {
		case s.typ == Boolean:
			b = append(b, byte(v))
			continue
		case s.typ.isDelta():
			v, before = v-before, v
		}
		b = binary.LittleEndian.AppendUint64(b, v)
	}
	return b
}

func samples(random *rand.Rand, rows int) []columnSample {
	var list []columnSample
	for _, typ := range []NodeType{DeltaInteger, Integer, FormattedFloat, Boolean, VarString, VarString, DictionaryFloat, ClpString, UnstructuredArray, Timestamp, Float} {
		s := columnSample{typ: typ}
		for i := range rows {
			v := random.Uint64()
			switch typ {
			case DeltaInteger:
				v = uint64(3 * i)
			case FormattedFloat:
				v = math.Float64bits(random.NormFloat64() * 1000)
			case Boolean:
				v &= 1
			case VarString:
				if v >>= 44; len(list) > 4 {
					v %= 7
				}
			case DictionaryFloat:
				v >>= 50
			case ClpString:
				v = v<<24 | v>>44
			case UnstructuredArray:
				v = v<<24 | v>>61
			case Timestamp:
				v = 1_700_000_000_000_000_000 + uint64(i)*1000 + v>>50
			}
			s.values = append(s.values, v)
		}
		list = append(list, s)
	}
	return list
}

// sampleIndex builds an index over a table of each number of rows, and the facts that it agrees with.
func sampleIndex(t testing.TB, rows []int) (blob []byte, facts *indexFacts, tables [][]columnSample) {
	random := rand.New(rand.NewPCG(3, 4))
	b := newIndexBuilder()
	facts = &indexFacts{maxFrame: 64 << 20, memory: 16 << 20}
	var at int64
	for i, n := range rows {
		list := samples(random, n)
		tables = append(tables, list)
		b.stream()
		table := indexTable{records: int64(n)}
		var columns []*columnIndex
		from := at
		for _, s := range list {
			c := &columnIndex{variables: 3}
			plain := s.plain()
			width := int(s.typ.width())
			table.size += int64(width) * int64(n)
			if s.typ == ClpString || s.typ == UnstructuredArray {
				table.size += 8 + 8*c.variables
			}
			for len(plain) > 0 { // in pieces of any number of rows
				k := min(len(plain), min(width, 8)*(1+random.IntN(100_000)))
				if width == 1 {
					k = min(len(plain), 1+random.IntN(100_000))
				}
				c.add(s.typ, plain[:k])
				plain = plain[k:]
			}
			columns = append(columns, c)
			table.columns = append(table.columns, s.typ)
		}
		if i == 1 {
			columns = nil
		}
		b.frame(100+i, int(table.size))
		at += int64(100 + i)
		b.table(table.records, columns)
		facts.tables = append(facts.tables, table)
		facts.streams = append(facts.streams, stream{from: from, to: at, size: uint64(table.size)})
	}
	var u reuseBits
	entries := 0
	for d := range 3 {
		var frames []dictFrame
		for k := range 2 + d {
			var plain []byte
			for e := range 50 {
				plain = appendText(plain, fmt.Sprint("entry ", d, k, e))
			}
			frames = append(frames, newDictFrame(plain, 77, filterBits))
			facts.dicts[d] += 77
			facts.entries[d] += 50
			if d == 0 {
				u.epoch(entries)
				entries += 50
				u.used(uint64(k))
			}
		}
		b.dictionary(d, frames)
	}
	b.reuse(&u)
	enc, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	frame, packet := b.finish(enc, uint64(at))
	offset, size, _, err := parseIndexPacket(packet)
	if err != nil || offset != uint64(at)+8 {
		t.Fatalf("offset %d: %v", offset, err)
	}
	facts.filters, facts.end = at+8+int64(size), at+int64(len(frame))
	if blob, err = unpackIndex(frame[8:8+size], 16<<20); err != nil {
		t.Fatal(err)
	}
	return blob, facts, tables
}

func TestIndexRoundTrip(t *testing.T) {
	rows := []int{200_000, 10, 65_536, 65_537, 1}
	blob, facts, tables := sampleIndex(t, rows)
	x, err := parseIndex(blob, facts)
	if err != nil {
		t.Fatal(err)
	}
	if len(x.epochs) != 2 || x.epochs[1] != 50 || x.reused[0] != 2 || x.dicts[2].filters[3] == 0 || x.dicts[0].filters[1] != 0 {
		t.Errorf("epochs %v, reused %v", x.epochs, x.reused)
	}
	for i, list := range tables {
		if (x.tables[i] == nil) != (i == 1) {
			t.Fatalf("table %d: %v", i, x.tables[i])
		}
		for j, c := range x.tables[i] {
			s := list[j]
			if len(c.blocks) != (rows[i]+blockRows-1)/blockRows {
				t.Fatalf("table %d, column %d: %d blocks", i, j, len(c.blocks))
			}
			for k, st := range c.blocks {
				values := s.values[k*blockRows : min(len(s.values), (k+1)*blockRows)]
				want := blockStats{min: math.MaxInt64, max: math.MinInt64}
				counts := map[uint64]int64{}
				for _, v := range values {
					key := sortKey(s.typ, v)
					want.min, want.max = min(want.min, key), max(want.max, key)
					if s.typ.isID() {
						counts[uint64(key)]++
						if s.typ != Boolean {
							want.mask |= maskBit(uint64(key))
						} else {
							want.mask = math.MaxUint64
						}
					}
				}
				if s.typ.isDelta() {
					want.start = int64(values[0])
				}
				if st.min != want.min || st.max != want.max || st.start != want.start || st.mask != want.mask {
					t.Errorf("table %d, %v, block %d: %+v, want %+v", i, s.typ, k, st, want)
				}
				if (st.set != nil) != (len(counts) > 0 && len(counts) <= maxSet) {
					t.Errorf("table %d, %v, block %d: set %v of %d", i, s.typ, k, st.set, len(counts))
				}
				for _, e := range st.set {
					if counts[e.id] != e.count {
						t.Errorf("table %d, %v, block %d: %v, want %d", i, s.typ, k, e, counts[e.id])
					}
				}
			}
		}
	}
}

// TestIndexDoubted changes the facts: an index of another archive is not believed.
func TestIndexDoubted(t *testing.T) {
	blob, facts, _ := sampleIndex(t, []int{100, 10})
	if _, err := parseIndex(blob, facts); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(f *indexFacts){
		"streams":      func(f *indexFacts) { f.streams = f.streams[1:] },
		"stream size":  func(f *indexFacts) { f.streams = slices.Clone(f.streams); f.streams[0].size++ },
		"stream bytes": func(f *indexFacts) { f.streams = slices.Clone(f.streams); f.streams[0].to-- },
		"tables":       func(f *indexFacts) { f.tables = f.tables[1:] },
		"records":      func(f *indexFacts) { f.tables = slices.Clone(f.tables); f.tables[0].records++ },
		"column":       func(f *indexFacts) { f.tables = slices.Clone(f.tables); f.tables[0].columns = f.tables[0].columns[1:] },
		"entries":      func(f *indexFacts) { f.entries[1]++ },
		"dictionary":   func(f *indexFacts) { f.dicts[2]++ },
		"filters":      func(f *indexFacts) { f.end = f.filters + 100 },
		"frame size":   func(f *indexFacts) { f.maxFrame = 100 },
		"memory":       func(f *indexFacts) { f.memory = 100 },
		"more entries": func(f *indexFacts) { f.entries[0] += 100 },
		"type": func(f *indexFacts) {
			f.tables = slices.Clone(f.tables)
			f.tables[0].columns = slices.Clone(f.tables[0].columns)
			f.tables[0].columns[0] = Integer
		},
		"other strings": func(f *indexFacts) {
			f.tables = slices.Clone(f.tables)
			f.tables[0].columns = slices.Clone(f.tables[0].columns)
			f.tables[0].columns[4] = ClpString
		},
	} {
		f := *facts
		change(&f)
		if _, err := parseIndex(blob, &f); err == nil {
			t.Errorf("%s: believed", name)
		}
	}
	for n := range blob {
		if _, err := parseIndex(blob[:n], facts); err == nil {
			t.Errorf("%d bytes of %d: believed", n, len(blob))
		}
	}
}

func FuzzIndex(f *testing.F) {
	blob, facts, _ := sampleIndex(f, []int{100, 10})
	f.Add(blob)
	f.Fuzz(func(t *testing.T, blob []byte) {
		x, err := parseIndex(blob, facts)
		if err != nil {
			return
		}
		for i, list := range x.streams {
			size, length := totals(list)
			if st := facts.streams[i]; size > st.to-st.from || uint64(length) != st.size {
				t.Errorf("stream %d: %d, %d", i, size, length)
			}
		}
		for i, list := range x.tables {
			for j, c := range list {
				for _, b := range c.blocks {
					if b.min > b.max {
						t.Errorf("table %d, column %d: %+v", i, j, b)
					}
				}
			}
		}
	})
}
