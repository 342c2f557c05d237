package slogkv_test

import (
	"bytes"
	"fmt"
	"log/slog"

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
