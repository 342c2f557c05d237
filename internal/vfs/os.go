package vfs

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// OS is the operating system's file system.
var OS FS = osFS{}

type osFS struct{}

func (osFS) OpenFile(name string, flag int, perm fs.FileMode) (File, error) {
	f, err := openFile(name, flag, perm)
	if err != nil {
		return nil, err
	}
	return &osFile{f}, nil
}

func (osFS) Rename(oldname, newname string) error       { return os.Rename(oldname, newname) }
func (osFS) Remove(name string) error                   { return os.Remove(name) }
func (osFS) MkdirAll(name string, p fs.FileMode) error  { return os.MkdirAll(name, p) }
func (osFS) Lstat(name string) (fs.FileInfo, error)     { return os.Lstat(name) }
func (osFS) Stat(name string) (fs.FileInfo, error)      { return os.Stat(name) }
func (osFS) ReadDir(name string) ([]fs.DirEntry, error) { return os.ReadDir(name) }
func (osFS) SyncDir(name string) error                  { return syncDir(name) }

// writes reports whether flag asks to create or change a file.
func writes(flag int) bool {
	return flag&(os.O_WRONLY|os.O_RDWR|os.O_CREATE|os.O_TRUNC|os.O_APPEND) != 0
}

// symlinkError is the error of an OpenFile that met a symbolic link.
func symlinkError(name string) error {
	return &fs.PathError{Op: "open", Path: name, Err: ErrSymlink}
}

type osFile struct{ *os.File }

// Sync tolerates files that have nothing to sync. fsync(2) of a terminal, a pipe or a socket fails with EINVAL,
// ENOTTY, EBADF or ENOTSUP, depending on the system; users of other loggers have reported that as noise for years.
func (f *osFile) Sync() error {
	err := f.File.Sync()
	if err == nil || !unsyncable(err) {
		return err
	}
	if info, serr := f.File.Stat(); serr == nil && !info.Mode().IsRegular() {
		return nil
	}
	return err
}

func unsyncable(err error) bool {
	for _, e := range unsyncableErrors {
		if errors.Is(err, e) {
			return true
		}
	}
	return errors.Is(err, errors.ErrUnsupported)
}

func (f *osFile) TryLock() error {
	err := tryLock(f.File)
	if err == nil || errors.Is(err, ErrLocked) {
		return err
	}
	return fmt.Errorf("vfs: lock %s: %w", f.Name(), err)
}
