package sink

import (
	"context"
	"errors"
	"path/filepath"
	"sync"

	"github.com/tracehandler/tracehandler/event"
	"github.com/tracehandler/tracehandler/format"
	"github.com/tracehandler/tracehandler/naming"
)

// Dir returns the sink that writes into the directory path, which many processes may share: each writes files of its own,
// named by scheme. The rank is asked at each event. When it changes, the file of the old rank becomes a trace and the
// event goes to the file of the new one; going back to a rank continues its trace. If what was accepted for the old rank
// cannot be written, the event is dropped and the file stays.
//
// A trace that cannot be published when the rank changes stays a partial; Close returns the error. An archive (format CLP)
// takes too long to be made then: traces of all ranks stay partials until Close.
func Dir(path string, scheme naming.Scheme, o Options) Sink {
	_, _, err := o.resolve()
	if err == nil && path == "" {
		err = &OptionError{"path", "is empty"}
	}
	rank := scheme.Rank
	if rank == nil {
		rank = naming.EnvRank()
	}
	return &dir{path: path, scheme: scheme, rank: rank, o: o, optErr: err, seen: map[naming.Rank]bool{}, idle: map[naming.Rank]*stream{}}
}

type dir struct {
	path   string
	scheme naming.Scheme
	rank   func() naming.Rank
	o      Options
	optErr error

	last   naming.Rank
	seen   map[naming.Rank]bool // ranks that have had a file
	closed bool
	errs   []error // of files that were finished before Close

	mu   sync.Mutex              // guards what Err and Stats read; the owner reads without it
	cur  *stream                 // nil until the first event
	past Stats                   // of the files before cur
	idle map[naming.Rank]*stream // files of other ranks that are not closed yet
}

func (d *dir) Encoder(o event.Options) event.Encoder { return encoderOf(&d.o, o) }

func (d *dir) Append(p []byte) error {
	if r := d.rank(); r != d.last || d.cur == nil {
		if err := d.turn(r, p); err != nil {
			return err
		}
	}
	return d.cur.Append(p)
}

// turn makes cur the file of rank r, for the event p.
func (d *dir) turn(r naming.Rank, p []byte) error {
	if err := d.usable(); err != nil {
		return err
	}
	if d.o.Format == format.CLP {
		return d.change(r, p)
	}
	if d.cur != nil {
		if err := d.cur.Flush(); err != nil {
			return d.cur.drop(p, err)
		}
		if err := d.cur.Close(); err != nil {
			d.errs = append(d.errs, err)
		}
	}
	next := d.open(r)
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.cur != nil {
		d.past.add(d.cur.Stats())
	}
	d.cur, d.last = next, r
	return nil
}

// change is turn for files that stay open until Close.
func (d *dir) change(r naming.Rank, p []byte) error {
	if d.cur != nil {
		if err := d.cur.Sync(); err != nil {
			return d.cur.drop(p, err)
		}
	}
	next := d.idle[r]
	if next == nil {
		next = d.open(r)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.cur != nil {
		d.idle[d.last] = d.cur
	}
	delete(d.idle, r)
	d.cur, d.last = next, r
	return nil
}

// open returns the sink of the file of a rank.
func (d *dir) open(r naming.Rank) *stream {
	o := d.o
	if d.seen[r] {
		o.Exists = Append
	}
	d.seen[r] = true
	return newFile(filepath.Join(d.path, d.scheme.FileName(r, o.Format)), o)
}

func (d *dir) usable() error {
	if d.closed {
		return ErrClosed
	}
	return d.optErr
}

func (d *dir) do(op func(*stream) error) error {
	if err := d.usable(); err != nil || d.cur == nil {
		return err
	}
	return op(d.cur)
}

func (d *dir) StartFlush() error { return d.do((*stream).StartFlush) }

func (d *dir) Flush() error { return d.do((*stream).Flush) }

func (d *dir) Sync() error { return d.do((*stream).Sync) }

func (d *dir) Rotate() error { return d.do((*stream).Rotate) }

func (d *dir) Close() error { return d.CloseContext(context.Background()) }

func (d *dir) CloseContext(ctx context.Context) error {
	if !d.closed {
		d.closed = true
		d.errs = append(d.errs, d.optErr)
		for _, s := range d.idle {
			d.errs = append(d.errs, s.CloseContext(ctx))
		}
		if d.cur != nil {
			d.errs = append(d.errs, d.cur.CloseContext(ctx))
		}
	}
	return errors.Join(d.errs...)
}

func (d *dir) Err() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.cur == nil {
		return nil
	}
	return d.cur.Err()
}

func (d *dir) Stats() Stats {
	d.mu.Lock()
	defer d.mu.Unlock()
	s := d.past
	for _, idle := range d.idle {
		s.add(idle.Stats())
	}
	if d.cur != nil {
		s.add(d.cur.Stats())
	}
	return s
}
