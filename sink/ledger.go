package sink

import (
	"sync"
	"sync/atomic"
)

// ledger is what everybody may ask a sink at any time: its counts and its present errors.
type ledger struct {
	writing failure // blocks cannot be written
	upkeep  failure // files cannot be rotated or old ones removed

	archiving failure // archives of rotated journals cannot be made

	// filling is the block that is being filled. Its fill counts what is in it, so that accepting an event costs one atomic
	// store: events in the upper 24 bits, bytes below. Only the owner stores either.
	filling atomic.Pointer[block]

	mu    sync.Mutex
	stats Stats
}

const fillBits = 40

// failure is an error that comes and goes.
type failure struct{ p atomic.Pointer[error] }

func (f *failure) set(err error) {
	if err == nil {
		f.p.Store(nil)
		return
	}
	f.p.Store(&err)
}

func (f *failure) get() error {
	if p := f.p.Load(); p != nil {
		return *p
	}
	return nil
}

func (l *ledger) err() error {
	if err := l.writing.get(); err != nil {
		return err
	}
	if err := l.upkeep.get(); err != nil {
		return err
	}
	return l.archiving.get()
}

// filled notes the state of the block that is being filled.
func (l *ledger) filled(b *block) {
	b.fill.Store(uint64(b.events)<<fillBits | uint64(len(b.text)))
}

// begun notes that b is the block being filled from now on.
func (l *ledger) begun(b *block) { l.filling.Store(b) }

// handed moves the counts of the block that was being filled to the totals.
func (l *ledger) handed(b *block) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.stats.Events += b.events
	l.stats.Bytes += int64(len(b.text))
	l.filling.Store(nil)
	b.fill.Store(0)
}

// count changes the totals.
func (l *ledger) count(f func(*Stats)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	f(&l.stats)
}

func (l *ledger) snapshot() Stats {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.stats
	if b := l.filling.Load(); b != nil {
		fill := b.fill.Load()
		s.Events += int64(fill >> fillBits)
		s.Bytes += int64(fill & (1<<fillBits - 1))
	}
	return s
}
