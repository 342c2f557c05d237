package race

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/tracehandler/tracehandler/finalize"
	"github.com/tracehandler/tracehandler/internal/vfs"
)

// TestKillClose kills processes in the middle of a Close that makes an archive: of one or of several, from its beginning or
// its rest. All events are there, once and in order, after one recovery; some of those are killed, too. A second one finds
// nothing to do.
func TestKillClose(t *testing.T) {
	for _, k := range kinds {
		if !k.journal {
			continue
		}
		for lane := range lanes {
			t.Run(fmt.Sprintf("%s/%d", k.name, lane), func(t *testing.T) {
				t.Parallel()
				killCloses(t, k, (kills(t)+lanes-1)/lanes)
			})
		}
	}
}

// lanes is how many processes TestKillClose has at a time: most of their life they wait for something.
const lanes = 4

func killCloses(t *testing.T, k kind, n int) {
	longest, during := 20*time.Millisecond, 0 // the longest time before a kill, so that most come in the middle
	for trial := range n {
		rng := newRand(t, trial)
		dir := t.TempDir()
		tk := task{Kind: k.name, Path: filepath.Join(dir, "traces", "trace"+k.suffix()), Ledger: filepath.Join(dir, "ledger"),
			Finish: 200 + rng.IntN(2000), Background: rng.IntN(4) == 0}
		if rng.IntN(3) == 0 {
			tk.Memory = 400_000
		}
		began := time.Now()
		counts, err := runAndKill(tk, closing, time.Duration(rng.Int64N(int64(longest))))
		must(t, err)
		if counts[closed] == 1 {
			longest = max(longest*7/8, 2*time.Millisecond)
		} else {
			longest = min(longest*8/7, time.Since(began))
			during++
		}
		if err := checkKilledClose(k, tk, rng.IntN(4) == 0); err != nil {
			t.Fatalf("trial %d, %+v: %v", trial, tk, err)
		}
		must(t, os.RemoveAll(dir))
	}
	if during < n/4 {
		t.Errorf("%d of %d processes were killed while they closed", during, n)
	}
}

// checkKilledClose recovers what a killed Close has left, perhaps in a process that is killed too, and looks for all events.
func checkKilledClose(k kind, tk task, twice bool) error {
	dir := filepath.Dir(tk.Path)
	if err := checkHalf(k, dir, tk.Finish); err != nil {
		return fmt.Errorf("before recovery: %w", err)
	}
	o := &finalize.Options{Archive: finalize.ArchiveOptions{Memory: tk.Memory}}
	if twice {
		if _, err := runAndKill(task{Path: tk.Path, Ledger: tk.Ledger + "2", Recover: true, Memory: tk.Memory}, ready, 3*time.Millisecond); err != nil {
			return err
		}
	}
	if _, err := finalize.Recover(dir, o); err != nil {
		return err
	}
	tr, err := readDir(vfs.OS, dir)
	want := map[int][]int{tk.First: nil}
	for n := range tk.Finish {
		want[tk.First] = append(want[tk.First], n)
	}
	if err := errors.Join(err, tr.checkClean(), tr.checkExactly(want), checkNames(vfs.OS, dir, k)); err != nil {
		return err
	}
	if again, err := finalize.Recover(dir, o); err != nil || len(again) > 0 {
		return fmt.Errorf("a second recovery finds %v, %w", again, err)
	}
	return nil
}

// checkHalf: what has the name of a trace is a whole one, and all events are in the journal if it is there.
func checkHalf(k kind, dir string, events int) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	journal := false
	all := 0
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		if filepath.Ext(path) == k.suffix() {
			rep, err := finalize.Verify(path, nil)
			if err != nil || !rep.OK() {
				return fmt.Errorf("%+v, %w", rep, err)
			}
			all += int(rep.Events)
		}
		if e.Name() == "trace"+k.suffix()+".partial" {
			journal = true
			rep, err := finalize.Verify(path, nil)
			if err != nil || !rep.OK() || rep.Events != int64(events) {
				return fmt.Errorf("the journal: %+v, %w", rep, err)
			}
		}
	}
	if !journal && all != events {
		return fmt.Errorf("no journal, and %d events of %d in archives", all, events)
	}
	return nil
}
