package archive

import (
	"bytes"
	"fmt"
	"testing"
)

// fewLines are less than summed.
func fewLines() (lines [][]byte) {
	for i := range 5 {
		lines = append(lines, fmt.Appendf(nil, `{"time":"2026-03-02T08:00:%02dZ","msg":"request %d took %d.50 ms","id":"x%d","l":[%d,"x"]}`, i, i, i, i*7919, i),
			fmt.Appendf(nil, `{"a":1,"a":%d}`, i), fmt.Appendf(nil, `{"a":{"n":null,"e":{}},"f":%d.25,"ok":true,"a":2}`, i))
	}
	return lines
}

// smallArchive is one with checksums in its header.
func smallArchive(t testing.TB) []byte {
	data := write(t, fewLines(), &WriterOptions{TimeKey: []string{"time"}})
	if readSums(data[:headerSize]) == nil {
		t.Fatal("no checksums in the header")
	}
	return data
}

// TestSumsOff reads a small archive as other programs do, and as one of a later version.
func TestSumsOff(t *testing.T) {
	data := smallArchive(t)
	want, n, err := digest(data, nil)
	check(t, err)
	for name, change := range map[string]func(header []byte){
		"no tag":            func(h []byte) { clear(h[sumsAt : sumsAt+32]) },
		"a later version":   func(h []byte) { h[sumsAt+len(sumsMagic)]++ },
		"sums of something": func(h []byte) { clear(h[sumsAt : sumsAt+8]); h[sumsAt+9]++ },
	} {
		other := bytes.Clone(data)
		change(other[:headerSize])
		if sum, m, err := digest(other, nil); err != nil || sum != want || m != n {
			t.Errorf("%s: %d records of %d, %v", name, m, n, err)
		}
	}
}

// TestSumsLimits writes archives that are just small enough, and just too large.
func TestSumsLimits(t *testing.T) {
	variables := func(n int) []byte {
		line := []byte(`{"m":"of`)
		for i := range n {
			line = fmt.Appendf(line, " a%03d", i)
		}
		return append(line, `"}`...)
	}
	const entry = 8 + len("a000")
	for _, c := range []struct {
		name  string
		lines int
		text  func(i int) []byte
		sums  bool
	}{
		{"tables", summed / 16, func(i int) []byte { return fmt.Appendf(nil, `{"n":%d}`, i) }, true},
		{"tables too large", summed/16 + 1, func(i int) []byte { return fmt.Appendf(nil, `{"n":%d}`, i) }, false},
		{"dictionary", 1, func(int) []byte { return variables(summed / entry) }, true},
		{"dictionary too large", 1, func(int) []byte { return variables(summed/entry + 1) }, false},
		{"input", summed / 1024, func(i int) []byte { return fmt.Appendf(nil, `{"n":"%01015d"}`, 0) }, true},
		{"input too large", summed/1024 + 1, func(i int) []byte { return fmt.Appendf(nil, `{"n":"%01015d"}`, 0) }, false},
	} {
		var lines [][]byte
		for i := range c.lines {
			lines = append(lines, c.text(i))
		}
		data := write(t, lines, nil)
		if sums := readSums(data[:headerSize]) != nil; sums != c.sums {
			t.Errorf("%s: checksums in the header: %v", c.name, sums)
		}
		if _, n, err := digest(data, nil); err != nil || n != c.lines {
			t.Errorf("%s: %d records of %d, %v", c.name, n, c.lines, err)
		}
	}
}

// FuzzSums changes a small archive of ours anywhere behind its header: either that is an error, or the records are the same. With another
// header, nothing more is asked than of any bytes.
func FuzzSums(f *testing.F) {
	data := smallArchive(f)
	want, _, err := digest(data, nil)
	check(f, err)
	f.Add(uint16(headerSize), []byte{0x28})
	f.Add(uint16(len(data)-9), []byte("changed"))
	f.Add(uint16(sumsAt+8), []byte{0, 0, 0, 0, 1, 1})
	f.Add(uint16(16), []byte{0xFF})
	f.Fuzz(func(t *testing.T, at uint16, patch []byte) {
		bad := bytes.Clone(data)
		from := int(at) % len(bad)
		copy(bad[from:], patch)
		sum, _, err := digest(bad, &Options{Memory: minMemory})
		if err != nil {
			checkTyped(t, err)
		} else if from >= headerSize && sum != want {
			t.Fatal("other records, and no error")
		}
		readAll(t, bad, &Options{Memory: minMemory})
	})
}
