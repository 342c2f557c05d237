package main

import (
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/tracehandler/tracehandler/clp/archive"
	"github.com/tracehandler/tracehandler/clp/kql"
	"github.com/tracehandler/tracehandler/cmd/tracectl/internal/filter"
	"github.com/tracehandler/tracehandler/event"
	"github.com/tracehandler/tracehandler/reader"
)

// searcher is one run of the command search.
type searcher struct {
	cmd           *cobra.Command
	o             *searchOptions
	text          string
	query         *kql.Query // as it was given
	filter        *filter.Filter
	p             *printer
	sum           *kql.Aggregation // nil: events are printed
	t             *troubles
	bar           *progress
	before, after int
	found         int64
	done          int64 // bytes of the files that were searched
	printed       bool  // something was
}

// errEnough ends a search that has found what it may.
var errEnough = errors.New("enough")

// run searches the files.
func (s *searcher) run(paths []string) error {
	if s.o.limit.none() {
		return nil
	}
	s.bar = newProgress(s.cmd, "searching", s.total(paths))
	defer s.bar.done()
	s.t.hide = func() { // a trouble stands behind what came before it
		s.bar.hide()
		_ = s.p.flush() // the error stays with the writer
	}
	if isTerminal(s.cmd.OutOrStdout()) {
		s.p.live, s.p.bar = true, s.bar
	}
	var err error
	if s.o.merge && len(paths) > 1 && (s.sum == nil || s.o.limit.set) { // what is counted needs no order
		err = s.merged(paths)
	} else {
		for _, path := range paths {
			if err = s.file(path); err != nil {
				break
			}
		}
	}
	if err != nil && err != errEnough {
		return err
	}
	return s.p.flush()
}

// total returns the bytes of all files, -1 if that of one is not known.
func (s *searcher) total(paths []string) (total int64) {
	for _, path := range paths {
		n := fileSize(path)
		if path == stdin || n < 0 {
			return -1
		}
		total += n
	}
	return total
}

// file searches one file.
func (s *searcher) file(path string) error {
	o := readerOptions(s.cmd)
	o.Progress = func(stored int64) { s.bar.set(s.done + stored) }
	in, err := openWith(s.cmd, path, o)
	if err != nil {
		s.t.add(err)
		return nil
	}
	defer in.Close()
	began, before := time.Now(), s.found
	q, f, err := s.queryFor(in)
	if err != nil {
		return err
	}
	if s.sum != nil && s.o.timeKey == "" {
		if err := s.sum.SetTimeKey(in.TimeKey()); err != nil {
			return err
		}
	}
	if s.before+s.after > 0 {
		err = s.around(in, q, f)
	} else {
		in.Select(q)
		if names, all := s.names(); !all {
			in.Project(append(names, f.Names()...)...)
		}
		if s.o.onlyCount() && f.Empty() && !s.o.limit.set {
			var n int64
			n, err = in.Count(s.t.add)
			s.found += n
		} else {
			err = s.each(in.Events(), f, in)
		}
	}
	if noTrace(in) {
		s.t.add(noTraceError(in.name))
	}
	s.done += max(in.size, 0)
	if s.o.explain {
		s.t.hide()
		fmt.Fprintln(s.cmd.ErrOrStderr(), explain(in, s.found-before, time.Since(began)))
	}
	return err
}

// names returns the outermost keys of events that are printed, counted or measured; all is true if it may be any.
func (s *searcher) names() (names []string, all bool) {
	switch {
	case s.o.files || s.o.onlyCount():
		return nil, false
	case s.sum == nil:
		return s.p.fields.Names()
	}
	if names, all = s.sum.Names(); s.o.every != "" {
		names = append(names, filter.TimeKeys...)
	}
	return names, all
}

// merged searches all files at once.
func (s *searcher) merged(paths []string) error {
	ins := openAll(s.cmd, paths, s.t)
	defer closeAll(ins)
	rest := *s.filter // what no query asks for
	rest.Since, rest.Until = time.Time{}, time.Time{}
	var readers []*reader.Reader
	for _, in := range ins {
		q, f, err := s.queryFor(in)
		if err != nil {
			return err
		}
		in.Select(q)
		if names, all := s.names(); !all {
			in.Project(slices.Concat(names, f.Names(), filter.TimeKeys)...)
		}
		if !f.Since.IsZero() || !f.Until.IsZero() {
			rest.Since, rest.Until = f.Since, f.Until // no harm to the others, whose queries have the range
		}
		readers = append(readers, in.Reader)
	}
	n := 0
	for e, err := range reader.Merge(readers...) {
		if n++; n%4096 == 0 {
			s.bar.set(consumed(ins))
		}
		if err != nil {
			s.t.add(err)
			continue
		}
		if !rest.Match(e) {
			continue
		}
		in := kql.Input{Event: e}
		if err := s.hit(&in, nil); err != nil {
			return err
		}
	}
	return nil
}

// each takes the events of an input that the query has found.
func (s *searcher) each(events iter.Seq2[event.Event, error], f *filter.Filter, in *input) error {
	for e, err := range events {
		if err != nil {
			s.t.add(err)
			continue
		}
		if !f.Match(e) {
			continue
		}
		found := kql.Input{Event: e}
		if s.sum != nil {
			found = in.Input()
		}
		if err := s.hit(&found, in); err != nil {
			return err
		}
		if s.o.files {
			return nil
		}
	}
	return nil
}

// hit takes one event that was found.
func (s *searcher) hit(found *kql.Input, in *input) error {
	s.found++
	var err error
	switch {
	case s.o.files:
		err = s.p.text(shown(in.name))
	case s.o.onlyCount():
	case s.sum != nil:
		err = s.sum.Add(found)
	default:
		err = s.p.print(found.Event)
	}
	if err == nil && s.o.limit.set && s.found == int64(s.o.limit.n) {
		return errEnough
	}
	return err
}

// around prints the events that are found with those before and after them.
func (s *searcher) around(in *input, q *kql.Query, f *filter.Filter) error {
	o := reader.AroundOptions{Before: s.before, After: s.after, Keep: f.Match}
	if s.o.limit.set {
		o.Limit = int64(s.o.limit.n) - s.found
	}
	if names, all := s.names(); !all {
		in.Project(append(names, f.Names()...)...)
	}
	for e, err := range in.Around(q, o) {
		if err != nil {
			s.t.add(err)
			continue
		}
		if e.Gap && s.printed {
			if err := s.p.rule(); err != nil {
				return err
			}
		}
		s.printed = true
		if e.Found {
			s.found++
		}
		if err := s.p.print(e.Event); err != nil {
			return err
		}
	}
	if s.o.limit.set && s.found == int64(s.o.limit.n) {
		return errEnough
	}
	return nil
}

// explain says how an input was searched.
func explain(in *input, found int64, took time.Duration) string {
	st := in.Stats()
	how := "every event was looked at"
	if isArchive(in) {
		how = "asked by its columns"
	}
	if scan, ok := in.ScanStats(); ok {
		how = fmt.Sprintf("%s of %s and %s of %s were not looked at", number(scan.TablesSkipped), plural(scan.Tables, "table"),
			number(scan.BlocksSkipped), plural(scan.Blocks, "block"))
		if scan.Index != nil {
			how += fmt.Sprintf(" (%s)", humane(scan.Index))
		}
		how += fmt.Sprintf(", %s of columns decoded, %s found by columns alone and %s that only the record tells", plural(scan.Frames, "frame"), number(scan.Sure), number(scan.Open))
		how += "; " + explainBytes(scan.Spent)
	}
	return fmt.Sprintf("tracectl: %s: %s, %s stored; %s; %s found in %s", shown(in.name), layers(in), bytesText(max(in.size, st.Stored)), how,
		plural(found, "event"), span(took))
}

// explainBytes says what was decoded.
func explainBytes(s archive.Spent) string {
	sum := s.Total()
	if sum == (archive.Bytes{}) {
		return "nothing was decoded"
	}
	var parts []string
	for _, p := range []struct {
		name  string
		bytes int64
	}{{"columns", s.Columns.Decoded}, {"dictionaries", s.Dictionaries.Decoded}, {"the side channel", s.Side.Decoded}, {"the index", s.Index.Decoded}} {
		if p.bytes > 0 {
			parts = append(parts, bytesText(p.bytes)+" of "+p.name)
		}
	}
	return fmt.Sprintf("%s read and decoded to %s: %s", bytesText(sum.Read), bytesText(sum.Decoded), strings.Join(parts, ", "))
}

func isArchive(in *input) bool { return in.Kind() == reader.CLPArchive }
