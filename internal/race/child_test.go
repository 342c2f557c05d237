package race

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tracehandler/tracehandler/finalize"
	"github.com/tracehandler/tracehandler/handler"
	"github.com/tracehandler/tracehandler/sink"
)

// task is what a child process does until it is killed.
type task struct {
	Kind    string
	Path    string // of the trace; its directory holds nothing else
	Ledger  string // path of the file in which the child says how far it is
	First   int    // number of the first of childWorkers workers
	Seed    uint64
	Recover bool // recover the directory, instead of logging
	Close   int  // close after so many events, then go on calling Close; 0: never

	// Log so many events, flush, close, and nothing else; 0: not so.
	Finish     int
	Memory     int64 // of sink.Options.ArchiveMemory
	Background bool  // sink.Options.ArchiveInBackground
}

const childWorkers = 3

// ledger is a file of counters that outlives its writer: the operating system has each of them when Store returns.
type ledger struct{ f *os.File }

// The counters. Those of a worker stand in a row for each worker.
const (
	ready    = iota // 1: the child begins with its task
	closed          // 1: Close returned nil
	closing         // 1: Close begins
	begun           // events that the worker gave to Handle
	accepted = begun + childWorkers
	flushed  = accepted + childWorkers // events accepted before a Flush or Sync that returned nil
	counters = flushed + childWorkers
)

func (l ledger) store(counter, n int) {
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], uint64(n))
	if _, err := l.f.WriteAt(b[:], int64(counter*8)); err != nil {
		panic(err)
	}
}

func readLedger(path string) (counts [counters]int, err error) {
	b, err := os.ReadFile(path)
	for i := range counts {
		if len(b) >= i*8+8 {
			counts[i] = int(binary.LittleEndian.Uint64(b[i*8:]))
		}
	}
	return counts, err
}

// runChild is the main function of a child process. It returns only if the child was not killed.
func runChild(text string) int {
	var tk task
	err := json.Unmarshal([]byte(text), &tk)
	if err == nil {
		var f *os.File
		if f, err = os.OpenFile(tk.Ledger, os.O_RDWR|os.O_CREATE, 0o600); err == nil {
			err = tk.run(ledger{f})
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "child:", err)
		return 1
	}
	return 0
}

func (tk task) run(l ledger) error {
	if tk.Recover {
		l.store(ready, 1)
		_, err := finalize.Recover(filepath.Dir(tk.Path), nil)
		return err
	}
	k, err := kindNamed(tk.Kind)
	if err != nil {
		return err
	}
	if tk.Finish > 0 {
		return tk.finish(l, k)
	}
	rng := rand.New(rand.NewPCG(tk.Seed, 0))
	h := handler.New(sink.File(tk.Path, k.options(nil)), &handler.Options{
		FlushInterval: []time.Duration{-1, 0, 2 * time.Millisecond}[rng.IntN(3)],
	})
	l.store(ready, 1)
	errs := make(chan error, childWorkers+1)
	var acc [childWorkers]atomic.Int64
	var total atomic.Int64
	var wg sync.WaitGroup
	for w := range childWorkers {
		own := forWorker(h, tk.First+w)
		wg.Go(func() {
			for n := 0; ; n++ {
				l.store(begun+w, n+1)
				if err := own.Handle(background, id{tk.First + w, n}.record()); err != nil {
					if tk.Close == 0 || !errors.Is(err, handler.ErrClosed) {
						errs <- err
					}
					return
				}
				acc[w].Store(int64(n + 1))
				l.store(accepted+w, n+1)
				if total.Add(1) == int64(tk.Close) {
					if err := h.Close(); err != nil {
						errs <- fmt.Errorf("close: %w", err)
						return
					}
					l.store(closed, 1)
				}
			}
		})
	}
	wg.Go(func() { errs <- meddle(h, l, rng, &acc, tk.Close > 0) })
	if tk.Close > 0 {
		wg.Wait()
		return drain(errs)
	}
	return <-errs // without Close, nobody returns but with an error
}

// finish logs, flushes and closes.
func (tk task) finish(l ledger, k kind) error {
	o := k.options(nil)
	o.ArchiveMemory, o.ArchiveInBackground = tk.Memory, tk.Background
	h := handler.New(sink.File(tk.Path, o), &handler.Options{FlushInterval: -1})
	own := forWorker(h, tk.First)
	l.store(ready, 1)
	for n := range tk.Finish {
		if err := own.Handle(background, id{tk.First, n}.record()); err != nil {
			return err
		}
	}
	if err := h.Flush(); err != nil {
		return err
	}
	l.store(flushed, tk.Finish)
	l.store(closing, 1)
	if err := h.Close(); err != nil {
		return err
	}
	l.store(closed, 1)
	return nil
}

// meddle flushes, syncs and rotates at random, and says in the ledger what that made safe.
func meddle(h *handler.Handler, l ledger, rng *rand.Rand, acc *[childWorkers]atomic.Int64, closes bool) error {
	pause := time.Duration(1+rng.IntN(3000)) * time.Microsecond
	for {
		time.Sleep(time.Duration(rng.Int64N(int64(pause))))
		var before [childWorkers]int
		for w := range before {
			before[w] = int(acc[w].Load())
		}
		var err error
		switch rng.IntN(8) {
		case 0:
			err = h.Rotate()
		case 1, 2:
			err = h.Sync()
		default:
			err = h.Flush()
		}
		if closes && errors.Is(err, handler.ErrClosed) {
			return nil
		}
		if err != nil {
			return err
		}
		for w, n := range before {
			l.store(flushed+w, n)
		}
	}
}

func drain(errs chan error) error {
	var all error
	for {
		select {
		case err := <-errs:
			all = errors.Join(all, err)
		default:
			return all
		}
	}
}

func kindNamed(name string) (kind, error) {
	for _, k := range kinds {
		if k.name == name {
			return k, nil
		}
	}
	return kind{}, fmt.Errorf("no sink %q", name)
}
