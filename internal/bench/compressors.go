package bench

import (
	"bytes"
	stdgzip "compress/gzip"
	"fmt"
	"io"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/tracehandler/tracehandler/event"
	"github.com/tracehandler/tracehandler/format"
	"github.com/tracehandler/tracehandler/sink"
)

// counter counts what is written to it.
type counter struct{ n int64 }

func (c *counter) Write(p []byte) (int, error) {
	c.n += int64(len(p))
	return len(p), nil
}

// compressor takes one line at a time.
type compressor interface {
	io.Writer
	Flush() error
}

// sinkWriter is a sink as a writer.
type sinkWriter struct{ sink.Sink }

func (s sinkWriter) Write(p []byte) (int, error) { return len(p), s.Append(p) }

// Compressors compares what compresses, one line at a time, without a handler and without a file.
func Compressors(out *Output, rounds int) {
	out.title("Compressors alone", "Lines of span records, one Write or Append each, into a counter. CPU of the whole process; each slice of 8,000 lines ends with a flush.")
	made := []struct {
		name string
		open func(w io.Writer) compressor
	}{
		{"sink plain", ours(sink.Options{Format: format.Plain})},
		{"sink gzip (members of 1 MiB)", ours(sink.Options{Format: format.Gzip})},
		{"sink zstd (frames of 256 KiB)", ours(sink.Options{Format: format.Zstd})},
		{"sink zstd, level 2", ours(sink.Options{Format: format.Zstd, Level: 2})},
		{"sink zstd, a frame per record", ours(sink.Options{Format: format.Zstd, PerRecord: true})},
		{"klauspost gzip, default level", func(w io.Writer) compressor { return gzip.NewWriter(w) }},
		{"klauspost gzip, level 1", func(w io.Writer) compressor { return get(gzip.NewWriterLevel(w, 1)) }},
		{"compress/gzip, default level", func(w io.Writer) compressor { return stdgzip.NewWriter(w) }},
		{"klauspost zstd stream, fastest", stream(zstd.SpeedFastest)},
		{"klauspost zstd stream, default", stream(zstd.SpeedDefault)},
	}
	var lines [][]byte
	enc := event.NewJSON(event.Options{})
	var b event.Buffer
	total := 0
	for _, r := range spans(80_000) /* 26 MB: more than any window, so that none finds the lines again */ {
		b.Reset()
		enc.AppendRecord(&b, r, nil)
		lines = append(lines, bytes.Clone(b.B))
		total += len(b.B)
	}
	per := float64(total) / float64(len(lines))
	var cases []Case
	counters := make([]counter, len(made))
	counts := make([]int, len(made))
	for i, m := range made {
		w := m.open(&counters[i])
		next := 0
		cases = append(cases, Case{m.name, func(n int) {
			counts[i] += n
			for range n {
				_, err := w.Write(lines[next])
				must(err)
				if next++; next == len(lines) {
					next = 0
				}
			}
			must(w.Flush())
		}})
		if s, ok := w.(sinkWriter); ok {
			defer func() { must(s.Close()) }()
		}
	}
	table := Table{Head: []string{"compressor", "ns per line", "MB per s of CPU", "bytes per line", "ratio"}}
	for i, r := range Interleave(cases, Plan{Rounds: rounds, Slice: 10 * time.Millisecond, Unit: 8_000}) {
		bytes := float64(counters[i].n) / float64(counts[i])
		table.add(r.Name, figure(r.CPU), figure(per/r.CPU*1e3), fmt.Sprintf("%.1f", bytes), fmt.Sprintf("%.2f", per/bytes))
	}
	out.table(table)
}

func ours(o sink.Options) func(io.Writer) compressor {
	return func(w io.Writer) compressor { return sinkWriter{sink.Writer(w, o)} }
}

func stream(level zstd.EncoderLevel) func(io.Writer) compressor {
	return func(w io.Writer) compressor {
		return get(zstd.NewWriter(w, zstd.WithEncoderLevel(level), zstd.WithEncoderConcurrency(1)))
	}
}

func get[T any](v T, err error) T {
	must(err)
	return v
}
