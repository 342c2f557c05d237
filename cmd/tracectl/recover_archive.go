package main

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tracehandler/tracehandler/convert"
	"github.com/tracehandler/tracehandler/format"
	"github.com/tracehandler/tracehandler/naming"
	"github.com/tracehandler/tracehandler/reader"
)

// finishedArchive reports whether path is a CLP archive, not a partial: by its content.
func finishedArchive(path string) bool {
	return reader.IsArchiveDir(path) || !strings.HasSuffix(path, naming.PartialSuffix) && !isDir(path) && startsAsArchive(path)
}

// recoverArchive makes a new archive of the records of a damaged one that can be read, and says what is lost.
func recoverArchive(ctx context.Context, cmd *cobra.Command, path string, o *recoverOptions, t *troubles) error {
	in, err := open(cmd, path)
	if err != nil {
		t.add(err)
		return nil
	}
	defer in.Close()
	damage := 0
	var lost int64
	for _, err := range in.Events() {
		if err == nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			continue
		}
		if !reader.IsReport(err) {
			t.add(err)
			return nil
		}
		damage++
		lost += lostRecords(err)
		t.hide()
		fmt.Fprintf(cmd.ErrOrStderr(), "tracectl: %s\n", describe(err))
	}
	whole := in.Stats().Events
	if err := in.Close(); err != nil {
		return err
	}
	say := func(text string, args ...any) error {
		if o.quiet {
			return nil
		}
		_, err := fmt.Fprintf(cmd.OutOrStdout(), "%s: "+text+"\n", append([]any{shown(path)}, args...)...)
		return err
	}
	what := ""
	if lost > 0 {
		what = fmt.Sprintf(", %s lost", number(lost))
	}
	switch {
	case damage == 0:
		return say("is whole: %s", plural(whole, "event"))
	case whole == 0:
		t.add(fmt.Errorf("%s: nothing in it can be read", path))
		return nil
	case o.dryRun:
		return say("%s would be recovered%s", plural(whole, "event"), what)
	}
	dst := o.output
	if dst == "" {
		dst = recoveredName(path)
	}
	bar := newProgress(cmd, "recovering", fileSize(path))
	rep, err := convert.File(ctx, path, dst, format.CLP, &convert.Options{Salvage: true, Overwrite: o.overwrite, Progress: bar.set, Read: readerOptions(cmd)})
	bar.done()
	if err != nil {
		t.add(withHint(err))
		return nil
	}
	return say("%s recovered as %s%s", plural(rep.Lines, "event"), shown(dst), what)
}

// lostRecords returns how many records a report of damage says are lost.
func lostRecords(err error) int64 {
	switch e := err.(type) {
	case *reader.DamageError:
		return e.Lost
	case *reader.TornError:
		return e.Lost
	case *reader.LineError:
		return 1
	}
	return 0
}

// recoveredName returns a name beside a damaged archive's for what is recovered of it.
func recoveredName(path string) string {
	path = filepath.Clean(path)
	base := strings.TrimSuffix(strings.TrimSuffix(strings.TrimSuffix(path, ".zst"), ".gz"), format.CLP.Suffix())
	return base + ".recovered" + format.CLP.Suffix()
}
