package finalize

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"log/slog"
	"path/filepath"
	"runtime"
	"sync"

	"github.com/tracehandler/tracehandler/clp/archive"
	"github.com/tracehandler/tracehandler/clp/ir"
	"github.com/tracehandler/tracehandler/clp/ir/slogkv"
	"github.com/tracehandler/tracehandler/event"
	"github.com/tracehandler/tracehandler/internal/vfs"
)

// NewJournalID returns a name for a journal that no other journal has.
func NewJournalID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}

// archiving makes archives of a journal: one goroutine decodes events, another one, that of run, puts them into the archive,
// whose own goroutines compress.
type archiving struct {
	fs         vfs.FS
	path       string // of the trace, as it was at the beginning
	file       io.ReaderAt
	memory     int64
	background bool
	find       bool // archives of this journal may be there already
	src        *growing

	mu       sync.Mutex
	progress func(done, total int64)

	// Set by run, for others when done is closed.
	done    chan struct{}
	journal slogkv.Journal
	parts   []*part
	number  int    // of parts before
	last    string // path of the last of those
	skip    int64  // events in them
	events  int64  // decoded
	text    int64  // bytes of lines
	damage  error  // why there are no more events than these, or not all
	err     error
}

// part is an archive that is being made, or is finished and has no name yet.
type part struct {
	out       *output
	w         *archive.Writer
	first     int64 // number of its first event
	text      int64
	sum       uint32 // of the lines
	published bool
}

func (p *part) name() string { return p.out.f.Name() }

func newArchiving(p *Partial, o ArchiveOptions, background bool) *archiving {
	return &archiving{fs: p.fs, path: p.path, file: p.f, memory: o.Memory, background: background, find: p.old,
		src: newGrowing(p.f, 0), done: make(chan struct{})}
}

// watch has f told of the progress from now on.
func (a *archiving) watch(f func(done, total int64)) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.progress = f
}

// tick tells the progress: at bytes of the journal, but never that all is done.
func (a *archiving) tick(at int64) {
	a.mu.Lock()
	f := a.progress
	a.mu.Unlock()
	if f != nil {
		_, total := a.src.at()
		f(min(at, total-1), total)
	}
}

// made returns how many archives there are of the journal, earlier ones included.
func (a *archiving) made() int { return a.number + len(a.parts) }

// drop removes what has got no name.
func (a *archiving) drop() {
	for _, p := range a.parts {
		if p.w != nil {
			p.w.Abort()
		}
		p.out.close(a.fs, !p.published)
	}
	a.parts = nil
}

// run makes the archives. After an error there are none.
func (a *archiving) run() {
	defer close(a.done)
	defer func() {
		if a.err != nil {
			a.drop()
		}
	}()
	batches, stop := a.decode()
	defer stop()
	var p *part
	for b := range batches {
		if b.err != nil {
			a.err = b.err
			return
		}
		if p, a.err = a.add(p, b); a.err != nil {
			return
		}
		a.tick(b.at)
	}
	a.err = a.finish(p, !a.background || p != nil && p.text <= smallPart)
}

// smallPart is the number of bytes of text up to which an archive made in the background is read back whole.
const smallPart = 4 << 20

// add puts a batch into the archive p, and begins another one when it is full. It returns the one that is not full.
func (a *archiving) add(p *part, b *batch) (*part, error) {
	from := 0
	for _, to := range b.ends {
		line := b.text[from:to]
		from = to
		a.events++
		a.text += int64(len(line)) + 1
		if a.events <= a.skip {
			continue
		}
		for {
			var err error
			if p == nil {
				if p, err = a.begin(); err != nil {
					return nil, err
				}
			}
			if err = p.w.Write(line); err == nil {
				break
			}
			if !errors.Is(err, archive.ErrFull) {
				return nil, fmt.Errorf("finalize: event %d: %w", a.events, err)
			}
			if err = a.finish(p, true); err != nil {
				return nil, err
			}
			p = nil
		}
		p.text += int64(len(line)) + 1
		p.sum = lineSum(p.sum, line)
	}
	b.free()
	return p, nil
}

// lineSum continues a checksum with a line.
func lineSum(sum uint32, line []byte) uint32 {
	return crc32.Update(crc32.Update(sum, castagnoli, line), castagnoli, newline)
}

// begin begins an archive.
func (a *archiving) begin() (*part, error) {
	f, err := createTemporary(a.fs, a.path)
	if err != nil {
		return nil, err
	}
	p := &part{out: &output{f: f}, first: a.events - 1}
	a.parts = append(a.parts, p)
	level := a.journal.Level
	if level < 0 || level > 19 {
		level = 0
	}
	p.w, err = archive.NewWriter(p.out, &archive.WriterOptions{Level: level, Memory: a.memory, Concurrency: a.processors(), TimeKey: []string{slog.TimeKey},
		Fields: a.fields(a.made(), p.first)})
	return p, err
}

// fields say in an archive where it comes from.
func (a *archiving) fields(number int, first int64) []slog.Attr {
	return []slog.Attr{slog.String("_filename", filepath.Base(a.path)), slog.Group(fieldsKey,
		slog.String("journal", a.journal.ID), slog.Int("part", number), slog.Int64("first", first))}
}

const fieldsKey = "tracehandler"

// finish completes an archive, if there is one: writes it, compares it with the journal, and syncs it.
func (a *archiving) finish(p *part, deep bool) error {
	if p == nil {
		return nil
	}
	records := p.w.Records()
	if err := p.w.Close(); err != nil {
		return fmt.Errorf("finalize: write %s: %w", p.name(), err)
	}
	p.w = nil
	if err := a.verify(p, records, deep); err != nil {
		return fmt.Errorf("finalize: verify %s: %w", p.name(), err)
	}
	if err := p.out.f.Sync(); err != nil {
		return fmt.Errorf("finalize: sync %s: %w", p.name(), reason(err))
	}
	return nil
}

// processors is how many an archive is made on. In the background, the program has the others.
func (a *archiving) processors() int {
	if a.background {
		return 1
	}
	return runtime.GOMAXPROCS(0)
}

// batch is a run of events on its way from the journal into an archive.
type batch struct {
	text []byte // lines, without newlines
	ends []int
	at   int64 // how far the journal was read
	err  error // nothing follows
	pool chan *batch
}

// batchSize is the number of bytes of text in a batch.
const batchSize = 256 << 10

func (b *batch) free() {
	b.text, b.ends = b.text[:0], b.ends[:0]
	select {
	case b.pool <- b:
	default:
	}
}

// decode starts the goroutine that reads the journal. A batch with an error is the last one; it stands for a failure to
// read or an interruption, while damage ends the journal as its end does. stop ends the goroutine.
func (a *archiving) decode() (batches <-chan *batch, stop func()) {
	d := &journalDecoder{a: a, out: make(chan *batch, 2), pool: make(chan *batch, 4), quit: make(chan struct{})}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		defer close(d.out)
		if err := d.run(); err != nil {
			d.send(&batch{err: err})
		}
	}()
	return d.out, func() {
		close(d.quit)
		a.src.abort(errStopped)
		<-ended
	}
}

// journalDecoder is what the decoding goroutine has.
type journalDecoder struct {
	a    *archiving
	out  chan *batch
	pool chan *batch
	quit chan struct{}
}

func (d *journalDecoder) send(b *batch) (ok bool) {
	select {
	case d.out <- b:
		return true
	case <-d.quit:
		return false
	}
}

func (d *journalDecoder) batch() *batch {
	select {
	case b := <-d.pool:
		return b
	default:
		return &batch{pool: d.pool}
	}
}

func (d *journalDecoder) run() error {
	src := &failing{r: d.a.src}
	r, err := ir.NewReader(src, nil)
	if err != nil {
		return d.end(src, err)
	}
	defer r.Close()
	if err := d.a.know(r.Metadata()); err != nil {
		return err
	}
	dec := slogkv.NewDecoder(r)
	b := d.batch()
	for {
		e, err := r.Next()
		if err != nil {
			b.at, _ = d.a.src.at()
			d.send(b)
			return d.end(src, err)
		}
		if b.text, err = dec.AppendLine(b.text, e); err != nil {
			d.a.damage = err // this event alone
			continue
		}
		b.ends = append(b.ends, len(b.text))
		if len(b.text) >= batchSize {
			b.at, _ = d.a.src.at()
			if !d.send(b) {
				return nil
			}
			b = d.batch()
		}
	}
}

// end tells what the error at the end of a journal means: nothing, damage, or that it could not be read.
func (d *journalDecoder) end(src *failing, err error) error {
	var incomplete *ir.IncompleteError
	switch {
	case src.err != nil:
		return src.err
	case err == io.EOF, errors.As(err, &incomplete):
	default:
		d.a.damage = err
	}
	return nil
}

// know takes what the metadata of the journal say, and finds the archives that were made of it.
func (a *archiving) know(m *ir.Metadata) (err error) {
	a.journal, _ = slogkv.JournalOf(m)
	if a.find && a.journal.ID != "" {
		a.skip, a.number, a.last, err = archivesOf(a.fs, a.path, a.journal.ID)
	}
	return err
}

// failing remembers the error of a reader, so that it is not taken for damage.
type failing struct {
	r   io.Reader
	err error
}

func (f *failing) Read(p []byte) (int, error) {
	n, err := f.r.Read(p)
	if err != nil && err != io.EOF {
		f.err = err
	}
	return n, err
}

// output is the file of an archive that is being written.
type output struct {
	f    vfs.File
	size int64
	sum  uint32
}

// Write implements io.Writer.
func (o *output) Write(p []byte) (int, error) {
	n, err := o.f.Write(p)
	if n > 0 {
		o.size += int64(n)
		o.sum = crc32.Update(o.sum, castagnoli, p[:n])
	}
	if err == nil && n < len(p) {
		err = io.ErrShortWrite
	}
	return n, reason(err)
}

// close closes the file and, if asked to, removes it. What remains of it after an error the next recovery removes.
func (o *output) close(fsys vfs.FS, remove bool) {
	if remove {
		_ = fsys.Remove(o.f.Name())
	}
	_ = o.f.Close()
}

// verify compares a finished archive with its journal.
func (a *archiving) verify(p *part, records int64, deep bool) error {
	if err := p.out.check(); err != nil {
		return err
	}
	r, err := archive.Open(p.out.f, p.out.size, nil)
	if err != nil {
		return err
	}
	defer r.Close()
	if n := r.Info().Records; n != records {
		return fmt.Errorf("%d records, want %d", n, records)
	}
	if !deep {
		return nil
	}
	var line []byte
	var sum uint32
	n := int64(0)
	for rec, err := range r.All() {
		if err != nil {
			return err
		}
		if line, err = rec.AppendJSON(line[:0]); err != nil {
			return err
		}
		sum = lineSum(sum, line)
		if n++; n%4096 == 0 {
			if err := a.src.aborted(); err != nil {
				return err
			}
			a.tick(1 << 62)
		}
	}
	if n != records {
		return fmt.Errorf("%d records, want %d", n, records)
	}
	if sum != p.sum {
		return a.compare(p)
	}
	return nil
}

// check reads what was written.
func (o *output) check() error {
	h := crc32.New(castagnoli)
	n, err := io.Copy(h, io.NewSectionReader(o.f, 0, o.size))
	if err == nil && (n != o.size || h.Sum32() != o.sum) {
		err = errors.New("the file does not hold what was written")
	}
	return err
}

// compare compares an archive with its journal event by event: equal events may be spelt in different ways.
func (a *archiving) compare(p *part) error {
	r, err := archive.Open(p.out.f, p.out.size, nil)
	if err != nil {
		return err
	}
	defer r.Close()
	_, size := a.src.at()
	again := &archiving{file: a.file, src: newGrowing(a.file, size)}
	again.src.finish(size)
	batches, stop := again.decode()
	defer stop()
	number := int64(-1)
	var line []byte
	for b := range batches {
		if b.err != nil {
			return b.err
		}
		from := 0
		for _, to := range b.ends {
			want := b.text[from:to]
			from = to
			if number++; number < p.first {
				continue
			}
			rec, err := r.Next()
			if err == io.EOF {
				return nil
			}
			if err != nil {
				return err
			}
			if line, err = rec.AppendJSON(line[:0]); err != nil {
				return err
			}
			if !event.Equal(event.Lazy(want), event.Lazy(line)) {
				return fmt.Errorf("event %d of the journal became another one:\nwas %.300s\nis  %.300s", number+1, want, line)
			}
		}
		b.free()
	}
	return nil
}
