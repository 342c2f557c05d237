package archive_test

import (
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"math"

	"github.com/tracehandler/tracehandler/clp/archive"
	"github.com/tracehandler/tracehandler/clp/encoding"
	"github.com/tracehandler/tracehandler/event"
)

// column returns which of a table's columns holds a key, -1 if none does.
func column(r *archive.Reader, t archive.Table, key string) int {
	for i, node := range t.Columns {
		if r.Nodes()[node].Key == key {
			return i
		}
	}
	return -1
}

// A search made by hand: conditions on columns, which package kql makes of queries.
func ExampleReader_Select() {
	var file bytes.Buffer
	w, err := archive.NewWriter(&file, nil)
	if err != nil {
		panic(err)
	}
	w.SetConcurrency(2)
	for i := range 4 {
		if err := w.WriteEvent(event.New(slog.String("msg", fmt.Sprintf("took %d ms", i)), slog.Float64("load", float64(i)+0.5))); err != nil {
			panic(err)
		}
	}
	fmt.Println(w.Held() > 0)
	if err := w.Close(); err != nil {
		panic(err)
	}
	w.Abort() // what a deferred call does when all went well: nothing

	r := openExample(file.Bytes())
	defer r.Close()
	pattern, err := encoding.ParseQuery("took*", false)
	if err != nil {
		panic(err)
	}
	test, err := r.NewTextTest(pattern, false)
	if err != nil {
		panic(err)
	}
	fmt.Println(test.Never())
	r.Select(func(t archive.Table) (*archive.Condition, error) {
		return &archive.Condition{Kind: archive.CondAll, Parts: []*archive.Condition{
			{Kind: archive.CondText, Column: column(r, t, "msg"), Text: test},
			{Kind: archive.CondRange, Column: column(r, t, "load"), Min: archive.FloatKey(2), Max: archive.FloatKey(math.Inf(1))},
		}}, nil
	})
	for {
		record, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			panic(err)
		}
		table, row := record.Place()
		line, err := record.JSON()
		fmt.Println(table, row, record.Schema(), r.Sure(record), string(line), err)
	}
	// Output:
	// true
	// false
	// 0 2 0 true {"msg":"took 2 ms","load":2.5} <nil>
	// 0 3 0 true {"msg":"took 3 ms","load":3.5} <nil>
}

// Records that are only counted are not made.
func ExampleReader_CountSure() {
	r := openExample(example(0))
	defer r.Close()
	ids, err := r.Variables().Find([]byte("r1"), false)
	if err != nil {
		panic(err)
	}
	fmt.Println(ids.Len(), ids.Has(1<<40))
	r.Select(func(t archive.Table) (*archive.Condition, error) {
		return &archive.Condition{Kind: archive.CondSet, Column: column(r, t, "id"), Set: ids}, nil
	})
	fmt.Println(r.CountSure())
	// Output:
	// 1 false
	// 1 <nil>
}

// What an archive says of itself.
func ExampleReader_Sections() {
	r := openExample(example(0))
	defer r.Close()
	for _, s := range r.Sections() {
		fmt.Println(s.Name, s.Bytes > 0)
	}
	t := r.Times()[0]
	fmt.Println(t.Key, t.End-t.Begin)
	for _, pattern := range r.TimePatterns() {
		text, err := archive.AppendTime(nil, pattern, 0)
		fmt.Println(string(text), err)
	}
	arrays, err := r.ArrayTypes().Len()
	fmt.Println(arrays, err)
	for t := range r.Tables() { // of so few records there is no index
		entries, listed := r.ColumnEntries(&t, column(r, t, "id"))
		fmt.Println(len(entries), listed)
	}
	// Output:
	// /schema_tree true
	// /schema_ids true
	// /table_metadata true
	// /var.dict true
	// /log.dict true
	// /array.dict true
	// /0 true
	// time 120000
	// "1970-01-01T00:00:00Z" <nil>
	// 0 <nil>
	// 0 false
}
