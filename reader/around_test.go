package reader

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tracehandler/tracehandler/clp/kql"
	"github.com/tracehandler/tracehandler/event"
	"github.com/tracehandler/tracehandler/naming"
)

// near returns what Around delivers: the numbers of the events, those that were found with a *, a | where others were left out.
func near(t testing.TB, data []byte, q *kql.Query, o AroundOptions) string {
	t.Helper()
	r, err := New(bytes.NewReader(data), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	return nearOf(t, r, q, o)
}

func nearOf(t testing.TB, r *Reader, q *kql.Query, o AroundOptions) string {
	t.Helper()
	var b strings.Builder
	for e, err := range r.Around(q, o) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Gap {
			b.WriteByte('|')
		}
		n, _ := e.Event.Get("id")
		fmt.Fprint(&b, n, " ")
		if e.Found {
			b.WriteByte('*')
		}
	}
	return b.String()
}

func TestAround(t *testing.T) {
	var lines []string
	for i := range 12 {
		lines = append(lines, fmt.Sprintf(`{"id":%d,"ok":%v}`, i, i == 2 || i == 3 || i == 9))
	}
	for o, want := range map[[4]int]string{
		{1, 1, 0, -1}: "|1 2 *3 *4 |8 9 *10 ",
		{0, 0, 0, -1}: "|2 *3 *|9 *",
		{2, 0, 0, -1}: "0 1 2 *3 *|7 8 9 *",
		{0, 9, 0, -1}: "|2 *3 *4 5 6 7 8 9 *10 11 ",
		{9, 0, 1, -1}: "0 1 2 *",
		{1, 1, 2, -1}: "|1 2 *3 *4 ",
		{1, 2, 1, -1}: "|1 2 *3 4 ",
		{1, 1, 0, 3}:  "|1 2 *3 |8 9 *10 ",
		{5, 5, 0, 9}:  "0 1 2 *3 *4 5 6 7 8 ",
	} {
		q, err := kql.Parse("ok: true", nil)
		if err != nil {
			t.Fatal(err)
		}
		options := AroundOptions{Before: o[0], After: o[1], Limit: int64(o[2]), Keep: func(e event.Event) bool {
			n, _ := e.Get("id")
			return n.Int64() != int64(o[3])
		}}
		for name, data := range every(t, lines...) {
			if got := near(t, data, q, options); got != want {
				t.Errorf("%s, %v: %s, want %s", name, o, got, want)
			}
		}
	}
}

// TestAroundProject looks at one key and asks for another.
func TestAroundProject(t *testing.T) {
	q, err := kql.Parse("ok: true", nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range every(t, `{"id":0,"ok":false}`, `{"id":1,"ok":true}`, `{"id":2,"ok":false}`, `{"id":3,"ok":false}`) {
		r, err := New(bytes.NewReader(data), nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Project("id")
		if got := nearOf(t, r, q, AroundOptions{Before: 1, After: 1}); got != "0 1 *2 " {
			t.Errorf("%s: %s", name, got)
		}
		r.Close()
	}
}

// TestAroundArchive goes from place to place in an archive of several blocks and tables; lines are gone through.
func TestAroundArchive(t *testing.T) {
	const n = 90_000
	random := rand.New(rand.NewPCG(1, 2))
	var lines []string
	for i := range n {
		line := fmt.Sprintf(`{"id":%d,"word":"w%d","k":%d}`, i, random.IntN(20_000), i%1000)
		if random.IntN(3) == 0 {
			line = fmt.Sprintf(`{"id":%d,"list":[1,2],"word":"w%d","x":{"y":%d}}`, i, random.IntN(20_000), i)
		}
		lines = append(lines, line)
	}
	data, text := archiveOf(t, lines...), []byte(strings.Join(lines, "\n"))
	r, err := New(bytes.NewReader(data), nil)
	if err != nil {
		t.Fatal(err)
	}
	if !r.src.(*archiveSource).seekable() {
		t.Fatal("neighbors cannot be looked for")
	}
	r.Close()
	for _, query := range []string{"word: w77", "id: 0 OR id: 89999 OR id: 70000", "k < 3", "nothing: here", "id > 89000 AND x.y: *"} {
		q, err := kql.Parse(query, nil)
		if err != nil {
			t.Fatal(err)
		}
		for i, o := range []AroundOptions{{Before: 2, After: 1}, {After: 3}, {Before: 700}, {Before: 1, After: 9, Limit: 3}} {
			if testing.Short() && i%2 == 0 {
				continue
			}
			if got, want := near(t, data, q, o), near(t, text, q, o); got != want {
				t.Errorf("%s, %+v: %d bytes, want %d:\n%.300s\n%.300s", query, o, len(got), len(want), got, want)
			}
		}
	}
}

// TestAroundCost looks for the neighbors of one record: most of the archive is not decoded.
func TestAroundCost(t *testing.T) {
	var lines []string
	for i := range 400_000 {
		lines = append(lines, fmt.Sprintf(`{"id":%d,"k":%d,"ok":true}`, i, i%1000))
	}
	data := archiveOf(t, lines...)
	q, err := kql.Parse("id: 300000", nil)
	if err != nil {
		t.Fatal(err)
	}
	r, err := New(bytes.NewReader(data), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var numbers []int64
	for e, err := range r.Around(q, AroundOptions{Before: 1, After: 1}) {
		if err != nil {
			t.Fatal(err)
		}
		id, _ := e.Event.Get("id")
		numbers = append(numbers, id.Int64())
	}
	if !slices.Equal(numbers, []int64{299_999, 300_000, 300_001}) {
		t.Errorf("%v", numbers)
	}
	const all = 400_000 * (8 + 8 + 8 + 1)
	if scan, ok := r.ScanStats(); !ok || scan.Spent.Total().Decoded > all/2 {
		t.Errorf("%+v of %d bytes", scan.Spent, all)
	}
}

// TestAroundSet goes over the borders of parts, of which some have an index and some are small.
func TestAroundSet(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for round, sizes := range [][]int{{9000, 5, 1, 9000, 2}, {3, 9000, 9000}, {1, 1, 1, 1, 4}} {
		dir := t.TempDir()
		path := filepath.Join(dir, "trace.clp")
		var all []string
		for part, size := range sizes {
			first := len(all)
			for range size {
				all = append(all, fmt.Sprintf(`{"id":%d,"word":"w%d","k":%d,"pad":"%x %x %x"}`, len(all), random.IntN(600), len(all)%1000, random.Int64(), random.Int64(), random.Int64()))
			}
			name := path
			if part+1 < len(sizes) {
				name = naming.RotatedName(path, time.Now(), part)
			}
			put(t, name, partOf(t, "aa", part+1, int64(first), all[first:]...))
		}
		text := []byte(strings.Join(all, "\n"))
		indexed := 0
		for _, query := range []string{"word: w77", "id: 9000 OR id: 9004", "id: 8999", "id: 0", "nothing: here", "id >= 8997", fmt.Sprintf("id: %d", len(all)-1)} {
			q, err := kql.Parse(query, nil)
			if err != nil {
				t.Fatal(err)
			}
			for i, o := range []AroundOptions{{}, {Before: 2, After: 1}, {After: 3}, {After: 4000}, {Before: 7}, {Before: 4000, Limit: 2}, {Before: 1, After: 9, Limit: 3}} {
				if testing.Short() && (i+round)%3 != 0 {
					continue
				}
				r, err := Open(path, nil)
				if err != nil {
					t.Fatal(err)
				}
				if r.src.(*setSource).last.seekable() {
					indexed++
				}
				if got, want := nearOf(t, r, q, o), near(t, text, q, o); got != want {
					t.Errorf("%d, %s, %+v: %d bytes, want %d:\n%.300s\n%.300s", round, query, o, len(got), len(want), got, want)
				}
				if err := r.Err(); err != nil {
					t.Error(err)
				}
				if err := r.Close(); err != nil {
					t.Error(err)
				}
			}
		}
		if indexed == 0 && sizes[len(sizes)-1] > 10 {
			t.Error("neighbors cannot be looked for")
		}
	}
}

// TestAroundDamage changes bytes of an archive: what is delivered is right, and everything else is a report.
func TestAroundDamage(t *testing.T) {
	var lines []string
	for i := range 3000 {
		lines = append(lines, fmt.Sprintf(`{"id":%d,"word":"w%d","msg":"took %d ms"}`, i, i*7919%3001, i%50))
		if i%3 == 0 {
			lines[i] = fmt.Sprintf(`{"id":%d,"word":"w%d","list":[%d]}`, i, i*7919%3001, i)
		}
	}
	data := archiveOf(t, lines...)
	q, err := kql.Parse("word: w5 OR word: w500 OR msg: *49*", nil)
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(3, 4))
	reported := 0
	for range 200 {
		bad := bytes.Clone(data)
		bad[64+random.IntN(len(bad)-64)] ^= 1 << random.IntN(8)
		r, err := New(bytes.NewReader(bad), nil)
		if err != nil {
			continue
		}
		last := int64(-1)
		for e, err := range r.Around(q, AroundOptions{Before: 2, After: 2}) {
			if err != nil {
				if !IsReport(err) {
					t.Error(err)
				}
				reported++
				continue
			}
			id, _ := e.Event.Get("id")
			n := id.Int64()
			if n <= last || n >= int64(len(lines)) || e.Event.String() != lines[n] {
				t.Errorf("behind %d: %s", last, e.Event)
			}
			last = n
		}
		r.Close()
	}
	if reported < 50 {
		t.Errorf("%d reports", reported)
	}
}
