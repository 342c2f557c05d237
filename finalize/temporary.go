package finalize

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

// While an archive is made it is a file NAME.archive-N.partial, which is locked as long as its maker lives. It ends as a
// partial does, so that nobody takes it for a trace. Who finds one that is not locked may remove it: the journal that it
// was made from is still there.

const (
	temporaryInfix = ".archive-"
	maxTemporaries = 1000 // of one trace at a time
)

// temporaryOf tells from the name of a file, without its directory, which trace it is a temporary file of.
func temporaryOf(name string) (trace string, ok bool) {
	name, ok = strings.CutSuffix(name, naming.PartialSuffix)
	i := strings.LastIndex(name, temporaryInfix)
	if !ok || i <= 0 {
		return "", false
	}
	n, err := strconv.ParseUint(name[i+len(temporaryInfix):], 10, 16)
	return name[:i], err == nil && n < maxTemporaries && name[i+len(temporaryInfix)] != '+'
}

// isReserved reports whether the partial of no trace may have the name, because recovery would take it for something else.
func isReserved(partial string) bool {
	_, ok := temporaryOf(partial)
	return ok || strings.HasSuffix(partial, journalSuffix)
}

// createTemporary creates and locks a temporary file of the trace at path.
func createTemporary(fsys vfs.FS, path string) (vfs.File, error) {
	for n := 1; n < maxTemporaries; n++ {
		name := path + temporaryInfix + strconv.Itoa(n) + naming.PartialSuffix
		f, err := fsys.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
		if errors.Is(err, fs.ErrExist) {
			if err := dropTemporary(name, Options{FS: fsys}); err != nil {
				return nil, err
			}
			f, err = fsys.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
			if errors.Is(err, fs.ErrExist) {
				continue // somebody is at work on it
			}
		}
		if err != nil {
			return nil, fmt.Errorf("finalize: %w", err)
		}
		err = f.TryLock()
		if err == nil {
			return f, nil
		}
		if err = errors.Join(err, f.Close()); !errors.Is(err, vfs.ErrLocked) { // else a recovery, which is about to remove it
			return nil, fmt.Errorf("finalize: %w", err)
		}
	}
	return nil, fmt.Errorf("finalize: %s: too many temporary files", path)
}

// dropTemporary removes a temporary file, unless its maker lives.
func dropTemporary(name string, o Options) error {
	f, err := o.FS.OpenFile(name, os.O_RDWR, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("finalize: %w", err)
	}
	c := claim{fs: o.FS}
	err = c.hold(f, name)
	var locked *LockedError
	switch {
	case errors.As(err, &locked), errors.Is(err, errMoved):
		err = nil
	case err == nil && !o.DryRun:
		if err = o.FS.Remove(name); errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("finalize: %s: %w", name, err)
	}
	return nil
}

// dropTemporaries removes the temporary files of the trace at path whose makers are dead.
func dropTemporaries(fsys vfs.FS, path string) error {
	entries, err := fsys.ReadDir(dirOf(path))
	if err != nil {
		return fmt.Errorf("finalize: %w", err)
	}
	var errs []error
	for _, e := range entries {
		if trace, ok := temporaryOf(e.Name()); ok && trace == filepath.Base(path) && e.Type().IsRegular() {
			errs = append(errs, dropTemporary(filepath.Join(dirOf(path), e.Name()), Options{FS: fsys}))
		}
	}
	return errors.Join(errs...)
}
