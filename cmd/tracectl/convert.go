package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tracehandler/tracehandler/clp/kql"
	"github.com/tracehandler/tracehandler/cmd/tracectl/internal/filter"
	"github.com/tracehandler/tracehandler/convert"
	"github.com/tracehandler/tracehandler/format"
	"github.com/tracehandler/tracehandler/reader"
)

type convertOptions struct {
	writing
	structured bool
	salvage    bool
	quiet      bool
}

func newConvertCommand() *cobra.Command {
	var o convertOptions
	cmd := &cobra.Command{
		Use:   "convert [--to FORMAT] [-o FILE | -o DIRECTORY] [FILE | DIRECTORY | -]...",
		Short: "Convert traces to another format",
		Long: `Convert copies traces into another format, line by line, byte for byte. What a file holds is told from its content; what
it becomes is said by --to, or else by the suffix of -o FILE.

Without -o the output stands beside its source, with the suffix of its format. Several sources go into -o DIRECTORY. Each
output is checked before it gets its name, and nothing is replaced unless --overwrite is given. A damaged source is an
error, unless --salvage says to convert what is intact; the exit code is 2 in both cases.

--to clp makes a CLP archive of the events: columns, which 'tracectl search' and clp-s search without decoding the rest. It is
read back and compared event by event before it gets its name. What is too large for one archive becomes several, which are
read as one; their names are printed. Several sources go into one archive if -o is no directory, one after the other: the key
$_filename of a query tells them apart. Of a CLP stream of another library, the keys that the library made stay what they are,
and a query has them with @ in front, there and in clp-s.

--to chrome is not a trace of events but their spans as Chrome trace-event JSON, which Perfetto shows as a timeline. It is one for
all sources, and goes to standard output without -o.`,
		Example: `  tracectl convert --to zstd app.ndjson                  # makes app.ndjson.zst
  tracectl convert -o app.ndjson app.ndjson.gz
  tracectl convert --to gzip -o packed/ traces/
  tracectl convert --to clp app.ndjson.zst               # makes app.clp
  tracectl convert -o all.clp a.ndjson b.clp.zst         # one archive of both
  journalctl -o json -u app | tracectl convert -o app.ndjson.zst -`,
		RunE: func(cmd *cobra.Command, args []string) error { return runConvert(cmd, args, &o) },
	}
	o.writing.add(cmd, "write to this `file` or into this directory; - is standard output", toChrome)
	f := cmd.Flags()
	f.StringVar(&o.timeKey, "time-key", "", "for clp: the `key` that has the time of events, such as ts, at.start or @timestamp.unix_millisecs (default time, or that of an archive)")
	f.BoolVar(&o.structured, "structurize-arrays", false, "for clp: make columns of the values in arrays, instead of text")
	f.BoolVar(&o.salvage, "salvage", false, "convert what is intact of a damaged trace")
	f.BoolVarP(&o.quiet, "quiet", "q", false, "print nothing but errors")
	return cmd
}

func runConvert(cmd *cobra.Command, args []string, o *convertOptions) error {
	if o.to == toChrome {
		return convertToChrome(cmd, args, &o.writing)
	}
	to, err := o.format(cmd)
	if err != nil {
		return err
	}
	paths, err := findInputs(cmd, args)
	if err != nil {
		return err
	}
	if o.structured {
		if to != format.CLP {
			return &usageError{cmd, errors.New("--structurize-arrays is for files that become archives: --to clp")}
		}
		if slices.Contains(paths, stdin) {
			return &usageError{cmd, errors.New("--structurize-arrays is for files, not for standard input")}
		}
	}
	if o.timeKey != "" {
		if to != format.CLP {
			return &usageError{cmd, errors.New("--time-key is for files that become archives: --to clp")}
		}
		namespace, _, err := kql.NamespacePath(o.timeKey)
		if err == nil && namespace != 0 && slices.Contains(paths, stdin) {
			_, err = kql.Path(o.timeKey) // what is read there becomes plain events
		}
		if err != nil {
			return &usageError{cmd, fmt.Errorf("--time-key: %s", humane(err))}
		}
	}
	if o.output == stdin || len(paths) == 1 && paths[0] == stdin {
		if o.output == "" {
			o.output = stdin
		}
		if len(paths) > 1 {
			return &usageError{cmd, errors.New("several traces become one on standard output: use 'tracectl merge'")}
		}
		return writeInputs(cmd, paths, &filter.Filter{}, to, &o.writing)
	}
	ctx, stop := interruptible(cmd)
	defer stop()
	intoDir := isDir(o.output)
	t := newTroubles(cmd)
	if len(paths) > 1 && o.output != "" && !intoDir {
		if to != format.CLP {
			return &usageError{cmd, fmt.Errorf("%s sources need a directory for -o, and %s is none", number(len(paths)), o.output)}
		}
		if err := convertTogether(ctx, cmd, paths, o.output, to, o, t); err != nil {
			return err
		}
		return t.result()
	}
	for _, src := range paths {
		dst := o.output
		if intoDir || dst == "" {
			dst = beside(src, to)
			if intoDir {
				dst = filepath.Join(o.output, filepath.Base(dst))
			}
		}
		if err := convertTogether(ctx, cmd, []string{src}, dst, to, o, t); err != nil {
			return err
		}
	}
	return t.result()
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// beside returns the name of src with the suffix of its new format in the place of the old one.
func beside(src string, to format.Format) string {
	dir, name := filepath.Split(src)
	base := name
	for _, suffix := range []string{".zst", ".gz", ".clp", ".ndjson", ".bin"} {
		base = strings.TrimSuffix(base, suffix)
	}
	if base == "" {
		base = name
	}
	return dir + base + to.Suffix()
}

// convertTogether converts sources to one output: several only to an archive.
func convertTogether(ctx context.Context, cmd *cobra.Command, paths []string, dst string, to format.Format, o *convertOptions, t *troubles) error {
	src, size := paths[0], int64(0)
	for _, path := range paths {
		size += fileSize(path)
	}
	if len(paths) > 1 {
		src = number(len(paths)) + " traces"
	}
	bar := newProgress(cmd, filepath.Base(src), size)
	t.hide = bar.hide
	options := &convert.Options{
		Level: o.effort, Overwrite: o.overwrite, Salvage: o.salvage, TimeKey: o.timeKey, StructuredArrays: o.structured,
		Progress: bar.set, Read: readerOptions(cmd),
	}
	var r convert.Report
	var err error
	if to == format.CLP {
		r, err = convert.Files(ctx, paths, dst, options)
	} else {
		r, err = convert.File(ctx, src, dst, to, options)
	}
	bar.done()
	t.hide = func() {}
	switch {
	case errors.Is(err, context.Canceled):
		return err
	case err != nil:
		t.add(withHint(err))
		return nil
	}
	for _, d := range r.Damage {
		t.add(d)
	}
	if r.Lines > 0 && r.Bad == r.Lines && instead(src) != "" {
		complain(cmd.ErrOrStderr(), noTraceError(src))
	}
	if o.quiet {
		return nil
	}
	bad := ""
	if r.Bad > 0 {
		bad = fmt.Sprintf(" (%s copied that are no JSON objects)", plural(r.Bad, "line"))
	}
	_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s → %s: %s%s, %s → %s\n", shown(src), shown(dst), plural(r.Lines, "line"), bad, bytesText(r.SrcSize), bytesText(r.DstSize))
	if err == nil && len(r.Parts) > 0 {
		_, err = fmt.Fprintf(cmd.OutOrStdout(), "  in %d archives, which are read as one: %s\n", len(r.Parts), shown(strings.Join(r.Parts, ", ")))
	}
	return err
}

// withHint adds what could be done about an error. Damage is told as it was found.
func withHint(err error) error {
	var damage *reader.DamageError
	var torn *reader.TornError
	switch {
	case errors.Is(err, fs.ErrExist):
		return fmt.Errorf("%w; --overwrite replaces a file", err)
	case errors.As(err, &damage):
		return fmt.Errorf("%w; --salvage converts what is intact", damage)
	case errors.As(err, &torn):
		return fmt.Errorf("%w; --salvage converts what is intact", torn)
	}
	return err
}

func fileSize(path string) int64 {
	if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
		return info.Size()
	}
	return -1
}
