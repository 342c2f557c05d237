package main

import (
	"errors"
	"fmt"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/tracehandler/tracehandler/analyze"
	"github.com/tracehandler/tracehandler/analyze/steps"
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
		Args: cobra.ExactArgs(2),
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
		if sides[i], err = analyze.Run(ctx, path, opts); err != nil {
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
	w := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
	print := func(rows []analyze.DiffRow) {
		for _, r := range rows {
			fmt.Fprintf(w, "%+.3f\t%.3f\t%.3f\t%d\t%d\t%s\n", r.Delta, r.A, r.B, r.CountA, r.CountB, onLine(r.Name))
		}
	}
	fmt.Fprint(w, "delta us\tA us\tB us\tcalls A\tcalls B\t\n")
	print(d.Timeline)
	fmt.Fprintln(w)
	top := d.Ops[:min(o.top, len(d.Ops))]
	print(top)
	if n := len(d.Ops) - len(top); n > 0 {
		fmt.Fprintf(w, "\t\t\t\t\tand %d more\n", n)
	}
	print([]analyze.DiffRow{d.Total})
	return w.Flush()
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
		Args: cobra.ExactArgs(1),
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
				fmt.Fprintf(cmd.OutOrStdout(), "%s: %d iterations, %d events, %d on the GPU\n", s.Path, s.NumSteps, s.Events, s.GPUEvents)
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
