package ir_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/tracehandler/tracehandler/clp/ir"
)

// printer prints the keys of an event as they nest.
type printer struct{ depth int }

func (p *printer) Open(name []byte) error {
	fmt.Printf("%*s%s:\n", p.depth, "", name)
	p.depth += 2
	return nil
}

func (p *printer) Close() error {
	p.depth -= 2
	return nil
}

func (p *printer) Value(name []byte, v *ir.Value) error {
	text, err := v.AppendJSON(nil)
	fmt.Printf("%*s%s %s\n", p.depth, "", name, text)
	return err
}

// A goroutine that logs packs its event, without the lock of the stream; whoever owns the stream takes it from there.
func ExampleBuilder_AppendTo() {
	var b ir.Builder
	b.User()
	b.StringBytes("message", []byte("took 5 ms"))
	b.Bool("cached", true)
	b.Null("error")
	b.Array("tags", []byte(`["a","b"]`))
	mark := b.Mark()
	b.Open("request")
	b.Int("size", 1)
	b.Int("parts", 2)
	b.Close()
	request := b.Fragment(mark)
	b.Drop(mark)                  // without this request,
	b.AddInts(&request, 1024, 16) // but with one that has other numbers
	packed, err := b.AppendTo(nil)
	if err != nil {
		panic(err)
	}
	if err := ir.VisitPacked(packed, ir.User, &printer{}); err != nil {
		panic(err)
	}

	enc := ir.NewEncoder(ir.FourByte, ir.Limits{})
	event, err := enc.AppendPacked(nil, packed)
	fmt.Println(len(event) > 0, enc.Keys(), err)
	// Output:
	// message "took 5 ms"
	// cached true
	// error null
	// tags ["a","b"]
	// request:
	//   size 1024
	//   parts 16
	// true 7 <nil>
}

// Two events of the same shape, looked at value by value.
func ExampleEvent_Visit() {
	var stream bytes.Buffer
	w, err := ir.NewKVWriter(&stream, nil)
	if err != nil {
		panic(err)
	}
	var b ir.Builder
	b.User()
	b.String("msg", "up")
	b.Bool("ok", true)
	b.Int("n", 7)
	b.Float("load", 0.5)
	if err := errors.Join(w.Write(&b), w.Close()); err != nil {
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
	if err := e.Visit(ir.User, &printer{}); err != nil {
		panic(err)
	}
	fmt.Println(r.IsText(), r.Width() == ir.FourByte, e.UTCOffset(), e.Readable())
	fmt.Println(e.KindAt(ir.User, 0) == ir.String, e.BoolAt(ir.User, 1), e.IntAt(ir.User, 2), e.FloatAt(ir.User, 3))
	plain, ok := e.PlainAt(ir.User, 0)
	text, err := e.AppendTextAt(nil, ir.User, 0)
	fmt.Println(string(plain), ok, string(text), err, len(e.EncodedAt(ir.User, 0)) > 0)
	number, err := e.AppendJSONAt(nil, ir.User, 2)
	fmt.Println(string(number), err)
	object, err := e.AppendObject(nil, ir.User)
	fmt.Println(string(object), err)
	leaves, err := e.AppendLeaves(nil, ir.User, 2, [][]byte{[]byte("n="), []byte(" load=")}, func(dst []byte, f float64) []byte { return fmt.Append(dst, f) })
	fmt.Println(string(leaves), err)
	okValue, _ := e.Lookup(ir.User, "ok")
	msg, _ := e.Lookup(ir.User, "msg")
	text, err = msg.AppendText(nil)
	fmt.Println(okValue.Bool(), string(ir.AppendQuoted(nil, text)), err)
	fmt.Println(e.Corrupt(errors.New("msg is no greeting")) != nil)
	// Output:
	// msg "up"
	// ok true
	// n 7
	// load 0.5
	// false true 0 true
	// true true 7 0.5
	// up true up <nil> true
	// 7 <nil>
	// {"msg":"up","ok":true,"n":7,"load":0.5} <nil>
	// n=7 load=0.5 <nil>
	// true "up" <nil>
	// true
}

// A text stream whose writer has died is gone on with.
func ExampleReopenText() {
	f, err := os.CreateTemp("", "stream")
	if err != nil {
		panic(err)
	}
	defer os.Remove(f.Name())
	defer f.Close()
	w, err := ir.NewTextWriter(f, nil)
	if err != nil {
		panic(err)
	}
	if err := errors.Join(w.WriteUTCOffset(3_600_000), w.Write(1700000000000, []byte(" INFO first\n")), w.Flush()); err != nil {
		panic(err)
	}
	w, found, err := ir.ReopenText(f, nil)
	if err != nil {
		panic(err)
	}
	fmt.Println(found.Events, found.Ended, found.Dropped)
	if err := errors.Join(w.Write(1700000000001, []byte(" INFO second\n")), w.Close()); err != nil {
		panic(err)
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		panic(err)
	}
	r, err := ir.NewReader(f, nil)
	if err != nil {
		panic(err)
	}
	defer r.Close()
	for e, err := range r.All() {
		message, merr := e.AppendMessage(nil)
		fmt.Printf("%q %d %v %v\n", message, e.UTCOffset(), err, merr)
	}
	// Output:
	// 1 false 0
	// " INFO first\n" 3600000 <nil> <nil>
	// " INFO second\n" 3600000 <nil> <nil>
}

// A program that keeps the bytes of a stream itself goes on with one.
func ExampleResume() {
	var stream bytes.Buffer
	w, err := ir.NewKVWriter(&stream, nil)
	if err != nil {
		panic(err)
	}
	var b ir.Builder
	b.User()
	b.Int("n", 1)
	if err := errors.Join(w.Write(&b), w.Flush()); err != nil {
		panic(err)
	}
	enc, err := ir.Resume(bytes.NewReader(stream.Bytes()), ir.Limits{})
	if err != nil {
		panic(err)
	}
	event, err := enc.Append(nil, &b) // the key is known: an event of the same keys is short
	fmt.Println(enc.Keys(), len(event) < 10, err)
	// Output: 1 true <nil>
}

// The bytes of a text stream, for a program that writes them itself.
func ExampleTextEncoder() {
	enc := ir.NewTextEncoder(ir.FourByte, 1700000000000)
	b := enc.AppendUTCOffset(nil, 3_600_000)
	b, err := enc.Append(b, 1700000000250, []byte(" INFO started\n"))
	fmt.Println(len(b) > 0, err)
	// Output: true <nil>
}
