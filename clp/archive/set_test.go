package archive

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"testing"
)

// parts are archives of n records each, {"i":…,"time":…} numbered through, a second each.
func parts(t *testing.T, count, n int) [][]byte {
	var list [][]byte
	for p := range count {
		var lines [][]byte
		for i := range n {
			k := p*n + i
			lines = append(lines, fmt.Appendf(nil, `{"time":"2026-03-02T08:%02d:%02dZ","i":%d}`, k/60, k%60, k))
		}
		list = append(list, write(t, lines, &WriterOptions{TimeKey: []string{"time"}}))
	}
	return list
}

func openParts(list [][]byte) *Set {
	return OpenSet(len(list), func(i int) (*Reader, error) { return Open(bytes.NewReader(list[i]), int64(len(list[i])), nil) })
}

func TestSet(t *testing.T) {
	const n = 10
	s := openParts(parts(t, 3, n))
	expect := func(from int64) {
		t.Helper()
		for record, err := range s.All() {
			check(t, err)
			line, err := record.AppendJSON(nil)
			check(t, err)
			if record.Number() != from || !bytes.Contains(line, fmt.Appendf(nil, `"i":%d}`, from)) {
				t.Fatalf("record %d: %s, want %d", record.Number(), line, from)
			}
			from++
		}
		if from != 3*n {
			t.Fatalf("ended before record %d", from)
		}
		if _, err := s.Next(); err != io.EOF {
			t.Fatalf("%v, want EOF", err)
		}
	}
	expect(0)
	if l, err := s.Len(); err != nil || l != 3*n {
		t.Errorf("%d records, %v", l, err)
	}
	for _, at := range []int64{0, 5, 10, 29, 11, 30, math.MaxInt64, -1} {
		check(t, s.SeekRecord(at))
		expect(min(max(at, 0), 3*n))
	}
	const begin = 1772438400 // 2026-03-02T08:00:00Z
	for _, at := range []int64{0, 5, 9, 10, 19, 29, 30} {
		check(t, s.SeekTime((begin+at)*1e9))
		expect(at)
		check(t, s.SeekTime((begin+at)*1e9+1))
		expect(min(at+1, 3*n))
	}
	check(t, s.Close())
	_, err := s.Next()
	if _, lenErr := s.Len(); err != ErrClosed || lenErr != ErrClosed || s.SeekRecord(0) != ErrClosed || s.SeekTime(0) != ErrClosed {
		t.Errorf("after Close: %v, %v", err, lenErr)
	}
}

// TestSetSeekUnknown goes to a record of a set of which nothing was read.
func TestSetSeekUnknown(t *testing.T) {
	s := openParts(parts(t, 3, 10))
	defer s.Close()
	check(t, s.SeekRecord(25))
	if record, err := s.Next(); err != nil || record.Number() != 25 {
		t.Errorf("%v", err)
	}
}

// TestSetDamage reads on behind a part that is damaged and one that is none.
func TestSetDamage(t *testing.T) {
	list := parts(t, 4, 10)
	list[1] = []byte("nothing")
	list[2] = list[2][:len(list[2])-3]
	s := openParts(list)
	defer s.Close()
	n := 0
	var last error
	for _, err := range s.All() {
		if last = err; err == nil {
			n++
		}
	}
	var c *CorruptError
	if n != 20 || !errors.Is(last, ErrMagic) || !errors.As(last, &c) {
		t.Errorf("%d records, %v", n, last)
	}
}

func TestEmptySet(t *testing.T) {
	s := OpenSet(0, nil)
	if _, err := s.Next(); err != io.EOF {
		t.Errorf("%v", err)
	}
	if n, err := s.Len(); n != 0 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
}
