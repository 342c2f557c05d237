// Package temporary has the files that are needed while an archive is made.
//
// They stand beside the trace at path, as path.archive-N.partial: names that end as those of partials do, so that nobody takes
// one for a trace. Each is locked as long as its maker lives. Whoever finds one that is not locked may remove it: what it is
// made from is still there.
package temporary

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/tracehandler/tracehandler/internal/vfs"
	"github.com/tracehandler/tracehandler/naming"
)

const (
	infix = ".archive-"
	most  = 1000 // files of one trace at a time
)

// Of tells from the name of a file, without its directory, which trace it is a temporary file of.
func Of(name string) (trace string, ok bool) {
	name, ok = strings.CutSuffix(name, naming.PartialSuffix)
	i := strings.LastIndex(name, infix)
	if !ok || i <= 0 {
		return "", false
	}
	n, err := strconv.ParseUint(name[i+len(infix):], 10, 16)
	return name[:i], err == nil && n < most && name[i+len(infix)] != '+'
}

// Create creates and locks a temporary file of the trace at path. One with the same name whose maker is dead is removed.
func Create(fsys vfs.FS, path string) (vfs.File, error) {
	for n := 1; n < most; n++ {
		name := path + infix + strconv.Itoa(n) + naming.PartialSuffix
		f, err := fsys.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
		if errors.Is(err, fs.ErrExist) {
			if err := Remove(fsys, name); err != nil {
				return nil, err
			}
			f, err = fsys.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
			if errors.Is(err, fs.ErrExist) {
				continue // somebody is at work on it
			}
		}
		if err != nil {
			return nil, err
		}
		err = f.TryLock()
		if err == nil {
			if err = named(fsys, f, name); err == nil {
				return f, nil
			}
			if err = errors.Join(err, f.Close()); !errors.Is(err, fs.ErrNotExist) { // else a recovery has removed it before it was locked
				return nil, err
			}
			continue
		}
		if err = errors.Join(err, f.Close()); !errors.Is(err, vfs.ErrLocked) { // else a recovery, which is about to remove it
			return nil, err
		}
	}
	return nil, fmt.Errorf("%s: too many temporary files", path)
}

// Remove removes a temporary file, unless its maker lives.
func Remove(fsys vfs.FS, name string) error {
	f, err := fsys.OpenFile(name, os.O_RDWR, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	err = f.TryLock()
	if err == nil {
		err = remove(fsys, f, name)
	} else if errors.Is(err, vfs.ErrLocked) {
		err = nil
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// remove removes a file that is locked, if it has its name still.
func remove(fsys vfs.FS, f vfs.File, name string) error {
	err := named(fsys, f, name)
	if err == nil {
		err = fsys.Remove(name)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// named makes sure that a regular file has its name still: fs.ErrNotExist if it has not.
func named(fsys vfs.FS, f vfs.File, name string) error {
	held, err := f.Stat()
	if err != nil {
		return err
	}
	there, err := fsys.Lstat(name)
	if err == nil && !(held.Mode().IsRegular() && vfs.SameFile(held, there)) {
		err = fs.ErrNotExist
	}
	return err
}

// RemoveAll removes the temporary files of the trace at path whose makers are dead.
func RemoveAll(fsys vfs.FS, path string) error {
	entries, err := fsys.ReadDir(filepath.Dir(path))
	if err != nil {
		return err
	}
	var errs []error
	for _, e := range entries {
		if trace, ok := Of(e.Name()); ok && trace == filepath.Base(path) && e.Type().IsRegular() {
			errs = append(errs, Remove(fsys, filepath.Join(filepath.Dir(path), e.Name())))
		}
	}
	return errors.Join(errs...)
}
