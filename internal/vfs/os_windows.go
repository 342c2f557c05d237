package vfs

import (
	"errors"
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/windows"
)

var unsyncableErrors = []error{windows.ERROR_INVALID_HANDLE, windows.ERROR_INVALID_FUNCTION, windows.ERROR_NOT_SUPPORTED}

// openFile differs from os.OpenFile in two ways. It shares deletion, so that an open file can be renamed and a reader
// does not stand in the way of finalize. And it opens a reparse point itself, so that a symbolic link can be refused
// without a race between a check and the open.
func openFile(name string, flag int, perm fs.FileMode) (*os.File, error) {
	f, err := createFile(name, flag, perm)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	if !writes(flag) {
		return f, nil
	}
	info, err := f.Stat()
	switch {
	case err != nil:
	case info.Mode()&fs.ModeSymlink != 0:
		err = symlinkError(name)
	case flag&os.O_TRUNC != 0 && info.Mode().IsRegular():
		err = f.Truncate(0)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

func createFile(name string, flag int, perm fs.FileMode) (*os.File, error) {
	if name == "" {
		return nil, fs.ErrNotExist
	}
	path, err := windows.UTF16PtrFromString(name)
	if err != nil {
		return nil, err
	}
	var attrs uint32 = windows.FILE_ATTRIBUTE_NORMAL
	if flag&os.O_CREATE != 0 && perm&0o200 == 0 {
		attrs = windows.FILE_ATTRIBUTE_READONLY
	}
	if writes(flag) {
		attrs |= windows.FILE_FLAG_OPEN_REPARSE_POINT
	} else {
		attrs |= windows.FILE_FLAG_BACKUP_SEMANTICS // needed to open a directory
	}
	if flag&os.O_SYNC != 0 {
		attrs |= windows.FILE_FLAG_WRITE_THROUGH
	}
	var disposition uint32 = windows.OPEN_EXISTING
	switch {
	case flag&os.O_CREATE != 0 && flag&os.O_EXCL != 0:
		disposition = windows.CREATE_NEW
	case flag&os.O_CREATE != 0:
		disposition = windows.OPEN_ALWAYS
	}
	const share = windows.FILE_SHARE_READ | windows.FILE_SHARE_WRITE | windows.FILE_SHARE_DELETE
	h, err := windows.CreateFile(path, access(flag), share, nil, disposition, attrs, 0)
	if err != nil {
		if errors.Is(err, windows.ERROR_ACCESS_DENIED) {
			if info, serr := os.Stat(name); serr == nil && info.IsDir() {
				err = syscall.EISDIR
			}
		}
		return nil, err
	}
	return os.NewFile(uintptr(h), name), nil
}

// access translates flag. With O_APPEND the right to write anywhere is left out, which is what makes Windows append;
// O_TRUNC needs it back.
func access(flag int) uint32 {
	var a uint32
	switch flag & (os.O_RDONLY | os.O_WRONLY | os.O_RDWR) {
	case os.O_WRONLY:
		a = windows.GENERIC_WRITE
	case os.O_RDWR:
		a = windows.GENERIC_READ | windows.GENERIC_WRITE
	default:
		a = windows.GENERIC_READ
	}
	if flag&os.O_APPEND != 0 && flag&os.O_TRUNC == 0 {
		a &^= windows.GENERIC_WRITE
		a |= windows.FILE_APPEND_DATA | windows.FILE_WRITE_ATTRIBUTES | windows.STANDARD_RIGHTS_WRITE | windows.SYNCHRONIZE
	}
	return a
}

// syncDir does nothing: NTFS journals its directory entries, and FlushFileBuffers refuses a directory.
func syncDir(string) error { return nil }

// tryLock locks one byte at 2^62. Windows locks are mandatory for the bytes they cover; far beyond any data, the lock
// stands in nobody's way.
func tryLock(f *os.File) error {
	raw, err := f.SyscallConn()
	if err != nil {
		return err
	}
	var lockErr error
	err = raw.Control(func(fd uintptr) {
		at := windows.Overlapped{OffsetHigh: 1 << 30}
		const how = windows.LOCKFILE_EXCLUSIVE_LOCK | windows.LOCKFILE_FAIL_IMMEDIATELY
		lockErr = windows.LockFileEx(windows.Handle(fd), how, 0, 1, 0, &at)
	})
	switch {
	case err != nil:
		return err
	case errors.Is(lockErr, windows.ERROR_LOCK_VIOLATION), errors.Is(lockErr, windows.ERROR_IO_PENDING):
		return ErrLocked
	case errors.Is(lockErr, windows.ERROR_NOT_SUPPORTED), errors.Is(lockErr, windows.ERROR_INVALID_FUNCTION):
		return nil // a file system without locks
	}
	return lockErr
}
