package race

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/tracehandler/tracehandler/finalize"
	"github.com/tracehandler/tracehandler/handler"
	"github.com/tracehandler/tracehandler/internal/vfs"
	"github.com/tracehandler/tracehandler/internal/vfs/crashfs"
	"github.com/tracehandler/tracehandler/internal/vfs/errorfs"
	"github.com/tracehandler/tracehandler/sink"
)

// account logs on a bad disk and keeps account of what was accepted.
type account struct {
	h        *handler.Handler
	mu       sync.Mutex
	accepted map[int][]int
	next     map[int]int
	dropped  int64
	told     atomic.Int64 // calls of OnError
}

func newAccount(s sink.Sink) *account {
	a := &account{accepted: map[int][]int{}, next: map[int]int{}}
	a.h = handler.New(s, &handler.Options{
		FlushInterval: 5 * time.Millisecond,
		OnError:       func(error) { a.told.Add(1) },
	})
	return a
}

// log logs n events of a worker, who must be the only one to do so at a time. An event counts as accepted unless the
// sink says that it dropped it.
func (a *account) log(worker, n int) {
	own := forWorker(a.h, worker)
	a.mu.Lock()
	next := a.next[worker]
	a.mu.Unlock()
	var accepted []int
	dropped := int64(0)
	for range n {
		err := own.Handle(background, id{worker, next}.record())
		var drop *sink.DropError
		if errors.As(err, &drop) {
			dropped++
		} else if !errors.Is(err, handler.ErrClosed) {
			accepted = append(accepted, next)
		}
		next++
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.next[worker] = next
	a.accepted[worker] = append(a.accepted[worker], accepted...)
	a.dropped += dropped
}

// logAgain logs until an event is accepted, which brings the report of drops into the trace. On a disk that works, the
// first is, unless the sink is still pausing after an attempt to open the file.
func (a *account) logAgain(t *testing.T) {
	within(t, patient, "logging on a disk that works again", func() {
		for before := a.h.Stats().Events; a.h.Stats().Events == before; time.Sleep(time.Millisecond) {
			a.log(0, 1)
		}
	})
}

// settle checks a trace that was closed on a disk that works again: everything accepted is there, and the trace says how
// many events are not.
func (a *account) settle(fsys vfs.FS, dir string, k kind) error {
	if _, err := finalize.Recover(dir, &finalize.Options{FS: fsys}); err != nil {
		return fmt.Errorf("recovery: %w", err)
	}
	tr, err := readDir(fsys, dir)
	if err := errors.Join(err, tr.checkClean(), tr.checkExactly(a.accepted), checkNames(fsys, dir, k)); err != nil {
		return err
	}
	s := a.h.Stats()
	if s.Dropped != a.dropped || tr.dropped != a.dropped {
		return fmt.Errorf("%d events were dropped, Stats says %d, the trace %d", a.dropped, s.Dropped, tr.dropped)
	}
	if told := a.told.Load(); told != s.Episodes {
		return fmt.Errorf("OnError was told %d times of %d episodes", told, s.Episodes)
	}
	if s.Sink.LostEvents != 0 {
		return fmt.Errorf("%d accepted events are lost, says Stats", s.Sink.LostEvents)
	}
	return nil
}

// TestFullDisk: a disk fills up while workers log, and is given room again. Nothing stops; what was accepted is there.
// With $TRACEHANDLER_SMALL_DISK, a directory on a file system of a few MiB, a real disk fills up too.
func TestFullDisk(t *testing.T) {
	eachKind(t, func(t *testing.T, k kind) {
		t.Run("budget", func(t *testing.T) {
			for trial := range trials(4) {
				rng := newRand(t, trial)
				fsys := errorfs.Wrap(vfs.OS)
				fullDisk(t, k, fsys, t.TempDir(), func() { fsys.SetSpace(rng.Int64N(20 << 10)) }, func() { fsys.SetSpace(-1) })
			}
		})
		if small := os.Getenv("TRACEHANDLER_SMALL_DISK"); small != "" {
			t.Run("real", func(t *testing.T) {
				smallDisk.Lock()
				defer smallDisk.Unlock()
				dir, err := os.MkdirTemp(small, "race")
				must(t, err)
				defer os.RemoveAll(dir)
				ballast := filepath.Join(small, "ballast")
				fill := func() {
					f, err := os.Create(ballast)
					must(t, err)
					defer f.Close()
					for n := 0; err == nil; n++ {
						if n > 1<<14 {
							t.Fatalf("%s holds more than 1 GiB", small)
						}
						_, err = f.Write(bytes.Repeat([]byte("ballast "), 8<<10))
					}
					if !errors.Is(err, syscall.ENOSPC) {
						t.Fatal(err)
					}
				}
				fullDisk(t, k, vfs.OS, dir, fill, func() { must(t, os.Remove(ballast)) })
			})
		}
	})
}

// smallDisk is held by the one test that uses it.
var smallDisk sync.Mutex

func fullDisk(t *testing.T, k kind, fsys vfs.FS, dir string, fill, free func()) {
	a := newAccount(sink.File(filepath.Join(dir, "trace"+k.suffix()), k.options(fsys)))
	for range 2 {
		a.everybody(t, 100)
		fill()
		a.everybody(t, 600)
		within(t, patient, "Flush", func() {
			if err := a.h.Flush(); err == nil {
				t.Error("Flush on a full disk: no error")
			}
		})
		free()
		within(t, patient, "Flush", func() { must(t, a.h.Flush()) })
		a.logAgain(t)
	}
	if a.dropped == 0 {
		t.Error("a full disk dropped nothing")
	}
	within(t, patient, "Close", func() {
		if err := a.h.Close(); !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("Close, after a disk was full: %v", err)
		}
	})
	if entries, err := fsys.ReadDir(dir); err != nil || len(entries) != 1 || entries[0].Name() != "trace"+k.suffix() {
		t.Errorf("Close left %v, %v", entries, err)
	}
	must(t, a.settle(fsys, dir, k))
}

// everybody lets three workers log at once.
func (a *account) everybody(t *testing.T, n int) {
	within(t, patient, "logging", func() {
		var wg sync.WaitGroup
		for w := range 3 {
			wg.Go(func() { a.log(w, n) })
		}
		wg.Wait()
	})
}

// TestBadDisk: calls of the file system fail and writes are short, at random, while workers log and others flush, sync
// and rotate. When the disk works again, so does the handler, and what was accepted is there.
func TestBadDisk(t *testing.T) {
	eachKind(t, func(t *testing.T, k kind) {
		for trial := range trials(25) {
			rng := newRand(t, trial)
			mem := crashfs.New()
			must(t, mem.MkdirAll("dir", 0o700))
			fsys := errorfs.Wrap(mem)
			a := newAccount(sink.File(filepath.Join("dir", "trace"+k.suffix()), k.options(fsys)))
			for range 1 + rng.IntN(3) {
				lift := spoil(fsys, rng)
				var wg sync.WaitGroup
				for _, op := range []func() error{a.h.Flush, a.h.Sync, a.h.Rotate} {
					if rng.IntN(2) == 0 {
						wg.Go(func() {
							for range 5 {
								_ = op() // it may fail: the disk is bad
								time.Sleep(time.Millisecond)
							}
						})
					}
				}
				a.everybody(t, 100)
				within(t, patient, "operations", wg.Wait)
				lift()
				within(t, patient, "Flush", func() {
					if err := a.h.Flush(); err != nil {
						t.Fatalf("trial %d: Flush on a disk that works again: %v", trial, err)
					}
				})
				a.logAgain(t)
			}
			within(t, patient, "Close", func() {
				err := a.h.Close()
				var injected *errorfs.Error
				if err != nil && !errors.As(err, &injected) {
					t.Errorf("trial %d: Close: %v", trial, err)
				}
			})
			if err := a.settle(fsys, "dir", k); err != nil {
				t.Fatalf("trial %d: %v", trial, err)
			}
		}
	})
}

// spoil makes some calls fail.
func spoil(fsys *errorfs.FS, rng *rand.Rand) (lift func()) {
	var lifts []func()
	part := rng.Float64() * rng.Float64()
	for _, op := range []errorfs.Op{errorfs.Open, errorfs.Write, errorfs.Sync, errorfs.Truncate, errorfs.Rename, errorfs.SyncDir,
		errorfs.Seek, errorfs.Stat, errorfs.Lock, errorfs.Close, errorfs.Remove, errorfs.Read} {
		if rng.IntN(3) == 0 {
			lifts = append(lifts, fsys.Fail(syscall.EIO, errorfs.Ops(op), errorfs.Sometimes(part, rand.New(rand.NewPCG(rng.Uint64(), 0)))))
		}
	}
	if rng.IntN(2) == 0 {
		cut := rand.New(rand.NewPCG(rng.Uint64(), 0))
		lifts = append(lifts, fsys.ShortWrite(syscall.ENOSPC, func(n int) int { return cut.IntN(n) }, errorfs.Sometimes(part, cut)))
	}
	if rng.IntN(4) == 0 {
		fsys.SetSpace(rng.Int64N(20 << 10))
	}
	return func() {
		for _, lift := range lifts {
			lift()
		}
		fsys.SetSpace(-1)
	}
}

// TestDeadDisk: a disk that never works again loses what could not be written; Close says how many events, and the rest
// is a trace after recovery. Nothing stops meanwhile.
func TestDeadDisk(t *testing.T) {
	eachKind(t, func(t *testing.T, k kind) {
		for trial := range trials(10) {
			rng := newRand(t, trial)
			mem := crashfs.New()
			must(t, mem.MkdirAll("dir", 0o700))
			fsys := errorfs.Wrap(mem)
			o := k.options(fsys)
			o.CloseWait = time.Millisecond
			a := newAccount(sink.File(filepath.Join("dir", "trace"+k.suffix()), o))
			a.log(0, rng.IntN(200))
			lift := fsys.Fail(syscall.EIO, errorfs.Ops(errorfs.Write), errorfs.After(rng.IntN(3)))
			within(t, patient, "logging", func() { a.log(0, 500) })
			var err error
			within(t, patient, "Close", func() { err = a.h.Close() })
			var lost *sink.LostError
			if !errors.As(err, &lost) || lost.Events <= 0 || !errors.Is(err, syscall.EIO) {
				t.Fatalf("trial %d: Close on a dead disk: %v", trial, err)
			}
			if s := a.h.Stats(); s.Dropped != a.dropped || s.Sink.LostEvents != lost.Events || s.Sink.WrittenEvents+lost.Events != s.Events {
				t.Errorf("trial %d: %d dropped, %d lost, Stats: %+v", trial, a.dropped, lost.Events, s)
			}
			lift()
			_, err = finalize.Recover("dir", &finalize.Options{FS: fsys})
			must(t, err)
			tr, err := readDir(fsys, "dir")
			must(t, errors.Join(err, tr.checkClean()))
			// Lost are the last events accepted, reports of drops perhaps among them.
			all := a.accepted[0]
			told := a.h.Stats().Events - int64(len(all))
			if n := len(all) - len(tr.ids); n < 0 || int64(n) > lost.Events || int64(n) < lost.Events-told {
				t.Errorf("trial %d: %d accepted, %d there, Close says %d are lost", trial, len(all), len(tr.ids), lost.Events)
			}
			all = all[:len(tr.ids)]
			if len(all) > 0 {
				must(t, tr.checkExactly(map[int][]int{0: all}))
			}
		}
	})
}

// TestHangingDisk: a disk that hangs in the middle of a call holds up nobody for longer than the sink's patience.
func TestHangingDisk(t *testing.T) {
	eachKind(t, func(t *testing.T, k kind) {
		for _, op := range []errorfs.Op{errorfs.Open, errorfs.Write, errorfs.Sync} {
			t.Run(op.String(), func(t *testing.T) {
				mem := crashfs.New()
				must(t, mem.MkdirAll("dir", 0o700))
				fsys := errorfs.Wrap(mem)
				release := make(chan struct{})
				fsys.Before(func(errorfs.Call) { <-release }, errorfs.Ops(op))
				o := k.options(fsys)
				o.Patience, o.CloseWait = 20*time.Millisecond, 20*time.Millisecond
				a := newAccount(sink.File(filepath.Join("dir", "trace"+k.suffix()), o))
				a.everybody(t, 300)
				for name, do := range map[string]func() error{"Flush": a.h.Flush, "Sync": a.h.Sync, "Rotate": a.h.Rotate} {
					within(t, patient, name, func() {
						if err := do(); err == nil && (op != errorfs.Sync || name != "Flush") {
							t.Errorf("%s on a disk that hangs: no error", name)
						}
					})
				}
				a.everybody(t, 10)
				var err error
				within(t, patient, "Close", func() { err = a.h.Close() })
				if !errors.Is(err, sink.ErrStalled) {
					t.Errorf("Close on a disk that hangs: %v", err)
				}
				close(release)
			})
		}
	})
}

// TestDiskGoesAndComes: with SyncLevel, a record is on the disk when Handle returns nil, whatever the disk did before.
func TestDiskGoesAndComes(t *testing.T) {
	eachKind(t, func(t *testing.T, k kind) {
		for trial := range trials(10) {
			rng := newRand(t, trial)
			mem := crashfs.New()
			makeDir(t, mem)
			fsys := errorfs.Wrap(mem)
			h := handler.New(sink.File(filepath.Join(powerDir, "trace"+k.suffix()), k.options(fsys)),
				&handler.Options{FlushInterval: -1, SyncLevel: slog.LevelInfo})
			own := forWorker(h, 0)
			low := 0
			for n := range 60 {
				lift := func() {}
				if rng.IntN(3) == 0 {
					lift = fsys.Fail(syscall.EIO, errorfs.Ops(errorfs.Write|errorfs.Open|errorfs.SyncDir), errorfs.Sometimes(0.5, rng))
				}
				err := own.Handle(background, id{0, n}.record())
				lift()
				if err != nil {
					// It may be there or not: the check below allows for gaps behind what is safe.
					continue
				}
				low++
				c := crash{fsys: mem.CrashClone(crashfs.LoseAll, nil)}
				_, err = finalize.Recover(powerDir, &finalize.Options{FS: c.fsys})
				must(t, err)
				tr, err := readDir(c.fsys, powerDir)
				must(t, err)
				if len(tr.ids) < low || tr.ids[len(tr.ids)-1] != (id{0, n}) {
					t.Fatalf("trial %d: Handle returned nil for event %d, but after a crash there are %d events, the last %v",
						trial, n, len(tr.ids), tr.ids[max(len(tr.ids)-1, 0):])
				}
			}
			if err := h.Close(); err != nil && !errors.Is(err, syscall.EIO) {
				t.Errorf("Close: %v", err)
			}
		}
	})
}
