package sink

import (
	"context"
	"errors"
	"time"

	"github.com/tracehandler/tracehandler/clp/ir/slogkv"
	"github.com/tracehandler/tracehandler/event"
	"github.com/tracehandler/tracehandler/internal/frame"
)

// stream is a Sink over one target.
type stream struct {
	o      Options
	optErr error
	name   string
	enc    frame.Encoder
	target target
	ledger ledger

	cur  *block // being filled; nil if there is none, and once closed
	pipe *pipe  // nil until the first event

	opened  bool      // the target was opened, once
	opening *request  // to open it, given up waiting for
	openErr error     // of the last attempt
	openAt  time.Time // the time of the next
	pause   time.Duration

	closed   bool
	closeErr error
}

func (s *stream) Encoder(o event.Options) event.Encoder { return encoderOf(&s.o, o) }

func (s *stream) Append(p []byte) error {
	if isStream(s.o.Format) && !slogkv.IsEvent(p) {
		if err := s.usable(); err != nil {
			return err
		}
		return s.drop(p, errNotPacked)
	}
	if s.cur == nil || len(s.cur.text)+len(p) > s.o.BlockSize {
		if err := s.room(p); err != nil {
			return err
		}
	}
	s.cur.add(p, s.o.PerRecord)
	s.ledger.filled(s.cur)
	return nil
}

// room makes s.cur a block that p may be added to: one that p fits into, or an empty one.
func (s *stream) room(p []byte) error {
	if err := s.usable(); err != nil {
		return err
	}
	if !s.opened {
		if err := s.open(); err != nil {
			return s.drop(p, err)
		}
	}
	if s.cur != nil && s.cur.events == 0 {
		return nil
	}
	next, err := s.pipe.take()
	if err != nil {
		return s.drop(p, err)
	}
	if s.cur != nil {
		s.pipe.put(s.cur)
	}
	s.cur = next
	s.ledger.begun(next)
	return nil
}

func (s *stream) usable() error {
	if s.closed {
		return ErrClosed
	}
	return s.optErr
}

// open has the helper open the target, so that the owner's patience bounds the wait for a disk that hangs. After a
// failure it does not try again at every event.
func (s *stream) open() error {
	if s.pipe == nil {
		s.pipe = newPipe(s.o, s.name, s.enc, s.target, &s.ledger)
		go s.pipe.run()
	}
	var err error
	if s.opening != nil {
		select {
		case err = <-s.opening.done:
		default:
			return s.openErr
		}
	} else if s.openErr != nil && s.o.Clock.Now().Before(s.openAt) {
		return s.openErr
	} else {
		s.opening = &request{op: s.target.open}
		if err = s.pipe.ask(s.opening, s.o.Patience); errors.Is(err, ErrStalled) {
			s.failOpen(err)
			return err
		}
	}
	s.opening = nil
	if err != nil {
		s.failOpen(err)
		return err
	}
	s.opened = true
	s.openErr, s.pause = nil, 0
	s.ledger.writing.set(nil)
	return nil
}

func (s *stream) failOpen(err error) {
	s.openErr = err
	s.pause = min(max(minPause, 2*s.pause), maxPause)
	s.openAt = s.o.Clock.Now().Add(s.pause)
	s.ledger.writing.set(err)
}

func (s *stream) drop(p []byte, err error) error {
	s.ledger.count(func(t *Stats) {
		t.DroppedEvents++
		t.DroppedBytes += int64(len(p))
	})
	return &DropError{Err: err}
}

// hand gives what was accepted to the helper.
func (s *stream) hand() {
	if s.cur != nil && s.cur.events > 0 {
		s.pipe.put(s.cur)
		s.cur = nil
	}
}

func (s *stream) StartFlush() error {
	err := s.usable()
	if err == nil {
		s.openAt = time.Time{} // the next event tries again, if opening has failed
		s.hand()
	}
	return err
}

func (s *stream) Flush() error { return s.do(func() error { return nil }) }

func (s *stream) Sync() error { return s.do(s.target.sync) }

func (s *stream) Rotate() error { return s.do(s.target.rotate) }

func (s *stream) do(op func() error) error {
	if err := s.usable(); err != nil {
		return err
	}
	if s.pipe == nil {
		return nil // there was no event
	}
	if !s.opened {
		s.openAt = time.Time{}
		return s.open()
	}
	s.hand()
	return s.pipe.do(op)
}

func (s *stream) Close() error { return s.CloseContext(context.Background()) }

func (s *stream) CloseContext(ctx context.Context) error {
	if s.closed {
		return s.closeErr
	}
	s.closed = true
	s.closeErr = s.optErr
	if s.pipe != nil {
		s.hand()
		s.closeErr = s.pipe.close(ctx)
		s.cur, s.pipe = nil, nil
	}
	return s.closeErr
}

func (s *stream) Err() error { return s.ledger.err() }

func (s *stream) Stats() Stats { return s.ledger.snapshot() }
