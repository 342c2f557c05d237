//go:build unix && !solaris && !illumos && !aix

package vfs

import (
	"errors"
	"os"
	"syscall"
)

// tryLock uses flock(2): unlike fcntl locks, it belongs to the open file and not to the process, so that a second open
// of the same file in this process is refused too, and closing another descriptor does not release it.
func tryLock(f *os.File) error {
	raw, err := f.SyscallConn()
	if err != nil {
		return err
	}
	var lockErr error
	err = raw.Control(func(fd uintptr) {
		for {
			lockErr = syscall.Flock(int(fd), syscall.LOCK_EX|syscall.LOCK_NB)
			if lockErr != syscall.EINTR {
				return
			}
		}
	})
	switch {
	case err != nil:
		return err
	case errors.Is(lockErr, syscall.EWOULDBLOCK):
		return ErrLocked
	case errors.Is(lockErr, syscall.ENOLCK), errors.Is(lockErr, syscall.ENOSYS), errors.Is(lockErr, syscall.ENOTSUP),
		errors.Is(lockErr, syscall.EOPNOTSUPP):
		return nil // a file system without locks
	}
	return lockErr
}
