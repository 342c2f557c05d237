package finalize

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/tracehandler/tracehandler/format"
	"github.com/tracehandler/tracehandler/internal/temporary"
	"github.com/tracehandler/tracehandler/internal/vfs"
	"github.com/tracehandler/tracehandler/naming"
)

// Recover completes what a dead writer left behind, with the code that Close runs. path is a partial, a trace whose
// partial is beside it, or a directory, in which each partial is completed (not those in directories below it). A trace
// without a partial needs nothing: then there is no report and no error.
//
// A partial whose writer lives is left alone; the error is a *LockedError. Of a directory the others are completed all
// the same, and the errors joined. Recover can be killed at any moment and run again.
//
// What happens to the end of a file:
//
//   - plain: what stands behind the last newline is cut, unless it is a whole JSON object, which then gets its newline;
//   - gzip, zstd: a frame that ends too early is cut. The whole lines that can be decoded of it, up to the first that is no
//     JSON object, are kept in a frame of their own;
//   - zeros behind the last whole frame or line, which some file systems leave after a power failure, are cut.
//
// Damage anywhere else stays as it is and is reported: readers skip it.
func Recover(path string, o *Options) ([]Report, error) {
	opts := o.orDefault()
	info, err := opts.FS.Stat(path)
	switch {
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("finalize: %w", err)
	case err == nil && info.IsDir():
		return recoverDir(path, opts)
	case strings.HasSuffix(path, naming.PartialSuffix):
		path = strings.TrimSuffix(path, naming.PartialSuffix)
	case err == nil:
		if _, err := opts.FS.Lstat(path + naming.PartialSuffix); errors.Is(err, fs.ErrNotExist) {
			return nil, nil
		}
	}
	r, rerr := recoverFile(path, opts)
	if r.Path == "" {
		if err != nil && errors.Is(rerr, fs.ErrNotExist) {
			rerr = fmt.Errorf("finalize: %w", err) // it names what the caller named
		}
		return nil, rerr
	}
	return []Report{r}, rerr
}

func (o *Options) orDefault() Options {
	var v Options
	if o != nil {
		v = *o
	}
	if v.FS == nil {
		v.FS = vfs.OS
	}
	return v
}

func recoverDir(dir string, o Options) ([]Report, error) {
	entries, err := o.FS.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("finalize: %w", err)
	}
	var reports []Report
	var errs []error
	for _, e := range entries {
		name, ok := strings.CutSuffix(e.Name(), naming.PartialSuffix)
		if !ok || !e.Type().IsRegular() {
			continue
		}
		if o.Context != nil && o.Context.Err() != nil {
			return reports, errors.Join(append(errs, o.Context.Err())...)
		}
		path := filepath.Join(dir, name)
		if _, ok := temporary.Of(e.Name()); ok {
			errs = append(errs, dropTemporary(path+naming.PartialSuffix, o))
			continue
		}
		if trace, ok := strings.CutSuffix(path+naming.PartialSuffix, journalSuffix); ok {
			errs = append(errs, dropJournal(trace, o))
			continue
		}
		r, err := recoverFile(path, o)
		if errors.Is(err, fs.ErrNotExist) {
			continue // its writer or another recovery was faster
		}
		if r.Path != "" {
			reports = append(reports, r)
		}
		errs = append(errs, err)
	}
	return reports, errors.Join(errs...)
}

// dropTemporary removes what is left of an archive that was not finished, if its maker is dead.
func dropTemporary(name string, o Options) error {
	if o.DryRun {
		return nil
	}
	if err := temporary.Remove(o.FS, name); err != nil {
		return fmt.Errorf("finalize: %w", err)
	}
	return nil
}

// dropTemporaries removes what is left of archives of the trace that were not finished.
func (p *Partial) dropTemporaries() error {
	if err := temporary.RemoveAll(p.fs, p.path); err != nil {
		return fmt.Errorf("finalize: %w", err)
	}
	return nil
}

// dropJournal removes a journal that has no partial: it was applied, and its removal was lost in a crash.
func dropJournal(trace string, o Options) error {
	if _, err := o.FS.Lstat(trace + naming.PartialSuffix); !errors.Is(err, fs.ErrNotExist) || o.DryRun {
		return nil // the recovery of the partial deals with it
	}
	if err := o.FS.Remove(trace + journalSuffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("finalize: %w", err)
	}
	return nil
}

// recoverFile completes the partial of the trace at path.
func recoverFile(path string, o Options) (Report, error) {
	c := claim{fs: o.FS, path: path, partial: path + naming.PartialSuffix, onlyRead: o.DryRun}
	if _, ok := temporary.Of(filepath.Base(c.partial)); ok {
		return Report{}, dropTemporary(c.partial, o)
	}
	f, err := c.lock(c.partial)
	if errors.Is(err, errMoved) {
		err = fmt.Errorf("finalize: %s: %w", c.partial, fs.ErrNotExist)
	}
	if err != nil {
		return Report{}, err
	}
	looked, err := o.watch(f)
	if err != nil {
		return Report{}, errors.Join(err, f.Close())
	}
	if o.DryRun {
		rep := Report{Path: c.partial, Partial: c.partial}
		err := errors.Join(survey(looked, &rep), f.Close())
		return rep, err
	}
	p := &Partial{fs: o.FS, f: looked, path: path, old: true, report: Report{Path: c.partial, Partial: c.partial}}
	if err := p.recover(); err != nil {
		return p.report, errors.Join(err, p.release())
	}
	p.f = f
	r, err := p.Complete(CompleteOptions{BeforePublish: o.BeforePublish, Archive: o.Archive})
	if p.f != nil {
		err = errors.Join(err, p.release())
	}
	return r, err
}

func (p *Partial) recover() error {
	s, err := p.takeOver(true, p.learn)
	if err != nil {
		return err
	}
	s.close()
	if p.report.Format == format.CLP {
		return p.dropTemporaries()
	}
	return nil
}
