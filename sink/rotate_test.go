package sink

import (
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tracehandler/tracehandler/format"
	"github.com/tracehandler/tracehandler/internal/vfs/crashfs"
	"github.com/tracehandler/tracehandler/internal/vfs/errorfs"
	"github.com/tracehandler/tracehandler/naming"
)

// stepClock stands still until a test moves it.
type stepClock struct {
	mu     sync.Mutex
	now    time.Time
	alarms map[chan time.Time]time.Time
}

func newStepClock() *stepClock {
	return &stepClock{now: time.Date(2026, 11, 30, 10, 0, 0, 0, time.UTC), alarms: map[chan time.Time]time.Time{}}
}

func (c *stepClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *stepClock) After(d time.Duration) (<-chan time.Time, func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	ch := make(chan time.Time, 1)
	c.alarms[ch] = c.now.Add(d)
	c.ring()
	return ch, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.alarms, ch)
	}
}

func (c *stepClock) step(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
	c.ring()
}

func (c *stepClock) ring() {
	for ch, at := range c.alarms {
		if !at.After(c.now) {
			ch <- c.now
			delete(c.alarms, ch)
		}
	}
}

func TestRotateBySize(t *testing.T) {
	for _, f := range formats {
		const most = 4000
		fsys := crashfs.New()
		o := Options{Format: f, BlockSize: 2000, FS: fsys, Rotation: Rotation{MaxSize: most}}
		s := File("/logs/trace"+f.Suffix(), o)
		var want strings.Builder
		for i := range 3000 {
			must(t, s.Append([]byte(line(i))))
			want.WriteString(line(i))
		}
		must(t, s.Close())
		got, names := readDir(t, fsys, "/logs")
		if got != want.String() {
			t.Errorf("%v: %d bytes, want %d", f, len(got), want.Len())
		}
		for _, n := range names {
			info, err := fsys.Stat("/logs/" + n)
			must(t, err)
			if info.Size() > most {
				t.Errorf("%v: %s has %d bytes", f, n, info.Size())
			}
		}
		if st := s.Stats(); len(names) < 3 || int(st.Published) != len(names) || st.Rotations != st.Published-1 {
			t.Errorf("%v: %d files, %+v", f, len(names), st)
		}
	}
}

func TestRotateByAge(t *testing.T) {
	clock, fsys := newStepClock(), crashfs.New()
	s := File("/logs/trace.ndjson", Options{FS: fsys, Clock: clock, Rotation: Rotation{MaxAge: time.Hour}})
	must(t, s.Append([]byte(line(0))))
	must(t, s.Flush())
	clock.step(59 * time.Minute)
	must(t, s.Append([]byte(line(1))))
	must(t, s.Flush())
	if st := s.Stats(); st.Rotations != 0 {
		t.Fatalf("rotated too early: %+v", st)
	}
	clock.step(time.Minute) // nothing else comes
	for i := 0; s.Stats().Rotations == 0; i++ {
		if i > 5000 {
			t.Fatal("no rotation by age")
		}
		time.Sleep(time.Millisecond)
	}
	got, names := readDir(t, fsys, "/logs")
	if got != line(0)+line(1) || len(names) != 1 {
		t.Errorf("%q in %q", got, names)
	}
	if live, at, ok := naming.ParseRotated(names[0]); !ok || live != "trace.ndjson" || !at.Equal(clock.Now()) {
		t.Errorf("%s: %s, %v", names[0], live, at)
	}
	clock.step(10 * time.Hour)
	must(t, s.Append([]byte(line(2))))
	must(t, s.Close())
	if got, names := readDir(t, fsys, "/logs"); got != line(0)+line(1)+line(2) || len(names) != 2 {
		t.Errorf("%q in %q", got, names)
	}
}

func TestRetention(t *testing.T) {
	tests := []struct {
		name string
		keep Rotation
		want int // of ten, an hour apart, each of len(line(0)) bytes
	}{
		{"all", Rotation{}, 10},
		{"count", Rotation{Keep: 4}, 4},
		{"age", Rotation{KeepFor: 3 * time.Hour}, 3},
		{"bytes", Rotation{KeepBytes: int64(5*len(line(0)) + 1)}, 5},
		{"smallest wins", Rotation{Keep: 6, KeepFor: 2 * time.Hour, KeepBytes: 1 << 20}, 2},
	}
	for _, tt := range tests {
		clock, fsys := newStepClock(), crashfs.New()
		s := File("/logs/trace.ndjson", Options{FS: fsys, Clock: clock, Rotation: tt.keep})
		for range 10 {
			must(t, s.Append([]byte(line(0))))
			must(t, s.Rotate())
			clock.step(time.Hour)
		}
		must(t, s.Close())
		_, names := readDir(t, fsys, "/logs")
		if len(names) != tt.want || s.Stats().Removed != int64(10-tt.want) {
			t.Errorf("%s: %d files, want %d; %+v", tt.name, len(names), tt.want, s.Stats())
		}
	}
}

// TestRetentionTouchesOnlyItsOwn: files of other traces, and traces that only look related, stay.
func TestRetentionTouchesOnlyItsOwn(t *testing.T) {
	clock, fsys := newStepClock(), crashfs.New()
	old := clock.Now().Add(-1000 * time.Hour)
	others := []string{
		naming.RotatedName("other.ndjson", old, 0), naming.RotatedName("trace.ndjson.zst", old, 0),
		"trace-old.ndjson", "trace.ndjson.bak", "trace-20200101T000000.000000000Z.ndjson.partial", "unrelated",
	}
	for _, n := range others {
		s := File(filepath.Join("/logs", n), Options{FS: fsys})
		must(t, s.Append([]byte(line(0))))
		must(t, s.Close())
	}
	s := File("/logs/trace.ndjson", Options{FS: fsys, Clock: clock, Rotation: Rotation{Keep: 1, KeepFor: time.Minute, KeepBytes: 1}})
	for range 3 {
		must(t, s.Append([]byte(line(0))))
		must(t, s.Rotate())
	}
	must(t, s.Close())
	_, names := readDir(t, fsys, "/logs")
	for _, n := range others {
		if !slices.Contains(names, n) {
			t.Errorf("%s is gone", n)
		}
	}
}

// TestFailedRotation: the sink goes on with the old file, says so, and rotates later.
func TestFailedRotation(t *testing.T) {
	for _, op := range []errorfs.Op{errorfs.Rename, errorfs.Open} {
		for _, f := range formats {
			fsys := errorfs.Wrap(crashfs.New())
			s := File("/logs/trace"+f.Suffix(), Options{Format: f, BlockSize: 1000, FS: fsys, Clock: newFastClock(), Patience: time.Hour, Rotation: Rotation{MaxSize: 2000}})
			var want strings.Builder
			add := func(n int) {
				for i := range n {
					if s.Append([]byte(line(i))) == nil {
						want.WriteString(line(i))
					}
				}
			}
			add(10)
			must(t, s.Flush())
			lift := fsys.Fail(fs.ErrPermission, errorfs.Ops(op))
			add(1000)
			if op == errorfs.Rename { // writing goes on
				must(t, s.Flush())
				if err := s.Rotate(); !errors.Is(err, fs.ErrPermission) {
					t.Errorf("%v: Rotate: %v", f, err)
				}
			}
			if err := s.Err(); !errors.Is(err, fs.ErrPermission) {
				t.Errorf("%v, %v fails: Err: %v", f, op, err)
			}
			lift()
			time.Sleep(10 * time.Millisecond) // 10 s for the sink: longer than any pause
			add(1000)
			must(t, s.Flush())
			must(t, s.Err())
			must(t, s.Close())
			got, names := readDir(t, fsys, "/logs")
			if got != want.String() || len(names) < 3 {
				t.Errorf("%v, %v fails: %d bytes in %d files, want %d", f, op, len(got), len(names), want.Len())
			}
			if st := s.Stats(); op == errorfs.Rename && st.Failures == 0 {
				t.Errorf("%v: %+v", f, st)
			}
		}
	}
}

func TestRotateCompressesNothingTwice(t *testing.T) {
	fsys := crashfs.New()
	s := File("/logs/t.ndjson.zst", Options{Format: format.Zstd, FS: fsys})
	must(t, s.Append([]byte(line(0))))
	must(t, s.Rotate())
	must(t, s.Rotate()) // there is nothing to rotate
	must(t, s.Close())
	if _, names := readDir(t, fsys, "/logs"); len(names) != 1 {
		t.Errorf("%q", names)
	}
}
