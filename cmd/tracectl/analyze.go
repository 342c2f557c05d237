package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"text/tabwriter"
	"unicode"

	"github.com/spf13/cobra"

	"github.com/tracehandler/tracehandler/analyze"
	"github.com/tracehandler/tracehandler/analyze/category"
	"github.com/tracehandler/tracehandler/analyze/roofline"
	"github.com/tracehandler/tracehandler/analyze/source"
	"github.com/tracehandler/tracehandler/analyze/steps"
	"github.com/tracehandler/tracehandler/cmd/tracectl/internal/table"
	"github.com/tracehandler/tracehandler/format"
)

type analyzeOptions struct {
	out       string
	json      bool
	route     string
	device    string
	specs     string
	framework string
	model     string
	arch      string
	sources   []string
	idle      float64
	compute   float64
	top       int
	window    string
	steps     int
	stacks    bool
}

func newAnalyzeCommand() *cobra.Command {
	var o analyzeOptions
	cmd := &cobra.Command{
		Use:   "analyze [--out DIRECTORY] TRACE | DIRECTORY",
		Short: "Say where the GPUs' time went in profiler traces, and which kernels to work on",
		Long: `Analyze reads PyTorch profiler traces (Kineto, Chrome JSON; NVIDIA and AMD), plain or compressed, and prints where the GPUs'
time went and which kernels are worth working on. A directory is the ranks of one job: they are analysed together. Sidecars
recorded while graphs were captured are told apart and never taken for the workload.

With --out it writes kernel_candidates.json, analysis.md, summary.json and tables as CSV. What a trace does not hold is
said, not guessed: without shapes there is no roofline, without ops there are names and times.

` + "Environment: " + analyze.EnvIdle + ", " + analyze.EnvCompute + " (gates, in percent),\n" +
			analyze.EnvTopK + " (candidates), " + analyze.EnvRoute + ` (checked; there is one route).

Exit codes: 0 there is an analysis, if of damaged input only as far as that goes, which it says; 1 there are no GPU kernels;
2 wrong usage, or nothing usable in damaged input.`,
		Example: `  tracectl analyze rank0.pt.trace.json.gz
  tracectl analyze --out report/ profiles/
  tracectl analyze --json trace.json | jq '.ranks[0].timeline_all_gpu_events'
  tracectl analyze --source vllm=/src/vllm/csrc --out report/ trace.json.gz`,
		Args: files(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error { return runAnalyze(cmd, args[0], &o) },
	}
	cmd.AddCommand(newAnalyzeDiffCommand(), newAnalyzeSplitCommand())
	o.add(cmd)
	f := cmd.Flags()
	f.StringVarP(&o.out, "out", "o", "", "write the report's files into this `directory`")
	f.BoolVar(&o.json, "json", false, "print one JSON object")
	f.StringVar(&o.route, "route", "", "a `name` that older tools gave their analyses; all mean the same")
	return cmd
}

// add defines the flags that say how to analyse.
func (o *analyzeOptions) add(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&o.device, "device", "", "the GPU's `name`, where the trace does not tell or is wrong")
	f.StringVar(&o.specs, "device-specs", "", "a JSON `file` with specifications of more devices")
	f.StringVar(&o.framework, "framework", "", "the `name` of the framework, for the report and to prefer its sources")
	f.StringVar(&o.model, "model", "", "the `name` of the model, for the report")
	f.StringVar(&o.arch, "arch", "", "prefer sources with this GPU `architecture` in their path")
	f.StringArrayVar(&o.sources, "source", nil, "look for kernels' definitions below this `[name=]directory`; repeatable")
	f.Float64Var(&o.idle, "max-idle", analyze.DefaultIdle, "hold candidates back when the GPU idles for more than this `percent`; 0 never does")
	f.Float64Var(&o.compute, "min-compute", analyze.DefaultMin, "hold candidates back when the GPU computes for less than this `percent`; 0 never does")
	f.IntVar(&o.top, "top", analyze.DefaultTopK, "list at most this `number` of candidates")
	f.StringVar(&o.window, "window", "all", "the `part` to analyse: all, steady, mixed, decode_only, prefilldecode")
	f.BoolVar(&o.stacks, "stacks", false, "read python stacks: the module and the line that launched a kernel (a second pass over the file)")
	f.IntVar(&o.steps, "steps", steps.DefaultSteps, "iterations in a window at most; a `number`")
}

func runAnalyze(cmd *cobra.Command, path string, o *analyzeOptions) error {
	if err := analyze.CheckRoute(o.route, os.Getenv(analyze.EnvRoute)); err != nil {
		return refuseRoute(cmd, err, o.json)
	}
	opts, err := o.options(cmd)
	if err != nil {
		return err
	}
	ctx, stop := interruptible(cmd)
	defer stop()
	r, err := analyzeShowing(ctx, cmd, path, opts)
	if err != nil {
		return err
	}
	if o.out != "" {
		if err := r.Write(o.out); err != nil {
			return err
		}
	}
	if o.json {
		err = printJSON(cmd, r.Summary())
	} else {
		err = printAnalysis(cmd, r, o)
	}
	if err != nil {
		return err
	}
	errOut := cmd.ErrOrStderr()
	for _, w := range r.Warnings {
		if w.Severity != "info" && !o.json {
			fmt.Fprintf(errOut, "tracectl: %s: %s\n", w.Severity, w.Message)
		}
	}
	switch {
	case r.Usable():
		return nil
	case r.Degraded:
		return errReported
	}
	return errNothing
}

// analyzeShowing analyses what is at path and shows how far that is.
func analyzeShowing(ctx context.Context, cmd *cobra.Command, path string, opts analyze.Options) (*analyze.Result, error) {
	var bar *progress
	last := ""
	opts.Progress = func(p string, n int64) {
		if p != last {
			bar.done()
			bar, last = newProgress(cmd, "reading "+filepath.Base(p), textSize(p)), p
		}
		bar.set(n)
	}
	defer func() { bar.done() }()
	return analyze.Run(ctx, path, opts)
}

// textSize returns how many bytes of text a file holds, -1 if that is not known before it is read.
func textSize(path string) int64 {
	if magicOf(path) != format.Text {
		return -1
	}
	return fileSize(path)
}

// refuseRoute says that a route does not exist, as JSON to those who asked for it.
func refuseRoute(cmd *cobra.Command, err error, asJSON bool) error {
	var route *analyze.RouteError
	if !asJSON || !errors.As(err, &route) {
		return &usageError{cmd, err}
	}
	if err := printJSON(cmd, map[string]any{"status": "failed", "error_class": route.Class(), "error": route.Error(),
		"requested_route": route.Requested, "valid_routes": route.Valid}); err != nil {
		return err
	}
	return errReported
}

func printJSON(cmd *cobra.Command, v any) error {
	enc := json.NewEncoder(cmd.OutOrStdout())
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

// options joins the environment and the flags; a flag that was given wins.
func (o *analyzeOptions) options(cmd *cobra.Command) (analyze.Options, error) {
	opts := analyze.FromEnv(os.Getenv)
	f := cmd.Flags()
	if f.Changed("max-idle") {
		opts.Idle = o.idle
	}
	if f.Changed("min-compute") {
		opts.Compute = o.compute
	}
	if f.Changed("top") {
		opts.TopK = o.top
	}
	if !(opts.Idle >= 0 && opts.Compute >= 0) || opts.TopK < 0 || o.steps < 0 {
		return opts, &usageError{cmd, errors.New("--max-idle, --min-compute, --top and --steps are numbers, not negative ones")}
	}
	window, err := analyze.ParseWindow(o.window)
	if err != nil {
		return opts, &usageError{cmd, err}
	}
	opts.Window, opts.Steps, opts.Stacks = window, o.steps, o.stacks
	opts.Device, opts.Framework, opts.Model, opts.Arch = o.device, o.framework, o.model, o.arch
	if o.specs != "" {
		text, err := os.ReadFile(o.specs)
		if err != nil {
			return opts, err
		}
		if opts.Specs, err = roofline.ParseSpecs(text); err != nil {
			return opts, fmt.Errorf("%s: %w", o.specs, err)
		}
	}
	if dir, err := os.UserCacheDir(); err == nil {
		opts.Cache = filepath.Join(dir, "tracectl", "symbols")
	}
	for _, s := range o.sources {
		name, dir, named := strings.Cut(s, "=")
		if !named {
			name, dir = "", s
		}
		opts.Sources = append(opts.Sources, source.Root{Dir: dir, Framework: name})
	}
	return opts, nil
}

// printable shows what would move a terminal's cursor as �. Names come from traces, and may say anything.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return unicode.ReplacementChar
	}, text)
}

// onLine cuts a kernel's name for a terminal's line.
func onLine(name string) string {
	runes := []rune(printable(name))
	if len(runes) > 60 {
		runes = append(runes[:57], '.', '.', '.')
	}
	return string(runes)
}

// printAnalysis prints what fits a screen.
func printAnalysis(cmd *cobra.Command, r *analyze.Result, o *analyzeOptions) error {
	w := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
	tl := &r.Timeline
	share := func(ns int64) string {
		if tl.Total == 0 {
			return "-"
		}
		return fmt.Sprintf("%.2f%%", 100*float64(ns)/float64(tl.Total))
	}
	fmt.Fprintf(w, "level %d\t%s\n", r.Level, r.Level)
	for _, m := range r.Missing {
		fmt.Fprintf(w, "missing\t%s\n", printable(m))
	}
	if r.Device != "" {
		fmt.Fprintf(w, "device\t%s\n", printable(r.Device))
	}
	if text := r.Ranks[0].WindowText(); text != "" {
		fmt.Fprintf(w, "window\t%s\n", printable(text))
	}
	if !r.Usable() {
		fmt.Fprintln(w, "no GPU kernels")
		return errors.Join(w.Flush(), o.sayWhere(cmd))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	out := cmd.OutOrStdout()
	color := useColor(cmd, out)
	times := table.New("", "ms>", "share>")
	for _, row := range []struct {
		name string
		ns   int64
	}{{"total", tl.Total}, {"computation", tl.Computation}, {"exposed communication", tl.ExposedComm}, {"exposed copies", tl.ExposedMemcpy}, {"idle", tl.Idle}} {
		times.Row(row.name, fmt.Sprintf("%.3f", float64(row.ns)/1e6), share(row.ns))
	}
	fmt.Fprintln(out)
	if err := times.Write(out, color); err != nil {
		return err
	}
	if r.Suppressed != nil {
		fmt.Fprintf(out, "\nNo candidates: %s.\n", r.Suppressed.Message)
	} else {
		const most = 15 // what fits a screen
		all := r.Candidates().HotKernels
		rows := table.New("GPU%>", "ms>", "calls>", "of peak>", "category", "name")
		for _, c := range all[:min(most, len(all))] {
			eff := "-"
			if c.Efficiency != nil {
				eff = fmt.Sprintf("%.1f%%", *c.Efficiency)
			}
			if c.Capped { // shapes, time or precision are not what they seem
				eff = ">100%"
			}
			rows.Row(fmt.Sprintf("%.2f", c.GPUPct), fmt.Sprintf("%.3f", c.DurationUS/1e3), number(c.CallCount), eff, category.Canonical(c.Category), onLine(c.Name))
		}
		fmt.Fprintln(out)
		if err := rows.Write(out, color); err != nil {
			return err
		}
		if more := len(all) - most; more > 0 {
			fmt.Fprintf(out, "… and %s; --out and --json have all\n", plural(more, "more row"))
		}
	}
	if c := r.Collective; c != nil && len(c.Stragglers) > 0 {
		rows := table.New("rank>", "waited ms>", "came last>", "came first>")
		for _, s := range c.Stragglers[:min(8, len(c.Stragglers))] {
			rows.Row(strconv.Itoa(s.Rank), fmt.Sprintf("%.3f", float64(s.TotalWait)/1e6), number(s.Last), number(s.First))
		}
		fmt.Fprintf(out, "\n%s across %s\n", plural(len(c.Ops), "collective"), plural(len(r.Ranks), "rank"))
		if err := rows.Write(out, color); err != nil {
			return err
		}
	}
	return o.sayWhere(cmd)
}

// sayWhere says where the report is, if there is one. A trace without kernels has one, too: of its threads.
func (o *analyzeOptions) sayWhere(cmd *cobra.Command) error {
	if o.out == "" {
		return nil
	}
	_, err := fmt.Fprintf(cmd.OutOrStdout(), "\nThe report is in %s.\n", o.out)
	return err
}
