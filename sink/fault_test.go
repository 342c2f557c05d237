package sink

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/tracehandler/tracehandler/finalize"
	"github.com/tracehandler/tracehandler/format"
	"github.com/tracehandler/tracehandler/internal/vfs"
	"github.com/tracehandler/tracehandler/internal/vfs/crashfs"
	"github.com/tracehandler/tracehandler/internal/vfs/errorfs"
	"github.com/tracehandler/tracehandler/naming"
)

// fastClock runs a thousand times as fast as the system's.
type fastClock struct{ start time.Time }

const speed = 1000

func newFastClock() fastClock { return fastClock{time.Now()} }

func (c fastClock) Now() time.Time { return c.start.Add(time.Since(c.start) * speed) }

func (c fastClock) After(d time.Duration) (<-chan time.Time, func()) {
	t := time.NewTimer(d / speed)
	return t.C, func() { t.Stop() }
}

// readDir returns the text of all traces of NAME in dir, oldest first.
func readDir(t testing.TB, fsys vfs.FS, dir string) (text string, names []string) {
	t.Helper()
	entries, err := fsys.ReadDir(dir)
	must(t, err)
	for _, e := range entries {
		names = append(names, e.Name())
	}
	sort.Strings(names)
	for _, n := range names {
		f, err := fsys.OpenFile(filepath.Join(dir, n), os.O_RDONLY, 0)
		must(t, err)
		b, err := io.ReadAll(f)
		must(t, err)
		must(t, f.Close())
		text += unpack(t, b)
	}
	return text, names
}

// TestFullDisk fills the disk, makes room again, and finds everything that was accepted.
func TestFullDisk(t *testing.T) {
	for _, f := range formats {
		t.Run(f.String(), func(t *testing.T) {
			fsys := errorfs.Wrap(crashfs.New())
			s := File("/logs/trace", Options{Format: f, BlockSize: 1000, FS: fsys, Clock: newFastClock(), Patience: time.Hour})
			fsys.SetSpace(3333)
			var want strings.Builder
			var dropped int
			for i := range 2000 {
				if err := s.Append([]byte(line(i))); err == nil {
					want.WriteString(line(i))
				} else {
					var drop *DropError
					if !errors.As(err, &drop) || !errors.Is(err, syscall.ENOSPC) {
						t.Fatalf("Append: %v", err)
					}
					dropped++
				}
			}
			if err := s.Flush(); !errors.Is(err, syscall.ENOSPC) {
				t.Errorf("Flush: %v", err)
			}
			if err := s.Err(); !errors.Is(err, syscall.ENOSPC) {
				t.Errorf("Err: %v", err)
			}
			if dropped == 0 {
				t.Fatal("nothing was dropped")
			}
			fsys.SetSpace(-1)
			must(t, s.Flush())
			must(t, s.Err())
			must(t, s.Append([]byte(line(5000))))
			want.WriteString(line(5000))
			must(t, s.Close())
			got, names := readDir(t, fsys, "/logs")
			if got != want.String() || len(names) != 1 {
				t.Errorf("%d bytes in %q, want %d", len(got), names, want.Len())
			}
			st := s.Stats()
			if st.DroppedEvents != int64(dropped) || st.Retries == 0 || st.WrittenEvents != st.Events || st.LostEvents != 0 {
				t.Errorf("%+v", st)
			}
		})
	}
}

// TestCloseOnFullDisk loses what cannot be written, says so, and leaves a partial that can be recovered.
func TestCloseOnFullDisk(t *testing.T) {
	for _, f := range formats {
		fsys := errorfs.Wrap(crashfs.New())
		s := File("/logs/trace", Options{Format: f, BlockSize: 1000, FS: fsys, Clock: newFastClock(), Patience: time.Hour})
		for i := range 100 {
			must(t, s.Append([]byte(line(i))))
		}
		must(t, s.Flush())
		fsys.SetSpace(10)
		lost := 0
		for i := range 40 {
			if s.Append([]byte(line(i))) == nil {
				lost++
			}
		}
		err := s.Close()
		var e *LostError
		if !errors.As(err, &e) || !errors.Is(err, syscall.ENOSPC) || e.Events != int64(lost) || e.Path != "/logs/trace" {
			t.Fatalf("%v: Close: %v, want %d events lost", f, err, lost)
		}
		if again := s.Close(); again != err {
			t.Errorf("second Close: %v", again)
		}
		if st := s.Stats(); st.LostEvents != int64(lost) || st.WrittenEvents != 100 {
			t.Errorf("%+v", st)
		}
		fsys.SetSpace(-1)
		reports, err := finalize.Recover("/logs", &finalize.Options{FS: fsys})
		must(t, err)
		if rep := reports[0]; rep.Events != 100 || rep.TornBytes != 0 || !rep.Published {
			t.Errorf("%v: %+v", f, rep)
		}
	}
}

// TestRandom runs random operations on a disk that fails at random, and reads back exactly what was accepted.
func TestRandom(t *testing.T) {
	seeds := uint64(6)
	if testing.Short() {
		seeds = 2
	}
	for _, f := range formats {
		for _, perRecord := range []bool{false, true} {
			for seed := range seeds {
				t.Run(fmt.Sprintf("%v/%v/%d", f, perRecord, seed), func(t *testing.T) {
					random(t, Options{Format: f, PerRecord: perRecord, BlockSize: 2000}, seed)
				})
			}
		}
	}
}

func random(t *testing.T, o Options, seed uint64) {
	rng := rand.New(rand.NewPCG(seed, uint64(o.Format)))
	disk := crashfs.New()
	fsys := errorfs.Wrap(disk)
	o.FS, o.Clock, o.Patience = fsys, newFastClock(), time.Hour
	if seed%2 == 1 {
		o.Rotation.MaxSize = 3000
	}
	var want strings.Builder
	var lift []func()
	heal := func() {
		for _, l := range lift {
			l()
		}
		lift = nil
		fsys.SetSpace(-1)
	}
	s := File("/logs/trace.ndjson", o)
	dropped := 0
	for i := range 3000 {
		switch n := rng.IntN(1000); {
		case n < 3:
			fsys.SetSpace(int64(rng.IntN(5000)))
		case n < 6:
			lift = append(lift, fsys.Fail(syscall.EIO, errorfs.Ops(errorfs.Write|errorfs.Truncate), errorfs.Sometimes(0.5, rand.New(rand.NewPCG(seed, uint64(i))))))
		case n < 9:
			lift = append(lift, fsys.ShortWrite(syscall.EIO, func(n int) int { return n / 3 }, errorfs.First(3)))
		case n < 12:
			lift = append(lift, fsys.Fail(syscall.EACCES, errorfs.Ops(errorfs.Open|errorfs.Rename|errorfs.Remove|errorfs.SyncDir), errorfs.First(2)))
		case n < 40:
			heal()
		case n < 45:
			_ = s.Flush()
		case n < 48:
			_ = s.Sync()
		case n < 50:
			_ = s.Rotate()
		case n < 51:
			heal()
			must(t, s.Close())
			s = File("/logs/trace.ndjson", o)
		}
		l := fmt.Sprintf(`{"i":%d,"pad":%q}`+"\n", i, strings.Repeat("x", rng.IntN(100)))
		if rng.IntN(300) == 0 {
			l = fmt.Sprintf(`{"i":%d,"large":%q}`+"\n", i, strings.Repeat("y", 5000))
		}
		if s.Append([]byte(l)) == nil {
			want.WriteString(l)
		} else {
			dropped++
		}
	}
	heal()
	must(t, s.Close())
	got, names := readDir(t, fsys, "/logs")
	if got != want.String() {
		t.Fatalf("read %d bytes in %d files, accepted %d; %d dropped; first difference at %d", len(got), len(names), want.Len(), dropped, diff(got, want.String()))
	}
	for _, n := range names {
		rep, err := finalize.Verify(filepath.Join("/logs", n), &finalize.Options{FS: fsys})
		must(t, err)
		if !rep.OK() {
			t.Errorf("%s: %+v", n, rep)
		}
	}
}

func diff(a, b string) int {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return i
		}
	}
	return min(len(a), len(b))
}

// TestHungDisk: a disk that does not answer makes Append drop, not wait for ever.
func TestHungDisk(t *testing.T) {
	fsys := errorfs.Wrap(crashfs.New())
	hang := make(chan struct{})
	var once sync.Once
	release := func() { once.Do(func() { close(hang) }) }
	defer release()
	s := File("/logs/trace", Options{BlockSize: 100, FS: fsys, Clock: newFastClock(), Patience: 10 * time.Second})
	must(t, s.Append([]byte(line(0))))
	must(t, s.Flush())
	fsys.Before(func(errorfs.Call) { <-hang }, errorfs.Ops(errorfs.Write))
	want := line(0)
	var err error
	for i := 1; err == nil; i++ {
		if err = s.Append([]byte(line(i))); err == nil {
			want += line(i)
		}
	}
	var drop *DropError
	if !errors.As(err, &drop) || !errors.Is(err, ErrStalled) {
		t.Errorf("Append: %v", err)
	}
	if err := s.Flush(); !errors.Is(err, ErrStalled) {
		t.Errorf("Flush: %v", err)
	}
	release()
	must(t, s.Close())
	if got, _ := readDir(t, fsys, "/logs"); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// waits counts how often somebody begins to wait.
type waits struct {
	fastClock
	n atomic.Int64
}

func (c *waits) After(d time.Duration) (<-chan time.Time, func()) {
	c.n.Add(1)
	return c.fastClock.After(d)
}

// TestHungDiskCostsPatienceOnce: as long as the disk hangs, only the first call waits. Otherwise a program that syncs each
// record would stand still for the whole of the patience, each time.
func TestHungDiskCostsPatienceOnce(t *testing.T) {
	fsys := errorfs.Wrap(crashfs.New())
	hang := make(chan struct{})
	clock := &waits{fastClock: newFastClock()}
	rank := naming.Rank(0)
	s := Dir("/logs", naming.Scheme{Rank: func() naming.Rank { return rank }}, Options{FS: fsys, Clock: clock, Patience: 10 * time.Second})
	must(t, s.Append([]byte(line(0))))
	must(t, s.Flush())
	lift := fsys.Before(func(errorfs.Call) { <-hang }, errorfs.Ops(errorfs.Sync))
	if err := s.Sync(); !errors.Is(err, ErrStalled) {
		t.Errorf("Sync: %v", err)
	}
	before := clock.n.Load()
	for range 10 {
		if err := s.Sync(); !errors.Is(err, ErrStalled) {
			t.Errorf("Sync: %v", err)
		}
		rank = 1 // has to flush the file of rank 0 first
		if err := s.Append([]byte(line(1))); !errors.Is(err, ErrStalled) {
			t.Errorf("Append: %v", err)
		}
		rank = 0
	}
	if n := clock.n.Load() - before; n > 0 {
		t.Errorf("%d more waits", n)
	}
	lift()
	close(hang)
	for s.Sync() != nil {
		time.Sleep(time.Millisecond) // until the helper is back
	}
	must(t, s.Close())
}

// TestOpenFails: the first error says why, later events are dropped without trying each time, and it heals.
func TestOpenFails(t *testing.T) {
	fsys := errorfs.Wrap(crashfs.New())
	s := File("/logs/trace", Options{FS: fsys, Clock: newFastClock(), Patience: time.Hour})
	lift := fsys.Fail(syscall.EACCES, errorfs.Ops(errorfs.Open))
	for i := range 1000 {
		if err := s.Append([]byte(line(i))); !errors.Is(err, fs.ErrPermission) {
			t.Fatalf("Append: %v", err)
		}
	}
	if n := fsys.Calls(errorfs.Open); n > 100 {
		t.Errorf("%d attempts to open", n)
	}
	lift()
	for i := 0; s.Append([]byte(line(0))) != nil; i++ {
		if i > 10000 {
			t.Fatal("does not heal")
		}
		time.Sleep(time.Millisecond)
	}
	must(t, s.Err())
	must(t, s.Close())
	if got, _ := readDir(t, fsys, "/logs"); got != line(0) {
		t.Errorf("%q", got)
	}
}

func TestTwoSinksOneFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "trace")
	a, b := File(path, Options{}), File(path, Options{})
	must(t, a.Append([]byte(line(0))))
	var locked *LockedError
	if err := b.Append([]byte(line(1))); !errors.As(err, &locked) || locked.Path != path+".partial" {
		t.Errorf("Append: %v", err)
	}
	must(t, b.Close())
	must(t, a.Close())
	if got := readFile(t, path); got != line(0) {
		t.Errorf("%q", got)
	}
}

func TestBadOptions(t *testing.T) {
	for _, o := range []Options{
		{Format: format.CLP, Level: 77}, {Format: format.CLP, ArchiveMemory: -1}, {Format: 99}, {Level: 77}, {Format: format.Zstd, Level: 9}, {BlockSize: -1}, {Format: format.Gzip, BlockSize: 2 << 20},
		{Exists: 9}, {Rotation: Rotation{Keep: -1}}, {Patience: -1},
	} {
		for _, s := range []Sink{File(filepath.Join(t.TempDir(), "x"), o), Dir(t.TempDir(), schemeOf(0), o), Writer(&bytes.Buffer{}, o)} {
			var bad *OptionError
			for _, err := range []error{s.Append([]byte("{}\n")), s.Flush(), s.Sync(), s.Rotate(), s.(Starter).StartFlush(), s.Close()} {
				if !errors.As(err, &bad) {
					t.Errorf("%+v: %v", o, err)
				}
			}
		}
	}
}
