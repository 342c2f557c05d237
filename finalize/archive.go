package finalize

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"time"

	"github.com/tracehandler/tracehandler/naming"
)

// A trace of the format clp is a CLP archive, which cannot be written bit by bit. While it is a partial it is a journal: a
// CLP IR stream as that of format clp-ir, which says in its metadata that it is to become an archive. Complete makes the
// archive:
//
//	journal ─ NAME.archive-1.partial ─ read back ─ BeforePublish ─ sync ─ rename ─▶ NAME ─ sync the directory ─ remove the journal
//
// If it does not fit into one archive there are several, and the last one gets the name. At any moment either the journal
// is there or all its archives. An archive knows its journal: whoever finds both knows which events are in archives
// already, and only makes those of the rest.

// ArchiveOptions say how journals become archives. They matter for the format clp only.
type ArchiveOptions struct {
	// Context bounds the work; nil never ends it. When it is done, the journal stays a partial, with all its events, and
	// the error is an *UnfinishedError.
	Context context.Context

	// OnProgress, if not nil, is told how many bytes of the journal are archived, of how many. It is called every few
	// hundred kilobytes, never by two goroutines at a time, sometimes twice with the same numbers, and with done equal to
	// total at last. It must not use the file.
	OnProgress func(done, total int64)

	// Memory is about what making an archive may hold, in bytes; 0 means 256 MiB. What needs more becomes several archives.
	Memory int64
}

// UnfinishedError says that no archive was made of a journal, which stays a partial with all its events. Recover makes
// the archive, once the reason is gone.
type UnfinishedError struct {
	Partial string // path of the journal
	Err     error  // why: the error of the context, of the disk, …
}

func (e *UnfinishedError) Error() string {
	return fmt.Sprintf("finalize: %s was not made an archive, and stays a partial: %v", e.Partial, e.Err)
}

// Unwrap returns the reason.
func (e *UnfinishedError) Unwrap() error { return e.Err }

// ArchiveInBackground begins to make the archive of a journal, in a goroutine that reads what Append has written. Complete
// then has only the rest to do. If it fails, Complete begins again, and says what went wrong then. The goroutine ends with
// Complete or Close. Of the options it uses Memory; Complete is given those that it uses.
//
// An archive made so is compared with its journal by the number of events, frame by frame with the values that went into it, while it
// is made, and byte by byte with what was written; event by event only up to 16 MiB of text.
func (p *Partial) ArchiveInBackground(o ArchiveOptions) {
	if p.f == nil || p.arch != nil {
		return
	}
	p.arch = newArchiving(p, o, true)
	p.arch.src.grow(p.size)
	go p.arch.run()
}

// Behind returns how many bytes of the journal are not yet archived in the background.
func (p *Partial) Behind() int64 {
	if p.arch == nil {
		return p.size
	}
	off, size := p.arch.src.at()
	return size - off
}

// stopArchiving ends what runs in the background, and removes what it has made.
func (p *Partial) stopArchiving() {
	if p.arch == nil {
		return
	}
	p.arch.abort(errStopped)
	<-p.arch.done
	p.arch.drop() // if it was finished already
	p.arch = nil
}

var errStopped = errors.New("finalize: stopped")

// SetApart gives the journal of an archive the name that the partial of a rotated trace has, after syncing it, so that
// another one can begin under its name. The archive that Complete makes of it has the name that naming.RotatedName makes of
// the time. If the new name may not survive a crash of the machine there is an error, although Path is the new one.
func (p *Partial) SetApart(now time.Time) error {
	if err := p.Sync(); err != nil {
		return err
	}
	if err := p.makeRoom(p.path, p.path); err != nil {
		return err
	}
	to, _, err := p.rotatedName(p.path, now, 0, 1)
	if err != nil {
		return err
	}
	if err := p.fs.Rename(p.Name(), to+naming.PartialSuffix); err != nil {
		return fmt.Errorf("finalize: %w", err)
	}
	p.path, p.replace = to, false
	p.report.Path, p.report.Partial = p.Name(), p.Name()
	p.dirs = append(p.dirs, dirOf(p.path))
	return p.syncDirs()
}

// rotatedName returns the first name of a rotated trace that is free, its partial's too, and its number.
func (p *Partial) rotatedName(path string, at time.Time, n, step int) (string, int, error) {
	for ; ; n += step {
		name := naming.RotatedName(path, at, n)
		for _, s := range []string{name, name + naming.PartialSuffix} {
			free, err := p.free(s)
			if err != nil {
				return "", 0, err
			}
			if !free {
				name = ""
			}
		}
		if name != "" {
			return name, n, nil
		}
	}
}

// completeArchive is Complete for the journal of an archive.
func (p *Partial) completeArchive(o CompleteOptions) (Report, error) {
	if err := errors.Join(p.syncErr, p.there()); err != nil {
		return p.report, err
	}
	a, err := p.archives(o.Archive)
	if err == nil {
		defer a.drop()
		err = p.publishArchives(a, o)
	}
	if err != nil {
		return p.report, errors.Join(&UnfinishedError{Partial: p.Name(), Err: err}, p.Sync())
	}
	if a.made() == 0 && a.damage == nil {
		return p.discard()
	}
	p.report.Published = a.made() > 0
	err = p.dropJournal(a)
	o.Archive.tell(p.size, p.size)
	return p.report, errors.Join(err, p.release())
}

func (o ArchiveOptions) tell(done, total int64) {
	if o.OnProgress != nil {
		o.OnProgress(done, total)
	}
}

// archives returns finished archives of the journal, in temporary files.
func (p *Partial) archives(o ArchiveOptions) (*archiving, error) {
	a := p.arch
	p.arch = nil
	if a == nil {
		return p.archive(newArchiving(p, o, false), o)
	}
	if _, err := p.archive(a, o); err == nil || done(o.Context) {
		return a, err
	}
	return p.archive(newArchiving(p, o, false), o)
}

// archive waits for the end of a, after running it unless it runs already.
func (p *Partial) archive(a *archiving, o ArchiveOptions) (*archiving, error) {
	if o.Context != nil {
		defer context.AfterFunc(o.Context, func() { a.abort(context.Cause(o.Context)) })()
		if done(o.Context) {
			a.abort(context.Cause(o.Context))
		}
	}
	a.watch(o.OnProgress)
	a.src.finish(p.size)
	if !a.background {
		a.run()
	}
	<-a.done
	return a, a.err
}

func done(ctx context.Context) bool { return ctx != nil && ctx.Err() != nil }

// publishArchives gives the archives their names. The last one is the trace; those before it have names that sort before.
func (p *Partial) publishArchives(a *archiving, o CompleteOptions) error {
	for _, part := range a.parts {
		if o.BeforePublish != nil {
			if err := o.BeforePublish(part.name()); err != nil {
				return fmt.Errorf("finalize: %s: before publishing: %w", part.name(), err)
			}
		}
	}
	p.report.Events, p.report.Text = a.events, a.text
	p.dirs = append(p.dirs, dirOf(p.path))
	if len(a.parts) == 0 {
		if a.last != "" {
			p.report.Path = a.last
		}
		return p.syncDirs()
	}
	names, err := p.archiveNames(len(a.parts), o.Rotated)
	if err != nil {
		return err
	}
	p.old = true // from here on there may be archives of this journal
	for i, part := range a.parts {
		if err := p.fs.Rename(part.name(), names[i]); err != nil {
			return fmt.Errorf("finalize: %w", err)
		}
		part.published = true
		p.report.Path, p.report.Size = names[i], part.out.size
	}
	if len(names) > 1 {
		p.report.Archives = names
	}
	return p.syncDirs()
}

// archiveNames chooses the names of n archives, and makes sure that the last one is free.
func (p *Partial) archiveNames(n int, rotated time.Time) ([]string, error) {
	info, err := p.f.Stat()
	if err != nil {
		return nil, fmt.Errorf("finalize: %w", err)
	}
	dir, base := filepath.Split(p.path)
	live, at, last, before := p.path, info.ModTime(), p.path, 0
	if name, stamp, ok := naming.ParseRotated(base); ok {
		live, at = dir+name, stamp
	} else if !rotated.IsZero() {
		at = rotated
		if last, before, err = p.rotatedName(live, at, 0, 1); err != nil {
			return nil, err
		}
	}
	names := make([]string, n)
	names[n-1] = last
	for i := n - 2; i >= 0; i-- {
		if names[i], before, err = p.rotatedName(live, at, before-1, -1); err != nil {
			return nil, err
		}
	}
	return names, p.makeRoom(last, live)
}

// makeRoom gives the archive that has a name already, if there is one and it is not to be replaced, the name of a rotated
// trace: no archive is ever replaced by another, and names sort as their events do.
func (p *Partial) makeRoom(name, live string) error {
	if p.replace && name == p.path {
		return nil
	}
	info, err := p.fs.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("finalize: %w", err)
	}
	to, _, err := p.rotatedName(live, info.ModTime(), 0, 1)
	if err != nil {
		return err
	}
	if err := p.fs.Rename(name, to); err != nil {
		return fmt.Errorf("finalize: %w", err)
	}
	return nil
}

// dropJournal removes the journal, whose events are in archives. If not all of them could be read, it is kept, under a
// name that recovery does not look at.
func (p *Partial) dropJournal(a *archiving) error {
	if err := p.there(); err != nil {
		return err
	}
	var err error
	if a.damage == nil && len(p.report.Damage) == 0 {
		err = p.fs.Remove(p.Name())
	} else {
		kept := p.path + ".damaged"
		for n := 2; err == nil; n++ {
			var free bool
			if free, err = p.free(kept); free {
				break
			}
			kept = fmt.Sprintf("%s.damaged-%d", p.path, n)
		}
		if err == nil {
			err = p.fs.Rename(p.Name(), kept)
		}
		if err == nil {
			p.report.Kept = kept
			if len(p.report.Damage) == 0 {
				p.report.damaged(p.size, 0, a.damage)
			}
		}
	}
	if err == nil {
		err = p.fs.SyncDir(dirOf(p.path))
	}
	if err != nil {
		return fmt.Errorf("finalize: the journal of %s: %w", p.report.Path, err)
	}
	return nil
}
