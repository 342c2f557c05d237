package errorfs

import (
	"io"
	"io/fs"
	"os"
	"sync"
	"syscall"

	"github.com/tracehandler/tracehandler/internal/vfs"
)

// file is an open file of an FS.
type file struct {
	vfs.File
	fsys *FS
	flag int
	grow sync.Mutex // one write at a time, so that growth is counted once
}

func (f *file) check(op Op, n int) (keep int, err error) {
	return f.fsys.check(Call{Op: op, Path: f.Name(), Bytes: n})
}

func (f *file) Read(p []byte) (int, error) {
	if _, err := f.check(Read, 0); err != nil {
		return 0, err
	}
	return f.File.Read(p)
}

func (f *file) ReadAt(p []byte, off int64) (int, error) {
	if _, err := f.check(Read, 0); err != nil {
		return 0, err
	}
	return f.File.ReadAt(p, off)
}

func (f *file) Write(p []byte) (int, error) {
	keep, err := f.check(Write, len(p))
	f.grow.Lock()
	defer f.grow.Unlock()
	if err != nil {
		if keep == 0 {
			return 0, err
		}
		n, werr := f.File.Write(p[:keep])
		if werr != nil {
			return n, werr
		}
		return n, err
	}
	inside, err := f.inside(len(p))
	if err != nil {
		return 0, err
	}
	room := inside + int(f.fsys.take(int64(len(p)-inside)))
	if room == len(p) {
		return f.File.Write(p)
	}
	n := 0
	if room > 0 {
		if n, err = f.File.Write(p[:room]); err != nil {
			return n, err
		}
	}
	return n, &Error{Call: Call{Op: Write, Path: f.Name(), Bytes: len(p)}, Err: syscall.ENOSPC}
}

// inside returns how many of the next n bytes written do not make the file longer.
func (f *file) inside(n int) (int, error) {
	if f.flag&os.O_APPEND != 0 {
		return 0, nil
	}
	info, err := f.File.Stat()
	if err != nil {
		return 0, err
	}
	off, err := f.File.Seek(0, io.SeekCurrent)
	if err != nil {
		return 0, err
	}
	return int(min(int64(n), max(info.Size()-off, 0))), nil
}

func (f *file) Seek(off int64, whence int) (int64, error) {
	if _, err := f.check(Seek, 0); err != nil {
		return 0, err
	}
	return f.File.Seek(off, whence)
}

func (f *file) Truncate(size int64) error {
	if _, err := f.check(Truncate, 0); err != nil {
		return err
	}
	info, err := f.File.Stat()
	if err != nil {
		return err
	}
	if err := f.File.Truncate(size); err != nil {
		return err
	}
	f.fsys.give(info.Size() - size)
	return nil
}

func (f *file) Sync() error {
	if _, err := f.check(Sync, 0); err != nil {
		return err
	}
	return f.File.Sync()
}

func (f *file) Stat() (fs.FileInfo, error) {
	if _, err := f.check(Stat, 0); err != nil {
		return nil, err
	}
	return f.File.Stat()
}

func (f *file) TryLock() error {
	if _, err := f.check(Lock, 0); err != nil {
		return err
	}
	return f.File.TryLock()
}

func (f *file) Close() error {
	_, err := f.check(Close, 0)
	if cerr := f.File.Close(); err == nil {
		err = cerr
	}
	return err
}
