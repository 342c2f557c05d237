package main

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"github.com/tracehandler/tracehandler/cmd/tracectl/internal/screen"
	"github.com/tracehandler/tracehandler/naming"
	"github.com/tracehandler/tracehandler/parse"
)

type parseOptions struct {
	out        string
	rank       string
	allRanks   bool
	output     string
	maxSize    string
	analyses   string
	procedures string
	verbose    bool
	quiet      bool
	parse.Options
}

func newParseCommand() *cobra.Command {
	var o parseOptions
	cmd := &cobra.Command{
		Use:   "parse -o DIRECTORY SOURCE",
		Short: "Parse compile traces: map, group and analyse kernels",
		Long: `Parse reads the raw traces of a GPU compiler's runs, a directory of them or one file, in any format, and writes for each
compilation what tools show: its code in every stage with the lines linked to each other and to the source, its launches and
how they differ, and what autotuning tried and chose. The output opens in tritonparse's web page.

In a directory, files whose names begin with ` + naming.DefaultPrefix + ` count. Files of one rank are put together; a file
from before its process knew its rank joins that rank. The output is one file for each compile frame and one for the rest.

The output directory appears when it is complete. With --overwrite it replaces the output of an earlier parse, which stays
whole until then. Damaged lines and files are reported on standard error, and the rest is parsed; the exit code is 0 then.`,
		Example: `  tracectl parse -o parsed/ /tmp/logs
  tracectl parse -o parsed/ --overwrite --rank 3 /tmp/logs
  tracectl parse -o parsed/ --format zstd --no-split trace.ndjson.zst`,
		Args: files(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error { return runParse(cmd, args[0], &o) },
	}
	f := cmd.Flags()
	f.StringVarP(&o.out, "out", "o", "", "write to this `directory` (required)")
	f.BoolVar(&o.Overwrite, "overwrite", false, "replace the output of an earlier parse")
	f.StringVarP(&o.rank, "rank", "r", "", "parse this `rank` only, a number or none")
	f.BoolVar(&o.allRanks, "all-ranks", false, "parse every rank, as is done without --rank")
	f.BoolVar(&o.NoPreInit, "no-pre-init-attribution", false, "leave files without a rank without one")
	f.BoolVar(&o.NoSplit, "no-split", false, "write one file for each rank")
	f.StringVar(&o.output, "format", "gzip", "write this `format`: gzip, zstd, plain, clp or clp-ir")
	f.IntVar(&o.Level, "compression-level", 0, "effort: gzip 1 to 9, zstd and clp-ir 1 (fastest) to 4 (smallest), clp 1 to 19; 0 is the format's default")
	f.StringVar(&o.maxSize, "max-output-size", "", "continue in another file beyond this `size`, such as 200MB")
	f.StringVar(&o.TorchTraceDir, "torch-trace-dir", "", "take compile frames from the torch logs in this `directory`")
	f.StringVar(&o.analyses, "analysis", "", "run these `analyses`: all, none, or some of loop_schedules, procedure_checks, amd_buffer_ops, roofline (default all, or $TRITONPARSE_ANALYSIS)")
	f.StringVar(&o.procedures, "procedure-checks", "", "read procedure checks from this JSON `file` instead of the built-in ones")
	f.BoolVar(&o.Compat, "compat", false, "write exactly what tritonparse writes, without improvements")
	f.StringVar(&o.Prefix, "prefix", "", "take files whose names begin with this `text`")
	f.IntVarP(&o.Parallel, "jobs", "j", 0, "parse this `number` of ranks at a time (default one for each processor)")
	f.BoolVarP(&o.verbose, "verbose", "v", false, "print every problem, and what each file holds")
	f.BoolVarP(&o.quiet, "quiet", "q", false, "print only the path of the file list")
	cmd.MarkFlagsMutuallyExclusive("rank", "all-ranks")
	return cmd
}

// settings turns the flags into options of the package.
func (o *parseOptions) settings(cmd *cobra.Command) error {
	if o.out == "" {
		return errors.New("-o DIRECTORY is missing")
	}
	var err error
	if o.rank != "" {
		if o.Ranks, err = parse.ParseSelection(o.rank); err != nil {
			return err
		}
	}
	if o.Output, err = parse.ParseOutput(o.output); err != nil {
		return err
	}
	if o.maxSize != "" {
		if o.MaxOutputSize, err = parseBytes(o.maxSize); err != nil {
			return err
		}
	}
	if !cmd.Flags().Changed("analysis") {
		o.analyses = os.Getenv("TRITONPARSE_ANALYSIS")
	}
	if o.Analyses, err = parse.ParseAnalyses(o.analyses); err != nil {
		return err
	}
	if o.procedures != "" {
		if o.ProcedureChecks, err = os.ReadFile(o.procedures); err != nil {
			return err
		}
	}
	return nil
}

// parseBytes reads a size such as 200MB, 1.5GiB or 1000.
func parseBytes(text string) (int64, error) {
	units := map[string]float64{"": 1, "b": 1, "k": 1e3, "kb": 1e3, "kib": 1 << 10, "m": 1e6, "mb": 1e6, "mib": 1 << 20, "g": 1e9, "gb": 1e9, "gib": 1 << 30}
	t := strings.ToLower(strings.TrimSpace(text))
	i := strings.LastIndexAny(t, "0123456789.") + 1
	n, err := strconv.ParseFloat(t[:i], 64)
	unit, ok := units[strings.TrimSpace(t[i:])]
	if err != nil || !ok || !(n*unit >= 1 && n*unit < 1<<62) {
		return 0, fmt.Errorf("bad size %q: want a number such as 200MB or 1.5GiB", text)
	}
	return int64(n * unit), nil
}

func runParse(cmd *cobra.Command, source string, o *parseOptions) error {
	if err := o.settings(cmd); err != nil {
		return &usageError{cmd, err}
	}
	// Little memory is live at any time; to collect it often would cost more than it saves. The limit is soft.
	defer debug.SetGCPercent(debug.SetGCPercent(200))
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(160 << 20))
	ctx, stop := interruptible(cmd)
	defer stop()
	bar := newProgress(cmd, filepath.Base(source), sizeBelow(source))
	var mu sync.Mutex // ranks are parsed side by side
	o.Progress = func(read, _ int64) {
		mu.Lock()
		defer mu.Unlock()
		bar.set(read)
	}
	rep, err := parse.Dir(ctx, source, o.out, &o.Options)
	bar.done()
	if err != nil {
		return err
	}
	reportProblems(cmd.ErrOrStderr(), rep, o.verbose)
	// This line is what tlparse looks for.
	if _, err := fmt.Fprintf(cmd.OutOrStdout(), "tritonparse log file list: %s\n", rep.List); err != nil || o.quiet {
		return err
	}
	return writeParseSummary(cmd.OutOrStdout(), rep, o.verbose)
}

// sizeBelow adds up the sizes of the files in a directory, or of one file.
func sizeBelow(path string) int64 {
	entries, err := os.ReadDir(path)
	if err != nil {
		return fileSize(path)
	}
	var n int64
	for _, e := range entries {
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() && strings.HasPrefix(e.Name(), naming.DefaultPrefix) {
			n += info.Size()
		}
	}
	return n
}

// reportProblems prints what could not be read, and what was decided.
func reportProblems(w io.Writer, rep *parse.Report, verbose bool) {
	const few = 10
	for _, n := range rep.Notes {
		fmt.Fprintf(w, "tracectl: note: %s\n", n)
	}
	for _, r := range rep.Ranks {
		for i, p := range r.Details {
			if i == few && !verbose {
				break
			}
			fmt.Fprintf(w, "tracectl: %s\n", screen.Text(humane(errors.New(p.String()))))
		}
		shown := len(r.Details)
		if !verbose {
			shown = min(shown, few)
		}
		if more := r.Problems - int64(shown); more > 0 {
			fmt.Fprintf(w, "tracectl: rank %s: %s\n", rankText(r.Rank), plural(more, "more problem"))
		}
	}
}

func rankText(r naming.Rank) string {
	if r == naming.NoRank {
		return "none"
	}
	return strconv.Itoa(int(r))
}

func writeParseSummary(w io.Writer, rep *parse.Report, verbose bool) error {
	var b strings.Builder
	for _, r := range rep.Ranks {
		fmt.Fprintf(&b, "\nrank %s: %s, %s (%s)\n", rankText(r.Rank), plural(int64(len(r.Read)), "file"), plural(r.Lines, "record"), bytesText(r.Text))
		for _, f := range r.Files {
			fmt.Fprintf(&b, "  %-60s %10s", f.Path, bytesText(f.Size))
			if verbose {
				fmt.Fprintf(&b, "  %s", countsText(f.Events))
			}
			b.WriteByte('\n')
		}
		for _, d := range r.Dropped() {
			fmt.Fprintf(&b, "  left out: %s\n", screen.Text(d))
		}
		if r.Fakes > 0 {
			fmt.Fprintf(&b, "  made up: %s of kernels that were only launched\n", plural(r.Fakes, "compilation"))
		}
		for _, w := range slices.Sorted(maps.Keys(r.Warnings)) {
			fmt.Fprintf(&b, "  odd: %s, in %s\n", w, plural(r.Warnings[w], "kernel"))
		}
		if r.Problems > 0 {
			fmt.Fprintf(&b, "  problems: %s\n", number(r.Problems))
		}
	}
	for i, s := range rep.Skipped {
		if i == 5 && !verbose {
			fmt.Fprintf(&b, "… and %s\n", plural(int64(len(rep.Skipped)-i), "more file"))
			break
		}
		if i == 0 {
			b.WriteString("\nskipped:\n")
		}
		fmt.Fprintf(&b, "  %s: %s\n", screen.Text(filepath.Base(s.Path)), s.Reason)
	}
	events := rep.Events()
	if len(events) == 0 {
		b.WriteString("\nNothing in it is a record of a compiler: kinds compilation, launch, autotune.\n")
	}
	fmt.Fprintf(&b, "\n%s: %s, %s", rep.Out, plural(int64(len(rep.Files())), "file"), bytesText(rep.Bytes))
	if len(events) > 0 {
		fmt.Fprintf(&b, ", %s", countsText(events))
	}
	b.WriteByte('\n')
	_, err := io.WriteString(w, b.String())
	return err
}

// countsText writes counts by event type: "2 compilation, 31 launch".
func countsText(counts map[string]int64) string {
	var parts []string
	for _, k := range slices.Sorted(maps.Keys(counts)) {
		parts = append(parts, number(counts[k])+" "+k)
	}
	return strings.Join(parts, ", ")
}
