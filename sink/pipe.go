package sink

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/tracehandler/tracehandler/format"
	"github.com/tracehandler/tracehandler/internal/frame"
)

// target is where the helper goroutine writes. Only one goroutine at a time uses it: the owner until the helper starts,
// then the helper.
type target interface {
	// open makes ready for write.
	open() error

	// write writes one encoded block. After an error it is called again with the same bytes, and goes on such that in the
	// end they are there once.
	write(enc []byte, frames int, events, text int64) error

	sync() error
	rotate() error

	// expires returns when the file has to be rotated for its age; expire does that, if the time has come.
	expires() (time.Time, bool)
	expire()

	// close finishes after everything was written. When ctx is done it leaves what is not finished. It calls step whenever
	// it has got a step further in something that takes time.
	close(ctx context.Context, step func()) error

	// abandon ends after something could not be written.
	abandon() error
}

// blocks is the number of blocks of a pipe: one is being filled, two may be on their way to the disk.
const blocks = 3

// Pauses between attempts to write a block.
const (
	minPause = 10 * time.Millisecond
	maxPause = 5 * time.Second
)

// pipe hands blocks from the owner of a sink to its helper goroutine, which encodes and writes them in order. A block
// that cannot be written is kept, and tried again until it can be or the pipe is closed.
type pipe struct {
	o      Options
	name   string // for errors
	target target
	ledger *ledger

	mu      sync.Mutex
	queue   []*block // oldest first; the first is with the helper
	free    []*block
	req     *request
	failing error // of the last attempt to write
	stalled bool  // a call gave up waiting, and the disk has not answered since
	steps   int64 // blocks written and requests served: progress

	wake  chan struct{} // to the helper: there is a block or a request
	moved chan struct{} // to the owner: a block was written, or failed
	ended chan struct{} // closed when the helper is gone

	// Of the helper only.
	enc     frame.Encoder
	buf     []byte     // of enc
	frames  int        // in buf
	encoded bool       // buf holds the first block of the queue
	ir      *irEncoder // of a stream, else nil
	text    int64      // bytes of the stream in buf
	aging   alarm
}

// request asks the helper for something after all blocks are written.
type request struct {
	op       func() error
	last     bool      // the helper ends after it
	deadline time.Time // if last: how long failing blocks are tried
	done     chan error
}

func newPipe(o Options, name string, enc frame.Encoder, t target, l *ledger) *pipe {
	p := &pipe{o: o, name: name, enc: enc, target: t, ledger: l,
		queue: make([]*block, 0, blocks), free: make([]*block, 0, blocks),
		wake: make(chan struct{}, 1), moved: make(chan struct{}, 1), ended: make(chan struct{})}
	if isStream(o.Format) {
		p.ir = &irEncoder{frames: enc, single: o.PerRecord}
	}
	for range blocks {
		p.free = append(p.free, newBlock(o.BlockSize))
	}
	return p
}

// signal leaves a token in c, unless there is one.
func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// take returns an empty block. If none is free it waits as long as the helper makes progress.
func (p *pipe) take() (*block, error) {
	b, steps, err := p.tryTake()
	for b == nil && err == nil {
		patience, stop := p.o.Clock.After(p.o.Patience)
		select {
		case <-p.moved:
		case <-patience:
			p.lose(steps)
		}
		stop()
		b, steps, err = p.tryTake()
	}
	return b, err
}

// tryTake returns an empty block, or the reason why there will not be one soon, or neither.
func (p *pipe) tryTake() (b *block, steps int64, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if n := len(p.free); n > 0 {
		b, p.free = p.free[n-1], p.free[:n-1]
		return b, p.steps, nil
	}
	if p.failing != nil {
		return nil, p.steps, p.failing
	}
	if p.stalled {
		return nil, p.steps, p.stallError()
	}
	return nil, p.steps, nil
}

func (p *pipe) stallError() error { return fmt.Errorf("%w for %v", ErrStalled, p.o.Patience) }

// lose notes that a call lost its patience, unless something was done since there were that many steps.
func (p *pipe) lose(steps int64) (stalled bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.steps == steps {
		p.stalled = true
	}
	return p.stalled
}

// put hands a block to the helper.
func (p *pipe) put(b *block) {
	p.ledger.handed(b)
	p.mu.Lock()
	p.queue = append(p.queue, b)
	p.mu.Unlock()
	signal(p.wake)
}

// do has the helper run op after all blocks are written, and returns its error or that of writing them.
func (p *pipe) do(op func() error) error {
	return p.ask(&request{op: op}, p.o.Patience)
}

// close has the helper finish the target and end.
func (p *pipe) close(ctx context.Context) error {
	wait := max(0, p.o.CloseWait)
	r := &request{op: func() error { return p.finishTarget(ctx) }, last: true, deadline: p.o.Clock.Now().Add(wait)}
	return p.ask(r, p.o.Patience+wait)
}

// ask waits for the answer to r as long as there is progress. If somebody has lost patience already, and nothing moved
// since, it does not wait again; only a request to close does.
func (p *pipe) ask(r *request, patience time.Duration) error {
	r.done = make(chan error, 1)
	p.mu.Lock()
	if p.stalled && !r.last {
		p.mu.Unlock()
		signal(p.wake) // to try again, should it be between two attempts
		return p.stallError()
	}
	p.req = r
	steps := p.steps
	p.mu.Unlock()
	signal(p.wake)
	for {
		lost, stop := p.o.Clock.After(patience)
		select {
		case err := <-r.done:
			stop()
			return err
		case <-lost:
			if p.lose(steps) {
				return p.stallError()
			}
		}
		p.mu.Lock()
		steps = p.steps
		p.mu.Unlock()
	}
}

// run is the helper goroutine.
func (p *pipe) run() {
	defer close(p.ended)
	defer p.aging.stop()
	for {
		b, r := p.next()
		if b == nil {
			err := r.op()
			p.step()
			r.done <- err
			if r.last {
				return
			}
		} else if r := p.process(b); r != nil {
			r.done <- p.giveUp()
			return
		}
	}
}

// next waits for a block or, when there is none, a request.
func (p *pipe) next() (*block, *request) {
	for {
		b, r := p.poll()
		if b != nil || r != nil {
			return b, r
		}
		end, ok := p.target.expires()
		p.aging.set(p.o.Clock, end, ok)
		select {
		case <-p.wake:
		case <-p.aging.c:
			p.aging.stop()
			p.target.expire()
		}
	}
}

func (p *pipe) poll() (*block, *request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.queue) > 0 {
		return p.queue[0], nil
	}
	r := p.req
	p.req = nil
	return nil, r
}

// process encodes and writes a block, however often it takes. It returns the request to close if the time for that has
// passed.
func (p *pipe) process(b *block) *request {
	for pause := minPause; ; pause = min(2*pause, maxPause) {
		r := p.pending()
		err := p.attempt(b)
		if err == nil {
			p.finish(b)
			return nil
		}
		p.fail(err)
		if r == nil && p.pending() != nil {
			// It came while the attempt was going wrong. It deserves one of its own.
		} else if r != nil && p.refuse(r, err) {
			return r
		} else {
			p.pause(pause, r)
		}
		p.ledger.count(func(s *Stats) { s.Retries++ })
	}
}

func (p *pipe) attempt(b *block) error {
	if p.ir != nil {
		return p.attemptStream(b)
	}
	if !p.encoded {
		if err := p.encode(b); err != nil {
			return err
		}
		p.encoded = true
	}
	out := p.buf
	if p.o.Format == format.Plain {
		out = b.text
	}
	return p.target.write(out, p.frames, b.events, int64(len(b.text)))
}

// encode fills p.buf with the frames of b.
func (p *pipe) encode(b *block) (err error) {
	p.frames = 1
	switch {
	case p.o.Format == format.Plain:
		return nil
	case !p.o.PerRecord:
		p.buf, err = p.enc.AppendFrame(p.buf[:0], b.text)
		return err
	}
	p.buf, p.frames = p.buf[:0], len(b.ends)
	from := 0
	for _, to := range b.ends {
		if p.buf, err = p.enc.AppendFrame(p.buf, b.text[from:to]); err != nil {
			return err
		}
		from = to
	}
	return nil
}

// finish frees a block that was written.
func (p *pipe) finish(b *block) {
	p.ledger.count(func(s *Stats) {
		s.Blocks++
		s.WrittenEvents += b.events
		s.WrittenBytes += int64(len(b.text))
	})
	p.ledger.writing.set(nil)
	p.encoded = false
	if cap(p.buf) > 2*p.o.BlockSize {
		p.buf = nil
	}
	b.reset(p.o.BlockSize)
	p.mu.Lock()
	p.queue = p.queue[:copy(p.queue, p.queue[1:])]
	p.free = append(p.free, b)
	p.failing, p.stalled = nil, false
	p.steps++
	p.mu.Unlock()
	signal(p.moved)
}

func (p *pipe) step() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stalled = false
	p.steps++
}

func (p *pipe) fail(err error) {
	p.ledger.writing.set(err)
	p.mu.Lock()
	p.failing, p.stalled = err, false
	p.mu.Unlock()
	signal(p.moved)
}

func (p *pipe) pending() *request {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.req
}

// refuse answers a request that waits behind a block that cannot be written. It returns true for a request to close whose
// deadline has passed; before that, such a request goes on waiting.
func (p *pipe) refuse(r *request, err error) bool {
	if r.last && p.o.Clock.Now().Before(r.deadline) {
		return false
	}
	p.mu.Lock()
	if p.req == r {
		p.req = nil
	}
	p.mu.Unlock()
	if !r.last {
		r.done <- err
	}
	return r.last
}

// pause waits until it is time for the next attempt, or until there is a new reason for one.
func (p *pipe) pause(d time.Duration, r *request) {
	wake := p.wake
	if r != nil && r.last {
		d = min(d, r.deadline.Sub(p.o.Clock.Now()))
		wake = nil // nothing comes after it
	}
	c, stop := p.o.Clock.After(d)
	defer stop()
	select {
	case <-c:
	case <-wake:
	}
}

// giveUp closes the target without the blocks that could not be written.
func (p *pipe) giveUp() error {
	p.mu.Lock()
	e := &LostError{Path: p.name, Err: p.failing}
	for _, b := range p.queue {
		e.Events += b.events
		e.Bytes += int64(len(b.text))
	}
	p.queue = nil
	p.mu.Unlock()
	p.ledger.count(func(s *Stats) { s.LostEvents, s.LostBytes = e.Events, e.Bytes })
	if err := p.target.abandon(); err != nil {
		e.Err = errors.Join(e.Err, err)
	}
	return e
}
