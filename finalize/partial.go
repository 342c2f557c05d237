package finalize

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"

	"github.com/tracehandler/tracehandler/format"
	"github.com/tracehandler/tracehandler/internal/frame"
	"github.com/tracehandler/tracehandler/internal/vfs"
	"github.com/tracehandler/tracehandler/naming"
)

// Partial is a trace that is being written: an open and locked file that ends at the last whole frame or line, whatever
// failed. Sinks write partials, recovery takes them over, and both make traces of them with Complete.
//
// A Partial is not safe for concurrent use. It is left with Complete or Close; both release the lock.
type Partial struct {
	fs   vfs.FS
	f    vfs.File
	path string // of the trace

	report Report // of what was there when it was opened, and of what was appended since
	size   int64  // end of the last whole frame
	dirty  bool   // bytes behind size may be in the file
	table  *table // nil if the format has none

	old  bool       // the file was there when it was opened
	arch *archiving // that runs in the background, nil if none does

	dirs    []string // whose entries are not known to be on stable storage
	syncErr error    // of the first failed sync
	replace bool     // an existing trace is replaced by Complete
}

// Path returns the name that the trace will have.
func (p *Partial) Path() string { return p.path }

// Name returns the name of the file as it is now.
func (p *Partial) Name() string { return p.path + naming.PartialSuffix }

// Size returns the size of the file in bytes.
func (p *Partial) Size() int64 { return p.size }

// CompleteSize returns the size in bytes that the trace would have if n more bytes, one frame, were appended.
func (p *Partial) CompleteSize(n int64) int64 {
	if p.report.Format == format.CLPIR {
		n += endMarkSize
	}
	return p.size + n + p.table.size(1)
}

// Report returns what was found in the file when it was opened, together with what was appended since. Events and Text
// of an existing file are counted only as far as opening it had to read them.
func (p *Partial) Report() Report { return p.report }

// Append writes b, one or more whole frames or lines that hold events events in text bytes of text. If it fails, the
// file still ends where it ended before: what was written of b is cut off, at the latest before the next attempt and
// before the file is completed. Append may then be called again with the same b.
//
// A frame count other than one leaves the file without a seek table.
func (p *Partial) Append(b []byte, frames int, events, text int64) error {
	if p.f == nil {
		return errClosed
	}
	if err := p.clean(); err != nil {
		return err
	}
	if err := p.write(b); err != nil {
		p.dirty = true
		return errors.Join(err, p.clean())
	}
	if frames == 1 {
		p.table.add(frame.Info{Size: int64(len(b)), ContentSize: text})
	} else {
		p.table.spoil()
	}
	p.size += int64(len(b))
	p.report.Size = p.size
	p.report.Events += events
	p.report.Text += text
	if p.arch != nil {
		p.arch.src.grow(p.size)
	}
	if p.report.Format != format.Plain {
		p.report.Frames += int64(frames)
	}
	return nil
}

func (p *Partial) write(b []byte) error {
	for len(b) > 0 {
		n, err := p.f.Write(b)
		if err == nil && n <= 0 {
			err = io.ErrShortWrite
		}
		if err != nil {
			return fmt.Errorf("finalize: write %s: %w", p.Name(), reason(err))
		}
		p.dirty = true // until all of b is there
		b = b[n:]
	}
	p.dirty = false
	return nil
}

// clean cuts off what a failed write left behind the last whole frame.
func (p *Partial) clean() error {
	if !p.dirty {
		return nil
	}
	if err := p.f.Truncate(p.size); err != nil {
		return fmt.Errorf("finalize: cut %s back to %d bytes: %w", p.Name(), p.size, reason(err))
	}
	if _, err := p.f.Seek(p.size, io.SeekStart); err != nil {
		return fmt.Errorf("finalize: %w", err)
	}
	p.dirty = false
	return nil
}

// Sync returns nil when the file, as far as it was appended, and its directory entry are on stable storage. That somebody
// removed or replaced the file is an error: what was written to it has no name any more.
//
// A failed sync is final for this file: operating systems drop the data that they could not write and let the next sync
// succeed. From then on Sync returns the first error, and Complete refuses to publish the file. Recover, which reads all of
// it, can still do so.
func (p *Partial) Sync() error {
	if p.f == nil {
		return errClosed
	}
	if p.syncErr != nil {
		return p.syncErr
	}
	if err := p.f.Sync(); err != nil {
		p.syncErr = fmt.Errorf("finalize: sync %s: %w", p.Name(), reason(err))
		return p.syncErr
	}
	if err := p.syncDirs(); err != nil {
		return err
	}
	return p.there()
}

// there makes sure that the file still has its name.
func (p *Partial) there() error {
	held, err := p.f.Stat()
	if err != nil {
		return fmt.Errorf("finalize: %w", err)
	}
	named, err := p.fs.Lstat(p.Name())
	if err != nil {
		return fmt.Errorf("finalize: sync %s: %w", p.Name(), reason(err))
	}
	if !vfs.SameFile(held, named) {
		return fmt.Errorf("finalize: sync %s: somebody replaced it", p.Name())
	}
	return nil
}

func (p *Partial) syncDirs() error {
	for len(p.dirs) > 0 {
		if err := p.fs.SyncDir(p.dirs[0]); err != nil {
			return fmt.Errorf("finalize: sync directory %s: %w", p.dirs[0], reason(err))
		}
		p.dirs = p.dirs[1:]
	}
	return nil
}

// Close leaves the file as a partial, cut back to its last whole frame, and releases its lock. A partial without content
// is removed. After Complete or Close it does nothing.
func (p *Partial) Close() error {
	if p.f == nil {
		return nil
	}
	p.stopArchiving()
	err := p.clean()
	if p.size == 0 && p.there() == nil {
		err = errors.Join(err, p.fs.Remove(p.Name()))
	}
	return errors.Join(err, p.release())
}

func (p *Partial) release() error {
	err := p.f.Close()
	p.f = nil
	if err != nil {
		return fmt.Errorf("finalize: close %s: %w", p.path, reason(err))
	}
	return nil
}

// reason takes the path off an error that is going to be wrapped with the name that the file has now.
func reason(err error) error {
	if e, ok := err.(*fs.PathError); ok {
		return e.Err
	}
	return err
}

var errClosed = errors.New("finalize: partial is closed")

func dirOf(path string) string { return filepath.Dir(path) }
