package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tracehandler/tracehandler/cmd/tracectl/internal/screen"
	"github.com/tracehandler/tracehandler/parse"
)

type diffOptions struct {
	events string
	kernel string
	list   bool
	trace  bool
	json   bool

	tensors bool
	within  parse.Tolerance
	inPlace bool
}

func newDiffCommand() *cobra.Command {
	var o diffOptions
	cmd := &cobra.Command{
		Use:   "diff A [B]",
		Short: "Compare compilations, of one compile trace or of two",
		Long: `Diff compares two compilations: the metadata, the source, how many operations of which kind each stage has, and into how
many lines of each stage a source line became (in parsed traces). Which two is said by --events, the numbers that --list
shows, or by --kernel: the first of that name in A and in B, or the first two in A. With --trace all compilations of A and B
are paired, by hash, name, configuration, source, and compared. The exit code is 1 if nothing differs.

With --tensor-values the tensors of each kernel's first launch are compared too, by what the trace says of them: shape, type,
minimum, maximum, mean and standard deviation, or the hash of values that were saved. Saved values themselves are not opened.

With --in-place the compilation_diff events are added to the end of A, which is written anew beside itself and replaced when it is
complete; a gzip trace stays one member, which browsers can read.`,
		Example: `  tracectl diff --list parsed/rank_0/x_mapped.ndjson.gz
  tracectl diff --events 0,1 parsed/rank_0/x_mapped.ndjson.gz
  tracectl diff --trace --json before.ndjson.gz after.ndjson.gz > diff.ndjson`,
		Args: files(cobra.RangeArgs(1, 2)),
		RunE: func(cmd *cobra.Command, args []string) error { return runDiff(cmd, args, &o) },
	}
	f := cmd.Flags()
	f.StringVar(&o.events, "events", "", "compare the compilations of these two `numbers`, such as 0,1")
	f.StringVarP(&o.kernel, "kernel", "k", "", "compare compilations of the kernel of this `name`")
	f.BoolVar(&o.list, "list", false, "list the compilations")
	f.BoolVar(&o.trace, "trace", false, "pair and compare all compilations of A and B")
	f.BoolVar(&o.json, "json", false, "print JSON lines: the compilations compared, and compilation_diff events")
	f.BoolVar(&o.tensors, "tensor-values", false, "compare the tensors of the first launches, as far as they were recorded")
	f.Float64Var(&o.within.Absolute, "atol", parse.DefaultTolerance.Absolute, "tensor values this far apart are close")
	f.Float64Var(&o.within.Relative, "rtol", parse.DefaultTolerance.Relative, "and this `fraction` of the second value more")
	f.BoolVarP(&o.inPlace, "in-place", "i", false, "add the result to trace A")
	cmd.MarkFlagsMutuallyExclusive("in-place", "list")
	cmd.MarkFlagsOneRequired("events", "kernel", "list", "trace")
	cmd.MarkFlagsMutuallyExclusive("events", "kernel", "list", "trace")
	return cmd
}

func runDiff(cmd *cobra.Command, args []string, o *diffOptions) error {
	if o.trace && len(args) < 2 {
		return &usageError{cmd, errors.New("--trace compares two traces: A and B")}
	}
	var sides [2][]parse.Compiled
	var reported error
	for i := range 2 {
		path := args[min(i, len(args)-1)]
		if i > 0 && len(args) == 1 {
			sides[1] = sides[0]
			break
		}
		cs, problems, err := parse.Compilations(path)
		if err != nil {
			return err
		}
		reported = errors.Join(reported, complainOf(cmd, problems))
		sides[i] = cs
	}
	out := cmd.OutOrStdout()
	if len(sides[0])+len(sides[1]) == 0 && reported == nil {
		return noKernels(cmd, args[0])
	}
	if o.list {
		for i, path := range args {
			for _, c := range sides[i] {
				if _, err := fmt.Fprintf(out, "%s: %d  line %d  %s  %.12s  num_warps %s  num_stages %s\n", path, c.Index, c.Line, screen.Text(c.Name), screen.Text(c.Hash),
					orDash(c.Metadata["num_warps"]), orDash(c.Metadata["num_stages"])); err != nil {
					return err
				}
			}
		}
		return reported
	}
	var diffs []*parse.Difference
	var only [2][]int
	if o.trace {
		diffs, only[0], only[1] = parse.Pair(sides[0], sides[1])
	} else {
		i, j, err := o.choose(sides, len(args) == 1)
		if err != nil {
			return err
		}
		diffs = []*parse.Difference{parse.Compare(&sides[0][i], &sides[1][j])}
	}
	if o.tensors {
		for _, d := range diffs {
			d.CompareTensors(&sides[0][d.A.Index], &sides[1][d.B.Index], o.within)
		}
	}
	different := len(only[0])+len(only[1]) > 0
	for _, d := range diffs {
		different = different || !d.Same()
	}
	write := writeDiffs
	if o.json {
		write = writeDiffsJSON
	}
	if err := write(out, sides, diffs, only); err != nil {
		return err
	}
	if reported != nil {
		return reported
	}
	if o.inPlace {
		var lines bytes.Buffer
		if err := encodeDiffs(&lines, diffs); err != nil {
			return err
		}
		if err := parse.AppendEvents(args[0], lines.Bytes()); err != nil {
			return err
		}
	}
	if !different {
		return errNothing
	}
	return nil
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

// choose finds the two compilations that the flags name.
func (o *diffOptions) choose(sides [2][]parse.Compiled, oneFile bool) (i, j int, err error) {
	if o.events != "" {
		a, b, ok := strings.Cut(o.events, ",")
		i, errA := strconv.Atoi(strings.TrimSpace(a))
		j, errB := strconv.Atoi(strings.TrimSpace(b))
		if !ok || errA != nil || errB != nil {
			return 0, 0, fmt.Errorf("bad --events %q: want two numbers, such as 0,1", o.events)
		}
		if i < 0 || i >= len(sides[0]) || j < 0 || j >= len(sides[1]) {
			return 0, 0, fmt.Errorf("--events %s: there are %d and %d compilations, numbered from 0", o.events, len(sides[0]), len(sides[1]))
		}
		return i, j, nil
	}
	named := func(cs []parse.Compiled) (found []int) {
		for n := range cs {
			if cs[n].Name == o.kernel {
				found = append(found, n)
			}
		}
		return found
	}
	as, bs := named(sides[0]), named(sides[1])
	if oneFile && len(bs) > 0 {
		bs = bs[1:]
	}
	if len(as) == 0 || len(bs) == 0 {
		return 0, 0, fmt.Errorf("no two compilations of a kernel named %q", o.kernel)
	}
	return as[0], bs[0], nil
}

func writeDiffsJSON(w io.Writer, sides [2][]parse.Compiled, diffs []*parse.Difference, only [2][]int) error {
	seen := map[string]bool{}
	event := func(c *parse.Compiled) error {
		if seen[string(c.Event)] {
			return nil
		}
		seen[string(c.Event)] = true
		_, err := fmt.Fprintf(w, "%s\n", c.Event)
		return err
	}
	for _, d := range diffs {
		if err := errors.Join(event(&sides[0][d.A.Index]), event(&sides[1][d.B.Index])); err != nil {
			return err
		}
	}
	if err := encodeDiffs(w, diffs); err != nil {
		return err
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	if len(only[0])+len(only[1]) == 0 && len(diffs) < 2 {
		return nil
	}
	names := func(cs []parse.Compiled, is []int) []parse.Side {
		out := []parse.Side{}
		for _, i := range is {
			out = append(out, parse.Side{Hash: cs[i].Hash, Name: cs[i].Name, Index: i})
		}
		return out
	}
	return enc.Encode(map[string]any{"event_type": "trace_diff", "pairs": len(diffs), "only_a": names(sides[0], only[0]), "only_b": names(sides[1], only[1])})
}

// encodeDiffs writes compilation_diff events.
func encodeDiffs(w io.Writer, diffs []*parse.Difference) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	for _, d := range diffs {
		if err := enc.Encode(d); err != nil {
			return err
		}
	}
	return nil
}

func writeDiffs(w io.Writer, sides [2][]parse.Compiled, diffs []*parse.Difference, only [2][]int) error {
	var b strings.Builder
	for _, d := range diffs {
		fmt.Fprintf(&b, "%s %.12s (%d) and %s %.12s (%d)", d.A.Name, d.A.Hash, d.A.Index, d.B.Name, d.B.Hash, d.B.Index)
		if d.Match != "" {
			fmt.Fprintf(&b, ", paired by %s", d.Match)
		}
		if d.Same() {
			b.WriteString(": the same\n")
			writeTensors(&b, d.Tensors)
			continue
		}
		b.WriteByte('\n')
		for _, k := range slices.Sorted(maps.Keys(d.Metadata)) {
			v := d.Metadata[k]
			fmt.Fprintf(&b, "  metadata %s: %s → %s\n", k, jsonText(v[0]), jsonText(v[1]))
		}
		if !d.Source.Equal {
			fmt.Fprintf(&b, "  source: %.0f %% alike, %d lines removed, %d added\n", 100*d.Source.Similarity, len(d.Source.Removed), len(d.Source.Added))
		}
		for _, k := range slices.Sorted(maps.Keys(d.Stages)) {
			s := d.Stages[k]
			if s.Lines[0] == s.Lines[1] && len(s.Ops) == 0 {
				continue
			}
			fmt.Fprintf(&b, "  %s: %d → %d lines", k, s.Lines[0], s.Lines[1])
			for i, op := range slices.Sorted(maps.Keys(s.Ops)) {
				if i == 8 {
					fmt.Fprintf(&b, ", …")
					break
				}
				fmt.Fprintf(&b, ", %s %d → %d", op, s.Ops[op][0], s.Ops[op][1])
			}
			b.WriteByte('\n')
		}
		for _, l := range d.Lines {
			fmt.Fprintf(&b, "  line %d:", l.Line)
			for _, s := range slices.Sorted(maps.Keys(l.Stages)) {
				fmt.Fprintf(&b, " %s %d → %d", s, l.Stages[s][0], l.Stages[s][1])
			}
			b.WriteByte('\n')
		}
		writeTensors(&b, d.Tensors)
	}
	for i, side := range []string{"A", "B"} {
		for _, n := range only[i] {
			fmt.Fprintf(&b, "only in %s: %s %.12s\n", side, sides[i][n].Name, sides[i][n].Hash)
		}
	}
	lines := strings.Split(b.String(), "\n")
	for i := range lines {
		lines[i] = screen.Text(lines[i])
	}
	_, err := io.WriteString(w, strings.Join(lines, "\n"))
	return err
}

func writeTensors(b *strings.Builder, tensors map[string]parse.TensorDifference) {
	for _, name := range slices.Sorted(maps.Keys(tensors)) {
		t := tensors[name]
		fmt.Fprintf(b, "  tensor %s: ", name)
		switch t.Status {
		case "shape":
			fmt.Fprintf(b, "shape %s → %s", t.Shape[0], t.Shape[1])
		case "dtype":
			fmt.Fprintf(b, "type %s → %s", t.DType[0], t.DType[1])
		case "missing":
			b.WriteString("only one launch has it")
		case "unknown":
			b.WriteString("its values were not recorded")
		default:
			b.WriteString(t.Status)
		}
		for _, s := range slices.Sorted(maps.Keys(t.Stats)) {
			fmt.Fprintf(b, ", %s %g → %g", s, t.Stats[s][0], t.Stats[s][1])
		}
		b.WriteByte('\n')
	}
}

func jsonText(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return "?"
	}
	if len(b) > 80 {
		return string(b[:80]) + "…"
	}
	return string(b)
}
