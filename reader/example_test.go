package reader_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/tracehandler/tracehandler/clp/ir"
	"github.com/tracehandler/tracehandler/clp/kql"
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

// Lines gives every line, an event or not, with its place.
func ExampleReader_Lines() {
	r, err := reader.New(strings.NewReader(trace), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer r.Close()
	for line, err := range r.Lines() {
		if err != nil {
			fmt.Println(err)
			continue
		}
		fmt.Println(line.Number, line.Offset, len(line.Text))
	}
	// Output:
	// 1 0 68
	// 2 69 16
	// 3 86 68
}

// Follow delivers what is there, waits for more, and goes on in the next file when this one is rotated or published.
func ExampleFollow() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "app.ndjson")
	if err := os.WriteFile(path, []byte(trace), 0o600); err != nil {
		fmt.Println(err)
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	for e, err := range reader.Follow(ctx, path, nil) {
		if err != nil {
			continue // the line that is no event
		}
		msg, _ := e.Message()
		fmt.Println(msg)
		if msg == "stopped" {
			cancel() // a program would go on until its context ends
		}
	}
	// Output:
	// started
	// stopped
}

// A query finds events of any kind of trace; of an archive it decodes only what it needs.
func ExampleReader_Select() {
	q, err := kql.Parse("level: ERROR AND took_ms > 100", nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	r, err := reader.New(strings.NewReader(`{"level":"ERROR","took_ms":12}
{"level":"ERROR","took_ms":850}
{"level":"INFO","took_ms":900}
`), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer r.Close()
	r.Select(q)
	for e, err := range r.Events() {
		fmt.Println(e, err)
	}
	// Output: {"level":"ERROR","took_ms":850} <nil>
}

func ExampleReader_Around() {
	trace := strings.NewReader(`{"n":1}
{"n":2,"err":"broken pipe"}
{"n":3}
{"n":4}
`)
	r, err := reader.New(trace, nil)
	if err != nil {
		panic(err)
	}
	defer r.Close()
	q, err := kql.Parse("err: *", nil)
	if err != nil {
		panic(err)
	}
	for e, err := range r.Around(q, reader.AroundOptions{After: 1}) {
		fmt.Println(e.Found, e.Event, err)
	}
	// Output:
	// true {"n":2,"err":"broken pipe"} <nil>
	// false {"n":3} <nil>
}

// A stream of another library has two objects for an event.
func ExampleReader_Objects() {
	var stream bytes.Buffer
	w, err := ir.NewKVWriter(&stream, &ir.KVOptions{User: []byte(`{"host":"node-07"}`)})
	if err != nil {
		panic(err)
	}
	var b ir.Builder
	b.Open("level")
	b.String("name", "INFO")
	b.Close()
	b.User()
	b.String("message", "ready")
	if err := w.Write(&b); err != nil {
		panic(err)
	}
	if err := w.Close(); err != nil {
		panic(err)
	}

	r, err := reader.New(&stream, nil)
	if err != nil {
		panic(err)
	}
	defer r.Close()
	fmt.Println(r.TwoObjects(), r.StreamFields())
	for e, err := range r.Events() {
		o, _ := r.Objects()
		fmt.Println(string(o.User), string(o.Auto), string(e.AppendJSON(nil)), err)
	}
	// Output:
	// true [host=node-07]
	// {"message":"ready"} {"level":{"name":"INFO"}} {"level":"INFO","message":"ready"} <nil>
}
