//go:build unix

package sink

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/tracehandler/tracehandler/event"
	"github.com/tracehandler/tracehandler/format"
	"github.com/tracehandler/tracehandler/internal/corpus"
)

// cpu returns the CPU time that this process has used.
func cpu() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// reportCPU reports the CPU time of a benchmark, of all its goroutines, per operation.
func reportCPU(b *testing.B, start time.Duration) {
	b.ReportMetric(float64((cpu()-start).Nanoseconds())/float64(b.N), "cpu-ns/op")
}

// check is must without the cost of Helper.
func check(b *testing.B, err error) {
	if err != nil {
		b.Fatal(err)
	}
}

func records(n int) []slog.Record {
	src := corpus.New(corpus.Service, 1, 0)
	rs := make([]slog.Record, n)
	for i := range rs {
		rs[i] = src.Next()
	}
	return rs
}

// BenchmarkAppend is what a caller pays for a sink, and in cpu-ns what the program does.
func BenchmarkAppend(b *testing.B) {
	enc := event.NewJSON(event.Options{})
	var lines [][]byte
	for _, r := range records(4096) {
		buf := event.GetBuffer()
		enc.AppendRecord(buf, r, nil)
		lines = append(lines, slices.Clone(buf.B))
		buf.Free()
	}
	for _, f := range formats {
		b.Run(f.String(), func(b *testing.B) {
			s := File(filepath.Join(b.TempDir(), "trace"), Options{Format: f})
			b.ReportAllocs()
			start := cpu()
			for i := 0; b.Loop(); i++ {
				check(b, s.Append(lines[i%len(lines)]))
			}
			must(b, s.Flush())
			reportCPU(b, start)
			must(b, s.Close())
		})
	}
}

// BenchmarkEndToEnd writes records to a zstd file: our encoder and sink, and the standard handler before one long stream of
// klauspost's fastest encoder.
//
// There are more records than the window of a stream can remember; repeated ones would cost it next to nothing.
func BenchmarkEndToEnd(b *testing.B) {
	rs := records(100_000)
	b.Run("sink", func(b *testing.B) {
		s := File(filepath.Join(b.TempDir(), "trace"), Options{Format: format.Zstd})
		enc := s.Encoder(event.Options{})
		b.ReportAllocs()
		start := cpu()
		for i := 0; b.Loop(); i++ {
			buf := event.GetBuffer()
			enc.AppendRecord(buf, rs[i%len(rs)], nil)
			check(b, s.Append(buf.B))
			buf.Free()
		}
		must(b, s.Flush())
		reportCPU(b, start)
		must(b, s.Close())
	})
	b.Run("slog", func(b *testing.B) {
		f, err := os.Create(filepath.Join(b.TempDir(), "trace"))
		must(b, err)
		defer f.Close()
		z, err := zstd.NewWriter(f, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1))
		must(b, err)
		h := slog.NewJSONHandler(z, nil)
		b.ReportAllocs()
		start := cpu()
		for i := 0; b.Loop(); i++ {
			check(b, h.Handle(context.Background(), rs[i%len(rs)]))
		}
		must(b, z.Flush())
		reportCPU(b, start)
		must(b, z.Close())
	})
}

// BenchmarkLatency paces eight goroutines, each with an event every 250 µs, through one mutex, and reports how long a
// caller waited.
func BenchmarkLatency(b *testing.B) {
	rs := records(4096)
	for _, o := range []Options{{}, {Format: format.Gzip}, {Format: format.Zstd}, {Format: format.Zstd, BlockSize: 64 << 10}} {
		b.Run(fmt.Sprintf("%v/%d", o.Format, o.BlockSize), func(b *testing.B) {
			s := File(filepath.Join(b.TempDir(), "trace"), o)
			enc := s.Encoder(event.Options{})
			latency(b, func(i int) {
				buf := event.GetBuffer()
				enc.AppendRecord(buf, rs[i%len(rs)], nil)
				check(b, s.Append(buf.B))
				buf.Free()
			})
			must(b, s.Close())
		})
	}
	b.Run("slog-zstd", func(b *testing.B) {
		f, err := os.Create(filepath.Join(b.TempDir(), "trace"))
		must(b, err)
		defer f.Close()
		z, err := zstd.NewWriter(f, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1))
		must(b, err)
		h := slog.NewJSONHandler(z, nil)
		latency(b, func(i int) { check(b, h.Handle(context.Background(), rs[i%len(rs)])) })
		must(b, z.Close())
	})
	b.Run("slog-discard", func(b *testing.B) {
		h := slog.NewJSONHandler(bufio.NewWriterSize(io.Discard, 64<<10), nil)
		latency(b, func(i int) { check(b, h.Handle(context.Background(), rs[i%len(rs)])) })
	})
}

func latency(b *testing.B, log func(i int)) {
	const workers, period = 8, 250 * time.Microsecond
	var mu sync.Mutex
	var wg sync.WaitGroup
	waits := make([][]time.Duration, workers)
	for w := range workers {
		wg.Go(func() {
			next := time.Now()
			for i := range b.N / workers {
				next = next.Add(period)
				time.Sleep(time.Until(next))
				from := time.Now()
				mu.Lock()
				log(w*1000 + i)
				mu.Unlock()
				waits[w] = append(waits[w], time.Since(from))
			}
		})
	}
	wg.Wait()
	all := slices.Concat(waits...)
	slices.Sort(all)
	if len(all) == 0 {
		return
	}
	at := func(q float64) float64 { return float64(all[int(q*float64(len(all)-1))].Nanoseconds()) / 1e3 }
	b.ReportMetric(at(0.5), "p50-µs")
	b.ReportMetric(at(0.99), "p99-µs")
	b.ReportMetric(at(0.999), "p99.9-µs")
	b.ReportMetric(at(1), "max-µs")
}
