package timepattern_test

import (
	"fmt"

	"github.com/tracehandler/tracehandler/internal/timepattern"
)

func Example() {
	ns, pattern, ok := timepattern.Match([]byte(`"2026-01-02 03:04:05,678 +02:00"`))
	fmt.Println(ns, pattern, ok)
	p, err := timepattern.Parse(pattern)
	if err != nil {
		panic(err)
	}
	text, err := p.Append(nil, ns+1_500_000_000)
	fmt.Println(string(text), p.Zone(), err)
	// Output:
	// 1767315845678000000 "\Y-\m-\d \H:\M:\S,\3 \z{+02:00}" true
	// "2026-01-02 03:04:07,178 +02:00" 7200 <nil>
}

func ExampleClock() {
	p, err := timepattern.Parse(`"\H:\M:\S.\6Z"`)
	if err != nil {
		panic(err)
	}
	clock := timepattern.NewClock(p)
	for _, ns := range []int64{1_000, 2_000, 61_000_003_000} {
		text, err := clock.Append(nil, ns)
		fmt.Println(string(text), err)
	}
	// Output:
	// "00:00:00.000001Z" <nil>
	// "00:00:00.000002Z" <nil>
	// "00:01:01.000003Z" <nil>
}

func ExampleInteger() {
	fmt.Println(timepattern.Integer(1_767_323_045_678))
	fmt.Println(timepattern.Decimals("1767323045.25"))
	// Output:
	// 1767323045678000000 \L true
	// 1767323045250000000 \E.\T true
}

func ExampleAppendDateString() {
	text, err := timepattern.AppendDateString(nil, "%b %d %Y, %H:%M", 1_704_207_845_670)
	fmt.Println(string(text), err)
	fmt.Println(timepattern.Days(2024, 1, 2), timepattern.ValidDate(2023, 2, 29))
	// Output:
	// Jan 02 2024, 15:04 <nil>
	// 19724 false
}
