package event_test

import (
	"fmt"
	"log/slog"
	"time"

	"github.com/tracehandler/tracehandler/event"
)

func Example() {
	enc := event.NewJSON(event.Options{}).WithAttrs([]slog.Attr{slog.Int("rank", 3)}).WithGroup("step")
	r := slog.NewRecord(time.Date(2026, 11, 30, 10, 46, 59, 0, time.UTC), slog.LevelInfo, "compiled", 0)
	r.AddAttrs(slog.String("kernel", "add"), slog.Duration("took", 18*time.Millisecond))
	b := event.GetBuffer()
	defer b.Free()
	enc.AppendRecord(b, r, nil)
	fmt.Printf("%s", b.B)

	e, err := event.Parse(b.B)
	if err != nil {
		fmt.Println(err)
	}
	kernel, _ := e.Get("step", "kernel")
	when, _ := e.Time()
	fmt.Println(kernel, when.Year())
	// Output:
	// {"time":"2026-11-30T10:46:59Z","level":"INFO","msg":"compiled","rank":3,"step":{"kernel":"add","took":18000000}}
	// add 2026
}

func ExampleParse() {
	_, err := event.Parse([]byte(`{"a":1,"b":tru`))
	fmt.Println(err)
	// Output:
	// event: offset 11: expected true, false or null, found 't'
}

func ExampleLazy() {
	// The rest of the line may be long, and is not looked at: not even to see that it is cut off.
	e := event.Lazy([]byte(`{"event_type":"compilation","pid":4711,"payload":{"ttir":"module {`))
	kind, _ := e.Get("event_type")
	pid, _ := e.Get("pid")
	_, ok := e.Get("payload")
	fmt.Println(kind, pid, ok)
	// Output:
	// compilation 4711 false
}

func ExampleEvent_Attrs() {
	e, err := event.Parse([]byte(`{"n":1,"f":0.5,"big":1.50e999,"g":{"b":[{"c":null}],"a":{}}}`))
	if err != nil {
		fmt.Println(err)
	}
	attrs, _ := e.Attrs()
	for _, a := range attrs {
		fmt.Printf("%s %s %T\n", a.Key, a.Value.Kind(), a.Value.Any())
	}
	fmt.Printf("%s\n", event.New(attrs...).AppendJSON(nil))
	// Output:
	// n Int64 int64
	// f Float64 float64
	// big Any json.Number
	// g Group []slog.Attr
	// {"n":1,"f":0.5,"big":1.50e999,"g":{"b":[{"c":null}],"a":{}}}
}

func ExampleEqual() {
	a := event.Lazy([]byte(`{"x": 1.0, "y": "\u00e9"}`))
	b := event.New(slog.Int("x", 1), slog.String("y", "é"))
	c := event.New(slog.String("y", "é"), slog.Int("x", 1))
	fmt.Println(event.Equal(a, b), event.Equal(a, c))
	// Output:
	// true false
}
