package reader

import (
	"io"
	"sync"
)

// pipeline takes blocks from a fetcher, has workers decode, split and parse some of them at the same time, and returns
// them in order. The goroutine that calls next also fetches; workers do nothing that can wait.
type pipeline struct {
	f        fetcher
	newlines Newlines
	raw      bool // blocks are only decoded: the text is not one of lines

	kind      Kind // of the lines; decided by the first of them
	kindKnown bool

	queue []*block // fetched, oldest first
	free  []*block
	end   error // what fetch returned at last

	work    chan *block // nil while nobody works: then next does it
	workers int
	parse   bool
	wg      sync.WaitGroup
}

// maxInFlight is the number of bytes of text and stored frames that may be waiting for the consumer.
const maxInFlight = 32 << 20

// start starts the workers; with fewer than two, and before the kind of lines is known, next does the work itself.
func (p *pipeline) start(workers int, parse bool) {
	p.parse = parse
	if workers < 2 || p.work != nil || !p.kindKnown && !p.raw {
		return
	}
	p.workers = workers
	p.work = make(chan *block, 2*workers+2)
	for range workers {
		p.wg.Add(1)
		go func() {
			defer p.wg.Done()
			for b := range p.work {
				p.do(b, parse)
				b.done <- struct{}{}
			}
		}()
	}
}

// stop ends the workers once they are through with what was fetched. The next start goes on from there.
func (p *pipeline) stop() {
	if p.work == nil {
		return
	}
	close(p.work)
	p.wg.Wait()
	p.work, p.workers = nil, 0
}

func (p *pipeline) do(b *block, parse bool) {
	p.f.decode(b)
	if p.raw {
		return
	}
	b.split(p.newlines)
	if !p.kindKnown {
		p.kind, p.kindKnown = kindOf(b)
	}
	if parse {
		b.parse(p.kind)
	}
}

// next returns the next block. The caller gives it back with recycle.
func (p *pipeline) next() (*block, error) {
	p.fill()
	if len(p.queue) == 0 {
		return nil, p.end
	}
	b := p.queue[0]
	p.queue = p.queue[:copy(p.queue, p.queue[1:])]
	if b.begun {
		<-b.done
	} else {
		p.do(b, p.parse)
	}
	if b.fail != nil {
		// What was fetched after the bad frame may have been cut in the wrong places.
		for _, later := range p.queue {
			if later.begun {
				<-later.done
			}
			p.recycle(later)
		}
		p.queue, p.end = p.queue[:0], nil
		p.f.restart(b.fail)
	}
	return b, nil
}

// fill fetches as many blocks as may be in flight.
func (p *pipeline) fill() {
	window, bytes := 2*p.workers+1, 0
	for _, b := range p.queue {
		bytes += b.size
	}
	for len(p.queue) < window && (len(p.queue) == 0 || bytes < maxInFlight) && p.end == nil {
		b := p.take()
		if err := p.f.fetch(b); err != nil {
			p.recycle(b)
			p.end = err
			return
		}
		b.size = max(b.size, len(b.stored), len(b.text))
		bytes += b.size
		p.queue = append(p.queue, b)
		if p.work != nil {
			b.begun = true
			p.work <- b
		}
	}
}

func (p *pipeline) take() *block {
	if n := len(p.free); n > 0 {
		b := p.free[n-1]
		p.free = p.free[:n-1]
		return b
	}
	return newBlock()
}

func (p *pipeline) recycle(b *block) {
	b.reset()
	p.free = append(p.free, b)
}

// close ends everything.
func (p *pipeline) close() {
	p.stop()
	p.f.close()
	p.queue, p.free, p.end = nil, nil, io.EOF
}
