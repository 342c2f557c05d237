package sink

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"time"

	"github.com/tracehandler/tracehandler/format"
)

// Writer returns the sink that writes to w: a pipe, a terminal, a buffer. It owns w until Close returns, but never closes
// it. There is no partial and no seek table, Rotate does nothing, and of the options only those about blocks and waiting
// matter. Sync calls the method Sync of w if there is one. The format CLP is an *OptionError: an archive is made of a
// journal, at the end, and a stream has no place for that.
//
// After a short write, and after an error, it goes on with the byte after the last one that w took.
func Writer(w io.Writer, o Options) Sink {
	o, enc, err := o.resolve()
	s := &stream{o: o, optErr: err, enc: enc}
	if w == nil && err == nil {
		s.optErr = &OptionError{"w", "is nil"}
	}
	if o.Format == format.CLP && err == nil {
		s.optErr = &OptionError{"Format", "clp needs a file, beside which its journal lies: write clp-ir here, which clp-s reads too"}
	}
	s.target = &writer{w: w, ledger: &s.ledger}
	return s
}

// writer is the target of a sink that writes to an io.Writer.
type writer struct {
	w      io.Writer
	done   int // bytes of the present block that w has taken
	ledger *ledger
}

func (w *writer) open() error { return nil }

func (w *writer) write(enc []byte, _ int, _, _ int64) error {
	for w.done < len(enc) {
		rest := enc[w.done:]
		n, err := w.w.Write(rest)
		if n < 0 || n > len(rest) {
			return fmt.Errorf("sink: write: took %d of %d bytes", n, len(rest))
		}
		w.done += n
		w.ledger.count(func(s *Stats) { s.FileBytes += int64(n) })
		if err == nil && n == 0 {
			err = io.ErrShortWrite
		}
		if err != nil && w.done < len(enc) {
			return fmt.Errorf("sink: write: %w", err)
		}
	}
	w.done = 0
	return nil
}

// sync tolerates streams that have nothing to sync: fsync of a terminal, a pipe or a socket fails in a different way on
// every system.
func (w *writer) sync() error {
	s, ok := w.w.(interface{ Sync() error })
	if !ok {
		return nil
	}
	err := s.Sync()
	if err == nil || errors.Is(err, errors.ErrUnsupported) || w.isStream() && !errors.Is(err, fs.ErrClosed) {
		return nil
	}
	return fmt.Errorf("sink: sync: %w", err)
}

// isStream reports whether w is a file that has no storage behind it.
func (w *writer) isStream() bool {
	f, ok := w.w.(interface{ Stat() (fs.FileInfo, error) })
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&(fs.ModeNamedPipe|fs.ModeSocket|fs.ModeCharDevice) != 0
}

func (w *writer) rotate() error              { return nil }
func (w *writer) expires() (time.Time, bool) { return time.Time{}, false }
func (w *writer) expire()                    {}
func (w *writer) abandon() error             { return nil }

func (w *writer) close(context.Context, func()) error { return nil }
