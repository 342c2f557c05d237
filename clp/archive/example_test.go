package archive_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/tracehandler/tracehandler/clp/archive"
)

func ExampleReader() {
	file, err := os.Open("testdata/vectors/26-two-files.clp")
	if err != nil {
		panic(err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		panic(err)
	}
	r, err := archive.Open(file, info.Size(), nil)
	if err != nil {
		panic(err)
	}
	defer r.Close()

	var line []byte
	for record, err := range r.All() {
		if err != nil {
			panic(err)
		}
		if line, err = record.AppendJSON(line[:0]); err != nil {
			panic(err)
		}
		if record.Number()%10 == 0 {
			fmt.Println(record.Number(), string(line))
		}
	}
	// Output:
	// 0 {"src":"a","id":0,"msg":"from a 0"}
	// 10 {"src":"b","id":0,"extra":{"k":0.5}}
}

func ExampleWriter() {
	var file bytes.Buffer
	w, err := archive.NewWriter(&file, &archive.WriterOptions{TimeKey: []string{"time"}, Fields: []slog.Attr{slog.String("_filename", "a.ndjson")}})
	if err != nil {
		panic(err)
	}
	for _, line := range []string{
		`{"time":"2026-01-02T03:04:05.5Z","level":"INFO","msg":"took 12 ms"}`,
		`{"time":"2026-01-02T03:04:06Z","level":"WARN","msg":"took 850 ms","slow":true}`,
	} {
		if err := w.Write([]byte(line)); err != nil { // archive.ErrFull: time for the next archive
			panic(err)
		}
	}
	if err := w.Close(); err != nil {
		panic(err)
	}

	r, err := archive.Open(bytes.NewReader(file.Bytes()), int64(file.Len()), nil)
	if err != nil {
		panic(err)
	}
	defer r.Close()
	for record, err := range r.All() {
		if err != nil {
			panic(err)
		}
		line, err := record.AppendJSON(nil)
		fmt.Println(string(line), err)
	}
	// Output:
	// {"time":"2026-01-02T03:04:05.5Z","level":"INFO","msg":"took 12 ms"} <nil>
	// {"time":"2026-01-02T03:04:06Z","level":"WARN","msg":"took 850 ms","slow":true} <nil>
}

// What a logging library adds by itself can stand apart from what the program said.
func ExampleWriter_WriteAuto() {
	var file bytes.Buffer
	w, err := archive.NewWriter(&file, nil)
	if err != nil {
		panic(err)
	}
	if err := w.WriteAuto([]byte(`{"message":"ready"}`), []byte(`{"level":{"name":"INFO"}}`)); err != nil {
		panic(err)
	}
	if err := w.NextSource([]slog.Attr{slog.String("_filename", "b.clp")}); err != nil {
		panic(err)
	}
	row := w.Row()
	row.String("message", []byte("going down"))
	row.Auto()
	row.Open("level")
	row.String("name", []byte("WARN"))
	row.Close()
	if err := row.Write(); err != nil {
		panic(err)
	}
	if err := w.Close(); err != nil {
		panic(err)
	}

	r, err := archive.Open(bytes.NewReader(file.Bytes()), int64(file.Len()), nil)
	if err != nil {
		panic(err)
	}
	defer r.Close()
	for record, err := range r.All() {
		if err != nil {
			panic(err)
		}
		line, _ := record.AppendJSON(nil)
		auto, _ := record.AppendAuto(nil)
		fmt.Println(string(line), string(auto))
	}
	fmt.Println(string(r.Ranges()[1].Fields.AppendJSON(nil)))
	// Output:
	// {"message":"ready"} {"level":{"name":"INFO"}}
	// {"message":"going down"} {"level":{"name":"WARN"}}
	// {"_filename":"b.clp"}
}

func ExampleWriter_SetFields() {
	var file bytes.Buffer
	w, err := archive.NewWriter(&file, nil)
	if err != nil {
		panic(err)
	}
	if err := w.Write([]byte(`{"msg":"done"}`)); err != nil {
		panic(err)
	}
	if err := w.SetFields([]slog.Attr{slog.Int64("events", w.Records())}); err != nil {
		panic(err)
	}
	if err := w.Close(); err != nil {
		panic(err)
	}

	r, err := archive.Open(bytes.NewReader(file.Bytes()), int64(file.Len()), nil)
	if err != nil {
		panic(err)
	}
	defer r.Close()
	for _, from := range r.Ranges() {
		fmt.Println(from.Start, from.End, from.Fields)
	}
	// Output:
	// 0 1 {"events":1}
}

func ExampleReader_Tables() {
	r, err := archive.OpenDir(os.DirFS("testdata/vectors/36-directory+dir.dir"), nil)
	if err != nil {
		panic(err)
	}
	defer r.Close()
	i := r.Info()
	fmt.Println(i.Version, i.Records, "records")
	for table := range r.Tables() {
		if table.Records < 20 {
			continue
		}
		fmt.Print(table.Records, " of")
		for _, id := range table.Columns {
			n := r.Nodes()[id]
			fmt.Printf(" %s:%v", n.Key, n.Type)
		}
		fmt.Println()
	}
	// Output:
	// 0.5.1 138 records
	// 60 of log_event_idx:DeltaInteger id:Integer i:Integer f:FormattedFloat b:Boolean v:VarString c:ClpString
	// 33 of log_event_idx:DeltaInteger id:Integer arr:UnstructuredArray
}

// A program that has values, and not JSON, gives them to a Row. Verify reads the archive back.
func ExampleWriter_Row() {
	var file bytes.Buffer
	w, err := archive.NewWriter(&file, &archive.WriterOptions{TimeKey: []string{"time"}})
	if err != nil {
		panic(err)
	}
	row := w.Row()
	row.Time("time", time.Date(2026, 11, 30, 10, 46, 59, 0, time.UTC))
	row.String("msg", []byte("took 17 ms"))
	row.Open("request")
	row.Int("status", 200)
	row.Close()
	if err := row.Write(); err != nil {
		panic(err)
	}
	if err := w.Close(); err != nil {
		panic(err)
	}
	fmt.Println(w.Verify(context.Background(), bytes.NewReader(file.Bytes()), int64(file.Len())))

	r, err := archive.Open(bytes.NewReader(file.Bytes()), int64(file.Len()), nil)
	if err != nil {
		panic(err)
	}
	defer r.Close()
	for record, err := range r.All() {
		if err != nil {
			panic(err)
		}
		line, err := record.AppendJSON(nil)
		fmt.Println(string(line), err)
	}
	// Output:
	// <nil>
	// {"time":"2026-11-30T10:46:59Z","msg":"took 17 ms","request":{"status":200}} <nil>
}
