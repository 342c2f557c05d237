package race

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/tracehandler/tracehandler/finalize"
	"github.com/tracehandler/tracehandler/format"
	"github.com/tracehandler/tracehandler/internal/vfs"
	"github.com/tracehandler/tracehandler/naming"
	"github.com/tracehandler/tracehandler/reader"
)

// defaultKills is the number of processes per sink that the usual run kills.
const defaultKills = 25

var killsFlag = flag.Int("kills", 0, "processes per sink to kill; 0: $TRACEHANDLER_KILLS, or a few")

func kills(t *testing.T) int {
	if *killsFlag > 0 {
		return *killsFlag
	}
	if s := os.Getenv("TRACEHANDLER_KILLS"); s != "" {
		n, err := strconv.Atoi(s)
		if err != nil || n < 1 {
			t.Fatalf("TRACEHANDLER_KILLS=%q is not a number of processes", s)
		}
		return n
	}
	return trials(defaultKills)
}

// TestKill kills processes that log, flush, sync, rotate, close, continue the partial of a killed one, and recover. Then
// whatever a Flush returned for is there; what is missing of the rest are the last events, no more bytes than documented;
// nothing is invented, changed, reordered or doubled; and recovery gives a trace that every decoder reads to its end.
func TestKill(t *testing.T) {
	eachKind(t, func(t *testing.T, k kind) {
		for left, trial := kills(t), 0; left > 0; trial++ {
			v := &victim{kind: k, dir: t.TempDir(), rng: newRand(t, trial), low: map[int]int{}, high: map[int]int{}}
			n := min(left, 1+v.rng.IntN(4))
			left -= n
			for range n {
				if err := v.live(); err != nil {
					t.Fatalf("trial %d: %v", trial, err)
				}
			}
			if err := v.recover(); err != nil {
				t.Fatalf("trial %d: recovery: %v", trial, err)
			}
			if err := os.RemoveAll(v.dir); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// victim is a trace whose writers are killed one after the other.
type victim struct {
	kind      kind
	dir       string
	rng       *rand.Rand
	lives     int
	low, high map[int]int // events of each worker: acknowledged, given to Handle
	accepted  map[int]int // events of each worker of the last life that Handle returned nil for
}

func (v *victim) path() string { return filepath.Join(v.dir, "traces", "trace"+v.kind.suffix()) }

// live runs and kills one process. What its worker wrote is checked at once.
func (v *victim) live() error {
	v.lives++
	tk := task{
		Kind:    v.kind.name,
		Path:    v.path(),
		Ledger:  filepath.Join(v.dir, fmt.Sprint("ledger", v.lives)),
		First:   v.lives * 10,
		Seed:    v.rng.Uint64(),
		Recover: v.rng.IntN(4) == 0 && exists(vfs.OS, filepath.Dir(v.path())),
	}
	if v.rng.IntN(4) == 0 {
		tk.Close = 1 + v.rng.IntN(500)
	}
	// Most of the interesting instants are early, some late.
	delay := time.Duration(float64(30*time.Millisecond) * v.rng.Float64() * v.rng.Float64() * v.rng.Float64())
	counts, err := runAndKill(tk, ready, delay)
	if err != nil {
		return err
	}
	if !tk.Recover {
		v.accepted = map[int]int{}
		for w := range childWorkers {
			v.low[tk.First+w] = counts[flushed+w]
			v.high[tk.First+w] = counts[begun+w]
			v.accepted[tk.First+w] = counts[accepted+w]
			if counts[closed] == 1 {
				v.low[tk.First+w] = counts[accepted+w]
			}
		}
	}
	tr, err := v.read()
	if err != nil {
		return fmt.Errorf("after life %d (%+v): %w", v.lives, tk, err)
	}
	for _, r := range tr.reports {
		var torn *reader.TornError
		if !errors.As(r, &torn) {
			return fmt.Errorf("after life %d (%+v): a crash cuts, it does not damage: %w", v.lives, tk, r)
		}
	}
	if err := v.checkLoss(tr); err != nil {
		return fmt.Errorf("after life %d (%+v): %w", v.lives, tk, err)
	}
	// What is in the file now must stay: whoever opens it next may cut torn bytes, but no event that can be read.
	for w, ns := range tr.perWorker() {
		v.low[w] = len(ns)
	}
	return nil
}

// read reads what is there, whole or not.
func (v *victim) read() (trace, error) {
	dir := filepath.Dir(v.path())
	if !exists(vfs.OS, dir) {
		return trace{}, trace{}.checkPrefix(v.low, v.high)
	}
	if salvaging, err := filepath.Glob(filepath.Join(dir, "*.salvage"+naming.PartialSuffix)); err != nil || len(salvaging) > 0 {
		return v.readRecovered(dir, err)
	}
	tr, err := readDir(vfs.OS, dir)
	return tr, errors.Join(err, tr.checkPrefix(v.low, v.high))
}

// readRecovered reads what recovery makes of a copy of dir. Who is killed while it salvages a torn frame leaves the events of
// it in the partial, in the journal of the salvage, or in both: only the next recovery knows where they count.
func (v *victim) readRecovered(dir string, err error) (trace, error) {
	again := filepath.Join(v.dir, "copy")
	err = errors.Join(err, os.CopyFS(again, os.DirFS(dir)))
	_, rerr := finalize.Recover(again, nil)
	if err = errors.Join(err, rerr); err != nil {
		return trace{}, err
	}
	tr, err := readDir(vfs.OS, again)
	return tr, errors.Join(err, tr.checkPrefix(v.low, v.high), os.RemoveAll(again))
}

// checkLoss: what the last process had accepted and lost is no more than documented.
func (v *victim) checkLoss(tr trace) error {
	lost := 0
	got := tr.perWorker()
	for w, n := range v.accepted {
		for i := len(got[w]); i < n; i++ {
			lost += len(id{w, i}.line()) + 1
		}
	}
	if lost > v.kind.bound() {
		return fmt.Errorf("%d bytes of accepted events are lost, more than %d", lost, v.kind.bound())
	}
	return nil
}

// recover completes the trace and checks that it is one.
func (v *victim) recover() error {
	dir := filepath.Dir(v.path())
	if !exists(vfs.OS, dir) {
		return nil
	}
	reports, err := finalize.Recover(dir, nil)
	if err != nil {
		return err
	}
	for _, r := range reports {
		if len(r.Damage) > 0 || !r.Published && !r.Removed {
			return fmt.Errorf("report %+v", r)
		}
	}
	tr, err := v.read()
	if err := errors.Join(err, tr.checkClean(), checkNames(vfs.OS, dir, v.kind)); err != nil {
		return err
	}
	if again, err := finalize.Recover(dir, nil); err != nil || len(again) > 0 {
		return fmt.Errorf("a second recovery finds %v, %w", again, err)
	}
	if v.kind.journal {
		return nil // foreign programs read archives outside of the tests
	}
	return checkForeign(dir, v.kind.format, len(tr.ids))
}

// checkForeign: decoders that know nothing of us read every file to its end, and find as many lines.
func checkForeign(dir string, f format.Format, events int) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	lines := 0
	for _, e := range entries {
		b, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return err
		}
		var r io.Reader = bytes.NewReader(b)
		switch f {
		case format.Gzip:
			r, err = gzip.NewReader(r)
		case format.Zstd, format.CLPIR:
			var z *zstd.Decoder
			if z, err = zstd.NewReader(r, zstd.WithDecoderConcurrency(1)); err == nil {
				defer z.Close()
				r = z
			}
		}
		if err != nil {
			return fmt.Errorf("%s: %w", e.Name(), err)
		}
		text, err := io.ReadAll(r)
		if err != nil {
			return fmt.Errorf("%s: %w", e.Name(), err)
		}
		if f == format.CLPIR {
			lines = events // it has none; the decoder has found no fault
			continue
		}
		if len(text) > 0 && text[len(text)-1] != '\n' {
			return fmt.Errorf("%s does not end with a whole line", e.Name())
		}
		lines += bytes.Count(text, []byte("\n"))
	}
	if lines != events {
		return fmt.Errorf("%d lines, but %d events", lines, events)
	}
	return nil
}

// runAndKill starts a child, waits until it is at the given point, kills it after the delay and returns its ledger.
func runAndKill(tk task, point int, delay time.Duration) (counts [counters]int, err error) {
	text, err := json.Marshal(tk)
	if err != nil {
		return counts, err
	}
	exe, err := os.Executable()
	if err != nil {
		return counts, err
	}
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), childVariable+"="+string(text))
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		return counts, err
	}
	exited := make(chan struct{})
	go func() {
		err = cmd.Wait()
		close(exited)
	}()
	working := awaitWork(tk.Ledger, point, exited)
	if working {
		time.Sleep(delay)
	}
	cmd.Process.Kill() // fails only if the child has ended by itself
	<-exited
	var exit *exec.ExitError
	// Unix says that a signal ended it; Windows gives a killed process the exit code 1, and its message must do.
	killed := errors.As(err, &exit) && (exit.ExitCode() == -1 || runtime.GOOS == "windows")
	if !working || err != nil && !killed || stderr.Len() > 0 {
		return counts, fmt.Errorf("the child (%+v) failed, at work: %v, %v\n%s", tk, working, err, stderr.Bytes())
	}
	return readLedger(tk.Ledger)
}

// awaitWork waits until the child is at a point, and reports whether it ever was.
func awaitWork(ledger string, point int, exited <-chan struct{}) bool {
	for deadline := time.Now().Add(patient); time.Now().Before(deadline); {
		over := false
		select {
		case <-exited:
			over = true
		case <-time.After(200 * time.Microsecond):
		}
		if counts, err := readLedger(ledger); err == nil && counts[point] == 1 {
			return true
		}
		if over {
			break
		}
	}
	return false
}
