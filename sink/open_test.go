package sink

import (
	"errors"
	"io/fs"
	"syscall"
	"testing"
	"time"

	"github.com/tracehandler/tracehandler/internal/vfs/crashfs"
	"github.com/tracehandler/tracehandler/internal/vfs/errorfs"
)

// TestHungOpen: an open that does not return costs the first event its patience and later ones nothing.
func TestHungOpen(t *testing.T) {
	fsys := errorfs.Wrap(crashfs.New())
	hang := make(chan struct{})
	lift := fsys.Before(func(errorfs.Call) { <-hang }, errorfs.Ops(errorfs.Open))
	s := File("/logs/trace", Options{FS: fsys, Patience: 20 * time.Millisecond})
	for range 1000 {
		if err := s.Append([]byte(line(0))); !errors.Is(err, ErrStalled) {
			t.Fatalf("Append: %v", err)
		}
	}
	if err := s.Flush(); !errors.Is(err, ErrStalled) {
		t.Errorf("Flush: %v", err)
	}
	if err := s.Err(); !errors.Is(err, ErrStalled) {
		t.Errorf("Err: %v", err)
	}
	lift()
	close(hang)
	for i := 0; s.Append([]byte(line(1))) != nil; i++ {
		if i > 5000 {
			t.Fatal("does not heal")
		}
		time.Sleep(time.Millisecond)
	}
	must(t, s.Err())
	must(t, s.Close())
	if got, _ := readDir(t, fsys, "/logs"); got != line(1) {
		t.Errorf("%q", got)
	}
}

// TestCloseWhileOpenHangs returns after its patience, and leaves nothing behind when the disk wakes up.
func TestCloseWhileOpenHangs(t *testing.T) {
	fsys := errorfs.Wrap(crashfs.New())
	hang := make(chan struct{})
	fsys.Before(func(errorfs.Call) { <-hang }, errorfs.Ops(errorfs.Open))
	s := File("/logs/trace", Options{FS: fsys, Patience: 20 * time.Millisecond, CloseWait: -1})
	if err := s.Append([]byte(line(0))); !errors.Is(err, ErrStalled) {
		t.Errorf("Append: %v", err)
	}
	if err := s.Close(); !errors.Is(err, ErrStalled) {
		t.Errorf("Close: %v", err)
	}
	close(hang)
	for i := 0; ; i++ { // goleak in TestMain waits for the helper; here it is about the file
		entries, err := fsys.ReadDir("/logs")
		if err == nil && len(entries) == 0 && fsys.Calls(errorfs.Remove) > 0 {
			return
		}
		if i > 5000 {
			t.Fatalf("left behind: %v, %v", entries, err)
		}
		time.Sleep(time.Millisecond)
	}
}

// TestFlushOpensAgain: a flush does not wait for the end of the pause after a failed open.
func TestFlushOpensAgain(t *testing.T) {
	fsys := errorfs.Wrap(crashfs.New())
	s := File("/logs/trace", Options{FS: fsys, Clock: newStepClock()}) // time stands still
	lift := fsys.Fail(syscall.EACCES, errorfs.Ops(errorfs.Open))
	if err := s.Append([]byte(line(0))); !errors.Is(err, fs.ErrPermission) {
		t.Fatalf("Append: %v", err)
	}
	if err := s.Flush(); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("Flush: %v", err)
	}
	lift()
	if err := s.Append([]byte(line(1))); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("Append in the pause: %v", err)
	}
	must(t, s.Flush())
	must(t, s.Append([]byte(line(2))))
	must(t, s.Close())
	if got, _ := readDir(t, fsys, "/logs"); got != line(2) {
		t.Errorf("%q", got)
	}
}
