package race

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tracehandler/tracehandler/handler"
	"github.com/tracehandler/tracehandler/internal/vfs"
	"github.com/tracehandler/tracehandler/sink"
)

// logUntilClosed logs n events, or until the handler is closed, and returns the numbers of those that were accepted.
func logUntilClosed(h slog.Handler, worker, n int) (accepted []int, err error) {
	h = forWorker(h, worker)
	for i := range n {
		switch err := h.Handle(background, id{worker, i}.record()); {
		case err == nil:
			accepted = append(accepted, i)
		case errors.Is(err, handler.ErrClosed):
			if err := h.Handle(background, id{worker, i}.record()); !errors.Is(err, handler.ErrClosed) {
				return accepted, errors.Join(errors.New("an event is accepted after ErrClosed"), err)
			}
			return accepted, nil
		default:
			return accepted, err
		}
	}
	return accepted, nil
}

// TestEverybody: workers log, through derived handlers, while others flush, sync, rotate and look at the figures; then
// several close at once, in the middle of it. What was accepted is in the files, once, in order; nothing else is.
func TestEverybody(t *testing.T) {
	const workers, events = 6, 1000
	eachKind(t, func(t *testing.T, k kind) {
		for trial := range trials(4) {
			rng := newRand(t, trial)
			dir := t.TempDir()
			h := handler.New(sink.File(filepath.Join(dir, "trace"+k.suffix()), k.options(nil)), &handler.Options{
				FlushInterval: time.Millisecond,
				SyncLevel:     slog.LevelError,
				OnError:       func(err error) { t.Errorf("OnError: %v", err) },
			})
			accepted := make([][]int, workers)
			var logging, meddling sync.WaitGroup
			for w := range workers {
				logging.Go(func() {
					var err error
					if accepted[w], err = logUntilClosed(h, w, events); err != nil {
						t.Errorf("worker %d: %v", w, err)
					}
				})
			}
			stop := make(chan struct{})
			for i, op := range []func() error{h.Flush, h.Sync, h.Rotate, func() error { h.Stats(); return nil }} {
				rng := rand.New(rand.NewPCG(*seedFlag, uint64(i)))
				meddling.Go(func() {
					for {
						if err := op(); err != nil && !errors.Is(err, handler.ErrClosed) {
							t.Errorf("operation %d: %v", i, err)
						}
						select {
						case <-stop:
							return
						case <-time.After(time.Duration(rng.IntN(int(5 * time.Millisecond)))):
						}
					}
				})
			}
			if trial > 0 {
				time.Sleep(time.Duration(rng.IntN(int(40 * time.Millisecond))))
			} else {
				within(t, patient, "logging", logging.Wait)
			}
			var closing sync.WaitGroup
			for range 3 {
				closing.Go(func() {
					if err := h.Close(); err != nil {
						t.Errorf("Close: %v", err)
					}
				})
			}
			within(t, patient, "Close", closing.Wait)
			close(stop)
			within(t, patient, "everybody", func() { meddling.Wait(); logging.Wait() })

			want := map[int][]int{}
			total := 0
			for w, ns := range accepted {
				if len(ns) > 0 {
					want[w] = ns
				}
				total += len(ns)
			}
			tr, err := readDir(vfs.OS, dir)
			must(t, errors.Join(err, tr.checkClean(), tr.checkExactly(want), checkNames(vfs.OS, dir, k)))
			if s := h.Stats(); s.Events != int64(total) || s.Dropped != 0 || s.Sink.WrittenEvents != int64(total) {
				t.Errorf("%d events were accepted, Stats: %+v", total, s)
			}
			if trial == 0 && total != workers*events {
				t.Errorf("%d of %d events accepted", total, workers*events)
			}
		}
	})
}

// TestClosedAtOnce: when any Close has begun to return, no event is accepted any more, and the files change no more.
func TestClosedAtOnce(t *testing.T) {
	eachKind(t, func(t *testing.T, k kind) {
		for trial := range trials(20) {
			dir := t.TempDir()
			h := handler.New(sink.File(filepath.Join(dir, "trace"+k.suffix()), k.options(nil)), nil)
			var closed atomic.Bool
			var wg sync.WaitGroup
			for w := range 3 {
				own := forWorker(h, w)
				wg.Go(func() {
					for n := 0; ; n++ {
						wasClosed := closed.Load()
						err := own.Handle(background, id{w, n}.record())
						if wasClosed && !errors.Is(err, handler.ErrClosed) {
							t.Errorf("trial %d: Handle after Close: %v", trial, err)
						}
						if err != nil {
							return
						}
					}
				})
			}
			time.Sleep(time.Duration(newRand(t, trial).IntN(int(time.Millisecond))))
			must(t, h.Close())
			closed.Store(true)
			before, err := readDir(vfs.OS, dir)
			must(t, err)
			within(t, patient, "workers", wg.Wait)
			for name, op := range map[string]func() error{"Flush": h.Flush, "Sync": h.Sync, "Rotate": h.Rotate} {
				if err := op(); !errors.Is(err, handler.ErrClosed) {
					t.Errorf("%s after Close: %v", name, err)
				}
			}
			must(t, h.Close())
			after, err := readDir(vfs.OS, dir)
			must(t, errors.Join(err, after.checkClean()))
			if len(after.ids) != len(before.ids) {
				t.Errorf("trial %d: %d events after Close returned, %d later", trial, len(before.ids), len(after.ids))
			}
		}
	})
}

// TestContextEnds: a context that ends closes the handler while workers log, once, and a stopped one does not.
func TestContextEnds(t *testing.T) {
	eachKind(t, func(t *testing.T, k kind) {
		dir := t.TempDir()
		h := handler.New(sink.File(filepath.Join(dir, "trace"+k.suffix()), k.options(nil)), nil)
		never, cancelNever := context.WithCancel(background)
		if stop := h.CloseOnDone(never); !stop() {
			t.Error("stop of a live context reports that it came too late")
		}
		cancelNever()
		ctx, cancel := context.WithCancel(background)
		for range 3 {
			h.CloseOnDone(ctx)
		}
		accepted := make([][]int, 4)
		var wg sync.WaitGroup
		for w := range accepted {
			wg.Go(func() {
				var err error
				if accepted[w], err = logUntilClosed(h, w, 1<<30); err != nil {
					t.Errorf("worker %d: %v", w, err)
				}
			})
		}
		time.Sleep(20 * time.Millisecond)
		cancel()
		within(t, patient, "workers", wg.Wait)
		must(t, h.Close()) // waits for the one that the context began
		want := map[int][]int{}
		for w, ns := range accepted {
			if len(ns) > 0 {
				want[w] = ns
			}
		}
		if len(want) == 0 {
			t.Error("nothing was logged before the context ended")
		}
		tr, err := readDir(vfs.OS, dir)
		must(t, errors.Join(err, tr.checkClean(), tr.checkExactly(want), checkNames(vfs.OS, dir, k)))
	})
}
