package reader_test

import (
	"fmt"
	"strings"

	"github.com/tracehandler/tracehandler/reader"
)

const trace = `{"time":"2026-01-01T00:00:00Z","level":"INFO","msg":"started","n":1}
this is no event
{"time":"2026-01-01T00:00:02Z","level":"INFO","msg":"stopped","n":2}
`

func ExampleReader_Events() {
	r, err := reader.New(strings.NewReader(trace), &reader.Options{Name: "trace.ndjson"})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer r.Close()
	for e, err := range r.Events() {
		if err != nil {
			fmt.Println(err)
			continue
		}
		fmt.Println(e.Message())
	}
	// Output:
	// started true
	// reader: trace.ndjson: line 2 (offset 69): expected one JSON object: event: offset 0: expected an object, found 't'
	// stopped true
}

func ExampleReader_Enumerate() {
	r, err := reader.New(strings.NewReader(trace), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer r.Close()
	for i, e := range r.Enumerate() {
		n, _ := e.Get("n")
		fmt.Println(i, n)
	}
	fmt.Println(r.Err(), r.Stats().Bad)
	// Output:
	// 0 1
	// 1 2
	// <nil> 1
}

func ExampleMerge() {
	a, err := reader.New(strings.NewReader(trace), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer a.Close()
	b, err := reader.New(strings.NewReader(`{"time":"2026-01-01T00:00:01Z","msg":"working"}`), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer b.Close()
	for e, err := range reader.Merge(a, b) {
		if err == nil {
			fmt.Println(e.Message())
		}
	}
	// Output:
	// started true
	// working true
	// stopped true
}
