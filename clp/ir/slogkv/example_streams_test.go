package slogkv_test

import (
	"bytes"
	"fmt"
	"log/slog"

	"github.com/tracehandler/tracehandler/clp/ir"
	"github.com/tracehandler/tracehandler/clp/ir/slogkv"
	"github.com/tracehandler/tracehandler/event"
)

// The journal of an archive is gone on with by a program that has its bytes, and not its writer.
func ExampleContinueWriter() {
	enc := slogkv.NewEncoderWith(slogkv.Options{})
	var b event.Buffer
	for _, text := range []string{"one", "two"} {
		enc.AppendEvent(&b, event.New(slog.String("msg", text)))
	}
	first, rest := slogkv.First(b.B)
	fmt.Println(slogkv.IsEvent(first), slogkv.IsEvent(rest), slogkv.IsEvent(b.B))

	w := slogkv.NewWriter(ir.Limits{})
	stream, err := w.AppendJournalPreamble(nil, slogkv.Journal{ID: "5f0c"})
	if err == nil {
		stream, err = w.Append(stream, first)
	}
	if err != nil {
		panic(err)
	}
	keys, err := ir.Resume(bytes.NewReader(stream), ir.Limits{})
	if err != nil {
		panic(err)
	}
	if stream, err = slogkv.ContinueWriter(keys).Append(stream, rest); err != nil {
		panic(err)
	}

	r, err := ir.NewReader(bytes.NewReader(append(stream, ir.EndMark)), nil)
	if err != nil {
		panic(err)
	}
	defer r.Close()
	journal, ok := slogkv.JournalOf(r.Metadata())
	d := slogkv.NewDecoder(r)
	fmt.Println(journal.ID, ok, d.Foreign())
	for e, err := range r.All() {
		if err != nil {
			panic(err)
		}
		fmt.Println(d.Readable(e, 1<<20))
	}
	// Output:
	// true true false
	// 5f0c true false
	// true
	// true
}
