package kql_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/tracehandler/tracehandler/clp/archive"
	"github.com/tracehandler/tracehandler/clp/kql"
	"github.com/tracehandler/tracehandler/event"
)

// TestLarge asks an archive of several blocks, whose index tells a lot, for what matching events finds, and looks at what
// was decoded.
func TestLarge(t *testing.T) {
	const n = 80_000
	random := rand.New(rand.NewPCG(1, 2))
	id := func(i int) string { return fmt.Sprintf("req-%08x-%016x", i*7919, uint64(i)*0x9E3779B97F4A7C15) }
	var lines []string
	var events []event.Event
	for i := range n {
		line := fmt.Sprintf(`{"t":"2026-01-02T03:%02d:%02d.%03dZ","level":"%s","id":"%s","n":%d,"f":%d.5,"ok":%v,"msg":"job %d of user%d took %d ms, request %s"}`,
			i/60_000, i/1000%60, i%1000, []string{"INFO", "INFO", "WARN", "DEBUG"}[i%4], id(i), i, random.IntN(1000), i%2 == 0, i%97, i%31, random.IntN(5000), id(i)[4:12])
		if i%8 == 0 {
			line = fmt.Sprintf(`{"t":"2026-01-02T03:%02d:%02d.%03dZ","level":"ERROR","n":%d,"cause":"broken pipe","host":"h%d"}`, i/60_000, i/1000%60, i%1000, i, i/30_000)
		}
		e, err := event.Parse([]byte(line))
		check(t, err)
		lines, events = append(lines, line), append(events, e)
	}
	data := write(t, lines, archive.WriterOptions{})
	tests := []struct {
		query  string
		o      kql.Options
		blocks int64 // that are looked into, at most
	}{
		{`id: ` + id(40_000), kql.Options{}, 0}, // every eighth has none
		{`id: ` + id(40_001), kql.Options{}, 1},
		{`id: REQ-*` + id(1)[12:], kql.Options{Fold: true}, 1},
		{`id: "` + id(79_001) + `"`, kql.Options{Fold: true}, 1},
		{`msg: "*request ` + id(79_001)[4:12] + `"`, kql.Options{}, 2},
		{`msg: "request ` + id(1)[4:12] + `"`, kql.Options{Contains: true}, 1},
		{`msg: "*request zzzzzzz9" OR id: nosuch`, kql.Options{}, 0},
		{`level: ERROR AND NOT nosuch: *`, kql.Options{}, 1},
		{`NOT level: INFO`, kql.Options{}, 3},
		{`host: h2`, kql.Options{}, 1},
		{`host: h?`, kql.Options{}, 1},
		{`n: 79999 OR n: 5`, kql.Options{}, 3},
		{`t >= timestamp("2026-01-02T03:01:00Z") AND t < timestamp("2026-01-02T03:01:00.5Z")`, kql.Options{}, 2},
		{`ok: true AND msg: "*user7 *" AND f > 500`, kql.Options{}, 2},
		{`msg: "*12 ms*" AND NOT level: WARN AND n < 70000`, kql.Options{}, 2},
	}
	for _, tt := range tests {
		tt.o.TimeKey = "t"
		q, err := kql.Parse(tt.query, &tt.o)
		check(t, err)
		var want []int64
		for i, e := range events {
			if q.Match(e) {
				want = append(want, int64(i))
			}
		}
		if got := find(t, q, data, &archive.Options{}); !slices.Equal(got, want) {
			t.Errorf("%s: %d found, not %d", tt.query, len(got), len(want))
		}
		r, err := archive.Open(bytes.NewReader(data), int64(len(data)), nil)
		check(t, err)
		if got, err := q.Count(r); err != nil || got != int64(len(want)) {
			t.Errorf("%s: %d counted, not %d: %v", tt.query, got, len(want), err)
		}
		if s := r.ScanStats(); s.Index != nil || s.Open != 0 || s.Blocks-s.BlocksSkipped > tt.blocks {
			t.Errorf("%s: %+v", tt.query, s)
		}
		check(t, r.Close())
	}
}

// TestManyBlocks asks an archive of so many blocks that they are divided among goroutines, with an index and without: the answers
// are those of one goroutine, and in the order of the log.
func TestManyBlocks(t *testing.T) {
	const n = 600_000
	var lines []string
	for i := range n {
		switch {
		case i%3 == 0:
			lines = append(lines, fmt.Sprintf(`{"n":%d,"ok":%v,"msg":"job %d of user%d took %d ms"}`, i, i%2 == 0, i%97, i%31, i%5003))
		case i%101 == 0:
			lines = append(lines, fmt.Sprintf(`{"n":%d,"id":"req-%x","f":%d.5}`, i, i%65_537, i%1009))
		default:
			lines = append(lines, fmt.Sprintf(`{"n":%d,"id":"req-%x"}`, i, i%65_537))
		}
	}
	archives := [][]byte{write(t, lines, archive.WriterOptions{}), write(t, lines, archive.WriterOptions{NoIndex: true})}
	for query, want := range map[string]func(i int) bool{
		`msg: "job 7 of user* took 17?? ms"`:      func(i int) bool { return i%3 == 0 && i%97 == 7 && i%5003/100 == 17 },
		`msg: (*user7* "*took 99 ms")`:            func(i int) bool { return i%3 == 0 && (i%31 == 7 || i%5003 == 99) },
		`id: req-1f OR id: req-fffe`:              func(i int) bool { return i%3 != 0 && (i%65_537 == 0x1f || i%65_537 == 0xfffe) },
		`n >= 300000 AND n < 300010 OR f > 1008`:  func(i int) bool { return i >= 300_000 && i < 300_010 || i%3 != 0 && i%101 == 0 && i%1009 == 1008 },
		`NOT id: * AND NOT ok: true AND n: 31115`: func(i int) bool { return false },
		`ok: false AND n > 599990 OR id: *-0`:     func(i int) bool { return i%6 == 3 && i > 599_990 || i%3 != 0 && i%65_537 == 0 },
	} {
		q, err := kql.Parse(query, nil)
		check(t, err)
		var numbers []int64
		for i := range n {
			if want(i) {
				numbers = append(numbers, int64(i))
			}
		}
		for k, data := range archives {
			for _, o := range []archive.Options{{Parallel: 1}, {Parallel: 4}, {Parallel: 4, Memory: 16 << 20}} {
				if got := find(t, q, data, &o); !slices.Equal(got, numbers) {
					t.Errorf("archive %d, %+v, %s: %d found, not %d", k, o, query, len(got), len(numbers))
				}
				if got := count(t, q, data, &o); got != int64(len(numbers)) {
					t.Errorf("archive %d, %+v, %s: %d counted, not %d", k, o, query, got, len(numbers))
				}
			}
		}
	}
}
