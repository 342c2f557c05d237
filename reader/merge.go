package reader

import (
	"iter"

	"github.com/tracehandler/tracehandler/event"
)

// Merge iterates over the events of several traces in the order of their times.
func Merge(readers ...*Reader) iter.Seq2[event.Event, error] {
	return func(yield func(event.Event, error) bool) { yield(event.Event{}, errNotBuilt) }
}
