package archive

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"
)

// mappings makes records whose keys are numbers of lines, as compile traces have them: each has a schema of its own.
func mappings(records, keys int) (lines [][]byte, size int64) {
	r := rand.New(rand.NewPCG(1, uint64(keys)))
	for i := range records {
		var b bytes.Buffer
		fmt.Fprintf(&b, `{"event":"compilation","n":%d,"hash":"%016x","maps":{`, i, r.Uint64())
		for k := range keys {
			if k > 0 {
				b.WriteByte(',')
			}
			fmt.Fprintf(&b, `"%d":{"file":"/src/kernels/example.py","line":%d,"ratio":%d.5,"from":[%d, %d],"name":"loop %d"}`, 2*k+r.IntN(2), 70+k%90, k%7, k/3, k/3+1, k%5)
		}
		b.WriteString("}}")
		lines = append(lines, b.Bytes())
		size += int64(b.Len()) + 1
	}
	return lines, size
}

// TestManyColumns has thousands of columns that have one value.
func TestManyColumns(t *testing.T) {
	lines, size := mappings(40, 600)
	for _, o := range []WriterOptions{{}, {Concurrency: 3}, {Memory: 96 << 20}} {
		var b bytes.Buffer
		w, err := NewWriter(&b, &o)
		check(t, err)
		for _, line := range lines {
			check(t, w.Write(line))
		}
		if held := w.Held(); held > 8*size+w.memory/statesShare {
			t.Errorf("%+v: %d bytes are held of %d", o, held, size)
		}
		check(t, w.Close())
		if b.Len() > int(size)/25 {
			t.Errorf("%+v: %d bytes became %d", o, size, b.Len())
		}
		got, err := readLines(openBytes(t, b.Bytes(), nil))
		check(t, err)
		for i, line := range splitLines(got) {
			if string(line) != string(lines[i]) {
				t.Fatalf("record %d: got %.200s, want %.200s", i, line, lines[i])
			}
		}
	}
}

// TestYoung has tables of few records and of more, whose texts go different ways.
func TestYoung(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 3))
	var in []string
	for i := range 4000 {
		k := r.IntN(1 + r.IntN(200))
		in = append(in, fmt.Sprintf(`{"n":%d,"k%d":"word%d","t%d":"took %d ms for job%d","a":[%d, "x%d"],"f%d":%d0.0e+00000005}`, i, k, r.IntN(50), k%7, r.IntN(9), r.IntN(40), r.IntN(5), r.IntN(9), k%3, 1+r.IntN(9)))
	}
	for _, o := range []WriterOptions{{}, {Concurrency: 2}, {Structured: true, Concurrency: 3}} {
		checkSame(t, in, readWithSide(t, write(t, toLines(in), &o)))
	}
}

// BenchmarkWriteColumns writes records that have a schema each, with 12,000 columns.
func BenchmarkWriteColumns(b *testing.B) {
	for _, keys := range []int{20, 200, 2000} {
		b.Run(fmt.Sprintf("keys=%d", keys), func(b *testing.B) {
			lines, size := mappings(100_000/keys, keys)
			b.SetBytes(size)
			b.ReportAllocs()
			var written counting
			most := int64(0)
			for b.Loop() {
				written = 0
				w, err := NewWriter(&written, nil)
				check(b, err)
				for _, line := range lines {
					if err := w.Write(line); err != nil {
						b.Fatal(err)
					}
				}
				most = w.Held()
				check(b, w.Close())
			}
			b.ReportMetric(float64(written)/float64(size), "ratio")
			b.ReportMetric(float64(most)/1e6, "heldMB")
		})
	}
}
