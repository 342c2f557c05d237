package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/tracehandler/tracehandler/cmd/tracectl/internal/filter"
	"github.com/tracehandler/tracehandler/event"
	"github.com/tracehandler/tracehandler/naming"
	"github.com/tracehandler/tracehandler/reader"
)

const (
	// settle is how long events wait for earlier ones of other files.
	settle = 100 * time.Millisecond
	// crowd is how many events wait at most.
	crowd = 4096
)

// arrival is what happens to one followed file: an event, a trouble, or that it is read up to its present end.
type arrival struct {
	file   int
	e      event.Event
	err    error
	caught bool
}

// follow prints events as they are written until the command is interrupted or has printed --head of them.
func follow(cmd *cobra.Command, paths []string, o *catOptions, f *filter.Filter, p *printer, t *troubles) error {
	if slices.ContainsFunc(paths, flows) {
		if len(paths) > 1 {
			return &usageError{cmd, errors.New("standard input and pipes cannot be followed together with files")}
		}
		ins := openAll(cmd, paths, t)
		defer closeAll(ins)
		o.tail = count{} // the last of a pipe are known when it ends
		p.live = true
		return printAll(ins, o, f, p, t, func() {})
	}
	ctx, stop := interruptible(cmd)
	defer stop()
	ctx, cancel := context.WithCancel(ctx)
	arrivals := make(chan arrival, 64)
	var watchers sync.WaitGroup
	for i, path := range paths {
		if !exists(path) && !exists(path+naming.PartialSuffix) {
			complain(cmd.ErrOrStderr(), fmt.Errorf("%s: not there yet; waiting for it", path))
		}
		watchers.Go(func() { watch(ctx, i, path, readerOptions(cmd), f, arrivals) })
	}
	go func() { watchers.Wait(); close(arrivals) }()
	defer func() {
		cancel()
		for range arrivals { // until the watchers are gone
		}
	}()

	w := &waiting{p: p, tail: o.tail, head: o.head, history: len(paths), caught: make([]bool, len(paths)), last: make([]time.Time, len(paths))}
	tick := time.NewTicker(settle)
	defer tick.Stop()
	for !w.head.none() {
		select {
		case a, ok := <-arrivals:
			switch {
			case !ok:
				if err := w.print(); err != nil {
					return err
				}
				return t.result()
			case a.err != nil:
				t.add(a.err)
			default:
				if err := w.take(a); err != nil {
					return err
				}
			}
		case <-tick.C:
			if w.history == 0 {
				if err := w.print(); err != nil {
					return err
				}
			}
		}
	}
	return t.result()
}

// flows reports whether what comes from path is there once, and nothing can be looked at again.
func flows(path string) bool {
	if path == stdin {
		return true
	}
	info, err := os.Stat(path)
	return err == nil && info.Mode()&(fs.ModeNamedPipe|fs.ModeSocket|fs.ModeDevice) != 0
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// watch sends what happens to one file until ctx ends.
func watch(ctx context.Context, file int, path string, opts reader.Options, f *filter.Filter, to chan<- arrival) {
	send := func(a arrival) {
		select {
		case to <- a:
		case <-ctx.Done():
		}
	}
	defer send(arrival{file: file, caught: true}) // a file that ended is not waited for
	o := &reader.FollowOptions{Options: opts, CaughtUp: func() { send(arrival{file: file, caught: true}) }}
	for e, err := range reader.Follow(ctx, path, o) {
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			send(arrival{file: file, err: err})
		case f.Match(e):
			send(arrival{file: file, e: e.Clone()})
		}
	}
}

// waiting holds events back until those of other files that belong before them have come.
type waiting struct {
	p       *printer
	tail    count
	head    count // how many are still to print
	history int   // files that are not yet read up to where they ended at the start
	caught  []bool
	events  []timed
	last    []time.Time // by file, for events without a time
}

type timed struct {
	at time.Time
	e  event.Event
}

func (w *waiting) take(a arrival) error {
	if a.caught {
		if !w.caught[a.file] {
			w.caught[a.file] = true
			if w.history--; w.history == 0 {
				w.cutHistory()
				return w.print()
			}
		}
		return nil
	}
	if at, ok := a.e.Time(); ok {
		w.last[a.file] = at
	}
	w.events = append(w.events, timed{w.last[a.file], a.e})
	switch {
	case w.history > 0 && w.tail.set:
		if len(w.events) >= crowd+2*w.tail.n {
			w.cutHistory()
		}
	case len(w.events) >= crowd:
		return w.print()
	}
	return nil
}

// cutHistory keeps the last events of what was there at the start.
func (w *waiting) cutHistory() {
	w.sort()
	if w.tail.set && len(w.events) > w.tail.n {
		w.events = slices.Clone(w.events[len(w.events)-w.tail.n:])
	}
}

func (w *waiting) sort() {
	slices.SortStableFunc(w.events, func(a, b timed) int { return a.at.Compare(b.at) })
}

func (w *waiting) print() error {
	if len(w.events) == 0 {
		return nil
	}
	w.sort()
	for _, x := range w.events {
		if w.head.none() {
			break
		}
		w.head.n--
		if err := w.p.print(x.e); err != nil {
			return err
		}
	}
	clear(w.events)
	w.events = w.events[:0]
	return w.p.flush()
}
