package archive

import (
	"bytes"
	"testing"
)

// BenchmarkRead reads 200,000 records, about 12 MB of JSON, in the order of the log.
func BenchmarkRead(b *testing.B) {
	data, _ := large(b, 200_000)
	for _, mode := range []struct {
		name string
		o    Options
	}{{"ordered", Options{}}, {"stored", Options{Stored: true}}} {
		b.Run(mode.name, func(b *testing.B) { benchmarkRead(b, data, mode.o) })
	}
}

// BenchmarkReadSlog reads a log of log/slog that the reference has compressed, if the large vectors are there.
func BenchmarkReadSlog(b *testing.B) {
	if vectors() == vectorDir {
		b.Skip(allVectors + " is not set")
	}
	for _, file := range []string{"21-slog.clp", "21-slog+tskey-time+structured.clp", "22-spans.clp", "23-long-text.clp"} {
		b.Run(file, func(b *testing.B) { benchmarkRead(b, readVector(b, file), Options{}) })
	}
}

func benchmarkRead(b *testing.B, data []byte, o Options) {
	b.ReportAllocs()
	var line []byte
	for b.Loop() {
		r, err := Open(bytes.NewReader(data), int64(len(data)), &o)
		check(b, err)
		size := int64(0)
		for record, err := range r.All() {
			if err == nil {
				line, err = record.AppendJSON(line[:0])
			}
			if err != nil {
				b.Fatal(err) // check would cost as much as a value
			}
			size += int64(len(line)) + 1
		}
		check(b, r.Close())
		b.SetBytes(size)
	}
}
