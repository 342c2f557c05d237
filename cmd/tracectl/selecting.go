package main

import (
	"fmt"
	"strings"
	"time"
	_ "time/tzdata" // so that --tz knows the world's zones where the system does not

	"github.com/spf13/cobra"

	"github.com/tracehandler/tracehandler/cmd/tracectl/internal/filter"
	"github.com/tracehandler/tracehandler/cmd/tracectl/internal/when"
)

// selecting are the flags that choose events, shared by all commands that read them.
type selecting struct {
	level, since, until string
	conditions          []string
	zone                string
	utc                 bool
}

// selectingHelp belongs into the long help of each command with these flags.
const selectingHelp = `
Levels: trace, debug, info, warn, error, fatal, in any case, with or without an offset (info+2). -l chooses that level
and above; events without a level are not chosen then.

Times: --since is included, --until is not. 2026-11-30T15:04:05Z, 2026-11-30 15:04, 2026-11-30 (its beginning), 15:04
(today), -3h or 10m or 1d12h (ago), @1764515045 (Unix seconds), now, today, yesterday. What names no zone is in the zone of
--tz, local time by default. Events whose time cannot be read are not chosen then.

Conditions, all of which must hold (-f 'http.status>=500' -f 'http.route~=/v1/'):
  key            is there                         !key           is not there
  key=value      equal                            key!=value     not equal, or not there
  key~=text      contains                         key!~=text     does not contain, or is not there
  key=~regexp    matches                          key!~regexp    does not match, or is not there
  key<value      key<=value      key>value      key>=value
A dot leads into a group (http.status). Numbers compare as numbers, a value such as 1.5ms also with whole nanoseconds,
RFC 3339 times as times, everything else byte by byte.
`

func (s *selecting) add(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVarP(&s.level, "level", "l", "", "only events of this `level` and above")
	f.StringVar(&s.since, "since", "", "only events at or after this `time`")
	f.StringVar(&s.until, "until", "", "only events before this `time`")
	f.StringArrayVarP(&s.conditions, "filter", "f", nil, "only events that meet this `condition`; may be repeated")
	f.StringVar(&s.zone, "tz", "local", "`zone` of times typed and printed: local, utc, or a name such as Europe/Zurich")
	f.BoolVarP(&s.utc, "utc", "u", false, "the same as --tz utc")
	complete(cmd, "level", "trace", "debug", "info", "warn", "error", "fatal")
	complete(cmd, "tz", "local", "utc")
}

// complete makes a shell complete a flag with these words.
func complete(cmd *cobra.Command, flag string, words ...string) {
	if err := cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp)); err != nil {
		panic(err) // the flag does not exist: a mistake in this program
	}
}

// location returns the zone of times.
func (s *selecting) location() (*time.Location, error) {
	switch strings.ToLower(s.zone) {
	case "local":
		if s.utc {
			return time.UTC, nil
		}
		return time.Local, nil
	case "utc", "":
		return time.UTC, nil
	}
	if s.utc {
		return nil, fmt.Errorf("--utc and --tz %s contradict each other", s.zone)
	}
	loc, err := time.LoadLocation(s.zone)
	if err != nil {
		return nil, fmt.Errorf("--tz: unknown zone %q: want local, utc, or a name such as Europe/Zurich", s.zone)
	}
	return loc, nil
}

// filter returns what the flags say. Its errors are errors of usage.
func (s *selecting) filter(cmd *cobra.Command) (*filter.Filter, error) {
	f, err := s.parse()
	if err != nil {
		return nil, &usageError{cmd, err}
	}
	return f, nil
}

func (s *selecting) parse() (*filter.Filter, error) {
	loc, err := s.location()
	if err != nil {
		return nil, err
	}
	var f filter.Filter
	if s.level != "" {
		l, err := filter.ParseLevel(s.level)
		if err != nil {
			return nil, fmt.Errorf("--level: %w", err)
		}
		f.Level = &l
	}
	now := time.Now()
	for _, t := range []struct {
		flag, text string
		to         *time.Time
	}{{"--since", s.since, &f.Since}, {"--until", s.until, &f.Until}} {
		if t.text == "" {
			continue
		}
		if *t.to, err = when.Parse(t.text, now, loc); err != nil {
			return nil, fmt.Errorf("%s: %w", t.flag, err)
		}
	}
	if !f.Since.IsZero() && !f.Until.IsZero() && !f.Since.Before(f.Until) {
		return nil, fmt.Errorf("--since (%s) is not before --until (%s)", f.Since.In(loc).Format(time.RFC3339Nano), f.Until.In(loc).Format(time.RFC3339Nano))
	}
	for _, text := range s.conditions {
		c, err := filter.ParseCondition(text)
		if err != nil {
			return nil, fmt.Errorf("--filter: %w", err)
		}
		f.Conditions = append(f.Conditions, c)
	}
	return &f, nil
}
