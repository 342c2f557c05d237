package reader_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strings"

	"github.com/tracehandler/tracehandler/convert"
	"github.com/tracehandler/tracehandler/format"
	"github.com/tracehandler/tracehandler/reader"
)

// The end of an archive, and what it says of itself.
func ExampleReader_Tail() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	lines, packed := filepath.Join(dir, "app.ndjson"), filepath.Join(dir, "app.clp")
	if err := os.WriteFile(lines, []byte(strings.Repeat(`{"msg":"a"}`+"\n", 99)+`{"msg":"last"}`+"\n"), 0o600); err != nil {
		log.Fatal(err)
	}
	if _, err := convert.File(context.Background(), lines, packed, format.CLP, nil); err != nil {
		log.Fatal(err)
	}

	r, err := reader.Open(packed, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer r.Close()
	fmt.Println(r.Kind(), len(r.Compression()), r.Archive().Len(), reader.IsArchiveDir(dir))
	before, err := reader.Parts(packed)
	fmt.Println(len(before), err) // the archive is no part of a set
	r.Tail(1)
	for e, err := range r.Events() {
		if err != nil {
			log.Fatal(err)
		}
		if msg, _ := e.Message(); msg == "last" {
			fmt.Println(msg, r.Range().End) // of the records that are from this file
		}
	}
	// Output:
	// CLP archive 0 100 false
	// 0 <nil>
	// last 100
}

// A report is about a part of the trace, and the next event follows; any other error is the end.
func ExampleIsReport() {
	r, err := reader.New(strings.NewReader(trace), nil)
	if err != nil {
		log.Fatal(err)
	}
	defer r.Close()
	for _, err := range r.Events() {
		if err != nil {
			fmt.Println(reader.IsReport(err))
		}
	}
	// Output: true
}
