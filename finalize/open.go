package finalize

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/tracehandler/tracehandler/format"
	"github.com/tracehandler/tracehandler/internal/temporary"
	"github.com/tracehandler/tracehandler/internal/vfs"
	"github.com/tracehandler/tracehandler/naming"
)

// Mode says what OpenPartial does with a trace or partial that exists.
type Mode uint8

// The modes.
const (
	Append   Mode = iota // take it over and continue it behind its last whole frame or line
	Fail                 // an *ExistsError
	Truncate             // begin anew; an existing trace stays until Complete replaces it
)

// OpenOptions say how OpenPartial opens.
type OpenOptions struct {
	Format  format.Format
	Mode    Mode
	NoTable bool   // of a zstd file: no seek table
	FS      vfs.FS // nil means the operating system's
}

// attempts bounds how often opening starts over because another process renamed a file in between.
const attempts = 10

// OpenPartial opens the partial of the trace at path for appending, and locks it. Missing directories are made (0700),
// a new file gets the mode 0600 and is created exclusively, and no symbolic link is followed.
//
// In mode Append, a partial whose writer is gone is taken over, and a finished trace becomes a partial again; a seek table
// is taken off, a torn tail is cut, and whole events in it are kept. Errors that a caller decides on: *LockedError,
// *ExistsError, *FormatError.
func OpenPartial(path string, o OpenOptions) (*Partial, error) {
	if o.FS == nil {
		o.FS = vfs.OS
	}
	c := claim{fs: o.FS, path: path, partial: path + naming.PartialSuffix, want: o.Format}
	if isReserved(filepath.Base(c.partial)) {
		return nil, fmt.Errorf("finalize: %s: names of this kind are for temporary files", c.partial)
	}
	dirs, err := makeDirs(o.FS, dirOf(path))
	if err != nil {
		return nil, err
	}
	var f vfs.File
	err = errMoved
	for i := 0; i < attempts && errors.Is(err, errMoved); i++ {
		f, err = c.open(o.Mode)
	}
	if errors.Is(err, errMoved) {
		err = &LockedError{Path: c.partial}
	}
	if err != nil {
		return nil, err
	}
	p := &Partial{fs: o.FS, f: f, path: path, dirs: dirs, replace: o.Mode == Truncate, old: !c.created}
	p.report = Report{Path: c.partial, Partial: c.partial, Format: o.Format}
	if o.Format == format.Zstd || o.Format == format.CLPIR {
		p.table = &table{off: o.NoTable}
	}
	if c.created {
		p.dirs = append(p.dirs, dirOf(path))
		return p, nil
	}
	if o.Mode == Truncate {
		p.dirty = true
		err = p.clean()
	} else {
		err = p.resume()
	}
	if errors.Is(err, errBroken) {
		return p.setAside(o)
	}
	if err != nil {
		return nil, errors.Join(err, c.back(), p.release())
	}
	return p, nil
}

// claim gets hold of a partial that other processes may be creating, renaming and recovering at the same time.
type claim struct {
	fs            vfs.FS
	path, partial string
	want          format.Format // of a trace that becomes a partial again
	onlyRead      bool          // nothing is going to be changed
	created       bool          // the partial is new
	reopened      bool          // the partial was a finished trace
}

// isReserved reports whether the partial of no trace may have the name, because recovery would take it for something else.
func isReserved(partial string) bool {
	_, ok := temporary.Of(partial)
	return ok || strings.HasSuffix(partial, journalSuffix)
}

// errMoved says that a file was renamed, removed or created under our hands.
var errMoved = errors.New("finalize: file moved")

func (c *claim) open(m Mode) (vfs.File, error) {
	f, err := c.lock(c.partial)
	switch {
	case err == nil && m == Fail:
		return nil, errors.Join(&ExistsError{Path: c.partial}, f.Close())
	case !errors.Is(err, fs.ErrNotExist):
		return f, err
	}
	if m != Truncate {
		f, err = c.lock(c.path)
		switch {
		case err == nil && m == Fail:
			return nil, errors.Join(&ExistsError{Path: c.path}, f.Close())
		case err == nil:
			return c.next(f, m)
		case !errors.Is(err, fs.ErrNotExist):
			return nil, err
		}
	}
	return c.create(m)
}

// lock opens and locks the file called name, and makes sure that it is still called so.
func (c *claim) lock(name string) (vfs.File, error) {
	flag := os.O_RDWR
	if c.onlyRead {
		flag = os.O_RDONLY
		if info, err := c.fs.Lstat(name); err == nil && !info.Mode().IsRegular() { // opening a pipe to read it would wait for a writer
			return nil, fmt.Errorf("finalize: %s is not a regular file", name)
		}
	}
	f, err := c.fs.OpenFile(name, flag, 0)
	if err != nil {
		return nil, fmt.Errorf("finalize: %w", err)
	}
	if err := c.hold(f, name); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

func (c *claim) hold(f vfs.File, name string) error {
	if err := f.TryLock(); err != nil {
		if errors.Is(err, vfs.ErrLocked) {
			return &LockedError{Path: name}
		}
		return fmt.Errorf("finalize: %w", err)
	}
	held, err := f.Stat()
	if err != nil {
		return fmt.Errorf("finalize: %w", err)
	}
	if !held.Mode().IsRegular() {
		return fmt.Errorf("finalize: %s is not a regular file", name)
	}
	named, err := c.fs.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return errMoved
	}
	if err != nil {
		return fmt.Errorf("finalize: %w", err)
	}
	if !vfs.SameFile(held, named) {
		return errMoved
	}
	return nil
}

// next deals with the finished trace f: it becomes a partial again, or, if it is an archive, which is written once,
// something else begins beside it.
func (c *claim) next(f vfs.File, m Mode) (vfs.File, error) {
	if c.want == format.CLP {
		head, err := readHead(f)
		if err != nil || format.Detect(head) == format.ArchiveMagic {
			if err = errors.Join(err, f.Close()); err != nil {
				return nil, err
			}
			return c.create(m)
		}
	}
	return c.reopen(f)
}

// reopen makes the finished trace f a partial again. The new name is made durable before anything is appended: a trace
// under its own name never has a torn tail.
func (c *claim) reopen(f vfs.File) (vfs.File, error) {
	if _, err := c.fs.Lstat(c.partial); !errors.Is(err, fs.ErrNotExist) {
		return nil, errors.Join(errMoved, f.Close())
	}
	err := expect(f, c.path, c.want)
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	if err = c.fs.Rename(c.path, c.partial); err == nil {
		c.reopened = true
		err = c.fs.SyncDir(dirOf(c.path))
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("finalize: %w", err), c.back(), f.Close())
	}
	return f, nil
}

// back gives a finished trace that cannot be continued its name again. As far as opening it has changed it already, it is
// whole, unless there is a journal still to be applied.
func (c *claim) back() error {
	if !c.reopened {
		return nil
	}
	for _, name := range []string{c.path, c.path + journalSuffix} {
		if _, err := c.fs.Lstat(name); !errors.Is(err, fs.ErrNotExist) {
			return nil // recovery will find the partial
		}
	}
	err := c.fs.Rename(c.partial, c.path)
	if err == nil {
		err = c.fs.SyncDir(dirOf(c.path))
	}
	if err != nil {
		return fmt.Errorf("finalize: %w", err)
	}
	return nil
}

func (c *claim) create(m Mode) (vfs.File, error) {
	f, err := c.fs.OpenFile(c.partial, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil, errMoved
	}
	if err != nil {
		return nil, fmt.Errorf("finalize: %w", err)
	}
	err = c.hold(f, c.partial)
	var locked *LockedError
	if errors.As(err, &locked) { // by a recovery that found it empty, and will remove it
		err = errMoved
	}
	if err == nil && m != Truncate && c.want != format.CLP { // an archive that is there does not matter
		// Since we looked, another writer may have begun and finished the trace. From here on nobody can.
		if _, lerr := c.fs.Lstat(c.path); !errors.Is(lerr, fs.ErrNotExist) {
			err = errors.Join(errMoved, c.fs.Remove(c.partial))
		}
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	c.created = true
	return f, nil
}

// makeDirs makes dir and its missing parents, and returns the directories that have got new entries.
func makeDirs(fsys vfs.FS, dir string) ([]string, error) {
	var dirs []string
	for d := dir; ; {
		_, err := fsys.Stat(d)
		if err == nil {
			break
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("finalize: %w", err)
		}
		parent := filepath.Dir(d)
		if parent == d {
			break
		}
		dirs = append(dirs, parent)
		d = parent
	}
	if len(dirs) == 0 {
		return nil, nil
	}
	if err := fsys.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("finalize: %w", err)
	}
	return dirs, nil
}
