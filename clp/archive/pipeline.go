package archive

import (
	"sync"
)

// parallelTasks runs functions in at most limit goroutines at a time, in the caller's if that is 1.
type parallelTasks struct {
	limit int
	slots chan struct{}
	group sync.WaitGroup
}

func (p *parallelTasks) do(f func()) {
	if p.limit <= 1 {
		f()
		return
	}
	if p.slots == nil {
		p.slots = make(chan struct{}, p.limit)
	}
	p.slots <- struct{}{}
	p.group.Go(func() {
		defer func() { <-p.slots }()
		f()
	})
}

func (p *parallelTasks) wait() { p.group.Wait() }

// pipeline makes records ahead of the one who reads them. One goroutine, which owns the reader's sequence, collects the rows
// that come next in chunks; others make JSON of the rows of a chunk, and decompress frames that will be needed soon. Chunks
// come to the reader in the order in which they were collected, and go back to be filled again, so that memory is bounded.
//
//	collect ──▶ ready (in order) ─────────▶ next
//	   │                                     ▲
//	   └─────▶ work ─▶ workers ─▶ chunk.made─┘
type pipeline struct {
	r      *Reader
	ready  chan *recordChunk
	work   chan task // chunks
	frames chan task // frames
	free   chan *recordChunk
	quit   chan struct{}
	group  sync.WaitGroup

	now *recordChunk // that next takes records of
	at  int          // the next record of it
}

// task is a chunk to make, or a frame to decompress.
type task struct {
	chunk *recordChunk
	blob  *blob
	frame int
}

// recordChunk is some records that follow each other.
type recordChunk struct {
	rows  []chunkRow
	held  []*rowBatch // that rows refer to
	out   []byte
	ends  []int // of the records in out, which may be fewer than rows
	errs  map[int]error
	err   error         // that comes behind the rows
	made  chan struct{} // has one element when the workers are done with it
	limit int           // rows
}

type chunkRow struct {
	b   *rowBatch
	row int64
}

const (
	recordChunkBytes = 128 << 10 // JSON that a chunk should have
	recordChunkMost  = 1 << 20   // beyond which it is left to the one who reads to make the rest
	recordChunkRows  = 1024

	// pipelineRecords is how many records must be wanted for goroutines to be worth it. Who looks for one record should not wait
	// until others were found.
	pipelineRecords = 5000
)

// newPipeline starts the goroutines, or returns nil if there should be none.
func (r *Reader) newPipeline() *pipeline {
	if r.parallel < 2 || r.wanted() < pipelineRecords && (!r.eager || r.filter != nil) {
		return nil
	}
	n := 2*r.parallel + 2
	p := &pipeline{r: r, ready: make(chan *recordChunk, n), work: make(chan task, n), frames: make(chan task, 16*n), free: make(chan *recordChunk, n), quit: make(chan struct{})}
	for range n {
		p.free <- &recordChunk{made: make(chan struct{}, 1), limit: 64}
	}
	r.seq.pipe = p
	p.group.Go(p.collect)
	for range r.parallel {
		p.group.Go(p.serve)
	}
	return p
}

// wanted returns how many records Next may return.
func (r *Reader) wanted() int64 {
	switch {
	case r.filter == nil:
		return r.Info().Records
	case r.openOnly:
		return r.scanned.Open
	}
	return r.scanned.Sure + r.scanned.Open
}

// collect fills chunks until the records end.
func (p *pipeline) collect() {
	defer close(p.work)
	for {
		var c *recordChunk
		select {
		case c = <-p.free:
		case <-p.quit:
			return
		}
		p.fill(c)
		end := c.err != nil
		select {
		case p.work <- task{chunk: c}:
		case <-p.quit:
			c.drop()
			return
		}
		p.ready <- c // there is room for all chunks
		if end {
			return
		}
	}
}

// fill collects the rows of a chunk.
func (p *pipeline) fill(c *recordChunk) {
	var last *rowBatch
	for len(c.rows) < c.limit {
		t, err := p.r.seq.next()
		if err != nil {
			c.err = err
			return
		}
		if t.b != last {
			last = t.b
			if n := len(c.held); n == 0 || !c.holds(last) {
				last.refs.Add(1)
				c.held = append(c.held, last)
			}
		}
		c.rows = append(c.rows, chunkRow{last, t.row})
	}
}

func (c *recordChunk) holds(b *rowBatch) bool {
	for i := len(c.held) - 1; i >= 0; i-- {
		if c.held[i] == b {
			return true
		}
	}
	return false
}

// drop makes the chunk one without rows.
func (c *recordChunk) drop() {
	for i, b := range c.held {
		b.release()
		c.held[i] = nil
	}
	clear(c.rows)
	c.rows, c.held, c.out, c.ends, c.errs, c.err = c.rows[:0], c.held[:0], c.out[:0], c.ends[:0], nil, nil
	if cap(c.out) > 2*recordChunkMost {
		c.out = nil
	}
}

// task returns the next task: frames first, which the goroutine that collects will wait for.
func (p *pipeline) task() (t task, ok bool) {
	select {
	case t = <-p.frames:
		return t, true
	default:
	}
	select {
	case t = <-p.frames:
		return t, true
	case t, ok = <-p.work:
		return t, ok
	}
}

// serve does what there is to do.
func (p *pipeline) serve() {
	v := newRenderer(p.r)
	for {
		t, ok := p.task()
		if !ok {
			return
		}
		quit := p.over()
		switch {
		case t.chunk == nil && quit:
		case t.chunk == nil:
			t.blob.ahead(t.frame)
		default:
			if !quit {
				t.chunk.render(v)
			}
			t.chunk.made <- struct{}{}
		}
	}
}

// over reports whether the pipeline is closed.
func (p *pipeline) over() bool {
	select {
	case <-p.quit:
		return true
	default:
		return false
	}
}

// render makes the JSON of the rows.
func (c *recordChunk) render(v *renderer) {
	for i, row := range c.rows {
		var err error
		if c.out, err = v.appendRecord(c.out, row.b, row.row); err != nil {
			if c.errs == nil {
				c.errs = map[int]error{}
			}
			c.errs[i] = err
		}
		c.ends = append(c.ends, len(c.out))
		if len(c.out) > recordChunkMost {
			break
		}
	}
	if n := len(c.rows); n > 0 {
		c.limit = min(max(recordChunkBytes*len(c.ends)/(len(c.out)+1), 1), recordChunkRows)
	}
}

// next makes the next record the one of record.
func (p *pipeline) next(record *Record) error {
	for p.now == nil || p.at == len(p.now.rows) {
		if c := p.now; c != nil {
			if c.err != nil {
				return c.err
			}
			c.drop()
			p.now = nil
			p.free <- c // there is room for all chunks
		}
		c := <-p.ready
		<-c.made
		p.now, p.at = c, 0
	}
	c, i := p.now, p.at
	p.at++
	*record = Record{v: p.r.view, b: c.rows[i].b, row: c.rows[i].row}
	if i < len(c.ends) {
		from := 0
		if i > 0 {
			from = c.ends[i-1]
		}
		record.made, record.line, record.err = true, c.out[from:c.ends[i]:c.ends[i]], c.errs[i]
	}
	return nil
}

// close ends the goroutines.
func (p *pipeline) close() {
	close(p.quit)
	p.group.Wait()
	p.r.seq.pipe = nil
	if p.now != nil {
		p.now.drop()
	}
	for {
		select {
		case c := <-p.ready:
			c.drop()
		default:
			return
		}
	}
}

// ahead has a frame decompressed that will be needed soon, if somebody has the time. The goroutine that collects calls it.
func (p *pipeline) ahead(b *blob, frame int) {
	if p == nil {
		return
	}
	select {
	case p.frames <- task{blob: b, frame: frame}:
	default:
	}
}
