package sink

import (
	"cmp"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"time"

	"github.com/tracehandler/tracehandler/naming"
)

// rotated is a finished file.
type rotated struct {
	path string
	at   time.Time
	size int64
}

// retain removes the finished files that the rules of Rotation do not keep. The newest ones are kept.
func (f *file) retain(now time.Time) error {
	r := f.o.Rotation
	if r.Keep == 0 && r.KeepFor == 0 && r.KeepBytes == 0 {
		return nil
	}
	files, err := f.rotated()
	errs := []error{err}
	var bytes int64
	for i, old := range files {
		bytes += old.size
		if (r.Keep == 0 || i < r.Keep) && (r.KeepFor == 0 || now.Sub(old.at) < r.KeepFor) && (r.KeepBytes == 0 || bytes <= r.KeepBytes) {
			continue
		}
		err := f.o.FS.Remove(old.path)
		if err == nil {
			f.ledger.count(func(s *Stats) { s.Removed++ })
		} else if !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// rotated lists the finished files of this trace, newest first.
func (f *file) rotated() ([]rotated, error) {
	dir, live := filepath.Split(f.path)
	entries, err := f.o.FS.ReadDir(filepath.Clean(dir))
	if err != nil {
		return nil, err
	}
	var files []rotated
	for _, e := range entries {
		name, at, ok := naming.ParseRotated(e.Name())
		if !ok || name != live || !e.Type().IsRegular() {
			continue
		}
		info, err := e.Info()
		if errors.Is(err, fs.ErrNotExist) {
			continue // somebody removed it
		}
		if err != nil {
			return nil, err
		}
		files = append(files, rotated{filepath.Join(dir, e.Name()), at, info.Size()})
	}
	slices.SortFunc(files, func(a, b rotated) int {
		return cmp.Or(b.at.Compare(a.at), cmp.Compare(b.path, a.path))
	})
	return files, nil
}
