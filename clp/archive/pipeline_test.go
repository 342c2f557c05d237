package archive

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"
)

// TestCloseEarly closes readers, and has them go elsewhere, while others work for them.
func TestCloseEarly(t *testing.T) {
	const n = 100_000
	data, _ := timed(t, n)
	random := rand.New(rand.NewPCG(1, 2))
	for range 40 {
		o := Options{Parallel: 1 + random.IntN(4), Stored: random.IntN(4) == 0}
		r := openBytes(t, data, &o)
		if random.IntN(2) == 0 {
			r.Select(func(Table) (*Condition, error) { return &Condition{Kind: CondAlways}, nil })
		}
		at := int64(0)
		for range 1 + random.IntN(3) {
			for range random.IntN(3000) {
				record, err := r.Next()
				check(t, err)
				line, err := record.JSON()
				check(t, err)
				if !o.Stored {
					if record.Number() != at || !bytes.Contains(line, fmt.Appendf(nil, `"n":%d`, at)) {
						t.Fatalf("%+v: record %d is %s", o, at, line)
					}
					at++
				}
			}
			if !o.Stored {
				at = random.Int64N(n - 10_000)
				check(t, r.SeekRecord(at))
			}
		}
		check(t, r.Close())
	}
}
