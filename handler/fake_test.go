package handler_test

import (
	"slices"
	"sync"
	"sync/atomic"

	"github.com/tracehandler/tracehandler/event"
	"github.com/tracehandler/tracehandler/sink"
)

// fakeSink is a sink in memory whose failures a test commands. Like every sink it relies on its owner's lock; busy finds
// an owner that does not hold it.
type fakeSink struct {
	lines   []string
	refuse  error // Append drops with this error
	behind  error // a background failure: what Err and Flush return
	onSync  error
	refused int64 // calls of Append that failed so
	closed  bool
	onEnd   error // what Close returns

	busy atomic.Int32
	race atomic.Bool
	mu   sync.Mutex // guards what a test looks at while the handler's timer runs, and Err reads at any time
	log  []string
}

func (s *fakeSink) enter(call string) func() {
	if s.busy.Add(1) != 1 {
		s.race.Store(true)
	}
	if call != "append" {
		s.mu.Lock()
		s.log = append(s.log, call)
		s.mu.Unlock()
	}
	return func() { s.busy.Add(-1) }
}

func (s *fakeSink) Encoder(o event.Options) event.Encoder { return event.NewJSON(o) }

func (s *fakeSink) Append(p []byte) error {
	defer s.enter("append")()
	if s.closed {
		return sink.ErrClosed
	}
	if s.refuse != nil {
		s.refused++
		return s.refuse
	}
	s.lines = append(s.lines, string(p))
	return nil
}

func (s *fakeSink) Flush() error { defer s.enter("flush")(); return s.Err() }

func (s *fakeSink) Sync() error { defer s.enter("sync")(); return s.onSync }

func (s *fakeSink) Rotate() error { defer s.enter("rotate")(); return nil }

func (s *fakeSink) Close() error { defer s.enter("close")(); s.closed = true; return s.onEnd }

func (s *fakeSink) Err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.behind
}

// calls returns the names of the methods called so far, without Append.
func (s *fakeSink) calls() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.log)
}

func (s *fakeSink) setBehind(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.behind = err
}

func (s *fakeSink) Stats() sink.Stats { return sink.Stats{} }

// starterSink is a fakeSink that can begin a flush without waiting.
type starterSink struct{ *fakeSink }

func (s starterSink) StartFlush() error { defer s.enter("start")(); return nil }
