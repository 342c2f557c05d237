package event_test

import (
	"encoding/json"
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

// What a program of another logger wrote is read under its own keys.
func ExampleEvent_Message() {
	e, err := event.Parse([]byte(`{"ts":"2026-11-30T10:00:00Z","severity":"WARN","message":"slow","route":"/cart"}`))
	if err != nil {
		fmt.Println(err)
	}
	level, _ := e.Level()
	text, _ := e.Message()
	levelKey, _ := e.LevelKey()
	messageKey, _ := e.MessageKey()
	timeKey, _ := e.TimeKey()
	fmt.Println(level, text)
	fmt.Println("under", levelKey, messageKey, timeKey)
	for a := range e.All() {
		if a.Key != timeKey && a.Key != levelKey && a.Key != messageKey {
			fmt.Println(a)
		}
	}
	// Output:
	// WARN slow
	// under severity message ts
	// route=/cart
}

// An event points into the line it was read from. Clone one that outlives it.
func ExampleEvent_Clone() {
	line := []byte(`{"msg":"first"}`)
	e, err := event.Parse(line)
	if err != nil {
		fmt.Println(err)
	}
	kept := e.Clone()
	copy(line, `{"msg":"other"}`)
	fmt.Printf("%s %s\n", e.Line(), kept.Line())
	text, err := json.Marshal(map[string]any{"event": kept})
	fmt.Println(string(text), err)
	// Output:
	// {"msg":"other"} {"msg":"first"}
	// {"event":{"msg":"first"}} <nil>
}

// A line per event, whatever line breaks the event has between its members.
func ExampleJSON_AppendEvent() {
	enc := event.NewJSON(event.Options{})
	b := event.GetBuffer()
	defer b.Free()
	for _, text := range []string{"{\n  \"msg\": \"pretty\"\n}", `{"msg":"plain"}`} {
		b.Reset()
		enc.AppendEvent(b, event.Lazy([]byte(text)))
		fmt.Printf("%s", b.B)
	}
	// Output:
	// {   "msg": "pretty" }
	// {"msg":"plain"}
}

type secret string

func (secret) LogValue() slog.Value { return slog.StringValue("***") }

type broken struct{}

func (broken) LogValue() slog.Value { panic("no value") }

// The parts of the encoder, for those who write JSON of their own: a value's methods may do what they like.
func ExampleBuffer_AppendValue() {
	b := event.GetBuffer()
	defer b.Free()
	line := append([]byte(nil), `{"password":`...)
	line = b.AppendValue(line, slog.AnyValue(secret("hunter2")))
	line = append(line, `,"took":`...)
	line = event.AppendFloat(line, 1e21)
	line = append(line, `,"who":`...)
	line = event.AppendString(line, "a\"b")
	fmt.Printf("%s}\n", line)
	fmt.Println(event.Resolve(slog.AnyValue(broken{})))
	fmt.Println(event.PanicText(broken{}, "no value"))
	// Output:
	// {"password":"***","took":1e+21,"who":"a\"b"}
	// !PANIC: no value
	// !PANIC: no value
}

// A decoder of another format delivers events whose JSON is made only if somebody looks at them.
func ExampleDeferred() {
	made, row := 0, 0
	d := event.NewDeferred(func(dst []byte) []byte {
		made++
		return fmt.Appendf(dst, `{"msg":"row","n":%d}`, row)
	})
	for row = range 1000 {
		if e := d.Next(); row == 500 {
			n, _ := e.Get("n")
			fmt.Println("n is", n)
		}
	}
	fmt.Println(made, "of 1000 were made")
	// Output:
	// n is 500
	// 1 of 1000 were made
}

// A group with the place of a call, as the built-in key source has it.
func ExampleSourceAttrs() {
	place := &slog.Source{Function: "main.run", File: "main.go", Line: 17}
	fmt.Println(event.New(slog.GroupAttrs("caller", event.SourceAttrs(place)...)))
	// Output:
	// {"caller":{"function":"main.run","file":"main.go","line":17}}
}
