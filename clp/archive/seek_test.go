package archive

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
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
