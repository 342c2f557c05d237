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
