package main

import (
	"fmt"
	"iter"
	"slices"

	"github.com/spf13/cobra"

	"github.com/tracehandler/tracehandler/cmd/tracectl/internal/filter"
	"github.com/tracehandler/tracehandler/event"
	"github.com/tracehandler/tracehandler/format"
)

func newMergeCommand() *cobra.Command {
	var choose selecting
	var w writing
	cmd := &cobra.Command{
		Use:   "merge [FILE | DIRECTORY | -]...",
		Short: "Merge traces into one by time",
		Long: `Merge writes the events of several traces into one, in the order of their times: to standard output as plain lines, or to
-o FILE in the format of --to, or else of the file's suffix. Lines are copied as they are. Each trace is taken to be in
order already, as one process writes it; events without a readable time stay behind the one before them. The output gets
its name only when it is complete. An interrupt leaves no output, except that it ends standard input, of which what came
is kept.
` + selectingHelp,
		Example: `  tracectl merge rank0.ndjson.zst rank1.ndjson.zst -o all.ndjson.zst
  tracectl merge traces/ --since 10:00 --until 10:05 | jq .msg`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if w.output == "" {
				w.output = stdin
			}
			return runMerge(cmd, args, &choose, &w)
		},
	}
	choose.add(cmd)
	w.add(cmd, "write to this `file`; - is standard output, the default")
	return cmd
}

func runMerge(cmd *cobra.Command, args []string, choose *selecting, w *writing) error {
	f, err := choose.filter(cmd)
	if err != nil {
		return err
	}
	to, err := w.format(cmd)
	if err != nil {
		return err
	}
	paths, err := findInputs(cmd, args)
	if err != nil {
		return err
	}
	return writeInputs(cmd, paths, f, to, w)
}

// writeInputs writes what f chooses of the inputs to one output.
func writeInputs(cmd *cobra.Command, paths []string, f *filter.Filter, to format.Format, w *writing) error {
	ctx, stop := interruptible(cmd)
	defer stop()
	t := newTroubles(cmd)
	ins := openAll(cmd, paths, t)
	defer closeAll(ins)
	bar := newProgress(cmd, "writing", size(ins))
	defer bar.done()
	t.hide = bar.hide
	stats, err := w.write(ctx, cmd, to, matching(inOrder(ins, true), f), slices.Contains(paths, stdin), t, func() { bar.set(consumed(ins)) })
	bar.done()
	if err != nil {
		return withHint(err)
	}
	if w.output != stdin && stats.Events > 0 {
		fmt.Fprintf(cmd.OutOrStdout(), "%s: %s, %s of text, %s stored\n", shown(w.output), plural(stats.Events, "event"), bytesText(stats.Bytes), bytesText(fileSize(w.output)))
	}
	if err := t.result(); err != nil {
		return err
	}
	if stats.Events == 0 {
		fmt.Fprintf(cmd.ErrOrStderr(), "tracectl: no events; nothing was written\n")
		return errNothing
	}
	return nil
}

// matching leaves out what f does not choose.
func matching(events iter.Seq2[event.Event, error], f *filter.Filter) iter.Seq2[event.Event, error] {
	if f.Empty() {
		return events
	}
	return func(yield func(event.Event, error) bool) {
		for e, err := range events {
			if err == nil && !f.Match(e) {
				continue
			}
			if !yield(e, err) {
				return
			}
		}
	}
}
