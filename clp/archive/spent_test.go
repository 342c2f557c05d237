package archive

import (
	"fmt"
	"testing"
)

// TestSpent reads all of an archive and compares what was counted with what is there.
func TestSpent(t *testing.T) {
	var lines [][]byte
	for i := range 70_000 {
		switch {
		case i%1000 == 7: // kept as it was written
			lines = append(lines, fmt.Appendf(nil, `{"n":%d,"n":1,"msg":"took %d ms"}`, i, i%9))
		case i%5 == 0:
			lines = append(lines, fmt.Appendf(nil, `{"msg":"took %d ms, id=%x","n":%d}`, i%9, i*7919, i))
		default:
			lines = append(lines, fmt.Appendf(nil, `{"n":%d,"msg":"took %d ms"}`, i, i%9))
		}
	}
	data := write(t, lines, nil)
	for _, parallel := range []int{1, 3} {
		r := openBytes(t, data, &Options{Parallel: parallel})
		got, err := readLines(r)
		check(t, err)
		if n := len(splitLines(got)); n != len(lines) {
			t.Fatalf("%d lines", n)
		}
		x := r.index()
		if x == nil {
			t.Fatal(r.indexErr)
		}
		var columns, dicts Bytes
		for _, list := range x.streams {
			size, length := totals(list)
			columns.add(Bytes{size, length})
		}
		for _, name := range []string{sectionVars, sectionLogs} {
			size, length := totals(x.dictFrames(name))
			dicts.add(Bytes{size, length})
		}
		s := r.ScanStats().Spent
		const empty = 64 // frames of columns without variables are not needed
		if s.Columns.Read > columns.Read || s.Columns.Read < columns.Read-empty || s.Columns.Decoded > columns.Decoded || s.Columns.Decoded < columns.Decoded-empty || s.Dictionaries != dicts || s.Side.Decoded < s.Side.Read || s.Side.Read == 0 || s.Index.Decoded < s.Index.Read || s.Index.Read == 0 {
			t.Errorf("%d goroutines: %+v, want %+v and %+v", parallel, s, columns, dicts)
		}
		if sum := s.Total(); sum.Read <= columns.Read+dicts.Read || sum.Read > int64(len(data)) {
			t.Errorf("%+v of %d bytes", sum, len(data))
		}
		twice := r.ScanStats()
		if twice.Add(&twice); twice.Spent.Total().Read != 2*s.Total().Read || twice.Index != nil {
			t.Errorf("%+v", twice)
		}
		check(t, r.Close())
	}
}

// TestFiltersOnce looks up several words: the filters are read once.
func TestFiltersOnce(t *testing.T) {
	var lines [][]byte
	for i := range 70_000 {
		lines = append(lines, fmt.Appendf(nil, `{"id":"x%d"}`, i*7919))
	}
	r := openBytes(t, write(t, lines, nil), nil)
	defer r.Close()
	var before int64
	for i := range 5 {
		set, err := r.Variables().Find(fmt.Appendf(nil, "x%d", i*7919), false)
		check(t, err)
		if set.Len() != 1 {
			t.Errorf("x%d: %d entries", i*7919, set.Len())
		}
		now := r.ScanStats().Spent.Index.Read
		if i == 0 && len(r.index().dicts[0].held) == 0 || i > 0 && now != before {
			t.Errorf("word %d: %d bytes of the index were read, %d before", i, now, before)
		}
		before = now
	}
}
