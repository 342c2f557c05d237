package vfs_test

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/tracehandler/tracehandler/internal/vfs"
	"github.com/tracehandler/tracehandler/internal/vfs/crashfs"
	"github.com/tracehandler/tracehandler/internal/vfs/errorfs"
)

// each runs test on every file system, with a directory that exists.
func each(t *testing.T, test func(t *testing.T, fsys vfs.FS, dir string)) {
	t.Run("os", func(t *testing.T) { test(t, vfs.OS, t.TempDir()) })
	t.Run("errorfs", func(t *testing.T) { test(t, errorfs.Wrap(vfs.OS), t.TempDir()) })
	t.Run("crashfs", func(t *testing.T) {
		fsys := crashfs.New()
		must(t, fsys.MkdirAll("/some/dir", 0o700))
		test(t, fsys, "/some/dir")
	})
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func open(t *testing.T, fsys vfs.FS, name string, flag int) vfs.File {
	t.Helper()
	f, err := fsys.OpenFile(name, flag, 0o600)
	must(t, err)
	t.Cleanup(func() { f.Close() })
	return f
}

func content(t *testing.T, fsys vfs.FS, name string) string {
	t.Helper()
	b, err := io.ReadAll(open(t, fsys, name, os.O_RDONLY))
	must(t, err)
	return string(b)
}

func TestFile(t *testing.T) {
	each(t, func(t *testing.T, fsys vfs.FS, dir string) {
		name := filepath.Join(dir, "a")
		f := open(t, fsys, name, os.O_CREATE|os.O_RDWR|os.O_EXCL)
		if f.Name() != name {
			t.Errorf("Name() = %q", f.Name())
		}
		_, err := f.Write([]byte("hello, world"))
		must(t, err)
		must(t, f.Truncate(5))
		if off, err := f.Seek(0, io.SeekCurrent); off != 12 || err != nil {
			t.Errorf("offset %d, %v: Truncate moves nothing", off, err)
		}
		_, err = f.Seek(-1, io.SeekEnd)
		must(t, err)
		_, err = f.Write([]byte("p!"))
		must(t, err)
		must(t, f.Sync())
		var b [4]byte
		if n, err := f.ReadAt(b[:], 4); n != 2 || err != io.EOF || string(b[:n]) != "p!" {
			t.Errorf("ReadAt: %q, %v", b[:n], err)
		}
		if info, err := f.Stat(); err != nil || info.Size() != 6 || info.Name() != "a" || !info.Mode().IsRegular() {
			t.Errorf("Stat: %+v, %v", info, err)
		}
		must(t, f.Truncate(8))
		must(t, f.Close())
		if err := f.Close(); !errors.Is(err, fs.ErrClosed) {
			t.Errorf("second Close: %v", err)
		}
		if _, err := f.Write([]byte("x")); !errors.Is(err, fs.ErrClosed) {
			t.Errorf("Write after Close: %v", err)
		}
		if got := content(t, fsys, name); got != "hellp!\x00\x00" {
			t.Errorf("content %q", got)
		}
		f = open(t, fsys, name, os.O_WRONLY|os.O_APPEND)
		_, err = f.Write([]byte("end"))
		must(t, err)
		if _, err := f.Read(b[:]); err == nil {
			t.Errorf("Read of a file opened for writing: no error")
		}
		f = open(t, fsys, name, os.O_RDONLY)
		if _, err := f.Write([]byte("end")); err == nil {
			t.Errorf("Write to a file opened for reading: no error")
		}
		if got := content(t, fsys, name); got != "hellp!\x00\x00end" {
			t.Errorf("content %q", got)
		}
		f = open(t, fsys, name, os.O_RDWR|os.O_TRUNC)
		if n, err := f.Read(b[:]); n != 0 || err != io.EOF {
			t.Errorf("after O_TRUNC: %d bytes, %v", n, err)
		}
	})
}

func TestNames(t *testing.T) {
	each(t, func(t *testing.T, fsys vfs.FS, dir string) {
		a, b := filepath.Join(dir, "a"), filepath.Join(dir, "b")
		if _, err := fsys.OpenFile(a, os.O_RDWR, 0o600); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("open of nothing: %v", err)
		}
		f := open(t, fsys, a, os.O_CREATE|os.O_WRONLY)
		_, err := f.Write([]byte("new"))
		must(t, err)
		open(t, fsys, b, os.O_CREATE|os.O_WRONLY)
		if _, err := fsys.OpenFile(b, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600); !errors.Is(err, fs.ErrExist) {
			t.Errorf("O_EXCL on what exists: %v", err)
		}
		must(t, fsys.Rename(a, b))
		if got := content(t, fsys, b); got != "new" {
			t.Errorf("after Rename: %q", got)
		}
		if _, err := fsys.Lstat(a); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("the old name is still there: %v", err)
		}
		if err := fsys.Rename(a, b); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("Rename of nothing: %v", err)
		}
		must(t, fsys.SyncDir(dir))

		sub := filepath.Join(dir, "x", "y")
		must(t, fsys.MkdirAll(sub, 0o700))
		must(t, fsys.MkdirAll(sub, 0o700))
		if err := fsys.MkdirAll(filepath.Join(b, "z"), 0o700); err == nil {
			t.Errorf("MkdirAll below a file: no error")
		}
		if err := fsys.Remove(filepath.Join(dir, "x")); err == nil {
			t.Errorf("Remove of a full directory: no error")
		}
		if _, err := fsys.OpenFile(sub, os.O_RDWR, 0o600); err == nil {
			t.Errorf("a directory opened for writing: no error")
		}
		entries, err := fsys.ReadDir(dir)
		must(t, err)
		if len(entries) != 2 || entries[0].Name() != "b" || entries[1].Name() != "x" || !entries[1].IsDir() {
			t.Errorf("ReadDir: %v", entries)
		}
		must(t, fsys.Remove(sub))
		must(t, fsys.Remove(b))
		if err := fsys.Remove(b); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("Remove of nothing: %v", err)
		}
		if _, err := fsys.Stat(b); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("Stat of nothing: %v", err)
		}
		if _, err := fsys.ReadDir(sub); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("ReadDir of nothing: %v", err)
		}
	})
}

func TestLock(t *testing.T) {
	each(t, func(t *testing.T, fsys vfs.FS, dir string) {
		name := filepath.Join(dir, "a")
		first := open(t, fsys, name, os.O_CREATE|os.O_RDWR)
		second := open(t, fsys, name, os.O_CREATE|os.O_RDWR)
		must(t, first.TryLock())
		must(t, first.TryLock())
		if err := second.TryLock(); !errors.Is(err, vfs.ErrLocked) {
			t.Errorf("second lock: %v", err)
		}
		_, err := first.Write([]byte("data"))
		must(t, err)
		if got := content(t, fsys, name); got != "data" {
			t.Errorf("a reader of a locked file gets %q", got)
		}
		// The lock goes with the file, not with its name.
		must(t, fsys.Rename(name, name+".new"))
		if err := second.TryLock(); !errors.Is(err, vfs.ErrLocked) {
			t.Errorf("second lock after Rename: %v", err)
		}
		must(t, open(t, fsys, name, os.O_CREATE|os.O_RDWR).TryLock())
		must(t, first.Close())
		must(t, second.TryLock())
	})
}
