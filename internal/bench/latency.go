package bench

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/tracehandler/tracehandler/handler"
	"github.com/tracehandler/tracehandler/sink"
)

// goroutines is how many log at once when latencies are measured.
const goroutines = 8

// Latency compares how long Handle takes for the one who calls it, as fast as eight goroutines can and at a steady rate.
func Latency(out *Output, dir string, rounds int, slice time.Duration) error {
	for _, load := range []struct {
		name string
		rate int // events a second, 0: as fast as they can
	}{{"as fast as they can", 0}, {"50,000 events a second in all", 50_000}} {
		out.title("What the caller waits: "+load.name, fmt.Sprintf("%d goroutines. Wall time of one Handle in µs, the clock's own cost included.", goroutines))
		table := Table{Head: []string{"handler → file", "p50", "p99", "p99.9", "max", "events"}}
		cases, err := latencyCases(dir)
		if err != nil {
			return err
		}
		taken := make([][]time.Duration, len(cases))
		for range rounds {
			for i, c := range cases {
				taken[i] = append(taken[i], calls(c.h, load.rate, slice)...)
			}
		}
		for i, c := range cases {
			if err := c.close(); err != nil {
				return err
			}
			row := []string{c.name}
			for _, p := range []float64{0.5, 0.99, 0.999, 1} {
				row = append(row, fmt.Sprintf("%.1f", float64(Percentile(taken[i], p))/1e3))
			}
			table.add(append(row, fmt.Sprint(len(taken[i])))...)
			if load.rate > 0 && c.name == Ours+" → zstd" {
				out.atMost("p99.9 of a call with zstd, 8 goroutines, 50,000 events/s, µs", 100, float64(Percentile(taken[i], 0.999))/1e3)
			}
		}
		out.table(table)
	}
	return nil
}

type latencyCase struct {
	name  string
	h     slog.Handler
	close func() error
}

func latencyCases(dir string) ([]latencyCase, error) {
	var cases []latencyCase
	for i, d := range destinations {
		path := filepath.Join(dir, fmt.Sprint("latency-", i))
		h := handler.New(sink.File(path, sink.Options{Format: d.format}), nil)
		cases = append(cases, latencyCase{Ours + " → " + d.name, h, func() error {
			if err := h.Close(); err != nil {
				return err
			}
			return os.Remove(path)
		}})
	}
	for i, d := range destinations {
		for _, p := range Peers[1:] {
			if p.Name != "slog.JSONHandler" && p.Name != "phuslu/log" {
				continue
			}
			f, err := os.Create(filepath.Join(dir, fmt.Sprint("latency-", i, "-", len(cases))))
			if err != nil {
				return nil, err
			}
			w, _, end := d.open(f)
			cases = append(cases, latencyCase{p.Name + " → " + d.name, p.New(w, false), func() error {
				if err := end(); err != nil {
					return err
				}
				if err := f.Close(); err != nil {
					return err
				}
				return os.Remove(f.Name())
			}})
		}
	}
	return cases, nil
}

// calls logs for as long as d and returns what each call took.
func calls(h slog.Handler, rate int, d time.Duration) []time.Duration {
	var mu sync.Mutex
	var all []time.Duration
	var wg sync.WaitGroup
	start := time.Now()
	for g := range goroutines {
		wg.Go(func() {
			c := cycle{records: spanRecords(), next: g * 100}
			var taken []time.Duration
			for n := 0; ; n++ {
				now := time.Now()
				if now.Sub(start) >= d {
					break
				}
				if rate > 0 { // what comes late, after a sleep, is sent at once
					due := start.Add(time.Duration(n*goroutines+g) * time.Second / time.Duration(rate))
					if wait := due.Sub(now); wait > 0 {
						time.Sleep(wait)
					}
					now = time.Now()
				}
				c.run(h, 1)
				taken = append(taken, time.Since(now))
			}
			mu.Lock()
			all = append(all, taken...)
			mu.Unlock()
		})
	}
	wg.Wait()
	return all
}

var spanRecords = sync.OnceValue(func() []slog.Record { return spans(10_000) })
