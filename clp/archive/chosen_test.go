package archive

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// sparse is an archive without an index, of three tables of many pages, and its lines.
func sparse(t testing.TB) ([]byte, [][]byte) {
	var lines [][]byte
	random := rand.New(rand.NewPCG(5, 6))
	for i := range 60_000 {
		switch random.IntN(8) {
		case 0:
			lines = append(lines, fmt.Appendf(nil, `{"n":%d,"list":[%d,"a b",{"x":%d.5}],"ok":%v}`, i, i, i%77, i%2 == 0))
		case 1:
			lines = append(lines, fmt.Appendf(nil, `{"n":%d,"f":%d.25,"id":"id-%x"}`, i, i, i*7919))
		default:
			lines = append(lines, fmt.Appendf(nil, `{"time":"2026-01-02T03:%02d:%02d.%03dZ","n":%d,"msg":"took %d ms of %d for job-%d","ok":%v}`, i/60_000, i/1000%60, i%1000, i, i%5000, i, i%13, i%3 == 0))
		}
	}
	return write(t, lines, &WriterOptions{TimeKey: []string{"time"}, NoIndex: true}), lines
}

// chooseRows has r return the records whose n is one of those.
func chooseRows(r *Reader, numbers ...int64) {
	r.Select(func(t Table) (*Condition, error) {
		c := &Condition{Kind: CondSome}
		for i, id := range t.Columns {
			if r.Nodes()[id].Key != "n" {
				continue
			}
			for _, n := range numbers {
				c.Parts = append(c.Parts, &Condition{Kind: CondRange, Column: i, Min: n, Max: n})
			}
		}
		return c, nil
	})
}

// TestChosen reads single records of an archive without an index: they are right, and few pages are kept.
func TestChosen(t *testing.T) {
	data, lines := sparse(t)
	random := rand.New(rand.NewPCG(7, 8))
	for _, count := range []int{1, 3, 40, 2500} {
		numbers := []int64{}
		for range count {
			numbers = append(numbers, random.Int64N(int64(len(lines))))
		}
		if count > 1 {
			numbers = append(numbers, 0, int64(len(lines))-1)
		}
		slices.Sort(numbers)
		numbers = slices.Compact(numbers)
		for _, o := range []Options{{Parallel: 1}, {Parallel: 3}, {Stored: true, Parallel: 1}, {Plain: true}} {
			r := openBytes(t, data, &o)
			chooseRows(r, numbers...)
			var found []int64
			for record, err := range r.All() {
				check(t, err)
				line, err := record.JSON()
				check(t, err)
				n := record.Number()
				if found = append(found, n); !bytes.Equal(line, lines[n]) {
					t.Fatalf("record %d: %s, want %s", n, line, lines[n])
				}
				for i := range r.streams {
					kept, b := 0, &r.streams[i].blob
					for p := range b.pages {
						if b.pages[p].Load() != nil {
							kept++
						}
					}
					if count == 1 && kept > 2*len(b.pages)/3+1 {
						t.Errorf("%d of %d pages of stream %d are kept", kept, len(b.pages), i)
					}
				}
			}
			if slices.Sort(found); !slices.Equal(found, numbers) {
				t.Errorf("%+v: %d found, not %d", o, len(found), len(numbers))
			}
			check(t, r.Close())
		}
	}
}

// TestChosenRefill reads pages that were left out.
func TestChosenRefill(t *testing.T) {
	data, lines := sparse(t)
	whole, r := openBytes(t, data, &Options{Parallel: 1}), openBytes(t, data, &Options{Parallel: 1})
	defer whole.Close()
	defer r.Close()
	chooseRows(r, int64(len(lines))-1)
	for _, x := range []*Reader{whole, r} {
		_, err := x.Next()
		check(t, err)
	}
	missing := 0
	for i := range r.streams {
		a, b := &whole.streams[i].blob, &r.streams[i].blob
		for p := range b.pages {
			if b.pages[p].Load() == nil {
				missing++
			}
			n := int(min(pageSize, b.size-int64(p)*pageSize, a.size-int64(p)*pageSize))
			var one, two []byte
			got, err := b.slice(int64(p)*pageSize, n, &one)
			check(t, err)
			want, err := a.slice(int64(p)*pageSize, n, &two)
			check(t, err)
			if !bytes.Equal(got, want) {
				t.Fatalf("page %d of stream %d is another one", p, i)
			}
		}
	}
	if missing == 0 {
		t.Error("no page was left out")
	}
}
