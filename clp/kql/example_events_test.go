package kql_test

import (
	"fmt"

	"github.com/tracehandler/tracehandler/clp/kql"
	"github.com/tracehandler/tracehandler/event"
)

// A query of a range of time, and of what is known of the file besides.
func ExampleQuery_Between() {
	q, err := kql.Parse(`$_filename: app* AND level: ERROR`, &kql.Options{TimeKey: "time"})
	if err != nil {
		panic(err)
	}
	const second = 1_000_000_000
	q = q.Between(1_767_322_800*second, 1_767_322_859*second) // 2026-01-02 03:00:00 to 03:00:59
	fmt.Println(q.Uses('$'), q.Uses('@'), q.Never())
	for _, line := range []string{
		`{"time":"2026-01-02T03:00:30Z","level":"ERROR"}`,
		`{"time":"2026-01-02T03:01:00Z","level":"ERROR"}`,
	} {
		in := kql.Input{Event: event.Lazy([]byte(line)), Metadata: event.Lazy([]byte(`{"_filename":"app.ndjson"}`))}
		fmt.Println(q.MatchInput(&in))
	}
	never, err := kql.Parse(`level < "a"`, nil) // texts have no order
	fmt.Println(never.Never(), err)
	// Output:
	// true false false
	// true
	// false
	// true <nil>
}

// Two files whose events have their times under different keys, counted a minute each.
func ExampleAggregation_SetTimeKey() {
	a, err := kql.NewAggregation(&kql.AggregateOptions{Every: 60_000_000_000, TimeKey: "time"})
	if err != nil {
		panic(err)
	}
	add := func(line string) {
		if err := a.Add(&kql.Input{Event: event.Lazy([]byte(line))}); err != nil {
			panic(err)
		}
	}
	add(`{"time":"2026-01-02T03:00:30Z"}`)
	if err := a.SetTimeKey("at"); err != nil {
		panic(err)
	}
	add(`{"at":"2026-01-02T03:00:40Z"}`)
	for _, g := range a.Groups() {
		fmt.Println(g.Start.UTC().Format("15:04"), g.Count)
	}
	// Output: 03:00 2
}
