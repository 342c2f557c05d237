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
	lock          vfs.File
}

const lockName = "lock"

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
	s := &staging{out: out, dir: filepath.Join(parent, "."+base+".parsing"), old: filepath.Join(parent, "."+base+".old")}
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

// takeLock makes the staging folder, or takes over one whose owner is gone.
func (s *staging) takeLock() error {
	for range 3 {
		if err := os.Mkdir(s.dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
			return fmt.Errorf("parse: output: %w", err)
		}
		st, err := os.Lstat(s.dir)
		if err != nil || !st.IsDir() {
			return fmt.Errorf("parse: output: %s is in the way: not a folder", s.dir)
		}
		f, err := vfs.OS.OpenFile(filepath.Join(s.dir, lockName), os.O_CREATE|os.O_RDWR, 0o600)
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
		// The folder may have become someone's output, or gone, between the two steps; then try again.
		if _, err := os.Lstat(filepath.Join(s.dir, lockName)); err == nil {
			s.lock = f
			return nil
		}
		f.Close()
	}
	return &BusyError{s.out}
}

func (s *staging) prepare(overwrite bool) error {
	entries, err := os.ReadDir(s.dir)
	if err != nil {
		return fmt.Errorf("parse: output: %w", err)
	}
	for _, e := range entries {
		if e.Name() != lockName {
			if err := os.RemoveAll(filepath.Join(s.dir, e.Name())); err != nil {
				return fmt.Errorf("parse: output: %w", err)
			}
		}
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
func (s *staging) publish() error {
	if runtime.GOOS == "windows" {
		// There an open file can be neither removed nor moved with its folder.
		s.lock.Close()
	} else {
		defer s.lock.Close()
	}
	if err := os.Remove(filepath.Join(s.dir, lockName)); err != nil {
		return fmt.Errorf("parse: publish: %w", err)
	}
	if err := syncTree(s.dir); err != nil {
		return fmt.Errorf("parse: publish: %w", err)
	}
	parent := filepath.Dir(s.out)
	_, err := os.Lstat(s.out)
	if errors.Is(err, fs.ErrNotExist) {
		if err := os.Rename(s.dir, s.out); err != nil {
			return fmt.Errorf("parse: publish: %w", err)
		}
		return vfs.OS.SyncDir(parent)
	}
	if exchange(s.dir, s.out) == nil {
		if err := vfs.OS.SyncDir(parent); err != nil {
			return fmt.Errorf("parse: publish: %w", err)
		}
		return removeOld(s.dir)
	}
	if err := os.Rename(s.out, s.old); err != nil {
		return fmt.Errorf("parse: publish: %w", err)
	}
	if err := os.Rename(s.dir, s.out); err != nil {
		return errors.Join(fmt.Errorf("parse: publish: %w", err), os.Rename(s.old, s.out))
	}
	if err := vfs.OS.SyncDir(parent); err != nil {
		return fmt.Errorf("parse: publish: %w", err)
	}
	return removeOld(s.old)
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
	_ = s.lock.Close()
}
