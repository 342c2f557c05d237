package reader

import (
	"context"
	"iter"
	"time"

	"github.com/tracehandler/tracehandler/event"
)

// FollowOptions change how a trace is followed.
type FollowOptions struct {
	Options
	Interval time.Duration // between two looks at the file; zero means 200 ms
	FromEnd  bool          // skip what is there at the start
}

// Follow reads the trace at path as it grows.
func Follow(ctx context.Context, path string, o *FollowOptions) iter.Seq2[event.Event, error] {
	return func(yield func(event.Event, error) bool) { yield(event.Event{}, errClosed) }
}
