package slogkv_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"time"

	"github.com/tracehandler/tracehandler/clp/ir"
	"github.com/tracehandler/tracehandler/clp/ir/slogkv"
	"github.com/tracehandler/tracehandler/event"
)

func Example() {
	// Where a program logs: a record becomes a packed event. No stream is needed for that.
	enc := slogkv.NewEncoder(event.Options{})
	var b event.Buffer
	var r slog.Record
	r.Message = "served"
	r.Add("status", 200, slog.Group("user", "id", 7))
	enc.AppendRecord(&b, r, nil)

	// Where the stream is: packed events become its bytes.
	w := slogkv.NewWriter(ir.Limits{})
	stream, err := w.AppendPreamble(nil)
	if err == nil {
		stream, err = w.Append(stream, b.B)
	}
	if err != nil {
		panic(err)
	}
	stream = append(stream, ir.EndMark)

	reader, err := ir.NewReader(bytes.NewReader(stream), nil)
	if err != nil {
		panic(err)
	}
	defer reader.Close()
	d := slogkv.NewDecoder(reader)
	for e, err := range reader.All() {
		if err != nil {
			panic(err)
		}
		theirs, _ := e.AppendJSON(nil)
		ours, err := d.AppendLine(nil, e)
		fmt.Println(string(theirs))
		fmt.Println(string(ours), err)
	}
	// Output:
	// {"auto-generated":{"level":{"num":0,"name":"INFO"}},"user-generated":{"message":"served","status":200,"user":{"id":7}}}
	// {"level":"INFO","msg":"served","status":200,"user":{"id":7}} <nil>
}

// members is a Builder that prints what it is given.
type members struct{ depth int }

func (m *members) print(key string, v any)      { fmt.Printf("%*s%s %v\n", 2*m.depth, "", key, v) }
func (m *members) Open(key string)              { m.print(key, "{"); m.depth++ }
func (m *members) Close()                       { m.depth--; fmt.Println("}") }
func (m *members) Int(key string, v int64)      { m.print(key, v) }
func (m *members) Float(key string, v float64)  { m.print(key, v) }
func (m *members) Bool(key string, v bool)      { m.print(key, v) }
func (m *members) Null(key string)              { m.print(key, "null") }
func (m *members) String(key string, v []byte)  { m.print(key, string(v)) }
func (m *members) Raw(key string, v []byte)     { m.print(key, string(v)) }
func (m *members) Time(key string, v time.Time) { m.print(key, v.UTC()) }

// What needs values, and not text, builds it from the event itself.
func ExampleAppendAuto() {
	line := `{"time":"2023-11-14T22:13:20.25Z","level":"INFO","msg":"ready"}`
	fmt.Println(string(slogkv.AppendAuto(nil, event.Lazy([]byte(line)))))
	// Output: {"timestamp":{"unix_millisecs":1700000000250,"utc_offset_secs":0},"level":{"num":0,"name":"INFO"}}
}

func ExampleAppendForeign() {
	user, auto := `{"message":"ready"}`, `{"timestamp":{"unix_millisecs":1700000000250},"level":{"name":"INFO","num":20}}`
	fmt.Println(string(slogkv.AppendForeign(nil, []byte(user), []byte(auto))))
	// Output: {"time":"2023-11-14T22:13:20.25Z","level":"INFO","message":"ready","@":{"level":{"num":20}}}
}

func ExampleDecoder_Build() {
	enc := slogkv.NewEncoder(event.Options{})
	var b event.Buffer
	var r slog.Record
	r.Message = "served"
	r.Add("status", 200, slog.Group("user", "id", 7, "name", nil))
	enc.AppendRecord(&b, r, nil)
	w := slogkv.NewWriter(ir.Limits{})
	stream, err := w.AppendPreamble(nil)
	if err == nil {
		stream, err = w.Append(stream, b.B)
	}
	if err != nil {
		panic(err)
	}
	reader, err := ir.NewReader(bytes.NewReader(append(stream, ir.EndMark)), nil)
	if err != nil {
		panic(err)
	}
	defer reader.Close()
	d := slogkv.NewDecoder(reader)
	for e, err := range reader.All() {
		if err != nil {
			panic(err)
		}
		fmt.Println(d.Build(&members{}, e))
	}
	// Output:
	// level INFO
	// msg served
	// status 200
	// user {
	//   id 7
	//   name null
	// }
	// true <nil>
}
