package main

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/tracehandler/tracehandler/clp/kql"
	"github.com/tracehandler/tracehandler/cmd/tracectl/internal/filter"
)

type searchOptions struct {
	selecting
	showing
	counting
	json, raw, pretty    bool
	fields               []string
	fold, contains       bool
	structured           bool
	timeKey              string
	before, after, round uint
	limit                count
	files                bool
	merge                bool
	explain              bool
}

func newSearchCommand() *cobra.Command {
	var o searchOptions
	cmd := &cobra.Command{
		Use:   "search QUERY [FILE | DIRECTORY | -]...",
		Short: "Find events by a query, print, count or measure them",
		Long: `Search prints the events of traces that a query finds, whatever the traces are: lines of JSON, plain or compressed, CLP
streams, CLP archives. The answers are the same; of an archive only what the query touches is decoded. Several files are
searched one after the other, or merged by time with --merge. Without a file it reads standard input.

The exit code is 0 if something was found, 1 if nothing was, and 2 after an error or damage.

The query is written in KQL:
  level: ERROR                        the value of level is ERROR, the whole of it
  msg: *timeout*                      ... contains timeout; * is any text, ? one byte, --contains puts a * at both ends
  http.status >= 500                  < <= > >= of numbers and times
  key: *                              key is there; NOT key: * that it is not
  time > timestamp("2026-01-02T03:04:05Z")
  level: (WARN ERROR) AND NOT db: {pool: main AND took > 5}
  "connection reset"                  any key has this value
AND and OR bind alike, from left to right: use parentheses. Times never match as texts.
` + selectingHelp + `These and --level and --filter restrict what the query finds further.
` + showingHelp + `
Counting: --count prints how many events were found, --count-by and --by-time how many of each, --distinct the different values
of a key, --stats count, least, mean, percentiles and greatest of its numbers. They can be combined; --json prints one object
a group.
`,
		Example: `  tracectl search 'level: ERROR AND http.status >= 500' app.clp
  tracectl search --since -1h --contains 'msg: timeout' traces/
  tracectl search --count-by level --by-time 1m '*' app.ndjson.zst
  tracectl search --stats took_ms --count-by http.route 'level: *' app.clp
  tracectl search -C 3 'request_id: 4f1c8e2a' app.clp`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return runSearch(cmd, args, &o) },
	}
	o.selecting.add(cmd)
	o.showing.add(cmd)
	o.counting.add(cmd)
	f := cmd.Flags()
	f.BoolVar(&o.json, "json", false, "the same as -o json")
	f.BoolVar(&o.raw, "raw", false, "the same as -o raw")
	f.BoolVar(&o.pretty, "pretty", false, "the same as -o pretty")
	f.StringSliceVar(&o.fields, "fields", nil, "only these `keys`; the same as --keys")
	f.BoolVarP(&o.fold, "ignore-case", "i", false, "letters of values match in either case; keys do not")
	f.BoolVar(&o.contains, "contains", false, "a text of the query matches a part of a value")
	f.BoolVar(&o.structured, "structured", false, "arrays mean what they do in archives that were written with structured arrays")
	f.StringVar(&o.timeKey, "time-key", "", "the `key` that has the time; that of an archive, and time elsewhere, if it is not given")
	f.UintVarP(&o.before, "before-context", "B", 0, "print this `number` of events before each that is found")
	f.UintVarP(&o.after, "after-context", "A", 0, "print this `number` of events after each that is found")
	f.UintVarP(&o.round, "context", "C", 0, "print this `number` of events before and after each that is found")
	f.VarP(&o.limit, "limit", "m", "stop after this `number` of events found")
	f.BoolVar(&o.files, "files-with-matches", false, "print only the names of the files in which something is found")
	f.BoolVar(&o.merge, "merge", false, "merge the events of several files by time")
	f.BoolVar(&o.explain, "explain", false, "say on standard error how each file was searched, and how much of it was decoded")
	cmd.MarkFlagsMutuallyExclusive("json", "raw", "pretty", "output")
	cmd.MarkFlagsMutuallyExclusive("before-context", "context")
	cmd.MarkFlagsMutuallyExclusive("after-context", "context")
	for _, flag := range []string{"before-context", "after-context", "context", "files-with-matches", "explain"} {
		cmd.MarkFlagsMutuallyExclusive(flag, "merge")
	}
	for _, flag := range append([]string{"before-context", "after-context", "context", "limit"}, countingFlags...) {
		cmd.MarkFlagsMutuallyExclusive("files-with-matches", flag)
	}
	for _, flag := range []string{"before-context", "after-context", "context"} {
		for _, other := range countingFlags {
			cmd.MarkFlagsMutuallyExclusive(flag, other)
		}
	}
	return cmd
}

// runSearch checks what was asked for, then searches.
func runSearch(cmd *cobra.Command, args []string, o *searchOptions) error {
	s := searcher{cmd: cmd, o: o, text: args[0], before: int(max(o.before, o.round)), after: int(max(o.after, o.round)), t: newTroubles(cmd)}
	for word, set := range map[string]bool{"json": o.json, "raw": o.raw, "pretty": o.pretty} {
		if set {
			o.output = word
		}
	}
	o.keys = append(o.keys, o.fields...)
	loc, err := o.location()
	if err != nil {
		return &usageError{cmd, err}
	}
	if s.filter, err = o.filter(cmd); err != nil {
		return err
	}
	if s.query, err = s.parse(s.text, o.timeKey); err != nil {
		return s.wrongQuery(err)
	}
	if s.query.Never() {
		return &usageError{cmd, errors.New("no event can match this query: < <= > >= compare numbers and times, not texts, and a list must not be empty")}
	}
	if o.counting.any() {
		if s.sum, err = o.aggregation(o.timeKey, loc); err != nil {
			return &usageError{cmd, errors.New(humane(err))}
		}
	}
	if s.p, err = o.printer(cmd, loc); err != nil {
		return err
	}
	paths, err := findInputs(cmd, args[1:])
	if err != nil {
		return err
	}
	if err := s.run(paths); err != nil {
		return err
	}
	if s.sum != nil {
		if err := writeAggregation(cmd, &o.counting, s.sum, s.found, o.output == "json", loc); err != nil {
			return err
		}
	}
	if err := s.t.result(); err != nil {
		return err
	}
	if s.found == 0 {
		return errNothing
	}
	return nil
}

// parse parses a query with the options of the flags.
func (s *searcher) parse(text, timeKey string) (*kql.Query, error) {
	return kql.Parse(text, &kql.Options{Fold: s.o.fold, Contains: s.o.contains, Structured: s.o.structured, TimeKey: timeKey})
}

// wrongQuery shows where a query is wrong.
func (s *searcher) wrongQuery(err error) error {
	var syntax *kql.SyntaxError
	if !errors.As(err, &syntax) {
		return &usageError{s.cmd, errors.New(humane(err))}
	}
	if _, key := s.parse("*", s.o.timeKey); key != nil { // it is not the query that is wrong
		return &usageError{s.cmd, fmt.Errorf("--time-key: %s", humane(err))}
	}
	return &usageError{s.cmd, &queryError{s.text, syntax}}
}

// queryError shows a query with a mark where it is wrong.
type queryError struct {
	text   string
	syntax *kql.SyntaxError
}

func (e *queryError) Error() string {
	at := min(max(e.syntax.Offset, 0), len(e.text))
	before := shown(e.text[:at])
	s := fmt.Sprintf("the query is wrong: %s\n  %s%s\n  %s^", shown(e.syntax.Msg), before, shown(e.text[at:]), strings.Repeat(" ", columns(before)))
	if e.syntax.Hint != "" {
		s += "\nhint: " + shown(e.syntax.Hint)
	}
	return s
}

// queryFor returns the query that an input is asked, and what its events are to be filtered by besides. Where the key of the
// time is known, the query has the range of time, so that an archive need not look at the rest.
func (s *searcher) queryFor(in *input) (*kql.Query, *filter.Filter, error) {
	f := *s.filter
	key := s.o.timeKey
	if key == "" {
		key = in.TimeKey()
	}
	text := s.text
	if key != "" && (!f.Since.IsZero() || !f.Until.IsZero()) {
		text = "(" + text + ")"
		for _, bound := range []struct {
			op string
			at *time.Time
		}{{">=", &f.Since}, {"<", &f.Until}} {
			if !bound.at.IsZero() {
				text += fmt.Sprintf(` AND %s %s timestamp("%d", "\N")`, key, bound.op, nanoseconds(*bound.at))
				*bound.at = time.Time{}
			}
		}
	}
	if key == "" && !isArchive(in) {
		key = defaultTimeKey
	}
	q, err := s.parse(text, key)
	return q, &f, err
}

// nanoseconds returns a time as an archive counts it. Its range ends in the years 1677 and 2262.
func nanoseconds(t time.Time) int64 {
	const far = 9_200_000_000 // seconds
	return time.Unix(min(max(t.Unix(), -far), far), int64(t.Nanosecond())).UnixNano()
}

// defaultTimeKey has the time of what log/slog writes.
const defaultTimeKey = "time"
