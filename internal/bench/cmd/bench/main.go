// Bench prints tables that compare tracehandler with its peers, as Markdown.
package main

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/tracehandler/tracehandler/internal/bench"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

type table struct {
	name string
	run  func() error
}

func run() error {
	only := flag.String("only", "", "comma-separated tables: handle, parallel, files, compressors, latency, memory, read (default all)")
	rounds := flag.Int("rounds", 200, "slices of each case; the tables of files have a tenth of them, reading has 5 runs")
	events := flag.Int("events", 400_000, "events in the files that are read back")
	flag.Parse()

	dir, err := os.MkdirTemp("", "bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)

	out := &bench.Output{W: os.Stdout}
	tables := []table{
		{"handle", func() error { bench.Handle(out, *rounds); return nil }},
		{"parallel", func() error { bench.Parallel(out, *rounds); return nil }},
		{"files", func() error { return bench.Destinations(out, dir, max(3, *rounds/10)) }},
		{"compressors", func() error { bench.Compressors(out, max(3, *rounds/10)); return nil }},
		{"latency", func() error { return bench.Latency(out, dir, max(2, *rounds/20), 200*time.Millisecond) }},
		{"memory", func() error { return bench.Memory(out, dir) }},
		{"read", func() error { return bench.Read(out, dir, *events, 5) }},
	}
	var wanted []string
	if *only != "" {
		wanted = strings.Split(*only, ",")
	}
	for _, w := range wanted {
		if !slices.ContainsFunc(tables, func(t table) bool { return t.name == w }) {
			return fmt.Errorf("no table %q", w)
		}
	}
	out.Environment()
	for _, t := range tables {
		if wanted == nil || slices.Contains(wanted, t.name) {
			if err := t.run(); err != nil {
				return fmt.Errorf("%s: %w", t.name, err)
			}
		}
	}
	out.Bars()
	return nil
}
