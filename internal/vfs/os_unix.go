//go:build unix

package vfs

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

var unsyncableErrors = []error{syscall.EINVAL, syscall.ENOTTY, syscall.EBADF, syscall.ENOTSUP, syscall.EOPNOTSUPP, syscall.EROFS}

// openFile adds O_NOFOLLOW, so that a planted link is not followed even if it appears between a check and the open, and
// O_NONBLOCK, so that a named pipe without a reader fails (ENXIO) instead of stopping the program. Neither matters to a
// regular file.
func openFile(name string, flag int, perm fs.FileMode) (*os.File, error) {
	if writes(flag) {
		flag |= syscall.O_NOFOLLOW | syscall.O_NONBLOCK
	}
	f, err := os.OpenFile(name, flag, perm)
	if err != nil && writes(flag) && isLink(name, err) {
		return nil, symlinkError(name)
	}
	return f, err
}

// isLink reports whether err, of an open with O_NOFOLLOW, means that name is a link: ELOOP by POSIX, EMLINK on FreeBSD,
// EFTYPE on NetBSD. ELOOP has another meaning too, hence the look.
func isLink(name string, err error) bool {
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrExist) {
		return false
	}
	info, lerr := os.Lstat(name)
	return lerr == nil && info.Mode()&fs.ModeSymlink != 0
}

func syncDir(name string) error {
	d, err := os.Open(name)
	if err != nil {
		return err
	}
	err = d.Sync()
	if err != nil && unsyncable(err) {
		err = nil // some file systems (FUSE, SMB) cannot sync a directory; nothing better exists there
	}
	if cerr := d.Close(); err == nil {
		err = cerr
	}
	return err
}
