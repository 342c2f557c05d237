package parse

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/tracehandler/tracehandler/internal/vfs"
)

// ExistsError says that the output folder is there and may not be replaced.
type ExistsError struct{ Path, Reason string }

func (e *ExistsError) Error() string { return "parse: output " + e.Path + " " + e.Reason }

// BusyError says that another process is writing the same output.
type BusyError struct{ Path string }

func (e *BusyError) Error() string {
	return "parse: output " + e.Path + ": another parse is writing it"
}

// staging is the folder in which the output is made. It lies beside the output, so that it can take its place at once.
//
// The old output stays as it is until the new one is complete and on disk. Then the two change places in one step where
// the operating system can do that (Linux), else in two; a crash between the two is mended by the next run.
type staging struct {
	out, dir, old string
	lockPath      string
	lock          vfs.File
}

// openStaging checks that out may be written and makes its staging folder. What a run that died has left is removed.
func openStaging(source, out string, overwrite bool) (*staging, error) {
	out, err := filepath.Abs(out)
	if err != nil {
		return nil, fmt.Errorf("parse: output: %w", err)
	}
	if err := apart(source, out); err != nil {
		return nil, err
	}
	parent, base := filepath.Split(out)
	if base == "" || base == "." || parent == out {
		return nil, fmt.Errorf("parse: output %s: cannot be a root folder", out)
	}
	if err := os.MkdirAll(parent, 0o700); err != nil {
		return nil, fmt.Errorf("parse: output: %w", err)
	}
	s := &staging{out: out}
	s.dir, s.old, s.lockPath = filepath.Join(parent, "."+base+".parsing"), filepath.Join(parent, "."+base+".old"), filepath.Join(parent, "."+base+".lock")
	if err := s.takeLock(); err != nil {
		return nil, err
	}
	if err := s.prepare(overwrite); err != nil {
		s.abort()
		return nil, err
	}
	return s, nil
}

// apart refuses an output that is the source, or holds it: replacing it would remove the source.
func apart(source, out string) error {
	src, err := filepath.Abs(source)
	if err != nil {
		return fmt.Errorf("parse: source: %w", err)
	}
	if r, err := filepath.EvalSymlinks(src); err == nil {
		src = r
	}
	real := out
	if r, err := filepath.EvalSymlinks(out); err == nil {
		real = r
	}
	if rel, err := filepath.Rel(real, src); err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return fmt.Errorf("parse: output %s is the source or holds it", out)
	}
	return nil
}

// takeLock keeps other runs for the same output away.
func (s *staging) takeLock() error {
	for range 10 {
		f, err := vfs.OS.OpenFile(s.lockPath, os.O_CREATE|os.O_RDWR, 0o600)
		if err != nil {
			return fmt.Errorf("parse: output: %w", err)
		}
		if err := f.TryLock(); err != nil {
			f.Close()
			if errors.Is(err, vfs.ErrLocked) {
				return &BusyError{s.out}
			}
			return fmt.Errorf("parse: output: %w", err)
		}
		// Who held the lock before may have removed the file meanwhile; then it keeps nobody away.
		mine, err1 := f.Stat()
		there, err2 := os.Lstat(s.lockPath)
		if err1 == nil && err2 == nil && os.SameFile(mine, there) {
			s.lock = f
			return nil
		}
		f.Close()
	}
	return &BusyError{s.out}
}

// unlock lets other runs in again.
func (s *staging) unlock() {
	if runtime.GOOS == "windows" { // there an open file cannot be removed
		_ = s.lock.Close()
		_ = os.Remove(s.lockPath)
		return
	}
	_ = os.Remove(s.lockPath)
	_ = s.lock.Close()
}

// prepare mends what a run that died has left, checks that the output may be written, and makes the staging folder.
func (s *staging) prepare(overwrite bool) error {
	if err := os.RemoveAll(s.dir); err != nil {
		return fmt.Errorf("parse: output: %w", err)
	}
	if err := os.Mkdir(s.dir, 0o700); err != nil {
		return fmt.Errorf("parse: output: %w", err)
	}
	st, err := os.Lstat(s.out)
	if errors.Is(err, fs.ErrNotExist) {
		// A run may have died between moving the old output away and the new one in.
		if _, e := os.Lstat(s.old); e != nil {
			return nil
		}
		if err := os.Rename(s.old, s.out); err != nil {
			return fmt.Errorf("parse: output: %w", err)
		}
		st, err = os.Lstat(s.out)
	}
	if err != nil {
		return fmt.Errorf("parse: output: %w", err)
	}
	if err := os.RemoveAll(s.old); err != nil {
		return fmt.Errorf("parse: output: %w", err)
	}
	if !st.IsDir() {
		return &ExistsError{s.out, "exists and is not a folder"}
	}
	have, err := os.ReadDir(s.out)
	if err != nil {
		return fmt.Errorf("parse: output: %w", err)
	}
	if len(have) == 0 {
		return nil
	}
	if !overwrite {
		return &ExistsError{s.out, "exists; it is replaced only if overwriting is asked for"}
	}
	if _, err := os.Lstat(filepath.Join(s.out, listName)); err != nil {
		return &ExistsError{s.out, "holds no " + listName + ", so it is not the output of a parse and is not replaced"}
	}
	return nil
}

// publish puts the finished output in its place.
func (s *staging) publish() (err error) {
	defer s.unlock()
	if err := syncTree(s.dir); err != nil {
		_ = os.RemoveAll(s.dir)
		return fmt.Errorf("parse: publish: %w", err)
	}
	parent := filepath.Dir(s.out)
	old := ""
	_, err = os.Lstat(s.out)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		err = os.Rename(s.dir, s.out)
	case exchange(s.dir, s.out) == nil:
		err, old = nil, s.dir
	default:
		if err = os.Rename(s.out, s.old); err == nil {
			if err = os.Rename(s.dir, s.out); err != nil {
				err = errors.Join(err, os.Rename(s.old, s.out))
			}
			old = s.old
		}
	}
	if err != nil {
		_ = os.RemoveAll(s.dir)
		return fmt.Errorf("parse: publish: %w", err)
	}
	if err := vfs.OS.SyncDir(parent); err != nil {
		return fmt.Errorf("parse: publish: %w", err)
	}
	if old == "" {
		return nil
	}
	return removeOld(old)
}

func removeOld(dir string) error {
	if err := os.RemoveAll(dir); err != nil {
		return fmt.Errorf("parse: the output is complete, but the one before could not be removed: %w", err)
	}
	return nil
}

func syncTree(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.IsDir() {
			if err := syncTree(filepath.Join(dir, e.Name())); err != nil {
				return err
			}
		}
	}
	return vfs.OS.SyncDir(dir)
}

// abort removes the staging folder.
func (s *staging) abort() {
	_ = os.RemoveAll(s.dir)
	s.unlock()
}
