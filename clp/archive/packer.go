package archive

import (
	"bytes"
	"fmt"
	"io"
	"sync"
	"sync/atomic"

	"github.com/klauspost/compress/zstd"

	"github.com/tracehandler/tracehandler/internal/zstdframe"
)

// job is what is to be compressed. The plain bytes belong to the packer.
type job struct {
	f     *packed
	plain []byte
	kind  int // of data: a NodeType, or one of those below
}

const (
	kindSecond = 16 + iota // formats, patterns and variables
	kindTables             // small tables
	kindVars
	kindLogs
	kindArrays
	kinds
)

// packer compresses frames, in goroutines of its own if it may. What it holds is counted in held.
type packer struct {
	held  *atomic.Int64
	level int
	spill Scratch
	check bool  // decompress and compare
	most  int64 // bytes of compressed frames that stay in memory, if there is a spill

	choice  [kinds]choice
	strong  bool     // the archive is small and being closed
	little  bool     // it is, too, and very small
	bare    bool     // it is so small that its frames have no checksums; see sums
	jobs    chan job // nil if the caller compresses
	workers sync.WaitGroup
	pending sync.WaitGroup // jobs that are not done

	mu   sync.Mutex // guards what is below
	free [][]byte   // of columnFrame bytes
	err  error      // of the spill, or a frame that is wrong
	end  int64      // of the spill
	kept int64      // bytes of frames in memory
	encs []*effort  // that nobody uses
}

// effort is the encoders that one goroutine uses at a time.
type effort struct {
	quick *zstd.Encoder // of the lowest level
	usual *zstd.Encoder // of the level that is asked for
	tiny  *zstd.Encoder // of up to tinyFrame bytes: the others do not say how many these are
	best  *zstd.Encoder // slow; nil until it is needed
	words zstdframe.Words
	least zstdframe.Best // slower
	check *zstd.Decoder  // nil until it is needed

	out, second []byte
}

const tinyFrame = 1 << 10

// newEffort makes encoders, which keep a window and a block each: no more than the frames need.
func newEffort(level int) (*effort, error) {
	const window = 2 * columnFrame
	e := &effort{}
	usual := zstd.EncoderLevelFromZstd(level)
	for _, l := range []struct {
		to    **zstd.Encoder
		level zstd.EncoderLevel
		more  []zstd.EOption
	}{{&e.quick, zstd.SpeedFastest, nil}, {&e.usual, usual, nil}, {&e.tiny, usual, []zstd.EOption{zstd.WithSingleSegment(true)}}} {
		var err error
		*l.to, err = zstd.NewWriter(nil, append(l.more, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(l.level), zstd.WithWindowSize(window), zstd.WithLowerEncoderMem(true))...)
		if err != nil {
			return nil, err
		}
	}
	return e, nil
}

// strong compresses what there is not much of.
func (e *effort) strong(plain, dst []byte) []byte {
	if len(plain) <= tinyFrame {
		return e.tiny.EncodeAll(plain, dst)
	}
	if e.best == nil {
		var err error
		e.best, err = zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedBestCompression), zstd.WithWindowSize(4<<20), zstd.WithLowerEncoderMem(true))
		if err != nil {
			return e.usual.EncodeAll(plain, dst)
		}
	}
	return e.best.EncodeAll(plain, dst)
}

func (e *effort) close() {
	if e.best != nil {
		e.best.Close()
	}
	if e.check != nil {
		e.check.Close()
	}
	e.quick.Close()
	e.usual.Close()
	e.tiny.Close()
}

// verify fails unless frame, which is not e.second, decompresses to plain.
func (e *effort) verify(frame, plain []byte) (err error) {
	if e.check == nil {
		if e.check, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true)); err != nil {
			return err
		}
	}
	if e.second, err = e.check.DecodeAll(frame, e.second[:0]); err != nil {
		return differs("a frame of %d bytes: %v", len(plain), err)
	}
	if !bytes.Equal(e.second, plain) {
		return differs("a frame of %d bytes", len(plain))
	}
	return nil
}

// choice is which encoder serves a kind of data. Numbers in columns and random strings have few repetitions that a quick
// encoder misses, and often it makes less of them, because it also takes fewer of those that do not pay. At the begin of one
// frame in so many, both encoders try. The better one competes with zstdframe.Words for each frame of a column.
type choice struct {
	frames atomic.Uint32
	usual  atomic.Bool
}

const (
	tryFrames = 16
	trySample = 64 << 10 // bytes
	tryWords  = 32 << 10 // bytes, of each frame of a column

	// strongBytes is what went into a small archive, at most, on whose compression some time may be spent when it is closed.
	strongBytes = 4 << 20

	// littleBytes is what went into an archive, at most, that takes no time however it is compressed.
	littleBytes = 32 << 10
)

// encode makes e.out the frame of plain. strong says that the archive is small, thorough that time does not matter.
func (c *choice) encode(e *effort, plain []byte, kind int, strong, thorough bool) {
	switch {
	case thorough:
		e.out = e.least.Append(e.out[:0], plain)
	case len(plain) <= tinyFrame:
		e.out = e.tiny.EncodeAll(plain, e.out[:0])
	case strong:
		e.out = e.strong(plain, e.out[:0])
		e.second = e.quick.EncodeAll(plain, e.second[:0])
		e.smaller()
	default:
		c.large(e, plain, kind < kindTables) // tables may be like each other, which a sample does not show
		return
	}
	if kind <= kindTables {
		e.second = e.words.Append(e.second[:0], plain)
		e.smaller()
	}
}

// smaller makes e.out the smaller one of e.out and e.second.
func (e *effort) smaller() {
	if len(e.second) < len(e.out) {
		e.out, e.second = e.second, e.out
	}
}

// large is encode for a frame of some size in an archive that is not small: of words of a column, or of something else.
func (c *choice) large(e *effort, plain []byte, words bool) {
	if c.frames.Add(1)%tryFrames == 1 {
		sample := plain[:min(len(plain), trySample)]
		e.out = e.quick.EncodeAll(sample, e.out[:0])
		e.second = e.usual.EncodeAll(sample, e.second[:0])
		c.usual.Store(len(e.second) < len(e.out)-len(e.out)/64)
	}
	enc := e.quick
	if c.usual.Load() {
		enc = e.usual
	}
	if words {
		sample := plain[:min(len(plain), tryWords)]
		e.out = enc.EncodeAll(sample, e.out[:0])
		if e.second = e.words.Append(e.second[:0], sample); len(e.second) < len(e.out) {
			e.out = e.words.Append(e.out[:0], plain)
			return
		}
	}
	e.out = enc.EncodeAll(plain, e.out[:0])
}

// waitingFrames is how many frames may wait to be compressed, half a megabyte each.
const waitingFrames = 8

// start makes so many goroutines more that compress.
func (p *packer) start(workers int) {
	if p.jobs == nil {
		p.jobs = make(chan job, waitingFrames)
	}
	for range workers {
		p.workers.Go(func() {
			for j := range p.jobs {
				p.run(j)
			}
		})
	}
}

// pack compresses a frame, now or soon. The columns of a table are full at the same time: who has a frame while many wait
// compresses it himself.
func (p *packer) pack(j job) {
	p.pending.Add(1)
	select {
	case p.jobs <- j: // never if there is no channel
	default:
		p.run(j)
	}
}

// settle waits until all frames are compressed, and helps.
func (p *packer) settle() {
	for {
		select {
		case j := <-p.jobs:
			p.run(j)
		default:
			p.pending.Wait()
			return
		}
	}
}

// wait ends the goroutines when all frames are compressed, and returns what went wrong.
func (p *packer) wait() error {
	if p.jobs != nil {
		close(p.jobs)
		p.workers.Wait()
		p.jobs = nil
	}
	return p.failed()
}

// effort takes encoders; give brings them back.
func (p *packer) effort() (*effort, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if n := len(p.encs); n > 0 {
		e := p.encs[n-1]
		p.encs = p.encs[:n-1]
		return e, nil
	}
	return newEffort(p.level)
}

func (p *packer) give(e *effort) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.encs = append(p.encs, e)
}

func (p *packer) run(j job) {
	defer p.pending.Done()
	e, err := p.effort()
	if err != nil {
		p.fail(err)
		return
	}
	defer p.give(e)
	p.choice[j.kind].encode(e, j.plain, j.kind, p.strong, p.thorough())
	if p.check {
		p.fail(e.verify(e.out, j.plain))
	}
	if p.bare {
		e.out = zstdframe.Bare(e.out, len(j.plain))
	}
	if j.kind >= kindVars {
		bits := filterBits
		if p.level >= bestLevel {
			bits = smallFilterBits
		}
		j.f.dict = newDictFrame(j.plain, len(e.out), bits)
		p.held.Add(int64(len(j.f.dict.filter)))
	}
	j.f.size = len(e.out)
	p.store(j.f, e.out)
	p.release(j.plain)
}

// store keeps the compressed bytes of a frame, which the caller may overwrite afterwards.
func (p *packer) store(f *packed, b []byte) {
	p.mu.Lock()
	if p.spill != nil && p.kept+int64(len(b)) > p.most {
		at := p.end
		p.end += int64(len(b))
		p.mu.Unlock()
		if _, err := p.spill.WriteAt(b, at); err != nil {
			p.fail(fmt.Errorf("archive: spill: %w", err))
		}
		f.at = at
		return
	}
	p.kept += int64(len(b))
	p.mu.Unlock()
	p.held.Add(int64(len(b)))
	f.pack = append(make([]byte, 0, len(b)), b...)
}

func (p *packer) fail(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.err == nil {
		p.err = err
	}
}

// failed returns what went wrong so far.
func (p *packer) failed() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.err
}

// write writes a fragment to dst.
func (p *packer) write(dst io.Writer, c fragment) error {
	b := c.b
	if c.f != nil {
		if b = c.f.pack; b == nil && c.f.size > 0 {
			b = make([]byte, c.f.size)
			if _, err := p.spill.ReadAt(b, c.f.at); err != nil {
				return fmt.Errorf("archive: spill: %w", err)
			}
		}
	}
	if _, err := dst.Write(b); err != nil {
		return fmt.Errorf("archive: write: %w", err)
	}
	return nil
}

// bestLevel is the lowest of zstd's levels at which time does not matter: those that know the cheapest way through a block.
const bestLevel = 16

// thorough reports whether time does not matter.
func (p *packer) thorough() bool { return p.little || p.level >= bestLevel }

// small compresses b at once.
func (p *packer) small(b []byte) []byte {
	e, err := p.effort()
	if err != nil {
		p.fail(err)
		return nil
	}
	defer p.give(e)
	var frame []byte
	switch {
	case p.thorough():
		frame = e.least.Append(nil, b)
	case len(b) <= tinyFrame:
		frame = e.tiny.EncodeAll(b, nil)
	case p.strong:
		frame = e.strong(b, nil)
	default:
		frame = e.usual.EncodeAll(b, nil)
	}
	if p.check {
		p.fail(e.verify(frame, b))
	}
	if p.bare {
		return zstdframe.Bare(frame, len(b))
	}
	return frame
}

// buffer returns an empty one of columnFrame bytes.
func (p *packer) buffer() []byte {
	p.held.Add(columnFrame)
	p.mu.Lock()
	defer p.mu.Unlock()
	if n := len(p.free); n > 0 {
		b := p.free[n-1]
		p.free = p.free[:n-1]
		return b
	}
	return make([]byte, 0, columnFrame)
}

// release takes back a buffer that was counted.
func (p *packer) release(b []byte) {
	p.held.Add(-int64(cap(b)))
	p.mu.Lock()
	defer p.mu.Unlock()
	if cap(b) == columnFrame && len(p.free) < 8 {
		p.free = append(p.free, b[:0])
	}
}

func (p *packer) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, e := range p.encs {
		e.close()
	}
	p.encs = nil
}
