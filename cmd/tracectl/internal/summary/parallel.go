package summary

import (
	"runtime"
	"sync"

	"github.com/tracehandler/tracehandler/event"
)

// batchSize is how many bytes of events are handed to a worker at once.
const batchSize = 256 << 10

// Parallel counts events on all processors. Make one with [NewParallel], give it events with Add from one goroutine, and
// end it with Sum, which must be called.
type Parallel struct {
	name    string
	chosen  func(event.Event) bool
	batch   *batch
	full    chan *batch
	free    chan *batch
	workers sync.WaitGroup
	sums    []*Summary
}

// batch holds the text of events, one after the other.
type batch struct {
	text []byte
	ends []int
}

// NewParallel returns a Parallel that counts the events for which chosen, called by several goroutines, returns true.
func NewParallel(name string, chosen func(event.Event) bool) *Parallel {
	n := runtime.GOMAXPROCS(0)
	p := &Parallel{name: name, chosen: chosen, batch: new(batch), full: make(chan *batch, n), free: make(chan *batch, 2*n+1)}
	for range 2 * n {
		p.free <- new(batch)
	}
	for range n {
		s := New(name)
		p.sums = append(p.sums, s)
		p.workers.Go(func() { p.work(s) })
	}
	return p
}

// Add counts one event, which is copied.
func (p *Parallel) Add(e event.Event) {
	b := p.batch
	b.text = e.AppendJSON(b.text)
	b.ends = append(b.ends, len(b.text))
	if len(b.text) >= batchSize {
		p.full <- b
		p.batch = <-p.free
	}
}

func (p *Parallel) work(s *Summary) {
	for b := range p.full {
		start := 0
		for _, end := range b.ends {
			if e := event.Lazy(b.text[start:end]); p.chosen(e) {
				s.Add(e)
			}
			start = end
		}
		b.text, b.ends = b.text[:0], b.ends[:0]
		p.free <- b
	}
}

// Sum waits for the workers and returns what they counted. The Parallel is of no use afterwards.
func (p *Parallel) Sum() *Summary {
	p.full <- p.batch
	close(p.full)
	p.workers.Wait()
	s := Total(p.sums)
	s.Name = p.name
	return s
}
