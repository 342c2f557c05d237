// Package demo is the main job, run and checked: a concurrent program logs through a handler into a file, the file is closed,
// verified, read back, and compared event by event with what was logged.
//
//	r, err := demo.Run(ctx, demo.Options{Dir: dir, Format: format.Zstd, Events: 300_000, Workers: 4})
//
// Goroutines reach the handler in another order each time, so events are compared worker by worker, each in its own
// order, with those that [corpus.New] generates again. What an event should be, [slog.JSONHandler] says.
package demo

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/tracehandler/tracehandler/finalize"
	"github.com/tracehandler/tracehandler/format"
	"github.com/tracehandler/tracehandler/handler"
	"github.com/tracehandler/tracehandler/internal/corpus"
	"github.com/tracehandler/tracehandler/reader"
	"github.com/tracehandler/tracehandler/sink"
)

// Formats are the formats that have a sink. A new sink joins by one line.
var Formats = []format.Format{
	format.Plain,
	format.Gzip,
	format.Zstd,
	format.CLPIR,
	format.CLP,
}

// batchSize is the number of events that are generated at once.
const batchSize = 256

// Options say what to run.
type Options struct {
	Dir     string // where the file goes; one that is there is replaced
	Format  format.Format
	Events  int
	Workers int
	Seed    uint64

	// Progress, unless nil, is told now and then how many more events were logged or compared: in the end nearly
	// 2 × Events. Its calls do not overlap.
	Progress func(events int)
}

func (o *Options) progress(events int) {
	if o.Progress != nil {
		o.Progress(events)
	}
}

// Result is what a run found.
type Result struct {
	Path     string
	Stored   int64         // bytes of the file
	P50, P99 time.Duration // of one call of Handle, a look at the clock included
	Wrote    time.Duration // from the first call to the end of Close
	Read     time.Duration // to read all events back
	Compared int64         // events that are equal to what was logged
}

// Run writes one file and checks it. The error says what is wrong with the file, if anything.
func Run(ctx context.Context, o Options) (Result, error) {
	r := Result{Path: filepath.Join(o.Dir, "demo"+o.Format.Suffix())}
	if err := write(ctx, o, &r); err != nil {
		return r, err
	}
	report, err := finalize.Verify(r.Path, nil)
	if err != nil {
		return r, err
	}
	if !report.OK() || report.Events != int64(o.Events) {
		return r, fmt.Errorf("%s: verified %d events, want %d; %d bytes torn, %d damaged, %d bad lines", r.Path, report.Events, o.Events,
			report.TornBytes, report.DamageBytes, report.BadLinesCount)
	}
	r.Stored = report.Size
	if err := read(ctx, &r); err != nil {
		return r, err
	}
	return r, compare(ctx, o, &r)
}

// base returns what every logger of the demo has in common, on top of h.
func base(h slog.Handler) slog.Handler {
	return h.WithAttrs([]slog.Attr{slog.String("service", "shop"),
		slog.Group("host", slog.String("name", "web-1"), slog.String("zone", "eu-central-1b"), slog.Int("cpus", 2))})
}

func share(o Options, worker int) int {
	n := o.Events / o.Workers
	if worker < o.Events%o.Workers {
		n++
	}
	return n
}

func write(ctx context.Context, o Options, r *Result) error {
	h := handler.New(sink.File(r.Path, sink.Options{Format: o.Format, Exists: sink.Truncate}),
		&handler.Options{Level: slog.LevelDebug - 4, AddSource: true})
	logger := base(h)
	var calls histogram
	var mu sync.Mutex
	var errs []error
	var wg sync.WaitGroup
	progress := func(n int) {
		mu.Lock()
		defer mu.Unlock()
		o.progress(n)
	}
	start := time.Now()
	for worker := range o.Workers {
		wg.Go(func() {
			mine, err := work(ctx, logger, corpus.New(corpus.Demo, o.Seed, worker), share(o, worker), progress)
			mu.Lock()
			defer mu.Unlock()
			calls.add(mine)
			errs = append(errs, err)
		})
	}
	wg.Wait()
	errs = append(errs, h.Close())
	r.Wrote = time.Since(start)
	r.P50, r.P99 = calls.quantile(0.50), calls.quantile(0.99)
	err := errors.Join(errs...)
	if err != nil && ctx.Err() != nil {
		_ = os.Remove(r.Path) // half a demo is of no use
	}
	return err
}

// work logs n events and measures each call. Events are generated in batches between the measurements.
func work(ctx context.Context, h slog.Handler, from *corpus.Stream, n int, progress func(int)) (*histogram, error) {
	var calls histogram
	batch := make([]slog.Record, 0, batchSize)
	for n > 0 {
		if err := ctx.Err(); err != nil {
			return &calls, err
		}
		batch = batch[:0]
		for r := range from.Records(min(n, cap(batch))) {
			batch = append(batch, r)
		}
		n -= len(batch)
		progress(len(batch))
		before := time.Now()
		for _, r := range batch {
			if !h.Enabled(ctx, r.Level) {
				return &calls, fmt.Errorf("the handler does not take level %v", r.Level)
			}
			if err := h.Handle(ctx, r); err != nil {
				return &calls, err
			}
			now := time.Now()
			calls.count(now.Sub(before))
			before = now
		}
	}
	return &calls, nil
}

// read reads the file once and does nothing with it, for the time it takes.
func read(ctx context.Context, r *Result) error {
	f, err := reader.Open(r.Path, nil)
	if err != nil {
		return err
	}
	defer f.Close()
	start := time.Now()
	for _, err := range f.Events() {
		if err != nil {
			return err
		}
	}
	r.Read = time.Since(start)
	return ctx.Err()
}
