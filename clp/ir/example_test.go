package ir_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/tracehandler/tracehandler/clp/encoding"
	"github.com/tracehandler/tracehandler/clp/ir"
)

func ExampleKVWriter() {
	var stream bytes.Buffer
	w, err := ir.NewKVWriter(&stream, &ir.KVOptions{Output: ir.Output{Zstd: true}})
	if err != nil {
		panic(err)
	}
	var b ir.Builder
	for i := range 2 {
		b.Reset()
		b.Int("sequence", int64(i)) // auto-generated
		b.User()
		b.String("message", "took 12.50 ms")
		b.Open("request")
		b.String("path", "/items")
		b.Close()
		if err := w.Write(&b); err != nil {
			panic(err)
		}
	}
	if err := w.Close(); err != nil {
		panic(err)
	}

	r, err := ir.NewReader(&stream, nil)
	if err != nil {
		panic(err)
	}
	defer r.Close()
	for e, err := range r.All() {
		if err != nil {
			panic(err)
		}
		line, err := e.AppendJSON(nil)
		fmt.Println(string(line), err)
	}
	// Output:
	// {"auto-generated":{"sequence":0},"user-generated":{"message":"took 12.50 ms","request":{"path":"/items"}}} <nil>
	// {"auto-generated":{"sequence":1},"user-generated":{"message":"took 12.50 ms","request":{"path":"/items"}}} <nil>
}

func ExampleTextWriter() {
	var stream bytes.Buffer
	w, err := ir.NewTextWriter(&stream, &ir.TextOptions{Reference: 1700000000000, TimeZone: "Asia/Tokyo"})
	if err != nil {
		panic(err)
	}
	if err := w.Write(1700000000250, []byte(" WARN took -2.50 s, 12 items\n")); err != nil {
		panic(err)
	}
	if err := w.Close(); err != nil {
		panic(err)
	}

	r, err := ir.NewReader(&stream, nil)
	if err != nil {
		panic(err)
	}
	defer r.Close()
	e, err := r.Next()
	if err != nil {
		panic(err)
	}
	message, err := e.AppendMessage(nil)
	fmt.Printf("%d %v %q %v\n", e.Time(), e.Level(), message, err)
	// Output: 1700000000250 WARN " WARN took -2.50 s, 12 items\n" <nil>
}

// What a writer left that died: every whole event is there, and the reader says where the rest was cut.
func ExampleIncompleteError() {
	var stream bytes.Buffer
	w, err := ir.NewTextWriter(&stream, nil)
	if err != nil {
		panic(err)
	}
	for range 2 {
		if err := w.Write(0, []byte(" INFO started\n")); err != nil {
			panic(err)
		}
	}
	if err := w.Flush(); err != nil {
		panic(err)
	}
	r, err := ir.NewReader(bytes.NewReader(stream.Bytes()[:stream.Len()-3]), nil)
	if err != nil {
		panic(err)
	}
	for {
		if _, err = r.Next(); err != nil {
			break
		}
	}
	var incomplete *ir.IncompleteError
	fmt.Println(r.Number(), errors.As(err, &incomplete), incomplete.Offset-incomplete.Unit, errors.Is(err, io.ErrUnexpectedEOF))
	// Output: 1 true 15 true
}

// A stream whose writer has died is gone on with: what is whole stays, the torn event goes.
func ExampleReopenKV() {
	f, err := os.CreateTemp("", "stream")
	if err != nil {
		panic(err)
	}
	defer os.Remove(f.Name())
	defer f.Close()
	var b ir.Builder
	write := func(w *ir.KVWriter, text string) {
		b.Reset()
		b.User()
		b.String("message", text)
		if err := errors.Join(w.Write(&b), w.Flush()); err != nil {
			panic(err)
		}
	}
	w, err := ir.NewKVWriter(f, nil)
	if err != nil {
		panic(err)
	}
	write(w, "first")
	write(w, "this one is torn")
	if size, err := f.Seek(-5, io.SeekEnd); err != nil || f.Truncate(size) != nil {
		panic(err)
	}

	w, found, err := ir.ReopenKV(f, nil)
	if err != nil {
		panic(err)
	}
	fmt.Println(found.Events, found.Ended, found.Dropped > 0)
	write(w, "second")
	fmt.Println(w.Close())
	// Output:
	// 1 false true
	// <nil>
}

// A message as it is encoded, for a search that looks at its log type before it decodes anything.
func ExampleEvent_Message() {
	var stream bytes.Buffer
	w, err := ir.NewTextWriter(&stream, nil)
	if err != nil {
		panic(err)
	}
	for _, text := range []string{"took 12 ms\n", "connection to node_7 lost\n", "took 850 ms\n"} {
		if err := w.Write(1700000000000, []byte(text)); err != nil {
			panic(err)
		}
	}
	if err := w.Close(); err != nil {
		panic(err)
	}
	q, err := encoding.ParseQuery("took 8*", false)
	if err != nil {
		panic(err)
	}
	r, err := ir.NewReader(&stream, nil)
	if err != nil {
		panic(err)
	}
	defer r.Close()
	var m encoding.Message
	for e, err := range r.All() {
		if err != nil {
			panic(err)
		}
		message := e.Message()
		message.Message(&m)
		found := false
		if q.MayMatchLogtype(m.Logtype) {
			if found, err = q.MatchMessage(&m); err != nil {
				panic(err)
			}
		}
		fmt.Printf("%q %v\n", m.Logtype, found)
	}
	// Output:
	// "took \x11 ms\n" false
	// "connection to \x12 lost\n" false
	// "took \x11 ms\n" true
}
