package finalize

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"log/slog"
	"math"
	"path/filepath"
	"runtime"
	"sync"

	"github.com/tracehandler/tracehandler/clp/archive"
	"github.com/tracehandler/tracehandler/clp/ir"
	"github.com/tracehandler/tracehandler/clp/ir/slogkv"
	"github.com/tracehandler/tracehandler/clp/kql"
	"github.com/tracehandler/tracehandler/internal/origin"
	"github.com/tracehandler/tracehandler/internal/temporary"
	"github.com/tracehandler/tracehandler/internal/vfs"
)

// NewJournalID returns a name for a journal that no other journal has.
func NewJournalID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}

// archiving makes archives of a journal. The goroutine of run reads events and gives their values to the archive, whose own
// goroutines fill columns and compress.
type archiving struct {
	fs         vfs.FS
	path       string // of the trace, as it was at the beginning
	memory     int64
	background bool
	find       bool // archives of this journal may be there already
	src        *growing
	ctx        context.Context // done when the work is to end, with the reason as its cause
	cancel     context.CancelCauseFunc
	spill      *temporary.Spill // of the archive that is being made

	mu       sync.Mutex // guards progress, and that it is called once at a time
	progress func(done, total int64)

	// Set by run, for others when done is closed.
	done    chan struct{}
	journal slogkv.Journal
	dec     *slogkv.Decoder
	line    []byte
	parts   []*part
	number  int    // of parts before
	last    string // path of the last of those
	skip    int64  // events in them
	events  int64  // of the journal, so far
	text    int64  // bytes of their lines
	damage  error  // why there are no more events than these, or not all
	err     error
}

// part is an archive that is being made, or is finished and has no name yet.
type part struct {
	out       *output
	w         *archive.Writer
	text      int64 // bytes of lines
	published bool
}

func (p *part) name() string { return p.out.f.Name() }

func newArchiving(p *Partial, o ArchiveOptions, background bool) *archiving {
	a := &archiving{fs: p.fs, path: p.path, memory: o.Memory, background: background, find: p.old, src: newGrowing(p.f, 0), done: make(chan struct{})}
	a.spill = temporary.NewSpill(a.fs, a.path)
	a.ctx, a.cancel = context.WithCancelCause(context.Background())
	return a
}

// abort has run end with err.
func (a *archiving) abort(err error) {
	a.cancel(err)
	a.src.abort(err)
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
	defer a.mu.Unlock()
	if a.progress != nil {
		_, total := a.src.at()
		a.progress(min(at, total-1), total)
	}
}

// made returns how many archives there are of the journal, earlier ones included.
func (a *archiving) made() int { return a.number + len(a.parts) }

// drop removes what has got no name.
func (a *archiving) drop() {
	for _, p := range a.parts {
		p.w.Abort()
		p.out.close(a.fs, !p.published)
	}
	a.parts = nil
	a.spill.Close()
}

// run makes the archives. After an error there are none.
func (a *archiving) run() {
	defer close(a.done)
	defer a.cancel(nil)
	p, err := a.copy()
	if p != nil {
		p.w.SetConcurrency(runtime.GOMAXPROCS(0)) // somebody waits now
	}
	if err == nil {
		err = a.finish(p, !a.background || p != nil && p.text <= smallPart)
	}
	if a.err = err; err != nil {
		a.drop()
	}
}

// smallPart is the number of bytes of text up to which an archive made in the background is read back whole, when somebody waits: that
// takes 0.6 to 0.8 ms a megabyte on two processors.
const smallPart = 16 << 20

// tickBytes is how many bytes of the journal are read from one report of progress to the next.
const tickBytes = 128 << 10

// copy copies the events of the journal into archives, and returns the last one, which is not finished: nil if there are no events.
// Damage ends the journal as its end does; an error is a failure to read or to write, or an interruption.
func (a *archiving) copy() (p *part, err error) {
	src := &failing{r: a.src}
	r, err := ir.NewReader(src, nil)
	if err != nil {
		return nil, a.ended(src, err)
	}
	defer r.Close()
	if err := a.know(r.Metadata()); err != nil {
		return nil, err
	}
	a.dec = slogkv.NewDecoder(r)
	next := int64(0)
	for {
		e, err := r.Next()
		if err != nil {
			return p, a.ended(src, err)
		}
		if p, err = a.add(p, e); err != nil {
			return nil, err
		}
		if at, _ := a.src.at(); at >= next {
			next = at + tickBytes
			a.tick(at)
		}
	}
}

// add puts an event into the archive p, and begins another one if there is none or it is full. It returns the one that is
// not full.
func (a *archiving) add(p *part, e *ir.Event) (*part, error) {
	if a.events < a.skip {
		if a.lineOf(e) {
			a.events++
			a.text += int64(len(a.line)) + 1
		}
		return p, nil
	}
	for {
		if p == nil {
			var err error
			if p, err = a.begin(); err != nil {
				return nil, err
			}
		}
		n, err := a.put(p, e)
		switch {
		case errors.Is(err, archive.ErrFull):
			if err := a.finish(p, true); err != nil {
				return nil, err
			}
			p = nil
			continue
		case err != nil:
			return nil, fmt.Errorf("finalize: event %d: %w", a.events+1, err)
		case n > 0:
			a.events++
			a.text += n
			p.text += n
		}
		return p, nil
	}
}

// put puts an event into an archive, and returns the length of its line; 0 if it is damaged, which ends nothing.
func (a *archiving) put(p *part, e *ir.Event) (n int64, err error) {
	row := p.w.Row()
	ok, err := a.dec.Build(row, e)
	if err != nil {
		a.damage = err // of this event alone
		return 0, nil
	}
	if ok {
		if err := row.Write(); !errors.Is(err, archive.ErrUnfit) {
			return row.Len() + 1, err
		}
	}
	if !a.lineOf(e) {
		return 0, nil
	}
	return int64(len(a.line)) + 1, p.w.Write(a.line)
}

// lineOf makes a.line the line of an event. If that is damaged it says so, and reports false.
func (a *archiving) lineOf(e *ir.Event) bool {
	var err error
	if a.line, err = a.dec.AppendLine(a.line[:0], e); err != nil {
		a.damage = err
	}
	return err == nil
}

// begin begins an archive.
func (a *archiving) begin() (*part, error) {
	f, err := temporary.Create(a.fs, a.path)
	if err != nil {
		return nil, fmt.Errorf("finalize: %w", err)
	}
	p := &part{out: &output{f: f}}
	level := a.journal.Level
	if level < 0 || level > 19 {
		level = 0
	}
	p.w, err = archive.NewWriter(p.out, &archive.WriterOptions{Level: level, Memory: a.memory, Spill: a.spill, Concurrency: a.processors(), Check: a.background, TimeKey: a.timeKey(),
		Fields: a.fields(a.made()+1, a.events)})
	if err != nil {
		p.out.close(a.fs, true)
		return nil, err
	}
	a.parts = append(a.parts, p)
	return p, nil
}

// timeKey returns the path of the key that has the time of events.
func (a *archiving) timeKey() []string {
	if path, err := kql.Path(a.journal.TimeKey); err == nil {
		return path
	}
	return []string{slog.TimeKey}
}

// fields say in an archive where it comes from.
func (a *archiving) fields(number int, first int64) []slog.Attr {
	from := origin.Origin{Filename: filepath.Base(a.path), ID: a.journal.ID, Part: int64(number), First: first, Split: number - 1}
	return from.Attrs()
}

// finish completes an archive, if there is one: writes it, compares it with the journal, and syncs it. One without events
// is removed.
func (a *archiving) finish(p *part, deep bool) error {
	if p == nil {
		return nil
	}
	if p.w.Records() == 0 {
		p.w.Abort()
		p.out.close(a.fs, true)
		a.parts = a.parts[:len(a.parts)-1]
		return nil
	}
	err := p.w.Close()
	a.spill.Close()
	if err != nil {
		return fmt.Errorf("finalize: write %s: %w", p.name(), err)
	}
	if err := a.verify(p, deep); err != nil {
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

// ended tells what the error at the end of a journal means: nothing, damage, or that it could not be read.
func (a *archiving) ended(src *failing, err error) error {
	var incomplete *ir.IncompleteError
	switch {
	case src.err != nil:
		return src.err
	case err == io.EOF, errors.As(err, &incomplete):
	default:
		a.damage = err
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

// verify reads a finished archive back. If it is to be deep, all events are compared with those of the journal: the writer
// remembers checksums of the values that it was given.
func (a *archiving) verify(p *part, deep bool) error {
	if err := p.out.check(); err != nil {
		return err
	}
	if deep {
		return p.w.Verify(a.ctx, &ticking{a, p.out.f}, p.out.size)
	}
	r, err := archive.Open(p.out.f, p.out.size, nil)
	if err != nil {
		return err
	}
	defer r.Close()
	if n := r.Info().Records; n != p.w.Records() {
		return fmt.Errorf("%d records, want %d", n, p.w.Records())
	}
	return nil
}

// ticking tells of progress whenever it is read.
type ticking struct {
	a *archiving
	r io.ReaderAt
}

// ReadAt implements io.ReaderAt.
func (t *ticking) ReadAt(p []byte, off int64) (int, error) {
	t.a.tick(math.MaxInt64)
	return t.r.ReadAt(p, off)
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
