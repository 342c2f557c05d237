package archive_test

import (
	"bytes"
	"fmt"
	"time"

	"github.com/tracehandler/tracehandler/clp/archive"
)

// example is an archive of three records, a minute each.
func example(first int) []byte {
	var file bytes.Buffer
	w, err := archive.NewWriter(&file, &archive.WriterOptions{TimeKey: []string{"time"}})
	if err != nil {
		panic(err)
	}
	for i := first; i < first+3; i++ {
		if err := w.Write(fmt.Appendf(nil, `{"time":"2026-01-02T03:%02d:00Z","msg":"took %d ms","req":{"id":"r%d","ok":true}}`, i, 10*i, i)); err != nil {
			panic(err)
		}
	}
	if err := w.Close(); err != nil {
		panic(err)
	}
	return file.Bytes()
}

func openExample(data []byte) *archive.Reader {
	r, err := archive.Open(bytes.NewReader(data), int64(len(data)), nil)
	if err != nil {
		panic(err)
	}
	return r
}

func show(r interface {
	Next() (*archive.Record, error)
}) {
	record, err := r.Next()
	if err != nil {
		panic(err)
	}
	line, err := record.JSON()
	if err != nil {
		panic(err)
	}
	fmt.Println(record.Number(), string(line))
}

func ExampleReader_Project() {
	r := openExample(example(0))
	defer r.Close()
	if err := r.Project("req.id", "time"); err != nil {
		panic(err)
	}
	show(r)
	// Output: 0 {"time":"2026-01-02T03:00:00Z","req":{"id":"r0"}}
}

func ExampleReader_SeekRecord() {
	r := openExample(example(0))
	defer r.Close()
	if err := r.SeekRecord(r.Len() - 1); err != nil {
		panic(err)
	}
	show(r)
	// Output: 2 {"time":"2026-01-02T03:02:00Z","msg":"took 20 ms","req":{"id":"r2","ok":true}}
}

func ExampleReader_SeekTime() {
	r := openExample(example(0))
	defer r.Close()
	begin, end, ok := r.TimeRange()
	fmt.Println(time.Unix(0, begin).UTC(), time.Duration(end-begin), ok)
	if err := r.SeekTime(time.Date(2026, 1, 2, 3, 0, 30, 0, time.UTC).UnixNano()); err != nil {
		panic(err)
	}
	show(r)
	// Output:
	// 2026-01-02 03:00:00 +0000 UTC 2m0s true
	// 1 {"time":"2026-01-02T03:01:00Z","msg":"took 10 ms","req":{"id":"r1","ok":true}}
}

func ExampleReader_Keys() {
	r := openExample(example(0))
	defer r.Close()
	keys, err := r.Keys()
	if err != nil {
		panic(err)
	}
	for _, k := range keys {
		fmt.Println(k.Path, k.Type, k.Records, k.Bytes)
	}
	// Output:
	// log_event_idx DeltaInteger 3 24
	// time Timestamp 3 48
	// msg ClpString 3 56
	// req.id VarString 3 24
	// req.ok Boolean 3 3
}

func ExampleOpenSet() {
	parts := [][]byte{example(0), example(3)}
	s := archive.OpenSet(len(parts), func(i int) (*archive.Reader, error) { return openExample(parts[i]), nil })
	defer s.Close()
	if err := s.SeekRecord(2); err != nil {
		panic(err)
	}
	show(s)
	show(s)
	// Output:
	// 2 {"time":"2026-01-02T03:02:00Z","msg":"took 20 ms","req":{"id":"r2","ok":true}}
	// 3 {"time":"2026-01-02T03:03:00Z","msg":"took 30 ms","req":{"id":"r3","ok":true}}
}

func ExampleRecord_JSON() {
	r := openExample(example(7))
	defer r.Close()
	for record, err := range r.All() {
		if err != nil {
			panic(err)
		}
		line, err := record.JSON() // valid up to the next record
		if err != nil {
			panic(err)
		}
		fmt.Println(len(line))
	}
	fmt.Println(r.Stats().Side)
	// Output:
	// 78
	// 78
	// 78
	// false
}

func ExampleReader_ScanStats() {
	r := openExample(example(0))
	defer r.Close()
	if err := r.Project("req.ok"); err != nil {
		panic(err)
	}
	show(r)
	s := r.ScanStats()
	fmt.Println(s.Spent.Columns.Decoded, "bytes of columns,", s.Spent.Dictionaries.Decoded, "of texts")
	// Output:
	// 0 {"req":{"ok":true}}
	// 155 bytes of columns, 0 of texts
}

// The log types are what is constant in texts; they tell what a log is about before any record is read.
func ExampleReader_LogTypes() {
	var file bytes.Buffer
	w, err := archive.NewWriter(&file, nil)
	if err != nil {
		panic(err)
	}
	for _, line := range []string{`{"msg":"took 12 ms"}`, `{"msg":"took 850 ms"}`, `{"msg":"disk sda1 is full"}`} {
		if err := w.Write([]byte(line)); err != nil {
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
	v := r.Info().Version
	fmt.Println(v, v.Known())
	types := r.LogTypes()
	n, err := types.Len()
	if err != nil {
		panic(err)
	}
	for id := range n {
		text, err := types.Entry(id)
		fmt.Printf("%q %v\n", text, err)
	}
	// Output:
	// 0.5.1 true
	// "took \x11 ms" <nil>
	// "disk \x12 is full" <nil>
}
