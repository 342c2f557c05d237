package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tracehandler/tracehandler/event"
	"github.com/tracehandler/tracehandler/format"
	"github.com/tracehandler/tracehandler/naming"
	"github.com/tracehandler/tracehandler/sink"
)

// writing are the flags that say where a trace goes, in what format.
type writing struct {
	to        string
	output    string
	effort    int
	overwrite bool
	timeKey   string // of an archive; empty for the default
}

// add adds the flags. Others are formats that the command writes in its own way.
func (w *writing) add(cmd *cobra.Command, output string, others ...string) {
	f := cmd.Flags()
	words := append(formatWords(), others...)
	f.StringVar(&w.to, "to", "", "`format` of the output: "+strings.Join(words, ", "))
	f.StringVarP(&w.output, "output", "o", "", output)
	f.IntVar(&w.effort, "compression-level", 0, "`effort`: gzip 1 to 9, zstd 1 (fastest) to 4 (best), clp 1 to 19; 0 is the format's default")
	f.BoolVar(&w.overwrite, "overwrite", false, "replace the output if it exists")
	complete(cmd, "to", words...)
}

func formatWords() []string {
	var words []string
	for _, f := range format.All() {
		words = append(words, f.String())
	}
	return words
}

// suffixFormats are the ends of names that a format can be concluded from where --to is not given.
var suffixFormats = []struct {
	suffix string
	format format.Format
}{
	{format.CLPIR.Suffix(), format.CLPIR}, {format.CLP.Suffix(), format.CLP}, {".gz", format.Gzip}, {".zst", format.Zstd},
	{".ndjson", format.Plain}, {".jsonl", format.Plain}, {".json", format.Plain}, {".log", format.Plain},
}

// format returns the format that the flags ask for. Plain is what standard output gets if they are silent.
func (w *writing) format(cmd *cobra.Command) (format.Format, error) {
	if w.to != "" {
		f, err := format.Parse(w.to)
		if err != nil {
			return f, &usageError{cmd, fmt.Errorf("--to: %s", humane(err))}
		}
		return f, nil
	}
	for _, s := range suffixFormats {
		if strings.HasSuffix(w.output, s.suffix) {
			return s.format, nil
		}
	}
	if w.output == stdin {
		return format.Plain, nil
	}
	return 0, &usageError{cmd, fmt.Errorf("which format? say --to %s, or name the output accordingly", strings.Join(formatWords(), ", --to "))}
}

// write writes the events to the output and returns what the sink counted. Trouble with reading goes to t. If it fails or ctx
// ends, nothing is left behind, unless the events are live: then the end of ctx is the end of the events.
func (w *writing) write(ctx context.Context, cmd *cobra.Command, f format.Format, events iter.Seq2[event.Event, error], live bool, t *troubles, tick func()) (sink.Stats, error) {
	abandoned := false
	o := sink.Options{Format: f, Level: w.effort, Exists: sink.Fail, CloseWait: -1, TimeKey: w.timeKey, BeforePublish: func(string) error {
		if abandoned {
			return errAbandoned
		}
		return nil
	}}
	var s sink.Sink
	switch {
	case w.output == stdin && f != format.Plain && isTerminal(cmd.OutOrStdout()):
		return sink.Stats{}, &usageError{cmd, fmt.Errorf("refusing to write %s to a terminal", f)}
	case w.output == stdin:
		s = sink.Writer(cmd.OutOrStdout(), o)
	default:
		for _, path := range []string{w.output, w.output + naming.PartialSuffix} {
			if _, err := os.Lstat(path); err == nil && (path != w.output || !w.overwrite) {
				return sink.Stats{}, &fs.PathError{Op: "create", Path: path, Err: fs.ErrExist}
			}
		}
		if w.overwrite {
			o.Exists = sink.Truncate
		}
		s = sink.File(w.output, o)
	}
	err := copyEvents(ctx, s, events, t, tick)
	if live && errors.Is(err, context.Canceled) {
		err = nil
	}
	abandoned = err != nil
	if closed := s.Close(); err == nil {
		err = closed
	}
	if err != nil && w.output != stdin && s.Stats().Files > 0 { // the partial is ours
		if rm := os.Remove(w.output + naming.PartialSuffix); rm != nil && !errors.Is(rm, fs.ErrNotExist) {
			err = errors.Join(err, rm)
		}
	}
	return s.Stats(), err
}

var errAbandoned = errors.New("abandoned")

func copyEvents(ctx context.Context, s sink.Sink, events iter.Seq2[event.Event, error], t *troubles, tick func()) error {
	enc := s.Encoder(event.Options{})
	b := event.GetBuffer()
	defer b.Free()
	n := 0
	for e, err := range events {
		if n++; n%1024 == 0 {
			tick()
		}
		if err != nil {
			t.add(err)
			continue
		}
		b.Reset()
		enc.AppendEvent(b, e)
		if err := s.Append(b.B); err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	return ctx.Err()
}
