// Package filter decides which events of a trace a user wants to see.
//
//	f := filter.Filter{Since: since}
//	f.Level, err = filter.ParseLevel("warn")
//	c, err := filter.ParseCondition("http.status>=500")
//	f.Conditions = append(f.Conditions, c)
//	if f.Match(e) { … }
//
// A filter reads no more of an event than it needs: the cheapest test first, and nothing after the first that fails.
package filter

import (
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/tracehandler/tracehandler/event"
)

// Filter is a set of tests that an event must all pass. The zero Filter passes everything. It is not safe for concurrent
// use while it is changed.
type Filter struct {
	Level      *slog.Level // events of this level and above; those without a level do not pass. Nil: any
	Since      time.Time   // events at or after it; those without a time do not pass. Zero: any
	Until      time.Time   // events before it; those without a time do not pass. Zero: any
	Conditions []*Condition
}

// Empty reports whether the filter passes everything.
func (f *Filter) Empty() bool {
	return f.Level == nil && f.Since.IsZero() && f.Until.IsZero() && len(f.Conditions) == 0
}

// Names returns the outermost keys of events that the filter looks at.
func (f *Filter) Names() (names []string) {
	if f.Level != nil {
		names = append(names, LevelKeys...)
	}
	if !f.Since.IsZero() || !f.Until.IsZero() {
		names = append(names, TimeKeys...)
	}
	for _, c := range f.Conditions {
		for _, path := range c.paths {
			names = append(names, path[0])
		}
	}
	return names
}

// TimeKeys and LevelKeys are the outermost keys that [event.Event.Time] and [event.Event.Level] look at.
var (
	TimeKeys  = []string{"time", "timestamp", "@timestamp", "ts"}
	LevelKeys = []string{"level", "severity", "lvl", "levelname", "log.level"}
)

// Match reports whether e passes.
func (f *Filter) Match(e event.Event) bool {
	if f.Level != nil {
		if l, ok := e.Level(); !ok || l < *f.Level {
			return false
		}
	}
	if !f.Since.IsZero() || !f.Until.IsZero() {
		t, ok := e.Time()
		if !ok || t.Before(f.Since) || !f.Until.IsZero() && !t.Before(f.Until) {
			return false
		}
	}
	for _, c := range f.Conditions {
		if !c.Match(e) {
			return false
		}
	}
	return true
}

// LevelError says that a word is no level.
type LevelError struct{ Word string }

func (e *LevelError) Error() string {
	return fmt.Sprintf("unknown level %q: want trace, debug, info, warn, error or fatal, or one of them with an offset such as info+2", e.Word)
}

// ParseLevel reads the name of a level as events spell it (see [event.Event.Level]), in any case, with or without an
// offset: "warn", "INFO+2". The error is a [*LevelError].
func ParseLevel(word string) (slog.Level, error) {
	if l, ok := event.New(slog.String(slog.LevelKey, strings.TrimSpace(word))).Level(); ok {
		return l, nil
	}
	return 0, &LevelError{word}
}
