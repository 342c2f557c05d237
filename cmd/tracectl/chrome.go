package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/tracehandler/tracehandler/analyze/spans"
	"github.com/tracehandler/tracehandler/event"
)

// toChrome is what --to says for Chrome's trace-event JSON, which is no format of events: it can be looked at, not read back.
const toChrome = "chrome"

// convertToChrome writes the events of all inputs into one file for Perfetto, chrome://tracing and 'tracectl analyze': spans
// where an event has a duration, instants elsewhere.
func convertToChrome(cmd *cobra.Command, args []string, w *writing) error {
	paths, err := findInputs(cmd, args)
	if err != nil {
		return err
	}
	output := w.output
	if output == "" {
		output = stdin
	}
	if isDir(output) {
		return &usageError{cmd, fmt.Errorf("%s is a directory: all inputs become one file for --to %s", output, toChrome)}
	}
	if _, err := os.Lstat(output); output != stdin && err == nil && !w.overwrite {
		return fmt.Errorf("%s exists: --overwrite replaces it", output)
	}
	ctx, stop := interruptible(cmd)
	defer stop()
	bar := newProgress(cmd, "reading", -1)
	defer bar.done()
	troubled := false
	events := func(yield func(event.Event, error) bool) {
		for _, path := range paths {
			o := readerOptions(cmd)
			o.Progress = bar.set
			in, err := openWith(cmd, path, o)
			if err != nil {
				troubled = true
				complain(cmd.ErrOrStderr(), err)
				continue
			}
			goOn := passOn(ctx, in.Events(), yield, func(err error) {
				if !troubled { // one is enough: verify lists them
					bar.hide()
					complain(cmd.ErrOrStderr(), err)
				}
				troubled = true
			})
			_ = in.Close() // nothing was written
			if !goOn {
				return
			}
		}
	}
	rep, err := writeTo(cmd, output, func(out io.Writer) (spans.Report, error) {
		rep, err := spans.WriteChrome(out, events, spans.Options{})
		return rep, cmp.Or(err, ctx.Err())
	})
	bar.done()
	if err != nil {
		return err
	}
	if output != stdin {
		if _, err := fmt.Fprintf(cmd.OutOrStdout(), "%s: %s, %s\n", shown(output), plural(rep.Spans, "span"), plural(rep.Instants, "instant")); err != nil {
			return err
		}
	}
	if rep.Skipped > 0 {
		fmt.Fprintf(cmd.ErrOrStderr(), "tracectl: %s without a time left out\n", plural(rep.Skipped, "event"))
	}
	if troubled {
		return errReported
	}
	return nil
}

// passOn passes events on and errors aside; false if whoever takes them has had enough, or ctx has ended.
func passOn(ctx context.Context, events iter.Seq2[event.Event, error], yield func(event.Event, error) bool, failed func(error)) bool {
	for e, err := range events {
		if err != nil {
			failed(err)
		}
		if ctx.Err() != nil || !yield(e, err) {
			return false
		}
	}
	return true
}

// writeTo writes a file under a temporary name beside its place, or standard output.
func writeTo(cmd *cobra.Command, path string, write func(io.Writer) (spans.Report, error)) (spans.Report, error) {
	if path == stdin {
		return write(cmd.OutOrStdout())
	}
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return spans.Report{}, err
	}
	buf := bufio.NewWriter(f)
	rep, err := write(buf)
	if err == nil {
		err = cmp.Or(buf.Flush(), f.Sync())
	}
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return rep, errors.Join(err, os.Remove(f.Name()))
	}
	return rep, nil
}
