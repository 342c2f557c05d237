package race

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/tracehandler/tracehandler/finalize"
	"github.com/tracehandler/tracehandler/handler"
	"github.com/tracehandler/tracehandler/internal/vfs"
	"github.com/tracehandler/tracehandler/internal/vfs/crashfs"
	"github.com/tracehandler/tracehandler/internal/vfs/errorfs"
	"github.com/tracehandler/tracehandler/sink"
)

// mutations are the calls that a power cut can come before.
const mutations = errorfs.Open | errorfs.Rename | errorfs.Remove | errorfs.Mkdir | errorfs.SyncDir | errorfs.Write |
	errorfs.Truncate | errorfs.Sync | errorfs.Close

// crash is what a machine finds after the power was cut, and what must be in it.
type crash struct {
	fsys      *crashfs.FS
	loss      crashfs.Loss
	low, high map[int]int
	finished  bool // Close had returned: there is a trace, nothing to recover
	where     string
}

// TestPowerCut cuts the power before every call of the file system, while a program logs, flushes, syncs, rotates, closes
// and begins again, and loses what was not synced: all, none, all but a torn beginning, or random pages. After recovery,
// whatever Sync, Rotate or Close returned for is there.
func TestPowerCut(t *testing.T) {
	eachKind(t, func(t *testing.T, k kind) {
		for trial := range trials(4) {
			rng := newRand(t, trial)
			for i, c := range program(t, k, rng) {
				if err := c.check(k); err != nil {
					t.Fatalf("trial %d, crash %d, loss %d, before %s: %v", trial, i, c.loss, c.where, err)
				}
			}
		}
	})
}

const powerDir = "some/dir"

// makeDir makes powerDir, and sees to it that no power cut takes it.
func makeDir(t *testing.T, fsys vfs.FS) {
	t.Helper()
	must(t, fsys.MkdirAll(powerDir, 0o700))
	must(t, fsys.SyncDir("/"))
	must(t, fsys.SyncDir("some"))
}

// program runs a random program on a file system in memory and returns what power cuts leave of it.
func program(t *testing.T, k kind, rng *rand.Rand) []crash {
	mem := crashfs.New()
	if rng.IntN(2) == 0 {
		makeDir(t, mem)
	}
	fsys := errorfs.Wrap(mem)
	low, high := map[int]int{}, map[int]int{}
	crashes := make(chan crash, 1<<16)
	cutter := rand.New(rand.NewPCG(rng.Uint64(), 0))
	var mu sync.Mutex // held while a crash is copied and sent, so that none is older than the promises that it is held to
	fsys.Before(func(c errorfs.Call) {
		mu.Lock()
		defer mu.Unlock()
		loss := crashfs.Loss(cutter.IntN(4))
		crashes <- crash{fsys: mem.CrashClone(loss, cutter), loss: loss, where: fmt.Sprint(c.Op, " ", c.Path)}
	}, errorfs.Ops(mutations))

	var all []crash
	take := func(then func()) {
		mu.Lock()
		defer mu.Unlock()
		for len(crashes) > 0 {
			c := <-crashes
			c.low, c.high = clone(low), clone(high)
			all = append(all, c)
		}
		then()
	}
	n := 0
	for range 3 { // processes
		h := handler.New(sink.File(filepath.Join(powerDir, "trace"+k.suffix()), k.options(fsys)), &handler.Options{FlushInterval: -1})
		own := forWorker(h, 0)
		ack := func(op func() error) {
			acked := n
			must(t, op())
			take(func() { low[0] = acked }) // the crashes during op were before its promise
		}
		for range 4 + rng.IntN(4) {
			for range rng.IntN(60) {
				high[0] = n + 1
				must(t, own.Handle(background, id{0, n}.record()))
				n++
			}
			switch rng.IntN(6) {
			case 0, 1:
				must(t, h.Flush())
			case 2, 3, 4:
				ack(h.Sync)
			case 5:
				ack(h.Rotate)
			}
			take(func() {})
		}
		ack(h.Close)
		all = append(all, crash{mem.CrashClone(crashfs.LoseAll, nil), crashfs.LoseAll, clone(low), clone(high), true, "anything after Close"})
	}
	return all
}

func clone(m map[int]int) map[int]int {
	out := map[int]int{}
	for k, v := range m {
		out[k] = v
	}
	return out
}

// check recovers what the crash left, and asks for what was promised.
func (c crash) check(k kind) error {
	if !exists(c.fsys, powerDir) {
		return trace{}.checkPrefix(c.low, c.high)
	}
	if !c.finished {
		_, err := finalize.Recover(powerDir, &finalize.Options{FS: c.fsys})
		var unknown *finalize.UnsupportedError
		if c.loss == crashfs.LosePages && errors.As(err, &unknown) {
			// The first page of the only frame is missing. Recovery does not touch what it does not know; what was promised
			// is asked for below without that file.
			if err := c.fsys.Remove(unknown.Path); err != nil {
				return err
			}
			_, err = finalize.Recover(powerDir, &finalize.Options{FS: c.fsys})
		}
		if err != nil {
			return err
		}
	}
	return c.checkRecovered(c.fsys, k)
}

func (c crash) checkRecovered(fsys vfs.FS, k kind) error {
	if c.loss == crashfs.LosePages { // recovery keeps a damaged journal beside the archive of its beginning
		if err := removeDamaged(fsys); err != nil {
			return err
		}
	}
	tr, err := readDir(fsys, powerDir)
	if err := errors.Join(err, checkNames(fsys, powerDir, k)); err != nil {
		return err
	}
	if c.loss != crashfs.LosePages {
		return errors.Join(tr.checkClean(), tr.checkPrefix(c.low, c.high))
	}
	// Pages that were not synced may be missing anywhere: what is there is still in order, and what was synced is whole.
	for w, ns := range tr.perWorker() {
		for i, n := range ns {
			if n != i && (i < c.low[w] || n < i || n <= ns[max(i, 1)-1]) || n >= c.high[w] {
				return fmt.Errorf("worker %d: event %d stands where %d should", w, n, i)
			}
		}
	}
	return nil
}

func removeDamaged(fsys vfs.FS) error {
	entries, err := fsys.ReadDir(powerDir)
	for _, e := range entries {
		if strings.Contains(e.Name(), ".damaged") {
			err = errors.Join(err, fsys.Remove(filepath.Join(powerDir, e.Name())))
		}
	}
	return err
}

// TestPowerCutInRecovery cuts the power before every call of a recovery, and recovers again.
func TestPowerCutInRecovery(t *testing.T) {
	eachKind(t, func(t *testing.T, k kind) {
		rng := newRand(t, 0)
		all := program(t, k, rng)
		for range trials(40) {
			c := all[rng.IntN(len(all))]
			if c.loss == crashfs.LosePages || !exists(c.fsys, powerDir) {
				continue
			}
			// Not synced, but there after the first crash: it may go in the second, if recovery has not synced it yet.
			var later []crash
			fsys := errorfs.Wrap(c.fsys)
			fsys.Before(func(call errorfs.Call) {
				d := c
				d.loss = crashfs.Loss(rng.IntN(3))
				d.fsys = c.fsys.CrashClone(d.loss, rng)
				d.where = fmt.Sprint(c.where, ", then before ", call.Op, " ", call.Path)
				later = append(later, d)
			}, errorfs.Ops(mutations))
			if _, err := finalize.Recover(powerDir, &finalize.Options{FS: fsys}); err != nil {
				t.Fatalf("before %s: %v", c.where, err)
			}
			for _, d := range later {
				if err := d.check(k); err != nil {
					t.Fatalf("loss %d, before %s: %v", d.loss, d.where, err)
				}
			}
		}
	})
}

// TestFailedSync: data that a failed fsync gave up never counts as safe, though later calls of fsync succeed.
func TestFailedSync(t *testing.T) {
	eachKind(t, func(t *testing.T, k kind) {
		for trial := range trials(10) {
			rng := newRand(t, trial)
			mem := crashfs.New()
			makeDir(t, mem)
			h := handler.New(sink.File(filepath.Join(powerDir, "trace"+k.suffix()), k.options(mem)), &handler.Options{FlushInterval: -1})
			own := forWorker(h, 0)
			low, n := 0, 0
			for range 20 {
				for range 1 + rng.IntN(30) {
					if err := own.Handle(background, id{0, n}.record()); err == nil {
						n++
					}
				}
				if rng.IntN(4) == 0 {
					mem.SetSyncError(errDisk)
				}
				op := h.Sync
				if rng.IntN(4) == 0 {
					op = h.Rotate
				}
				err := op()
				mem.SetSyncError(nil)
				if err == nil {
					low = n
				}
				c := crash{fsys: mem.CrashClone(crashfs.LoseAll, nil), loss: crashfs.LosePages, low: map[int]int{0: low}, high: map[int]int{0: n + 1}}
				if err := c.check(k); err != nil {
					t.Fatalf("trial %d: %v", trial, err)
				}
			}
			if h.Close() == nil {
				low = n
			}
			c := crash{fsys: mem.CrashClone(crashfs.LoseAll, nil), loss: crashfs.LosePages, low: map[int]int{0: low}, high: map[int]int{0: n + 1}}
			if err := c.check(k); err != nil {
				t.Fatalf("trial %d, after Close: %v", trial, err)
			}
		}
	})
}

var errDisk = errors.New("disk on fire")
