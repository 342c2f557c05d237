package race

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/tracehandler/tracehandler/handler"
	"github.com/tracehandler/tracehandler/reader"
	"github.com/tracehandler/tracehandler/sink"
)

// TestFollowers: readers that follow a trace see each event once and in order, through flushes, rotations and Close.
func TestFollowers(t *testing.T) {
	const workers, events = 3, 800
	eachKind(t, func(t *testing.T, k kind) {
		path := filepath.Join(t.TempDir(), "trace"+k.suffix())
		h := handler.New(sink.File(path, k.options(nil)), &handler.Options{FlushInterval: time.Millisecond})
		must(t, forWorker(h, 99).Handle(background, id{99, 0}.record()))
		must(t, h.Flush())
		want := map[int]int{99: 1}
		for w := range workers {
			want[w] = events
		}
		var begun, following, logging sync.WaitGroup
		for f := range 2 {
			begun.Add(1)
			following.Go(func() {
				if err := follow(path, want, sync.OnceFunc(begun.Done)); err != nil {
					t.Errorf("follower %d: %v", f, err)
				}
			})
		}
		within(t, patient, "the first event", begun.Wait) // from here on, nothing may escape them
		for w := range workers {
			logging.Go(func() {
				own := forWorker(h, w)
				for n := range events {
					if err := own.Handle(background, id{w, n}.record()); err != nil {
						t.Errorf("worker %d: %v", w, err)
					}
					if w == 0 && n%200 == 199 {
						if err := h.Rotate(); err != nil {
							t.Errorf("Rotate: %v", err)
						}
					}
				}
			})
		}
		within(t, patient, "workers", logging.Wait)
		must(t, h.Close())
		within(t, 2*patient, "followers", following.Wait)
	})
}

// follow reads until it has seen all that is wanted. It calls begun at the first event.
func follow(path string, want map[int]int, begun func()) error {
	defer begun()
	ctx, cancel := context.WithTimeout(background, patient)
	defer cancel()
	left := maps.Clone(want)
	next := map[int]int{}
	for e, err := range reader.Follow(ctx, path, &reader.FollowOptions{Interval: time.Millisecond}) {
		if err != nil {
			return err
		}
		i, err := parseEvent(e)
		if err != nil {
			return err
		}
		if i.n != next[i.worker] {
			return fmt.Errorf("event %d of worker %d comes where %d should", i.n, i.worker, next[i.worker])
		}
		begun()
		next[i.worker]++
		if left[i.worker]--; left[i.worker] == 0 {
			if delete(left, i.worker); len(left) == 0 {
				return nil
			}
		}
	}
	return errors.Join(errors.New("events are missing at the end of the time"), ctx.Err())
}
