// Soak writes gigabytes of events through one sink and prints what that took: bytes, speed, and the peak of memory.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/tracehandler/tracehandler/finalize"
	"github.com/tracehandler/tracehandler/format"
	"github.com/tracehandler/tracehandler/handler"
	"github.com/tracehandler/tracehandler/internal/bench"
	"github.com/tracehandler/tracehandler/internal/corpus"
	"github.com/tracehandler/tracehandler/sink"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "soak:", err)
		os.Exit(1)
	}
}

func run() error {
	word := flag.String("format", "zstd", "plain, gzip, zstd, clp-ir or clp")
	gb := flag.Float64("gb", 4, "text to write, in 1e9 bytes")
	workers := flag.Int("workers", 8, "goroutines that log")
	dir := flag.String("dir", "", "where the trace is written (default a temporary directory, removed afterwards)")
	verify := flag.Bool("verify", false, "read the trace back and count")
	flag.Parse()

	f, err := format.Parse(*word)
	if err != nil {
		return err
	}
	if *dir == "" {
		if *dir, err = os.MkdirTemp("", "soak-"); err != nil {
			return err
		}
		defer os.RemoveAll(*dir)
	}
	path := filepath.Join(*dir, "soak"+f.Suffix())
	h := handler.New(sink.File(path, sink.Options{Format: f}), nil)
	ctx := context.Background()
	start, cpu := time.Now(), bench.CPUTime()
	var wg sync.WaitGroup
	for w := range *workers {
		wg.Go(func() {
			stream := corpus.New(corpus.Spans, 1, w)
			for n := 0; ; n++ {
				if n%1024 == 0 && float64(h.Stats().Sink.Bytes) >= *gb*1e9 {
					return
				}
				if err := h.Handle(ctx, stream.Next()); err != nil {
					fmt.Fprintln(os.Stderr, "soak:", err)
					return
				}
			}
		})
	}
	wg.Wait()
	if err := h.Close(); err != nil {
		return err
	}
	took, used := time.Since(start), bench.CPUTime()-cpu
	peak := bench.PeakMemory()
	s := h.Stats().Sink
	fmt.Printf("%v: %d events, %.3f GB of text, %.3f GB on disk, %d dropped; %.0f events/s, %.0f MB/s, %.0f ns of CPU per event (making the records included); peak memory %.1f MiB\n",
		f, s.Events, float64(s.Bytes)/1e9, float64(s.FileBytes)/1e9, s.DroppedEvents,
		float64(s.Events)/took.Seconds(), float64(s.Bytes)/1e6/took.Seconds(), float64(used)/float64(s.Events), float64(peak)/(1<<20))
	if *verify {
		report, err := finalize.Verify(path, nil)
		if err != nil {
			return err
		}
		fmt.Printf("verified: %+v\n", report)
	}
	return nil
}
