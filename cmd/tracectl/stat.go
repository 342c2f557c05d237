package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/tracehandler/tracehandler/cmd/tracectl/internal/filter"
	"github.com/tracehandler/tracehandler/cmd/tracectl/internal/summary"
	"github.com/tracehandler/tracehandler/cmd/tracectl/internal/table"
	"github.com/tracehandler/tracehandler/format"
	"github.com/tracehandler/tracehandler/reader"
)

type statOptions struct {
	selecting
	json bool
	top  int
}

func newStatCommand() *cobra.Command {
	var o statOptions
	cmd := &cobra.Command{
		Use:   "stat [FILE | DIRECTORY | -]...",
		Short: "Count what is in traces: events, levels, times, keys, sizes",
		Long: `Stat reads traces and prints what is in them, for each file and for all: events, lines that are none, bytes of text and as
stored, gzip members or zstd frames, damage, the span of time, levels, and the most common keys, with the kinds of values they have.
With flags that choose events, times, levels and keys are those of the events chosen.

Of a CLP archive it also prints its sections, what the columns of each key take, and its schemas: which keys occur together. A ~
marks the share of a key in what is compressed together with others. Texts are in the dictionaries, which keys share.
` + selectingHelp,
		Example: `  tracectl stat app.ndjson.zst
  tracectl stat --json traces/ | jq .total.levels
  tracectl stat -f 'http.status>=500' --since -1h app.ndjson.gz`,
		RunE: func(cmd *cobra.Command, args []string) error { return runStat(cmd, args, &o) },
	}
	o.selecting.add(cmd)
	f := cmd.Flags()
	f.BoolVar(&o.json, "json", false, "print one JSON object")
	f.IntVar(&o.top, "top", 20, "print at most this `number` of keys; 0 for all")
	return cmd
}

func runStat(cmd *cobra.Command, args []string, o *statOptions) error {
	if o.top < 0 {
		return &usageError{cmd, fmt.Errorf("--top %d: want a number of keys, or 0 for all", o.top)}
	}
	choose, err := o.filter(cmd)
	if err != nil {
		return err
	}
	loc, err := o.location()
	if err != nil {
		return &usageError{cmd, err}
	}
	paths, err := findInputs(cmd, args)
	if err != nil {
		return err
	}
	t := newTroubles(cmd)
	var files []*summary.Summary
	archives := []archiveStat{}
	for _, path := range paths {
		in, err := open(cmd, path)
		if err != nil {
			t.add(err)
			continue
		}
		files = append(files, summarize(cmd, in, choose, t))
		_ = in.Close() // nothing was written
		if isArchive(in) {
			archives = append(archives, archiveStats(cmd, path, t)...)
		}
	}
	total := summary.Total(files)
	if o.json {
		err = writeStatJSON(cmd.OutOrStdout(), files, archives, total, o.top)
	} else if len(files) > 0 {
		err = writeStat(cmd, files, total, o.top, loc)
	}
	for i := range archives {
		if err == nil && !o.json {
			err = archives[i].write(cmd.OutOrStdout(), o.top, useColor(cmd, cmd.OutOrStdout()))
		}
	}
	if err != nil {
		return err
	}
	if err := t.result(); err != nil {
		return err
	}
	if total.Chosen == 0 && !choose.Empty() {
		return errNothing
	}
	return nil
}

// summarize reads one input to its end.
func summarize(cmd *cobra.Command, in *input, choose *filter.Filter, t *troubles) *summary.Summary {
	bar := newProgress(cmd, "reading", in.size)
	defer bar.done()
	t.hide = bar.hide
	defer func() { t.hide = func() {} }()
	counting := summary.NewParallel(in.name, choose.Match)
	n := 0
	for e, err := range in.Events() {
		if n++; n%4096 == 0 {
			bar.set(in.Stats().Stored)
		}
		if err != nil {
			t.add(err)
			continue
		}
		counting.Add(e)
	}
	if noTrace(in) {
		t.add(noTraceError(in.name))
	}
	s := counting.Sum()
	st := in.Stats()
	s.Format = layers(in)
	s.Events, s.BadLines, s.Text, s.Stored = st.Events, st.Bad, st.Text, st.Stored
	s.Frames, s.Damage, s.DamageBytes = st.Frames, st.Damage, st.Skipped
	return s
}

// layers names what the bytes of an input are, the outermost first: "plain", "gzip", "zstd+gzip", "zstd: CLP text stream".
func layers(in *input) string {
	var names []string
	for _, m := range in.Compression() {
		names = append(names, m.String())
	}
	packed := strings.Join(names, "+")
	switch kind := in.Kind(); {
	case kind == reader.JSONLines && packed == "":
		return format.Plain.String()
	case kind == reader.JSONLines:
		return packed
	case packed == "":
		return kind.String()
	default:
		return packed + ": " + kind.String()
	}
}

func writeStatJSON(w io.Writer, files []*summary.Summary, archives []archiveStat, total *summary.Summary, top int) error {
	if files == nil {
		files = []*summary.Summary{}
	}
	for _, s := range append(slices.Clone(files), total) {
		s.SetTop(top)
	}
	return writeIndented(w, struct {
		Files    []*summary.Summary `json:"files"`
		Archives []archiveStat      `json:"archives,omitempty"`
		Total    *summary.Summary   `json:"total"`
	}{files, archives, total})
}

func writeStat(cmd *cobra.Command, files []*summary.Summary, total *summary.Summary, top int, loc *time.Location) error {
	out := cmd.OutOrStdout()
	color := useColor(cmd, out)
	t := table.New("file", "format", "events>", "bad lines>", "damage>", "text>", "stored>", "ratio>", "frames>", "first event", "span>")
	rows := files
	if len(files) > 1 {
		rows = append(slices.Clone(files), total)
	}
	for _, s := range rows {
		first, length := "-", "-"
		if !s.First.IsZero() {
			first, length = s.First.In(loc).Format("2006-01-02 15:04:05.000"), span(s.Last.Sub(s.First))
		}
		t.Row(s.Name, s.Format, number(s.Events), number(s.BadLines), number(s.Damage), bytesText(s.Text), bytesText(s.Stored),
			ratio(s.Text, s.Stored), number(s.Frames), first, length)
	}
	if err := t.Write(out, color); err != nil {
		return err
	}
	if total.Chosen == 0 {
		return nil
	}
	if total.Chosen != total.Events {
		if _, err := fmt.Fprintf(out, "\n%s of %s chosen\n", number(total.Chosen), plural(total.Events, "event")); err != nil {
			return err
		}
	}
	if total.NoLevel == total.Chosen { // a kind of trace without levels
		return writeKeys(out, total, top, color)
	}
	if err := writeLevels(out, total, color); err != nil {
		return err
	}
	return writeKeys(out, total, top, color)
}

func writeLevels(out io.Writer, total *summary.Summary, color bool) error {
	t := table.New("level", "events>", "share>", "")
	for _, l := range slices.Sorted(maps.Keys(total.ByLevel)) {
		t.Row(l.String(), number(total.ByLevel[l]), share(total.ByLevel[l], total.Chosen), barOf(total.ByLevel[l], total.Chosen))
	}
	if n := total.NoLevel; n > 0 {
		t.Row("(none)", number(n), share(n, total.Chosen), barOf(n, total.Chosen))
	}
	if _, err := fmt.Fprintln(out); err != nil {
		return err
	}
	return t.Write(out, color)
}

func writeKeys(out io.Writer, total *summary.Summary, top int, color bool) error {
	keys := total.TopKeys(top)
	t := table.New("key", "events>", "share>", "values")
	for _, k := range keys {
		t.Row(k.Name, number(k.Events), share(k.Events, total.Chosen), strings.Join(k.Kinds, ", "))
	}
	if _, err := fmt.Fprintln(out); err != nil {
		return err
	}
	if err := t.Write(out, color); err != nil {
		return err
	}
	if more := len(total.Keys) - len(keys); more > 0 {
		_, err := fmt.Fprintf(out, "… and %s; --top 0 shows all\n", plural(more, "more key"))
		return err
	}
	return nil
}

func share(n, of int64) string { return fmt.Sprintf("%.1f%%", 100*float64(n)/float64(of)) }

// barOf draws a share.
func barOf(n, of int64) string {
	const width = 30
	return strings.Repeat("█", int((n*width+of/2)/of))
}
