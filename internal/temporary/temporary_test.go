package temporary

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"

	"github.com/tracehandler/tracehandler/internal/vfs"
	"github.com/tracehandler/tracehandler/internal/vfs/errorfs"
)

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func count(t *testing.T, dir string) int {
	t.Helper()
	entries, err := os.ReadDir(dir)
	check(t, err)
	return len(entries)
}

func TestCreate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "app.clp")
	check(t, os.WriteFile(path+".archive-1.partial", []byte("left"), 0o600))
	a, err := Create(vfs.OS, path)
	check(t, err)
	b, err := Create(vfs.OS, path)
	check(t, err)
	if a.Name() != path+".archive-1.partial" || b.Name() != path+".archive-2.partial" {
		t.Errorf("%s and %s", a.Name(), b.Name())
	}
	if info, err := a.Stat(); err != nil || info.Size() != 0 {
		t.Errorf("a file of the dead is taken over: %v", err)
	}
	check(t, b.Close()) // as if its maker had died
	check(t, RemoveAll(vfs.OS, path))
	if n := count(t, filepath.Dir(path)); n != 1 {
		t.Errorf("%d files", n)
	}
	check(t, a.Close())
}

func TestSpill(t *testing.T) {
	path := filepath.Join(t.TempDir(), "app.clp")
	s := NewSpill(vfs.OS, path)
	s.Close()
	if count(t, filepath.Dir(path)) != 0 {
		t.Error("a file without need")
	}
	for range 2 {
		var group sync.WaitGroup
		for i := range 8 {
			group.Go(func() {
				if _, err := s.WriteAt(bytes.Repeat([]byte{byte(i)}, 1000), int64(1000*i)); err != nil {
					t.Error(err)
				}
			})
		}
		group.Wait()
		b := make([]byte, 1000)
		for i := range 8 {
			if _, err := s.ReadAt(b, int64(1000*i)); err != nil || !bytes.Equal(b, bytes.Repeat([]byte{byte(i)}, 1000)) {
				t.Errorf("piece %d: %v", i, err)
			}
		}
		s.Close()
		if count(t, filepath.Dir(path)) != 0 {
			t.Error("the file is still there")
		}
	}
}

// TestSpillFails: an error is said, and leaves nothing.
func TestSpillFails(t *testing.T) {
	for _, op := range []errorfs.Op{errorfs.Open, errorfs.Lock, errorfs.Seek, errorfs.Write} {
		path := filepath.Join(t.TempDir(), "app.clp")
		fsys := errorfs.Wrap(vfs.OS)
		lift := fsys.Fail(syscall.EIO, errorfs.Ops(op))
		s := NewSpill(fsys, path)
		if _, err := s.WriteAt([]byte("text"), 0); !errors.Is(err, syscall.EIO) {
			t.Errorf("%v: %v", op, err)
		}
		lift()
		s.Close()
		check(t, RemoveAll(fsys, path))
		if count(t, filepath.Dir(path)) != 0 {
			t.Errorf("%v: something is left", op)
		}
	}
}

// hasty is a file system in which a recovery removes a file between its creation and its lock, once.
type hasty struct {
	vfs.FS
	removed bool
}

func (h *hasty) OpenFile(name string, flag int, perm os.FileMode) (vfs.File, error) {
	f, err := h.FS.OpenFile(name, flag, perm)
	if err == nil && flag&os.O_CREATE != 0 && !h.removed {
		h.removed = true
		err = Remove(h.FS, name)
	}
	return f, err
}

func TestCreateRemoved(t *testing.T) {
	path := filepath.Join(t.TempDir(), "app.clp")
	f, err := Create(&hasty{FS: vfs.OS}, path)
	check(t, err)
	defer f.Close()
	if _, err := os.Stat(f.Name()); err != nil {
		t.Error(err)
	}
}
