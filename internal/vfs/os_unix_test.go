//go:build unix

package vfs_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/tracehandler/tracehandler/internal/vfs"
)

func TestSymlink(t *testing.T) {
	dir := t.TempDir()
	target, link, dangling := filepath.Join(dir, "target"), filepath.Join(dir, "link"), filepath.Join(dir, "dangling")
	must(t, os.WriteFile(target, []byte("precious"), 0o600))
	must(t, os.Symlink(target, link))
	must(t, os.Symlink(filepath.Join(dir, "nowhere"), dangling))
	for _, name := range []string{link, dangling} {
		for _, flag := range []int{os.O_RDWR, os.O_WRONLY | os.O_CREATE, os.O_WRONLY | os.O_APPEND, os.O_RDWR | os.O_TRUNC | os.O_CREATE} {
			_, err := vfs.OS.OpenFile(name, flag, 0o600)
			var path *fs.PathError
			if !errors.Is(err, vfs.ErrSymlink) || !errors.As(err, &path) || path.Path != name {
				t.Errorf("%s, flags %#x: %v", name, flag, err)
			}
		}
	}
	if got := content(t, vfs.OS, link); got != "precious" {
		t.Errorf("read through the link: %q", got)
	}
	if _, err := os.Lstat(filepath.Join(dir, "nowhere")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the dangling link's target was made: %v", err)
	}
	// A link within the path is the owner's business.
	must(t, os.Symlink(dir, filepath.Join(dir, "sub")))
	open(t, vfs.OS, filepath.Join(dir, "sub", "new"), os.O_CREATE|os.O_RDWR)
}

func TestModes(t *testing.T) {
	name := filepath.Join(t.TempDir(), "a")
	info, err := open(t, vfs.OS, name, os.O_CREATE|os.O_RDWR).Stat()
	must(t, err)
	if info.Mode() != 0o600 {
		t.Errorf("mode %v", info.Mode())
	}
}

// TestPipe: a planted pipe does not stop the program, and has nothing to sync.
func TestPipe(t *testing.T) {
	name := filepath.Join(t.TempDir(), "pipe")
	must(t, syscall.Mkfifo(name, 0o600))
	if _, err := vfs.OS.OpenFile(name, os.O_WRONLY|os.O_CREATE, 0o600); !errors.Is(err, syscall.ENXIO) {
		t.Errorf("pipe without reader: %v", err)
	}
	r, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	must(t, err)
	defer r.Close()
	f := open(t, vfs.OS, name, os.O_WRONLY)
	must(t, f.Sync())
	must(t, f.Close())
	if err := f.Sync(); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("Sync after Close: %v", err)
	}
}

func TestSyncDevice(t *testing.T) {
	must(t, open(t, vfs.OS, os.DevNull, os.O_WRONLY).Sync())
}
