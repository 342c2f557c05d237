package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tracehandler/tracehandler/finalize"
	"github.com/tracehandler/tracehandler/naming"
)

type recoverOptions struct {
	dryRun    bool
	quiet     bool
	output    string
	overwrite bool
}

func newRecoverCommand() *cobra.Command {
	var o recoverOptions
	cmd := &cobra.Command{
		Use:   "recover FILE | DIRECTORY...",
		Short: "Finish the partials that a crash left, and save what is whole of damaged archives",
		Long: `Recover turns partials (NAME` + naming.PartialSuffix + `) whose writer is gone into traces (NAME): what is torn at the end is cut, whole events
found in it are kept, and the file gets its name. Nothing else is changed: no event is invented, moved or doubled.

A partial that is being written is refused; in a directory it is passed over. The exit code is 1 if there was no partial.

Of a CLP archive that is damaged, the records that can be read are written to a new archive (NAME.recovered.clp, or -o); what
is damaged and how many records are lost is printed. The damaged archive is left as it is.`,
		Example: `  tracectl recover --dry-run traces/
  tracectl recover app.ndjson.zst.partial
  tracectl recover damaged.clp`,
		Args: files(cobra.MinimumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error { return runRecover(cmd, args, &o) },
	}
	f := cmd.Flags()
	f.BoolVar(&o.dryRun, "dry-run", false, "say what would be done, and do nothing")
	f.StringVarP(&o.output, "output", "o", "", "of a damaged archive: write what can be read to this `file`")
	f.BoolVar(&o.overwrite, "overwrite", false, "replace that file if it exists")
	f.BoolVarP(&o.quiet, "quiet", "q", false, "print nothing but errors")
	return cmd
}

func runRecover(cmd *cobra.Command, args []string, o *recoverOptions) error {
	ctx, stop := interruptible(cmd)
	defer stop()
	t := newTroubles(cmd)
	found := 0
	for _, path := range args {
		if finishedArchive(path) {
			if found++; o.output != "" && len(args) > 1 {
				return &usageError{cmd, errors.New("-o is the name of one file, and there are several archives")}
			}
			if err := recoverArchive(ctx, cmd, path, o, t); err != nil {
				return err
			}
			continue
		}
		reading, archiving := parts{cmd: cmd, label: "recovering"}, parts{cmd: cmd, label: "archiving"}
		reports, err := finalize.Recover(path, &finalize.Options{
			DryRun: o.dryRun, Context: ctx, OnProgress: reading.set,
			Archive: finalize.ArchiveOptions{Context: ctx, OnProgress: func(done, total int64) {
				reading.done()
				archiving.set(done, total)
			}},
		})
		reading.done()
		archiving.done()
		for i := range reports {
			found++
			if r := &reports[i]; o.quiet || !(r.Published || r.Removed || o.dryRun) { // else the error tells
				continue
			}
			if _, err := fmt.Fprintln(cmd.OutOrStdout(), recovered(&reports[i], o.dryRun)); err != nil {
				return err
			}
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		for _, err := range each(err) {
			var locked *finalize.LockedError
			if errors.As(err, &locked) && isDir(path) {
				found++
				complain(cmd.ErrOrStderr(), fmt.Errorf("%w; passed over", err))
				continue
			}
			t.add(err)
		}
	}
	if err := t.result(); err != nil {
		return err
	}
	if found == 0 {
		for _, path := range args {
			text := "no partials in it"
			if !isDir(path) {
				text = "no partial (NAME" + naming.PartialSuffix + "); of a damaged trace, 'tracectl convert --salvage' saves what is intact"
			}
			complain(cmd.ErrOrStderr(), fmt.Errorf("%s: %s", path, text))
		}
		return errNothing
	}
	return nil
}

// each takes a joined error apart.
func each(err error) []error {
	if err == nil {
		return nil
	}
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		return joined.Unwrap()
	}
	return []error{err}
}

// recovered says what was done, or would be, to one partial.
func recovered(r *finalize.Report, dry bool) string {
	would, became := "", "recovered"
	if dry {
		would, became = "would be ", "would be recovered"
	}
	trace := strings.TrimSuffix(r.Path, naming.PartialSuffix)
	s := fmt.Sprintf("%s: %s as %s: %s", shown(r.Partial), became, shown(trace), plural(r.Events, "event"))
	if len(r.Archives) > 1 {
		s += fmt.Sprintf(" in %d archives, which are read as one", len(r.Archives))
	}
	if r.Removed {
		s = fmt.Sprintf("%s: %sremoved: it holds no event", shown(r.Partial), would)
	}
	if r.TornBytes > 0 {
		s += fmt.Sprintf(", %s of a torn end %scut", plural(r.TornBytes, "byte"), would)
	}
	if r.SalvagedEvents > 0 {
		s += fmt.Sprintf(", %s in it %skept", plural(r.SalvagedEvents, "whole event"), would)
	}
	if n := len(r.Damage); n > 0 {
		s += fmt.Sprintf(", %s inside (%s) left as it is", plural(n, "damaged stretch"), plural(r.DamageBytes, "byte"))
	}
	if r.Kept != "" {
		s += ", the damaged journal kept as " + shown(r.Kept)
	}
	return s
}
