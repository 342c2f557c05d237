package bench

import (
	"bufio"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/tracehandler/tracehandler/format"
	"github.com/tracehandler/tracehandler/handler"
	"github.com/tracehandler/tracehandler/internal/corpus"
	"github.com/tracehandler/tracehandler/sink"
)

// destination is a kind of file, and how it is made without tracehandler.
type destination struct {
	name   string
	format format.Format
	open   func(w io.Writer) (out io.Writer, flush, closing func() error)
}

var destinations = []destination{
	{"file, 64 KiB buffer", format.Plain, func(w io.Writer) (io.Writer, func() error, func() error) {
		b := bufio.NewWriterSize(w, 64<<10)
		return b, b.Flush, b.Flush
	}},
	{"gzip", format.Gzip, func(w io.Writer) (io.Writer, func() error, func() error) {
		b := bufio.NewWriterSize(w, 64<<10)
		z := gzip.NewWriter(b)
		return z, z.Flush, func() error {
			if err := z.Close(); err != nil {
				return err
			}
			return b.Flush()
		}
	}},
	{"zstd", format.Zstd, func(w io.Writer) (io.Writer, func() error, func() error) {
		z, err := zstd.NewWriter(w, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1))
		if err != nil {
			panic(err)
		}
		return z, z.Flush, z.Close
	}},
}

// spans are records with random ids: a stream that does not compress too well.
func spans(n int) []slog.Record { return slices.Collect(corpus.New(corpus.Spans, 1, 0).Records(n)) }

// cycle hands records to a handler, one after the other and then again.
type cycle struct {
	records []slog.Record
	next    int
}

func (c *cycle) run(h slog.Handler, n int) {
	for range n {
		_ = h.Handle(ctx, c.records[c.next])
		if c.next++; c.next == len(c.records) {
			c.next = 0
		}
	}
}

// Destinations compares Handle of prebuilt records into files, each slice with a flush at its end.
func Destinations(out *Output, dir string, rounds int) error {
	out.title("Handle into a file", "Span records with random ids, about 330 bytes. CPU ns per event of the whole process, in brackets that of the calling goroutine alone. The peers write through klauspost/compress (gzip: its default level; zstd: fastest, in the caller), under their lock.")
	table := Table{Head: []string{"destination"}}
	for _, p := range Peers {
		table.Head = append(table.Head, p.Name)
	}
	table.Head = append(table.Head, "ours / slog", "caller / slog", "bytes per event, ours", "theirs")
	records := spans(60_000)
	for _, d := range destinations {
		row, err := d.measure(out, dir, records, rounds)
		if err != nil {
			return err
		}
		table.add(row...)
	}
	out.table(table)
	return nil
}

func (d *destination) measure(out *Output, dir string, records []slog.Record, rounds int) ([]string, error) {
	var cases []Case
	var closing []func() error
	var paths []string
	for i, p := range Peers {
		path := filepath.Join(dir, fmt.Sprintf("%v-%d", d.format, i))
		paths = append(paths, path)
		c := cycle{records: records}
		if p.Name == Ours {
			h := handler.New(sink.File(path, sink.Options{Format: d.format}), nil)
			cases = append(cases, Case{p.Name, func(n int) {
				c.run(h, n)
				must(h.Flush())
			}})
			closing = append(closing, h.Close)
			continue
		}
		f, err := os.Create(path)
		if err != nil {
			return nil, err
		}
		w, flush, end := d.open(f)
		h := p.New(w, false)
		cases = append(cases, Case{p.Name, func(n int) {
			c.run(h, n)
			must(flush())
		}})
		closing = append(closing, func() error {
			if err := end(); err != nil {
				return err
			}
			return f.Close()
		})
	}
	events := make([]int, len(cases))
	for i, c := range cases {
		run := c.Run
		cases[i].Run = func(n int) {
			events[i] += n
			run(n)
		}
	}
	results := Interleave(cases, Plan{Rounds: rounds, Slice: 20 * time.Millisecond, Unit: 4000, Caller: true})
	if d.format == format.Zstd {
		out.atMost("CPU per event into a zstd file / slog.JSONHandler → klauspost zstd", 0.7, results[0].CPU/results[1].CPU)
		out.atMost("of that, what the caller pays / slog.JSONHandler → klauspost zstd", 0.42, results[0].Caller/results[1].CPU)
	}
	row := []string{d.name}
	var sizes []float64
	for i, r := range results {
		row = append(row, fmt.Sprintf("%s [%s]", figure(r.CPU), figure(r.Caller)))
		if err := closing[i](); err != nil {
			return nil, err
		}
		info, err := os.Stat(paths[i])
		if err != nil {
			return nil, err
		}
		sizes = append(sizes, float64(info.Size())/float64(events[i]))
		if err := os.Remove(paths[i]); err != nil {
			return nil, err
		}
	}
	return append(row, ratio(results[0].CPU, results[1].CPU), ratio(results[0].Caller, results[1].CPU),
		fmt.Sprintf("%.1f", sizes[0]), fmt.Sprintf("%.1f", sizes[1])), nil
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}
