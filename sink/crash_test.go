package sink

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tracehandler/tracehandler/finalize"
	"github.com/tracehandler/tracehandler/internal/vfs"
	"github.com/tracehandler/tracehandler/internal/vfs/crashfs"
	"github.com/tracehandler/tracehandler/internal/vfs/errorfs"
)

// shot is what a crash left at one moment.
type shot struct {
	fsys            *crashfs.FS
	loss            crashfs.Loss
	call            errorfs.Call
	flushed, synced int64 // bytes of text that were promised by then
}

// TestCrashes cuts the power, or kills the process, before each of many calls to the file system, recovers, and finds
// nothing invented, reordered or doubled, and all that was promised.
func TestCrashes(t *testing.T) {
	for _, f := range formats {
		for _, size := range []int64{0, 3000} {
			t.Run(fmt.Sprintf("%v/rotation=%d", f, size), func(t *testing.T) {
				disk := crashfs.New()
				fsys := errorfs.Wrap(disk)
				rng := rand.New(rand.NewPCG(uint64(f), uint64(size)))
				var mu sync.Mutex
				var shots []shot
				var flushed, synced atomic.Int64
				fsys.Before(func(c errorfs.Call) {
					mu.Lock()
					defer mu.Unlock()
					// The promises first: what is promised after the clone was made is none of its business.
					s := shot{call: c, flushed: flushed.Load(), synced: synced.Load()}
					for _, s.loss = range []crashfs.Loss{crashfs.LoseAll, crashfs.LoseNone, crashfs.LoseTail, crashfs.LosePages} {
						s.fsys = disk.CrashClone(s.loss, rng)
						shots = append(shots, s)
					}
				}, errorfs.Ops(errorfs.Open|errorfs.Rename|errorfs.Remove|errorfs.SyncDir|errorfs.Write|errorfs.Truncate|errorfs.Sync|errorfs.Close))

				o := Options{Format: f, BlockSize: 500, FS: fsys, Rotation: Rotation{MaxSize: size}}
				s := File("/a/b/trace.ndjson", o)
				var accepted strings.Builder
				for i := range 600 {
					must(t, s.Append([]byte(line(i))))
					accepted.WriteString(line(i))
					switch rng := i % 37; {
					case rng == 5:
						must(t, s.Flush())
						flushed.Store(int64(accepted.Len()))
					case rng == 20:
						must(t, s.Sync())
						synced.Store(int64(accepted.Len()))
						flushed.Store(int64(accepted.Len()))
					case i%200 == 150:
						must(t, s.Close())
						synced.Store(int64(accepted.Len()))
						flushed.Store(int64(accepted.Len()))
						s = File("/a/b/trace.ndjson", o)
					}
				}
				must(t, s.Close())
				if len(shots) < 300 {
					t.Fatalf("%d crashes", len(shots))
				}
				for i, s := range shots {
					checkShot(t, i, s, accepted.String())
				}
			})
		}
	}
}

func checkShot(t *testing.T, i int, s shot, accepted string) {
	t.Helper()
	if _, err := s.fsys.Stat("/a/b"); err != nil {
		if s.synced > 0 {
			t.Fatalf("crash %d (%v before %v): the directory is gone", i, s.loss, s.call)
		}
		return
	}
	reports, err := finalize.Recover("/a/b", &finalize.Options{FS: s.fsys})
	if err != nil {
		t.Fatalf("crash %d (%v before %v): %v", i, s.loss, s.call, err)
	}
	damaged := false
	for _, r := range reports {
		damaged = damaged || len(r.Damage) > 0
	}
	promised := s.synced
	if s.loss == crashfs.LoseNone {
		promised = s.flushed // the process died, not the machine
	}
	if s.loss == crashfs.LosePages {
		// Pages of what was not synced may be missing in the middle. What was synced is whole.
		checkPages(t, i, s, accepted[:promised], damaged)
		return
	}
	got, names := readDir(t, s.fsys, "/a/b")
	if !strings.HasPrefix(accepted, got) || damaged {
		t.Fatalf("crash %d (%v before %v): %d bytes in %q are no beginning of what was accepted", i, s.loss, s.call, len(got), names)
	}
	if int64(len(got)) < promised {
		t.Fatalf("crash %d (%v before %v): %d bytes of %d promised", i, s.loss, s.call, len(got), promised)
	}
}

func checkPages(t *testing.T, i int, s shot, promised string, damaged bool) {
	t.Helper()
	if damaged {
		return // other readers than ours stop there; the reader's tests skip damage
	}
	if got, _ := readDir(t, s.fsys, "/a/b"); !strings.HasPrefix(got, promised) {
		t.Fatalf("crash %d (%v before %v): %d bytes promised, not there", i, s.loss, s.call, len(promised))
	}
}

// TestManyWriters lets sinks fight for one file while recoveries run: one at a time gets it, and no event is lost.
func TestManyWriters(t *testing.T) {
	for _, f := range formats {
		path := filepath.Join(t.TempDir(), "trace"+f.Suffix())
		var mu sync.Mutex
		accepted := map[string]bool{}
		done := make(chan struct{})
		var recovering sync.WaitGroup
		recovering.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				var locked *LockedError
				if _, err := finalize.Recover(filepath.Dir(path), nil); err != nil && !errors.As(err, &locked) {
					t.Errorf("Recover: %v", err)
					return
				}
				time.Sleep(100 * time.Microsecond)
			}
		})
		var writing sync.WaitGroup
		for w := range 4 {
			writing.Go(func() {
				for i := range 20 {
					l := fmt.Sprintf(`{"writer":%d,"i":%d}`+"\n", w, i)
					for {
						s := File(path, Options{Format: f})
						err := s.Append([]byte(l))
						if cerr := s.Close(); cerr != nil {
							t.Errorf("Close: %v", cerr)
						}
						if err == nil {
							break
						}
						var locked *LockedError
						if !errors.As(err, &locked) {
							t.Errorf("Append: %v", err)
							return
						}
						time.Sleep(time.Millisecond)
					}
					mu.Lock()
					accepted[l] = true
					mu.Unlock()
				}
			})
		}
		writing.Wait()
		close(done)
		recovering.Wait()
		got, names := readDir(t, vfs.OS, filepath.Dir(path))
		lines := strings.SplitAfter(strings.TrimSuffix(got, "\n"), "\n")
		if len(lines) != 80 || len(accepted) != 80 || len(names) != 1 {
			t.Errorf("%v: %d lines in %q, want 80", f, len(lines), names)
		}
	}
}

// TestCloseIsDurable: what Close and Rotate publish has its name also after a power failure.
func TestCloseIsDurable(t *testing.T) {
	for _, rotate := range []bool{false, true} {
		fsys := crashfs.New()
		s := File("/a/b/trace.ndjson", Options{FS: fsys})
		must(t, s.Append([]byte(line(0))))
		if rotate {
			must(t, s.Rotate())
		} else {
			must(t, s.Close())
		}
		got, names := readDir(t, fsys.CrashClone(crashfs.LoseAll, nil), "/a/b")
		if got != line(0) || len(names) != 1 || strings.HasSuffix(names[0], ".partial") {
			t.Errorf("rotate=%v: %q in %q", rotate, got, names)
		}
		must(t, s.Close())
	}
}
