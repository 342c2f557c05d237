package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/tracehandler/tracehandler/cmd/tracectl/internal/demo"
	"github.com/tracehandler/tracehandler/cmd/tracectl/internal/table"
)

type demoOptions struct {
	dir     string
	events  int
	workers int
	seed    uint64
}

func newDemoCommand() *cobra.Command {
	var o demoOptions
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Write, close, verify, read back and compare a realistic trace in every format",
		Long: `Demo runs an instrumented program of several goroutines and logs the same events into one file of each format, through the handler.
It closes each file, verifies it, reads it back, and compares every event with what was logged, by way of the standard
library's JSON handler. It leaves the files.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return runDemo(cmd, &o) },
	}
	f := cmd.Flags()
	f.StringVar(&o.dir, "out", "", "write into this `directory`; default: a new temporary one")
	f.IntVarP(&o.events, "events", "n", 300_000, "`number` of events in each format")
	f.IntVar(&o.workers, "workers", 4, "`number` of goroutines that log")
	f.Uint64Var(&o.seed, "seed", 1, "the events to generate")
	return cmd
}

func runDemo(cmd *cobra.Command, o *demoOptions) error {
	if o.events < 1 || o.workers < 1 {
		return &usageError{cmd, errors.New("--events and --workers must be at least 1")}
	}
	ctx, stop := interruptible(cmd)
	defer stop()
	dir, err := demoDir(o.dir)
	if err != nil {
		return err
	}
	out := cmd.OutOrStdout()
	fmt.Fprintf(out, "%s of a small shop, logged by %s through each sink, verified, read back and compared one by one:\n\n",
		plural(o.events, "event"), plural(o.workers, "goroutine"))
	start := time.Now()
	t := table.New("sink", "bytes>", "ratio>", "caller p50>", "p99>", "written/s>", "read back>", "verified", "compared", "file")
	var plain int64
	var failed []error
	var files []string
	for _, f := range demo.Formats {
		bar, done := newEventProgress(cmd, f.String(), 2*int64(o.events)), int64(0) // logged, and compared
		r, err := demo.Run(ctx, demo.Options{Dir: dir, Format: f, Events: o.events, Workers: o.workers, Seed: o.seed, Progress: func(events int) {
			done += int64(events)
			bar.set(done)
		}})
		bar.done()
		if err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			failed = append(failed, err)
			t.Row(f.String(), "-", "-", "-", "-", "-", "-", "failed", "failed", filepath.Base(r.Path))
			continue
		}
		if plain == 0 {
			plain = r.Stored
		}
		t.Row(f.String(), number(r.Stored), ratio(plain, r.Stored), fmt.Sprintf("%d ns", r.P50.Nanoseconds()), span(r.P99), number(int64(float64(o.events)/r.Wrote.Seconds())),
			fmt.Sprintf("%.0f MB/s", float64(plain)/1e6/r.Read.Seconds()), "ok", number(r.Compared)+" equal", filepath.Base(r.Path))
		files = append(files, r.Path)
	}
	if err := t.Write(out, useColor(cmd, out)); err != nil {
		return err
	}
	for _, err := range failed {
		complain(cmd.ErrOrStderr(), err)
	}
	fmt.Fprintf(out, `
ratio: size of plain over size of this; caller: what one call of Handle takes, a look at the clock (about 50 ns) included;
written/s: events, from the first call to the end of Close, generating them included; read back: of plain text

The files are in %s (%s). Try:
`, dir, span(time.Since(start)))
	if len(files) > 0 {
		me, last := invocation(), files[len(files)-1]
		for _, try := range []string{
			me + " cat -n 20 " + last,
			me + " cat -l warn -f 'took>10ms' -K service,host,worker,seq,span_id " + last,
			me + " stat " + dir,
			me + " convert --to plain -o - " + last + " | jq -c .msg | sort | uniq -c",
		} {
			fmt.Fprintf(out, "  %s\n", try)
		}
	}
	if len(failed) > 0 {
		return errReported
	}
	return nil
}

// invocation is how this program is called: by its name, or as the README does from a clone.
func invocation() string {
	if exe, err := os.Executable(); err == nil && strings.Contains(exe, "go-build") {
		return "go run ./cmd/tracectl"
	}
	return "tracectl"
}

func demoDir(dir string) (string, error) {
	if dir == "" {
		return os.MkdirTemp("", "tracectl-demo-")
	}
	return dir, os.MkdirAll(dir, 0o700)
}
