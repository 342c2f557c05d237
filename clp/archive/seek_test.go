package archive

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// timed is an archive of ours of n records in three tables, most of which have a time: the k-th of base + k seconds, some
// of them up to a minute earlier, so that the log is not sorted.
func timed(t testing.TB, n int) (data []byte, times []int64) {
	t.Helper()
	var lines [][]byte
	rnd := rand.New(rand.NewPCG(1, 2))
	base := time.Date(2026, 3, 2, 8, 0, 0, 0, time.UTC)
	for i := range n {
		at := base.Add(time.Duration(i) * time.Second)
		if rnd.IntN(4) == 0 {
			at = at.Add(-time.Duration(rnd.IntN(60)) * time.Second)
		}
		text := at.Format("2006-01-02T15:04:05.000Z")
		switch rnd.IntN(10) {
		case 0:
			lines = append(lines, fmt.Appendf(nil, `{"time":"%s","n":%d}`, text, i))
		case 1, 2, 3, 4, 5, 6:
			lines = append(lines, fmt.Appendf(nil, `{"time":"%s","n":%d,"msg":"took %d ms, id %x"}`, text, i, i, i*7919))
		case 7:
			lines = append(lines, fmt.Appendf(nil, `{"n":%d,"time":"%s"}`, i, text))
		default:
			lines = append(lines, fmt.Appendf(nil, `{"n":%d,"none":true}`, i))
			times = append(times, math.MinInt64)
			continue
		}
		times = append(times, at.UnixNano())
	}
	return write(t, lines, &WriterOptions{TimeKey: []string{"time"}}), times
}

// TestSeekVectors goes to every record of the reference's archives, and back.
func TestSeekVectors(t *testing.T) {
	for _, v := range loadVectors(t) {
		for _, a := range v.Archive {
			if a.File == "" || a.Counts.Records > 300 {
				continue
			}
			r := openVector(t, a.File, nil)
			lines, err := readLines(r)
			check(t, err)
			if err := r.SeekRecord(0); err == ErrOrder {
				check(t, r.Close())
				continue
			} else {
				check(t, err)
			}
			want := bytes.SplitAfter(lines, []byte("\n"))
			for i := len(want) - 2; i >= 0; i -= 7 {
				check(t, r.SeekRecord(int64(i)))
				got, err := readLines(r)
				if err != nil || !bytes.Equal(got, bytes.Join(want[i:], nil)) {
					t.Fatalf("%s from record %d: got %.200s, %v, want %.200s", a.File, i, got, err, bytes.Join(want[i:], nil))
				}
			}
			check(t, r.Close())
		}
	}
}

func TestSeekErrors(t *testing.T) {
	data, _ := timed(t, 10)
	r := openBytes(t, data, &Options{Stored: true})
	if err := r.SeekRecord(1); err != ErrOrder {
		t.Errorf("%v", err)
	}
	check(t, r.Close())
	if err := r.SeekRecord(1); err != ErrClosed {
		t.Errorf("%v", err)
	}
	data = write(t, [][]byte{[]byte(`{"a":1}`)}, nil)
	r = openBytes(t, data, nil)
	defer r.Close()
	if err := r.SeekTime(0); err != ErrNoTime {
		t.Errorf("%v", err)
	}
	if _, _, ok := r.TimeRange(); ok {
		t.Error("a range of time without times")
	}
	if record, err := r.Next(); err != nil || record.Number() != 0 {
		t.Errorf("%v", err)
	}
}

// TestDateStringTimes asks for times between the milliseconds that archives before 0.5.0 have.
func TestDateStringTimes(t *testing.T) {
	times := []int64{-2, -1, 0, 1, 1704207845670} // milliseconds
	s := spec{
		version:  0x00040001,
		nodes:    append(slices.Clone(base), Node{2, DateString, "t"}),
		schemas:  []specSchema{{0, []int32{1, 3}, 2}},
		streams:  [][]byte{bytesOf(0, 1, 1, 1, 1, times, make([]byte, 8*len(times)))},
		tables:   []specTable{{0, 0, 0, len(times)}},
		patterns: []string{"%E"},
	}
	data := s.build(t)
	for _, ns := range []int64{math.MinInt64, -2_000_001, -1_999_999, -1_000_000, -1, 0, 1, 1_000_000, 1_000_001, 1704207845670_000_000, 1704207845670_000_001} {
		want := int64(slices.IndexFunc(times, func(ms int64) bool { return ms*1_000_000 >= ns }))
		r := openBytes(t, data, nil)
		r.box.meta.times = []TimeIndex{{Nodes: []int32{3}}}
		check(t, r.SeekTime(ns))
		record, err := r.Next()
		if got := int64(-1); err == nil && record.Number() != want || err != nil && want != got {
			t.Errorf("from %d ns on: %v, want record %d", ns, err, want)
		}
		check(t, r.Close())
		for _, to := range []int64{ns, ns + 999_999, ns + 1_000_000, math.MaxInt64} {
			r = openBytes(t, data, nil)
			r.Select(func(Table) (*Condition, error) { return &Condition{Kind: CondRange, Column: 1, Min: ns, Max: to}, nil })
			n, err := r.CountSure()
			check(t, err)
			var want int64
			for _, ms := range times {
				if ns <= ms*1_000_000 && ms*1_000_000 <= to {
					want++
				}
			}
			if n != want {
				t.Errorf("%d to %d ns: %d records, want %d", ns, to, n, want)
			}
			check(t, r.Close())
		}
	}
}
