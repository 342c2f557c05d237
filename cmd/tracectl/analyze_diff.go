package main

import (
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/tracehandler/tracehandler/analyze"
	"github.com/tracehandler/tracehandler/analyze/steps"
	"github.com/tracehandler/tracehandler/cmd/tracectl/internal/table"
)

func newAnalyzeDiffCommand() *cobra.Command {
	var o analyzeOptions
	cmd := &cobra.Command{
		Use:   "diff A B",
		Short: "Compare two profiler traces, per op and kernel",
		Long: `Diff analyses two traces, or directories of ranks, and prints how kernel time changed from A to B: by op, or with --json also
by kernel and category. Deltas add up to the difference of the totals.`,
		Example: `  tracectl analyze diff before.json.gz after.json.gz
  tracectl analyze diff --json a.json b.json | jq '.kernels[:5]'`,
		Args: files(cobra.ExactArgs(2)),
		RunE: func(cmd *cobra.Command, args []string) error { return runAnalyzeDiff(cmd, args, &o) },
	}
	o.add(cmd)
	cmd.Flags().BoolVar(&o.json, "json", false, "print one JSON object")
	return cmd
}

func runAnalyzeDiff(cmd *cobra.Command, args []string, o *analyzeOptions) error {
	opts, err := o.options(cmd)
	if err != nil {
		return err
	}
	ctx, stop := interruptible(cmd)
	defer stop()
	var sides [2]*analyze.Result
	for i, path := range args {
		if sides[i], err = analyzeShowing(ctx, cmd, path, opts); err != nil {
			return err
		}
		if !sides[i].Usable() {
			return fmt.Errorf("%s: no GPU kernels", path)
		}
	}
	d := analyze.Compare(sides[0], sides[1])
	if o.json {
		return printJSON(cmd, d)
	}
	out := cmd.OutOrStdout()
	color := useColor(cmd, out)
	us := func(v float64) string { return fmt.Sprintf("%.3f", v) }
	times := table.New("delta us>", "A us>", "B us>", "time")
	for _, r := range d.Timeline {
		times.Row(fmt.Sprintf("%+.3f", r.Delta), us(r.A), us(r.B), onLine(r.Name))
	}
	if err := times.Write(out, color); err != nil {
		return err
	}
	ops := table.New("delta us>", "A us>", "B us>", "calls A>", "calls B>", "op")
	top := d.Ops[:min(o.top, len(d.Ops))]
	for _, r := range append(slices.Clone(top), d.Total) {
		ops.Row(fmt.Sprintf("%+.3f", r.Delta), us(r.A), us(r.B), number(r.CountA), number(r.CountB), onLine(r.Name))
	}
	fmt.Fprintln(out)
	if err := ops.Write(out, color); err != nil {
		return err
	}
	if n := len(d.Ops) - len(top); n > 0 {
		_, err = fmt.Fprintf(out, "… and %s; --top shows more, --json all\n", plural(n, "more op"))
	}
	return err
}

func newAnalyzeSplitCommand() *cobra.Command {
	var out string
	var n int
	cmd := &cobra.Command{
		Use:   "split --out DIRECTORY TRACE",
		Short: "Cut the steady windows out of a trace, as traces of their own",
		Long: `Split finds the iterations that a serving framework (vLLM, SGLang, ATOM) or a training loop marks, or else what repeats, the regions in which the
number of requests is steady, and in them three windows: one like the whole in its share of prefills, the longest run of
decodes, the longest of prefills. Each becomes a trace in DIRECTORY; execution_details.json tells what is in them.`,
		Args: files(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			if out == "" {
				return &usageError{cmd, errors.New("--out says where to")}
			}
			if n < 0 {
				return &usageError{cmd, errors.New("--steps is not negative")}
			}
			ctx, stop := interruptible(cmd)
			defer stop()
			splits, err := analyze.SplitSteady(ctx, args[0], out, n)
			if err != nil {
				return err
			}
			for _, s := range splits {
				if _, err := fmt.Fprintf(cmd.OutOrStdout(), "%s: %s, %s, %s on the GPU\n", shown(s.Path), plural(s.NumSteps, "iteration"), plural(s.Events, "event"), number(s.GPUEvents)); err != nil {
					return err
				}
			}
			if len(splits) == 0 {
				fmt.Fprintln(cmd.ErrOrStderr(), "tracectl: the trace marks no iterations, and nothing in it repeats")
				return errNothing
			}
			return nil
		},
	}
	cmd.Flags().StringVarP(&out, "out", "o", "", "write into this `directory`")
	cmd.Flags().IntVar(&n, "steps", steps.DefaultSteps, "iterations in a window at most; a `number`")
	return cmd
}
