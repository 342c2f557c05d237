package archive

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"testing"
)

func TestSeek(t *testing.T) {
	const n = 120_000
	data, times := timed(t, n)
	for name, o := range map[string]Options{"one": {Parallel: 1}, "parallel": {Parallel: 3}, "plain": {Plain: true}} {
		t.Run(name, func(t *testing.T) {
			testSeek(t, data, times, o)
			// Without the index: the packet is one of somebody else.
			r := openBytes(t, data, &o)
			defer r.Close()
			r.indexSought = true
			seekAll(t, r, times, 2)
		})
	}
}

func testSeek(t *testing.T, data []byte, times []int64, o Options) {
	r := openBytes(t, data, &o)
	defer r.Close()
	if r.index() == nil {
		t.Fatal(r.indexErr)
	}
	seekAll(t, r, times, 20)
}

func seekAll(t *testing.T, r *Reader, times []int64, tries int) {
	t.Helper()
	n := int64(len(times))
	if r.Len() != n {
		t.Fatalf("%d records", r.Len())
	}
	expect := func(what string, want int64) {
		t.Helper()
		for i := range int64(5) {
			record, err := r.Next()
			if want+i >= n {
				if err != io.EOF {
					t.Fatalf("%s: %v, want EOF", what, err)
				}
				return
			}
			check(t, err)
			line, err := record.AppendJSON(nil)
			check(t, err)
			if record.Number() != want+i || !bytes.Contains(line, fmt.Appendf(nil, `"n":%d`, want+i)) {
				t.Fatalf("%s: got record %d, %s, want %d", what, record.Number(), line, want+i)
			}
		}
	}
	rnd := rand.New(rand.NewPCG(3, 4))
	for _, at := range []int64{0, -5, n - 1, n, n + 100, math.MaxInt64, math.MinInt64, 1, n / 2} {
		check(t, r.SeekRecord(at))
		expect(fmt.Sprint("record ", at), min(max(at, 0), n))
	}
	for range tries {
		at := rnd.Int64N(n)
		check(t, r.SeekRecord(at))
		expect(fmt.Sprint("record ", at), at)
	}
	first := func(ns int64) int64 {
		for i, at := range times {
			if at != math.MinInt64 && at >= ns {
				return int64(i)
			}
		}
		return n
	}
	begin, end, ok := r.TimeRange()
	if !ok || first(begin) == n || first(end) == n || first(end+1e6) < n {
		t.Errorf("range of time %d to %d, %v", begin, end, ok)
	}
	for _, ns := range []int64{math.MinInt64, begin, begin - 1, begin + 1, end, end + 1e6, math.MaxInt64} {
		check(t, r.SeekTime(ns))
		expect(fmt.Sprint("time ", ns), first(ns))
	}
	for range tries {
		ns := begin + rnd.Int64N(end-begin)
		check(t, r.SeekTime(ns))
		expect(fmt.Sprint("time ", ns), first(ns))
	}
}

// TestProjectColumns decodes no column that is not asked for.
func TestProjectColumns(t *testing.T) {
	data, times := timed(t, 120_000)
	decoded := map[string]int64{}
	for _, key := range []string{"n", ""} {
		r := openBytes(t, data, &Options{Parallel: 1})
		if key != "" {
			check(t, r.Project(key))
		}
		i := 0
		var line []byte
		for record, err := range r.All() {
			if err == nil {
				line, err = record.AppendJSON(line[:0])
			}
			if err != nil || key != "" && string(line) != fmt.Sprintf(`{"n":%d}`, i) {
				t.Fatalf("record %d: %s, %v", i, line, err)
			}
			i++
		}
		if i != len(times) {
			t.Errorf("%d records", i)
		}
		s := r.Stats()
		if !s.Index || s.Read == 0 || s.Read > int64(len(data)) {
			t.Errorf("%+v of %d bytes", s, len(data))
		}
		decoded[key] = s.Decoded
		check(t, r.Close())
	}
	if decoded["n"] > decoded[""]*2/3 {
		t.Errorf("decoded bytes %v", decoded)
	}
}

// TestKeysFrames adds up what the columns of a large archive take.
func TestKeysFrames(t *testing.T) {
	data, times := timed(t, 120_000)
	r := openBytes(t, data, nil)
	defer r.Close()
	keys, err := r.Keys()
	check(t, err)
	var packed, bytes, section int64
	exact := 0
	for _, k := range keys {
		packed += k.Packed
		bytes += k.Bytes
		if k.Exact {
			exact++
		}
		if k.Path == "n" && k.Records != int64(len(times)) {
			t.Errorf("%+v", k)
		}
	}
	for _, s := range r.Sections() {
		if s.Name == sectionData {
			section = s.Bytes
		}
	}
	var want int64
	for table := range r.Tables() {
		want += table.Bytes
	}
	if packed > section || packed < section/2 || bytes != want || exact == 0 {
		t.Errorf("columns have %d bytes of %d, packed %d of %d; %d are exact", bytes, want, packed, section, exact)
	}
}

// TestFramesOnce reads a table of several frames a column: each is decompressed once, and let go behind the records.
func TestFramesOnce(t *testing.T) {
	var lines [][]byte
	for i := range 4 * blockRows {
		lines = append(lines, fmt.Appendf(nil, `{"msg":"took %d %d %d %d %d %d of %d"}`, i%1000, i%7, i%5, i%11, i%2, i%3, i%9))
	}
	data := write(t, lines, nil)
	for _, parallel := range []int{1, 3} {
		r := openBytes(t, data, &Options{Parallel: parallel})
		var peak, total int64
		i := 0
		for _, err := range r.All() {
			if err != nil {
				t.Fatal(err)
			}
			if i++; i%1000 == 0 {
				r.pool.mu.Lock()
				peak = max(peak, r.pool.plain)
				r.pool.mu.Unlock()
			}
		}
		x := r.index()
		if x == nil {
			t.Fatal(r.indexErr)
		}
		for _, list := range append(x.streams, x.dictFrames(sectionVars), x.dictFrames(sectionLogs), x.dictFrames(sectionArrays)) {
			_, length := totals(list)
			total += length
		}
		if s := r.Stats(); i != len(lines) || s.Decoded > total || peak > total/3 {
			t.Errorf("%d goroutines: %d records, %d bytes decompressed of %d, %d of them held", parallel, i, s.Decoded, total, peak)
		}
		check(t, r.Close())
	}
}
