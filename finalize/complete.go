package finalize

import (
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/tracehandler/tracehandler/format"
	"github.com/tracehandler/tracehandler/naming"
)

// CompleteOptions say how a partial becomes a trace.
type CompleteOptions struct {
	// Rotated, if not zero, publishes the trace under the name that naming.RotatedName makes of its own name and this time.
	Rotated time.Time

	// BeforePublish, if not nil, is called with the path of the complete partial before it is synced and renamed.
	BeforePublish func(partial string) error

	// Archive says how a journal becomes an archive.
	Archive ArchiveOptions
}

// Complete turns the partial into a trace. It is the one way to do so, for Close and Rotate of the sinks as well as for
// Recover. In this order it
//
//  1. cuts what a failed write left behind the last whole frame, and checks the size of the file,
//  2. appends the seek table of a zstd file (if that fails, the trace does without),
//  3. calls BeforePublish,
//  4. syncs the file,
//  5. renames it to its own name, or, if that exists and is not to be replaced, to one made by naming.RotatedName,
//  6. syncs the directory and releases the lock.
//
// A partial without content is removed instead: there was no event. Up to the renaming, an error leaves the partial open
// and as it was, so that it can be appended to or completed again. After the renaming, an error says that the name may not
// survive a crash of the machine; Report.Published is then true, and the partial is closed.
func (p *Partial) Complete(o CompleteOptions) (Report, error) {
	if p.f == nil {
		return p.report, errClosed
	}
	if err := p.check(); err != nil {
		return p.report, err
	}
	if p.size == 0 {
		return p.discard()
	}
	if p.report.Format == format.CLP {
		return p.completeArchive(o)
	}
	if err := p.appendTable(); err != nil {
		return p.report, err
	}
	if err := p.publish(o); err != nil {
		p.dirty = true // the seek table
		return p.report, errors.Join(err, p.clean())
	}
	p.report.Published = true
	p.dirs = append(p.dirs, dirOf(p.path))
	err := p.syncDirs()
	return p.report, errors.Join(err, p.release())
}

// check makes sure that the file ends where it should.
func (p *Partial) check() error {
	if err := p.clean(); err != nil {
		return err
	}
	info, err := p.f.Stat()
	if err != nil {
		return fmt.Errorf("finalize: %w", err)
	}
	switch size := info.Size(); {
	case size < p.size:
		return fmt.Errorf("finalize: %s: somebody cut it from %d to %d bytes", p.Name(), p.size, size)
	case size > p.size:
		p.dirty = true
	}
	return p.clean()
}

// appendTable writes the seek table without counting it as content: size stays the end of the last frame.
func (p *Partial) appendTable() error {
	if p.report.Format == format.CLPIR {
		return p.appendEnd()
	}
	if p.report.Format != format.Zstd {
		return nil
	}
	b := p.table.append(nil)
	if err := p.write(b); err != nil {
		p.dirty = true
		return p.clean() // a trace without a seek table is whole
	}
	p.report.Size = p.size + int64(len(b))
	return nil
}

func (p *Partial) publish(o CompleteOptions) error {
	if o.BeforePublish != nil {
		if err := o.BeforePublish(p.Name()); err != nil {
			return fmt.Errorf("finalize: %s: before publishing: %w", p.Name(), err)
		}
	}
	if err := p.Sync(); err != nil {
		return err
	}
	to, err := p.target(o.Rotated)
	if err != nil {
		return err
	}
	if err := p.fs.Rename(p.Name(), to); err != nil {
		return fmt.Errorf("finalize: %w", err)
	}
	p.report.Path = to
	return nil
}

// target chooses the name of the trace so that no other trace is replaced.
func (p *Partial) target(rotated time.Time) (string, error) {
	if rotated.IsZero() {
		if p.replace {
			return p.path, nil
		}
		free, err := p.free(p.path)
		if err != nil || free {
			return p.path, err
		}
		info, err := p.f.Stat()
		if err != nil {
			return "", fmt.Errorf("finalize: %w", err)
		}
		rotated = info.ModTime()
	}
	for n := 0; ; n++ {
		name := naming.RotatedName(p.path, rotated, n)
		free, err := p.free(name)
		if err != nil || free {
			return name, err
		}
	}
}

func (p *Partial) free(name string) (bool, error) {
	_, err := p.fs.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return true, nil
	case err != nil:
		return false, fmt.Errorf("finalize: %w", err)
	}
	return false, nil
}

// discard removes a partial without content.
func (p *Partial) discard() (Report, error) {
	if err := p.there(); err != nil {
		return p.report, err
	}
	if err := p.fs.Remove(p.Name()); err != nil {
		return p.report, fmt.Errorf("finalize: %w", err)
	}
	p.report.Removed = true
	p.report.Size = 0
	err := p.fs.SyncDir(dirOf(p.path))
	return p.report, errors.Join(err, p.release())
}
