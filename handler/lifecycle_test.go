package handler_test

import (
	"context"
	"errors"
	"log/slog"
	"reflect"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tracehandler/tracehandler/handler"
)

var never = &handler.Options{FlushInterval: -1}

func record(level slog.Level, msg string) slog.Record {
	return slog.NewRecord(time.Date(2026, 11, 30, 10, 0, 0, 0, time.UTC), level, msg, 0)
}

func handle(h slog.Handler, msg string) error {
	return h.Handle(context.Background(), record(slog.LevelInfo, msg))
}

func TestClosedHandlerRefuses(t *testing.T) {
	s := &fakeSink{}
	h := handler.New(s, never)
	derived := h.WithGroup("g").WithAttrs([]slog.Attr{slog.Int("a", 1)})
	if err := handle(derived, "before"); err != nil {
		t.Fatal(err)
	}
	if err := h.Close(); err != nil {
		t.Fatal(err)
	}
	ops := map[string]func() error{
		"Handle":            func() error { return handle(h, "after") },
		"Handle of derived": func() error { return handle(derived, "after") },
		"Handle of new":     func() error { return handle(h.WithGroup("x"), "after") },
		"Flush":             h.Flush,
		"Sync":              h.Sync,
		"Rotate":            h.Rotate,
	}
	for name, op := range ops {
		if err := op(); err != handler.ErrClosed {
			t.Errorf("%s after Close: %v, want ErrClosed", name, err)
		}
	}
	if err := h.Close(); err != nil {
		t.Errorf("second Close: %v", err)
	}
	if len(s.lines) != 1 || !reflect.DeepEqual(s.calls(), []string{"close"}) {
		t.Errorf("sink saw %q and calls %v, want one event and one close", s.lines, s.calls())
	}
}

// blockingSink stops in Close until it is told to go on.
type blockingSink struct {
	*fakeSink
	in, out chan struct{}
}

func (s blockingSink) Close() error {
	close(s.in)
	<-s.out
	return s.fakeSink.Close()
}

func TestHandleIsRefusedWhileCloseRuns(t *testing.T) {
	s := blockingSink{&fakeSink{}, make(chan struct{}), make(chan struct{})}
	h := handler.New(s, never)
	done := make(chan error)
	go func() { done <- h.Close() }()
	<-s.in
	// Close holds the mutex now. These return at once, they do not queue up behind it.
	if err := handle(h, "late"); err != handler.ErrClosed {
		t.Errorf("Handle while Close runs: %v, want ErrClosed", err)
	}
	if err := h.Flush(); err != handler.ErrClosed {
		t.Errorf("Flush while Close runs: %v, want ErrClosed", err)
	}
	second := make(chan error)
	go func() { second <- h.Close() }()
	select {
	case <-second:
		t.Error("a second Close returned before the first")
	case <-time.After(20 * time.Millisecond):
	}
	close(s.out)
	if err := errors.Join(<-done, <-second); err != nil {
		t.Error(err)
	}
}

func TestErrorsByEpisode(t *testing.T) {
	full, io := errors.New("disk full"), errors.New("i/o error")
	s := &fakeSink{}
	var heard []error
	h := handler.New(s, &handler.Options{FlushInterval: -1, OnError: func(err error) { heard = append(heard, err) }})

	steps := []struct {
		name string
		set  func()
		op   func() error
		want error
	}{
		{"works", func() {}, func() error { return handle(h, "1") }, nil},
		{"full", func() { s.refuse = full }, func() error { return handle(h, "2") }, full},
		{"still full", func() {}, func() error { return handle(h, "3") }, full},
		{"works again", func() { s.refuse = nil }, func() error { return handle(h, "4") }, nil},
		{"accepted behind a failing write", func() { s.setBehind(io) }, func() error { return handle(h, "5") }, io},
		{"flush fails too", func() {}, h.Flush, io},
		{"flush works", func() { s.setBehind(nil) }, h.Flush, nil},
	}
	for _, st := range steps {
		st.set()
		if err := st.op(); err != st.want {
			t.Errorf("%s: %v, want %v", st.name, err, st.want)
		}
	}
	if want := []error{full, io}; !reflect.DeepEqual(heard, want) {
		t.Errorf("OnError heard %v, want each episode once: %v", heard, want)
	}
	var msgs []string
	for _, l := range s.lines {
		_, msg, _ := strings.Cut(l, `"msg":`)
		msgs = append(msgs, strings.TrimSuffix(msg, "}\n"))
	}
	want := []string{`"1"`, `"tracehandler: events dropped","dropped":2,"error":"disk full"`, `"4"`, `"5"`}
	if !reflect.DeepEqual(msgs, want) {
		t.Errorf("trace holds\n%s\nwant\n%s", strings.Join(msgs, "\n"), strings.Join(want, "\n"))
	}
	st := h.Stats()
	if st.Events != 4 || st.Dropped != 2 || st.Episodes != 2 {
		t.Errorf("stats %+v, want 4 events, 2 dropped, 2 episodes", st)
	}
	if s.refused != st.Dropped {
		t.Errorf("the sink refused %d times for %d dropped events", s.refused, st.Dropped)
	}
	s.onEnd = io
	err := h.Close()
	if !errors.Is(err, full) || !errors.Is(err, io) {
		t.Errorf("Close: %v, want the first error of the life and that of closing", err)
	}
	if again := h.Close(); again != err {
		t.Errorf("second Close: %v, want the same as the first", again)
	}
}

func TestDropsAreReportedByClose(t *testing.T) {
	s := &fakeSink{refuse: errors.New("disk full")}
	h := handler.New(s, never)
	_ = handle(h, "lost")
	s.refuse = nil
	if err := h.Close(); err == nil || err.Error() != "disk full" {
		t.Errorf("Close: %v, want the first error of the life", err)
	}
	if len(s.lines) != 1 || !strings.Contains(s.lines[0], handler.DroppedMessage) {
		t.Errorf("trace holds %q, want the report of the drop", s.lines)
	}
}

func TestOnErrorMayLog(t *testing.T) {
	s := &fakeSink{refuse: errors.New("disk full")}
	var h *handler.Handler
	h = handler.New(s, &handler.Options{FlushInterval: -1, OnError: func(err error) { _ = handle(h, err.Error()) }})
	if err := handle(h, "lost"); err == nil {
		t.Error("no error")
	}
	if st := h.Stats(); st.Dropped != 2 {
		t.Errorf("dropped %d, want the event and the one that OnError logged", st.Dropped)
	}
}

func TestSyncLevel(t *testing.T) {
	s := &fakeSink{}
	h := handler.New(s, &handler.Options{FlushInterval: -1, SyncLevel: slog.LevelError})
	for _, l := range []slog.Level{slog.LevelInfo, slog.LevelError, slog.LevelWarn, slog.LevelError + 4} {
		if err := h.Handle(context.Background(), record(l, "m")); err != nil {
			t.Fatal(err)
		}
	}
	if want := []string{"sync", "sync"}; !reflect.DeepEqual(s.calls(), want) {
		t.Errorf("calls %v, want %v", s.calls(), want)
	}
	s.onSync = errors.New("EIO")
	if err := h.Handle(context.Background(), record(slog.LevelError, "m")); err != s.onSync {
		t.Errorf("Handle: %v, want the error of Sync", err)
	}
}

func TestFlushInterval(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &fakeSink{}
		h := handler.New(s, &handler.Options{FlushInterval: time.Second})
		at := func(d time.Duration, want ...string) {
			t.Helper()
			time.Sleep(d)
			synctest.Wait()
			if len(s.calls()) != len(want) {
				t.Errorf("calls %v, want %v", s.calls(), want)
			}
		}
		at(5 * time.Second) // nothing logged, nothing flushed
		_ = handle(h, "1")
		at(999 * time.Millisecond)
		_ = handle(h, "2")
		at(time.Millisecond, "flush") // counted from the first unflushed event
		at(5*time.Second, "flush")
		s.setBehind(errors.New("disk full"))
		_ = handle(h, "3")
		at(3*time.Second, "flush", "flush", "flush", "flush") // tried again though nothing is logged
		s.setBehind(nil)
		at(5*time.Second, "flush", "flush", "flush", "flush", "flush")
		_ = handle(h, "4")
		_ = h.Close()
		at(5*time.Second, "flush", "flush", "flush", "flush", "flush", "close")
	})
}

func TestFlushIntervalDoesNotWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := starterSink{&fakeSink{}}
		var heard []error
		h := handler.New(s, &handler.Options{FlushInterval: time.Second, OnError: func(err error) { heard = append(heard, err) }})
		defer h.Close()
		_ = handle(h, "1")
		time.Sleep(time.Second)
		synctest.Wait()
		failed := errors.New("disk full")
		s.setBehind(failed) // found out by the helper, after the flush was begun
		time.Sleep(3 * time.Second)
		synctest.Wait()
		if !reflect.DeepEqual(heard, []error{failed}) {
			t.Errorf("OnError heard %v of a failure while nothing is logged, want it once", heard)
		}
		s.setBehind(nil)
		time.Sleep(10 * time.Second)
		synctest.Wait()
		n := len(s.calls())
		time.Sleep(10 * time.Second)
		synctest.Wait()
		if len(s.calls()) != n {
			t.Error("the timer runs on though nothing is logged and nothing fails")
		}
		for _, c := range s.calls() {
			if c != "start" {
				t.Errorf("the timer called %s", c)
			}
		}
	})
}

func TestCloseOnDone(t *testing.T) {
	s := &fakeSink{}
	h := handler.New(s, never)
	ctx, cancel := context.WithCancel(context.Background())
	h.CloseOnDone(ctx)
	if err := h.Handle(ctx, record(slog.LevelInfo, "m")); err != nil {
		t.Fatal(err)
	}
	cancel()
	if err := h.Close(); err != nil {
		t.Error(err)
	}
	if err := handle(h, "m"); err != handler.ErrClosed {
		t.Errorf("Handle: %v, want ErrClosed", err)
	}

	h = handler.New(&fakeSink{}, never)
	ctx, cancel = context.WithCancel(context.Background())
	if stop := h.CloseOnDone(ctx); !stop() {
		t.Error("stop reports that the handler was closed")
	}
	cancel()
	if err := handle(h, "m"); err != nil {
		t.Errorf("Handle after a stopped CloseOnDone: %v", err)
	}
	_ = h.Close()
}

func TestSinkIsNeverEnteredTwice(t *testing.T) {
	s := &fakeSink{}
	h := handler.New(s, &handler.Options{FlushInterval: time.Microsecond})
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			log := slog.New(h).With("a", 1)
			for i := range 200 {
				log.Info("m", "i", i)
				if i%50 == 0 {
					_ = h.Flush()
					_ = h.Rotate()
					_ = h.Sync()
				}
			}
		})
	}
	wg.Wait()
	_ = h.Close()
	if s.race.Load() {
		t.Error("the sink was called without the lock")
	}
	if len(s.lines) != 800 {
		t.Errorf("%d events, want 800", len(s.lines))
	}
}
