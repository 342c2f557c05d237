package race

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tracehandler/tracehandler/finalize"
	"github.com/tracehandler/tracehandler/handler"
	"github.com/tracehandler/tracehandler/internal/vfs"
	"github.com/tracehandler/tracehandler/naming"
	"github.com/tracehandler/tracehandler/reader"
	"github.com/tracehandler/tracehandler/sink"
)

// TestOneWriter: of several handlers on one file, one has it, and the others drop until it closes; then another has it.
// What each of them accepted is in the file.
func TestOneWriter(t *testing.T) {
	eachKind(t, func(t *testing.T, k kind) {
		dir := t.TempDir()
		accounts := make([]*account, 4)
		want := map[int][]int{}
		var wg sync.WaitGroup
		for w := range accounts {
			a := newAccount(sink.File(filepath.Join(dir, "trace"+k.suffix()), k.options(nil)))
			accounts[w] = a
			wg.Go(func() {
				for deadline := time.Now().Add(patient); len(a.accepted[w]) < 50; {
					a.log(w, 10)
					if time.Now().After(deadline) {
						t.Errorf("writer %d never had the file", w)
						break
					}
					if len(a.accepted[w]) == 0 {
						time.Sleep(time.Millisecond)
					}
				}
				var locked *sink.LockedError
				if err := a.h.Close(); err != nil && !errors.As(err, &locked) {
					t.Errorf("writer %d: Close: %v", w, err)
				}
			})
		}
		within(t, 2*patient, "writers", wg.Wait)
		dropped := int64(0)
		for w, a := range accounts {
			want[w] = a.accepted[w]
			dropped += a.dropped
		}
		tr, err := readDir(vfs.OS, dir)
		must(t, errors.Join(err, tr.checkClean(), tr.checkExactly(want), checkNames(vfs.OS, dir, k)))
		if tr.dropped != dropped {
			t.Errorf("%d events were dropped, the trace says %d", dropped, tr.dropped)
		}
	})
}

// TestRecoverLive: recovery, in a loop, of a directory in which a handler logs and rotates, leaves the live partial alone,
// also in the instant in which it is made.
func TestRecoverLive(t *testing.T) {
	eachKind(t, func(t *testing.T, k kind) {
		dir := t.TempDir()
		a := newAccount(sink.File(filepath.Join(dir, "trace"+k.suffix()), k.options(nil)))
		stop := make(chan struct{})
		var wg sync.WaitGroup
		refused := 0
		wg.Go(func() {
			for {
				_, err := finalize.Recover(dir, nil)
				var locked *finalize.LockedError
				if errors.As(err, &locked) {
					refused++
				} else if err != nil && !errors.Is(err, os.ErrNotExist) {
					t.Errorf("Recover: %v", err)
				}
				select {
				case <-stop:
					return
				default:
				}
			}
		})
		for range 60 {
			a.log(0, 5)
			err := a.h.Rotate()
			var locked *sink.LockedError
			if err != nil && !errors.As(err, &locked) {
				t.Errorf("Rotate: %v", err)
			}
		}
		a.logAgain(t)
		close(stop)
		within(t, patient, "recovery", wg.Wait)
		_ = a.h.Close() // the first error of its life: a moment in which recovery had the lock
		must(t, a.settle(vfs.OS, dir, k))
		if refused == 0 {
			t.Error("recovery never met a live partial")
		}
	})
}

// TestReadWhileWritten: a reader of a partial gets a beginning of what was logged, in order, and at most a torn end.
func TestReadWhileWritten(t *testing.T) {
	eachKind(t, func(t *testing.T, k kind) {
		path := filepath.Join(t.TempDir(), "trace"+k.suffix())
		h := handler.New(sink.File(path, k.options(nil)), &handler.Options{FlushInterval: time.Millisecond})
		must(t, forWorker(h, 9).Handle(background, id{9, 0}.record()))
		must(t, h.Flush())
		var stop atomic.Bool
		var wg sync.WaitGroup
		for w := range 2 {
			own := forWorker(h, w)
			wg.Go(func() {
				for n := 0; n < 4000 && !stop.Load(); n++ {
					if err := own.Handle(background, id{w, n}.record()); err != nil {
						t.Errorf("worker %d: %v", w, err)
						return
					}
				}
			})
		}
		most := 0
		for range trials(12) {
			var tr trace
			must(t, readFile(vfs.OS, path+naming.PartialSuffix, &tr))
			must(t, tr.checkPrefix(map[int]int{9: 1}, map[int]int{0: 4000, 1: 4000, 9: 1}))
			for _, r := range tr.reports {
				var torn *reader.TornError
				if !errors.As(r, &torn) {
					t.Errorf("a partial that is being written: %v", r)
				}
			}
			if len(tr.ids) < most {
				t.Errorf("%d events, though there had been %d", len(tr.ids), most)
			}
			most = len(tr.ids)
		}
		stop.Store(true)
		wg.Wait()
		must(t, h.Close())
	})
}

// TestRanks: two processes' handlers in one directory, whose ranks change under way. Each event is in a file of its
// process, once; the files of a process hold its events in order, and their names say whose they are.
func TestRanks(t *testing.T) {
	eachKind(t, func(t *testing.T, k kind) {
		dir := t.TempDir()
		const pids, workers, events, ranks = 2, 3, 500, 3
		var everybody sync.WaitGroup
		for p := range pids {
			everybody.Go(func() {
				var rank atomic.Int64
				scheme := naming.Scheme{User: "u", Host: "h", PID: p + 1, Rank: func() naming.Rank { return naming.Rank(rank.Load()) }}
				h := handler.New(sink.Dir(dir, scheme, k.options(nil)), &handler.Options{FlushInterval: time.Millisecond})
				var logging sync.WaitGroup
				for w := range workers {
					own := forWorker(h, p*10+w)
					logging.Go(func() {
						for n := range events {
							if err := own.Handle(background, id{p*10 + w, n}.record()); err != nil {
								t.Errorf("process %d, worker %d: %v", p, w, err)
							}
							if w == 0 && n%100 == 99 {
								rank.Store(int64(n/100%(ranks+1)) - 1)
							}
						}
					})
				}
				logging.Wait()
				if err := h.Close(); err != nil {
					t.Errorf("process %d: Close: %v", p, err)
				}
			})
		}
		within(t, patient, "everybody", everybody.Wait)
		must(t, checkNames(vfs.OS, dir, k))
		entries, err := os.ReadDir(dir)
		must(t, err)
		seen := map[id]bool{}
		for _, e := range entries {
			var tr trace
			must(t, readFile(vfs.OS, filepath.Join(dir, e.Name()), &tr))
			must(t, tr.checkClean())
			fields := naming.Parse(e.Name())
			if fields.PID < 1 || fields.PID > pids || fields.Rank >= ranks || fields.User != "u" {
				t.Errorf("%s says %+v", e.Name(), fields)
			}
			for w, ns := range tr.perWorker() {
				if w/10 != fields.PID-1 {
					t.Errorf("%s holds events of worker %d", e.Name(), w)
				}
				for i, n := range ns {
					if i > 0 && n <= ns[i-1] || seen[id{w, n}] {
						t.Errorf("%s: event %d of worker %d is doubled or out of order", e.Name(), n, w)
					}
					seen[id{w, n}] = true
				}
			}
		}
		if len(seen) != pids*workers*events {
			t.Errorf("%d events of %d", len(seen), pids*workers*events)
		}
		if len(entries) < pids*2 {
			t.Errorf("%d files: the ranks did not change", len(entries))
		}
	})
}

// flakyWriter takes a random part of what it is given, and sometimes fails.
type flakyWriter struct {
	mu   sync.Mutex
	rng  *rand.Rand
	bad  bool
	buf  bytes.Buffer
	fail int // errors returned
}

func (w *flakyWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.bad || w.rng.IntN(2) == 0 {
		return w.buf.Write(p)
	}
	w.fail++
	n := w.rng.IntN(len(p) + 1)
	w.buf.Write(p[:n])
	if n < len(p) && w.rng.IntN(2) == 0 {
		return n, io.ErrShortWrite
	}
	return n, errDisk
}

func (w *flakyWriter) setBad(bad bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.bad = bad
}

// TestFlakyWriter: a writer that takes less than it is given, and fails, gets every byte once in the end.
func TestFlakyWriter(t *testing.T) {
	eachOf(t, streamKinds(), func(t *testing.T, k kind) {
		for trial := range trials(5) {
			w := &flakyWriter{rng: newRand(t, trial)}
			a := newAccount(sink.Writer(w, k.options(nil)))
			for range 3 {
				w.setBad(true)
				a.everybody(t, 150)
				w.setBad(false)
				within(t, patient, "Flush", func() { must(t, a.h.Flush()) })
				a.logAgain(t)
			}
			err := a.h.Close()
			if (err != nil) != (w.fail > 0) || err != nil && !errors.Is(err, errDisk) && !errors.Is(err, io.ErrShortWrite) {
				t.Errorf("trial %d: Close: %v, after %d failures", trial, err, w.fail)
			}
			tr, err := readBytes(w.buf.Bytes(), "pipe")
			must(t, errors.Join(err, tr.checkClean(), tr.checkExactly(a.accepted)))
			if tr.dropped != a.dropped {
				t.Errorf("trial %d: %d events dropped, the trace says %d", trial, a.dropped, tr.dropped)
			}
		}
	})
}

// TestOptionErrors: a sink that cannot work says so in Handle, once through OnError, and in Close; it makes no file.
func TestOptionErrors(t *testing.T) {
	eachKind(t, func(t *testing.T, k kind) {
		dir := t.TempDir()
		o := k.options(nil)
		o.Level = 77
		var told []string
		h := handler.New(sink.File(filepath.Join(dir, "trace"), o), &handler.Options{OnError: func(err error) { told = append(told, fmt.Sprint(err)) }})
		var option *sink.OptionError
		for n := range 3 {
			if err := h.Handle(background, id{0, n}.record()); !errors.As(err, &option) {
				t.Errorf("Handle: %v", err)
			}
		}
		if err := h.Close(); !errors.As(err, &option) {
			t.Errorf("Close: %v", err)
		}
		if len(told) != 1 || !strings.Contains(told[0], "77") {
			t.Errorf("OnError heard %q", told)
		}
		if entries, err := os.ReadDir(dir); err != nil || len(entries) != 0 {
			t.Errorf("%d files, %v", len(entries), err)
		}
	})
}
