package archive

import (
	"bytes"
	"fmt"
	"hash/maphash"
	"testing"
)

// digest reads an archive to its end and returns a hash of its lines and the first error.
func digest(data []byte, o *Options) (sum uint64, records int, err error) {
	r, err := Open(bytes.NewReader(data), int64(len(data)), o)
	if err != nil {
		return 0, 0, err
	}
	defer r.Close()
	var h maphash.Hash
	h.SetSeed(digestSeed)
	var line []byte
	for record, e := range r.All() {
		if e == nil {
			if line, e = record.AppendJSON(line[:0]); e == nil {
				h.Write(append(line, '\n'))
				records++
				continue
			}
		}
		if err == nil {
			err = e
		}
	}
	return h.Sum64(), records, err
}

var digestSeed = maphash.MakeSeed()

// TestFlip changes each byte of archives of ours, in two ways: either that is an error, or the records are the same. Nothing is
// silently another record.
func TestFlip(t *testing.T) {
	var small [][]byte
	for i := range 40 {
		small = append(small, fmt.Appendf(nil, `{"time":"2026-03-02T08:00:%02d.123456789Z","level":"INFO","msg":"request %d took %d.50 ms","id":"%x","ok":true,"f":%d.25,"l":[%d,"x"]}`, i, i, i, i*7919, i, i))
		if i%9 == 0 {
			small = append(small, fmt.Appendf(nil, `{"level":"WARN","time":"2026-03-02T08:00:%02dZ","a":{"n":null,"e":{}},"a":%d}`, i, i), fmt.Appendf(nil, `{"a":1,"a":%d}`, i))
		}
	}
	var middle [][]byte // with checksums in its frames
	for i := range 2000 {
		middle = append(middle, fmt.Appendf(nil, `{"time":"2026-03-02T08:00:00.%09dZ","msg":"request %d took %d.50 ms","id":"%x","l":[%d,"x"],"pad":"%080d"}`, i*7919, i, i%700, i*7919, i, 0))
	}
	var large [][]byte // with an index
	for i := range blockRows + 500 {
		large = append(large, fmt.Appendf(nil, `{"n":%d,"s":"value %d"}`, i%5, i%3))
	}
	for name, c := range map[string]struct {
		lines [][]byte
		tries int // bytes that are changed, 0 for all
	}{"few": {fewLines(), 0}, "small": {small, 0}, "middle": {middle, 300}, "large": {large, 40}} {
		t.Run(name, func(t *testing.T) {
			data := write(t, c.lines, &WriterOptions{TimeKey: []string{"time"}})
			o := &Options{Parallel: 1}
			want, n, err := digest(data, o)
			check(t, err)
			if n != len(c.lines) {
				t.Fatalf("%d records of %d", n, len(c.lines))
			}
			if index := openBytes(t, data, nil).index() != nil; index != (name == "large") {
				t.Fatalf("an index: %v", index)
			}
			if sums := openBytes(t, data, nil).box.header.sums != nil; sums != (name == "few") {
				t.Fatalf("checksums in the header: %v", sums)
			}
			failed, step := 0, 1
			if c.tries > 0 {
				step = len(data)/c.tries + 1
			}
			for at := 0; at < len(data); at += step {
				for _, mask := range []byte{1, 0xFF} {
					bad := bytes.Clone(data)
					bad[at] ^= mask
					sum, _, err := digest(bad, o)
					if err != nil {
						checkTyped(t, err)
						failed++
					} else if sum != want {
						t.Errorf("byte %d of %d, changed by %#x: other records, and no error", at, len(data), mask)
					}
				}
			}
			if failed*step < len(data) {
				t.Errorf("%d changes of %d were noticed", failed, 2*len(data)/step)
			}
		})
	}
}

// TestDamagedFrame damages one frame of a column: the rows of other frames stay readable, in one goroutine and in several.
func TestDamagedFrame(t *testing.T) {
	const n = 3 * blockRows
	var lines [][]byte
	for i := range n {
		lines = append(lines, fmt.Appendf(nil, `{"n":%d}`, i))
	}
	data := write(t, lines, nil)
	r := openBytes(t, data, nil)
	x := r.index()
	if x == nil {
		t.Fatal(r.indexErr)
	}
	frames := x.streamFrames(0)
	if len(frames) != 6 { // three of the number of the record, three of n
		t.Fatalf("%d frames", len(frames))
	}
	from := r.box.sections[sectionData].off + r.tables.streams[0].from
	check(t, r.Close())
	for k, f := range frames {
		bad := bytes.Clone(data)
		bad[from+f.at+f.size-1] ^= 0x10 // of its checksum
		for _, parallel := range []int{1, 3} {
			r := openBytes(t, bad, &Options{Parallel: parallel})
			seen := make([]bool, n)
			var damage error
			for record, err := range r.All() {
				if err != nil {
					damage = err
					break
				}
				i := record.Number()
				line, err := record.JSON()
				if err != nil || string(line) != fmt.Sprintf(`{"n":%d}`, i) {
					t.Fatalf("record %d: %s, %v", i, line, err)
				}
				seen[i] = true
			}
			checkTyped(t, damage)
			c, ok := damage.(*CorruptError)
			if !ok || c.Section != sectionData || c.Stream != 0 || c.Offset != f.plain {
				t.Errorf("frame %d: %v", k, damage)
			}
			for i := range seen {
				if want := i/blockRows != k%3; seen[i] != want {
					t.Fatalf("frame %d: record %d: there %v, want %v", k, i, seen[i], want)
				}
			}
			check(t, r.Close())
		}
	}
}
