package handler

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tracehandler/tracehandler/event"
	"github.com/tracehandler/tracehandler/sink"
)

// ErrClosed is returned by Handle, Flush, Sync and Rotate from the moment Close begins.
var ErrClosed = errors.New("handler: closed")

// DroppedMessage is the message of the event that stands in the trace where events are missing because the sink refused
// them. Its attributes are "dropped", their number, and "error", the first reason.
const DroppedMessage = "tracehandler: events dropped"

// Stats counts what happened to the events of a handler.
type Stats struct {
	// Events is the number of events that the sink accepted, reports of drops included.
	Events int64
	// Dropped is the number of events that the sink refused.
	Dropped int64
	// Episodes is the number of runs of failures, each of which OnError heard of once.
	Episodes int64
	// Sink is what the sink says of itself.
	Sink sink.Stats
}

// trace is what all handlers derived from one another share: the sink, and the mutex under which every write and every
// change of lifecycle happens.
type trace struct {
	opts Options
	root event.Encoder // without attributes or groups: encodes reports of drops

	// closing is set before Close takes the mutex, so that nobody queues up behind it only to be refused.
	closing atomic.Bool

	// What stands above is read by every record without the mutex, and would wait for the cores that write below.
	_ [64]byte

	// What every record uses under the mutex comes first: one cache line goes from core to core, not three.
	mu         sync.Mutex
	sink       sink.Sink
	events     int64
	unreported int64 // dropped, and not yet told in the trace
	closed     bool
	ticking    bool // the timer is running
	failing    bool // an episode is on

	timer    *time.Timer // flushes; nil until the first event, and if FlushInterval is negative
	closeErr error
	first    error // of the handler's life
	episodes int64
	dropped  int64
	flushed  int64 // events at the last tick
	reason   error // why the first of the unreported was dropped
}

func newTrace(s sink.Sink, o Options, root event.Encoder) *trace {
	return &trace{opts: o, root: root, sink: s}
}

// append adds one encoded event, and puts it on the disk if sync is set.
func (t *trace) append(p []byte, sync bool) error {
	err, news := t.appendLocked(p, sync)
	if news && t.opts.OnError != nil {
		t.opts.OnError(err)
	}
	return err
}

// appendLocked returns the error and whether an episode began with it. The unlock is deferred so that a panicking foreign
// sink does not leave the program locked up.
func (t *trace) appendLocked(p []byte, sync bool) (err error, news bool) {
	t.lock()
	defer t.mu.Unlock()
	if t.closed {
		return ErrClosed, false
	}
	if err = t.reportDropped(); err == nil {
		err = t.sink.Append(p)
	}
	if err != nil {
		t.drop(err)
		return err, t.note(err)
	}
	t.events++
	if sync {
		err = t.sink.Sync()
	} else {
		t.startTimer()
		err = t.sink.Err()
	}
	if err == nil && !t.failing {
		return nil, false
	}
	return err, t.note(err)
}

// lock takes the mutex for an append, which holds it for some ten nanoseconds: looking again at once gets it sooner than
// the pause of hundreds with which Lock begins to wait.
func (t *trace) lock() {
	for range 32 {
		if t.mu.TryLock() {
			return
		}
	}
	t.mu.Lock()
}

// drop counts an event that the sink refused for the given reason.
func (t *trace) drop(reason error) {
	t.dropped++
	if t.unreported == 0 {
		t.reason = reason
	}
	t.unreported++
}

// reportDropped writes how many events are missing at this place of the trace, if any are. A sink that refuses that
// would refuse the event that follows, too, which then need not be tried.
func (t *trace) reportDropped() error {
	if t.unreported == 0 {
		return nil
	}
	r := slog.NewRecord(time.Now(), slog.LevelWarn, DroppedMessage, 0)
	r.AddAttrs(slog.Int64("dropped", t.unreported), slog.String("error", t.reason.Error()))
	b := event.GetBuffer()
	defer b.Free()
	t.root.AppendRecord(b, r, nil)
	if err := t.sink.Append(b.B); err != nil {
		return err
	}
	t.events++
	t.unreported, t.reason = 0, nil
	return nil
}

// note records the outcome of an operation and reports whether an episode of failures begins with it.
func (t *trace) note(err error) (news bool) {
	if err == nil {
		t.failing = false
		return false
	}
	if t.first == nil {
		t.first = err
	}
	news = !t.failing
	if news {
		t.failing = true
		t.episodes++
	}
	return news
}

// do runs a sink operation under the mutex.
func (t *trace) do(op func(sink.Sink) error) error {
	err, news := t.doLocked(op)
	if news && t.opts.OnError != nil {
		t.opts.OnError(err)
	}
	return err
}

func (t *trace) doLocked(op func(sink.Sink) error) (err error, news bool) {
	if t.closing.Load() {
		return ErrClosed, false
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return ErrClosed, false
	}
	err = op(t.sink)
	return err, t.note(err)
}

// startTimer sees to it that a flush comes FlushInterval after the first unflushed event.
func (t *trace) startTimer() {
	if t.ticking || t.opts.FlushInterval < 0 {
		return
	}
	t.ticking = true
	if t.timer == nil {
		t.timer = time.AfterFunc(t.opts.FlushInterval, t.tick)
		return
	}
	t.timer.Reset(t.opts.FlushInterval)
}

// tick is the timer's flush. Where the sink can, it only begins one, so that nobody waits for the disk because of the
// timer; then another tick looks what became of it. While writing fails the timer goes on running, so that a program that
// has stopped logging still gets its last events written once the disk works again.
func (t *trace) tick() {
	_ = t.do(func(s sink.Sink) error { // do counts and reports the error; Close returns it
		t.ticking = false
		var err error
		again := false
		if st, ok := s.(sink.Starter); ok {
			if err = st.StartFlush(); err == nil {
				err = s.Err()
			}
			again = t.events != t.flushed
			t.flushed = t.events
		} else {
			err = s.Flush()
		}
		if again || err != nil {
			t.startTimer()
		}
		return err
	})
}

func (t *trace) close(ctx context.Context) error {
	t.closing.Store(true)
	err, news := t.closeLocked(ctx)
	if news && t.opts.OnError != nil {
		t.opts.OnError(err)
	}
	return err
}

func (t *trace) closeLocked(ctx context.Context) (err error, news bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return t.closeErr, false
	}
	t.closed = true
	if t.timer != nil {
		t.timer.Stop()
	}
	_ = t.reportDropped() // if it fails, Close says why, and Stats how many
	first := t.first
	if c, ok := t.sink.(sink.ContextCloser); ok {
		err = c.CloseContext(ctx)
	} else {
		err = t.sink.Close()
	}
	news = t.note(err)
	switch {
	case first == nil, err == nil:
		t.closeErr = t.first
	case errors.Is(first, err) || errors.Is(err, first):
		t.closeErr = first
	default:
		t.closeErr = errors.Join(first, err)
	}
	return t.closeErr, news
}

func (t *trace) stats() Stats {
	t.mu.Lock()
	defer t.mu.Unlock()
	return Stats{Events: t.events, Dropped: t.dropped, Episodes: t.episodes, Sink: t.sink.Stats()}
}
