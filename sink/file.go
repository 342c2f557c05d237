package sink

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/tracehandler/tracehandler/finalize"
	"github.com/tracehandler/tracehandler/format"
)

// File returns the sink that writes the trace at path. Nothing is opened before the first event. While it is written,
// the file is called path + ".partial"; Close gives it its name.
func File(path string, o Options) Sink { return newFile(path, o) }

func newFile(path string, o Options) *stream {
	o, enc, err := o.resolve()
	s := &stream{o: o, optErr: err, name: path, enc: enc}
	if err == nil && path == "" {
		s.optErr = &OptionError{"path", "is empty"}
	}
	s.target = &file{o: o, path: path, ledger: &s.ledger}
	return s
}

// file is the target of a sink that writes files. Its partial is open from the first event to the end of the file, and
// again from the next block on after a rotation.
type file struct {
	o      Options
	path   string
	ledger *ledger

	part     *finalize.Partial // nil if no file is open
	archives archiver          // of journals that were set apart
	opened   time.Time
	began    bool      // a file was opened before: Options.Exists has been heard
	rotateAt time.Time // no rotation before this time, because one has failed
	pause    time.Duration
}

func (f *file) open() error {
	mode := finalize.Mode(f.o.Exists)
	if f.began && f.o.Exists == Fail {
		mode = finalize.Append
	}
	part, err := finalize.OpenPartial(f.path, finalize.OpenOptions{
		Format: f.o.Format, Mode: mode, NoTable: f.o.PerRecord, FS: f.o.FS})
	if err != nil {
		return err
	}
	f.part, f.began, f.opened = part, true, f.o.Clock.Now()
	if f.o.Format == format.CLP && f.o.ArchiveInBackground {
		part.ArchiveInBackground(finalize.ArchiveOptions{Memory: f.o.ArchiveMemory})
	}
	found := part.Report()
	f.ledger.count(func(s *Stats) {
		s.Files++
		s.TornBytes += found.TornBytes
		s.SalvagedEvents += found.SalvagedEvents
	})
	return nil
}

func (f *file) write(enc []byte, frames int, events, text int64) error {
	if f.part != nil && f.due(int64(len(enc))) {
		f.maintain()
	}
	if f.part == nil {
		if err := f.open(); err != nil {
			return err
		}
	}
	if err := f.part.Append(enc, frames, events, text); err != nil {
		return err
	}
	f.ledger.count(func(s *Stats) { s.FileBytes += int64(len(enc)) })
	return nil
}

// due reports whether the file has to be rotated before n more bytes are written to it.
func (f *file) due(n int64) bool {
	if f.part.Size() == 0 || f.o.Clock.Now().Before(f.rotateAt) {
		return false
	}
	r := f.o.Rotation
	if r.MaxSize > 0 && f.part.CompleteSize(n) > r.MaxSize {
		return true
	}
	return r.MaxAge > 0 && f.o.Clock.Now().Sub(f.opened) >= r.MaxAge
}

// maintain rotates on the helper's own account: there is nobody to return an error to.
func (f *file) maintain() {
	err := f.rotate()
	f.ledger.upkeep.set(err)
	if err == nil {
		f.pause, f.rotateAt = 0, time.Time{}
		return
	}
	f.pause = min(max(minPause, 2*f.pause), maxPause)
	f.rotateAt = f.o.Clock.Now().Add(f.pause)
}

func (f *file) rotate() error {
	if f.part == nil || f.part.Size() == 0 {
		return nil
	}
	now := f.o.Clock.Now()
	if f.o.Format == format.CLP {
		return f.setApart(now)
	}
	rep, err := f.part.Complete(finalize.CompleteOptions{Rotated: now, BeforePublish: f.o.BeforePublish})
	if rep.Published {
		f.part = nil
		f.ledger.count(func(s *Stats) {
			s.Published++
			s.Rotations++
		})
		err = errors.Join(err, f.retain(now))
	}
	if err != nil {
		f.ledger.count(func(s *Stats) { s.Failures++ })
		return fmt.Errorf("sink: rotate %s: %w", f.path, err)
	}
	return nil
}

func (f *file) sync() error {
	if f.part == nil {
		return nil
	}
	return f.part.Sync()
}

func (f *file) expires() (time.Time, bool) {
	if f.part == nil || f.part.Size() == 0 || f.o.Rotation.MaxAge == 0 {
		return time.Time{}, false
	}
	end := f.opened.Add(f.o.Rotation.MaxAge)
	if end.Before(f.rotateAt) {
		end = f.rotateAt
	}
	return end, true
}

func (f *file) expire() {
	if f.part != nil && f.due(0) {
		f.maintain()
	}
}

func (f *file) close(ctx context.Context, step func()) error {
	if f.o.Format == format.CLP {
		return f.closeArchives(ctx, step)
	}
	if f.part == nil {
		return nil
	}
	rep, err := f.part.Complete(finalize.CompleteOptions{BeforePublish: f.o.BeforePublish})
	if rep.Published {
		f.ledger.count(func(s *Stats) { s.Published++ })
	}
	return errors.Join(err, f.part.Close())
}

func (f *file) abandon() error {
	err := f.archives.stop()
	if f.part == nil {
		return err
	}
	return errors.Join(err, f.part.Close())
}
