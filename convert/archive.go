package convert

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"time"

	"github.com/tracehandler/tracehandler/clp/archive"
	"github.com/tracehandler/tracehandler/clp/kql"
	"github.com/tracehandler/tracehandler/event"
	"github.com/tracehandler/tracehandler/internal/origin"
	"github.com/tracehandler/tracehandler/internal/temporary"
	"github.com/tracehandler/tracehandler/internal/vfs"
	"github.com/tracehandler/tracehandler/naming"
	"github.com/tracehandler/tracehandler/reader"
)

// ErrNoEvents is wrapped by the error of a conversion to an archive of a trace without events: an archive has one at least.
var ErrNoEvents = errors.New("convert: no events, and a CLP archive cannot be empty")

// archiveOut is a set of archives that is being written beside dst: one, unless the writer says that it is full.
type archiveOut struct {
	c       *copying
	sources []string
	id      string // of the set
	time    []string
	auto    bool // the time is one of the keys that a logging library made
	parts   []*archivePart
	events  int64
	copied  *archivePart // the one being written; nil before the first event
	spill   *temporary.Spill

	from  origin.Origin  // where the events come from that are being read
	where *archive.Range // what an archive says of them
	began int64          // events before them
	named bool           // the archive being written knows of it
	names int            // how many such sources it knows of
}

type archivePart struct {
	f     vfs.File
	w     *archive.Writer
	first int64 // events in the parts before
}

// Files writes the events of several traces, one after the other, to one archive at dst, or a set of them: searches tell the
// sources apart by the key $_filename. Everything else is as of [File] to format.CLP.
func Files(ctx context.Context, srcs []string, dst string, o *Options) (Report, error) {
	if o == nil {
		o = &Options{}
	}
	if err := free(dst, o.Overwrite); err != nil {
		return Report{}, err
	}
	if len(srcs) == 0 {
		return Report{}, ErrNoEvents
	}
	c := &copying{ctx: ctx, o: o, dst: dst, sum: newSum()}
	if err := c.open(srcs[0]); err != nil {
		return Report{}, err
	}
	defer func() { c.r.Close() }()
	return c.archiveOf(srcs)
}

// archiveOf makes an archive of sources, of which the first is open.
func (c *copying) archiveOf(srcs []string) (Report, error) {
	err := c.toArchive(srcs)
	if err != nil {
		return c.report, fmt.Errorf("convert: %s to %s: %w", strings.Join(srcs, ", "), c.dst, err)
	}
	return c.report, nil
}

func (c *copying) toArchive(srcs []string) (err error) {
	a := &archiveOut{c: c, sources: srcs, spill: temporary.NewSpill(vfs.OS, c.dst)}
	if err := a.timeKey(); err != nil {
		return err
	}
	if a.id, err = setID(srcs); err != nil {
		return err
	}
	// An earlier conversion, which was killed, may have left its files.
	if err := temporary.RemoveAll(vfs.OS, c.dst); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.drop()) }()
	for i, src := range srcs {
		if i > 0 {
			if err := c.another(src); err != nil {
				return err
			}
		}
		if err := a.source(src); err != nil {
			return err
		}
	}
	c.report.Lines = c.sum.lines
	if c.sum.lines == 0 {
		return ErrNoEvents
	}
	if err := a.finish(true); err != nil {
		return err
	}
	if err := a.verify(); err != nil {
		return err
	}
	// The source may be the file that dst replaces; where open files cannot be replaced, it must be closed before.
	if err := c.r.Close(); err != nil {
		return err
	}
	return a.publish()
}

// timeKey finds the key that has the time of records.
func (a *archiveOut) timeKey() error {
	c := a.c
	key := c.o.TimeKey
	if key == "" {
		key = c.r.TimeKey()
	}
	if key == "" {
		key = slog.TimeKey
	}
	namespace, path, err := kql.NamespacePath(key)
	if err == nil && namespace != 0 && (namespace != '@' || !c.r.TwoObjects()) {
		_, err = kql.Path(key) // says what is wrong
	}
	if err != nil {
		return fmt.Errorf("the key of the time, %q: %w", key, err)
	}
	a.time, a.auto = path, namespace == '@'
	return nil
}

// setID returns what tells the archives made of traces from all others: the same each time these files are converted.
func setID(srcs []string) (string, error) {
	h := sha256.New()
	for _, src := range srcs {
		info, err := os.Stat(src)
		if err != nil || !info.Mode().IsRegular() {
			var id [16]byte
			_, err := rand.Read(id[:])
			return hex.EncodeToString(id[:]), err
		}
		fmt.Fprintf(h, "%q %d %d", filepath.Base(src), info.Size(), info.ModTime().UnixNano())
	}
	return hex.EncodeToString(h.Sum(nil)[:16]), nil
}

// source writes the events of the source that is open.
func (a *archiveOut) source(src string) error {
	c := a.c
	a.from = origin.Origin{Filename: filepath.Base(src), Fields: c.r.StreamFields(), ID: a.id, Stream: c.r.TwoObjects()}
	a.began, a.named, a.where = a.events, false, nil
	next := int64(0)
	for l, err := range c.r.Lines() {
		if err != nil {
			if err := c.bad(err); err != nil {
				return err
			}
			continue
		}
		if err := a.add(&l); err != nil {
			return err
		}
		if c.report.Text >= next {
			next = c.report.Text + interval
			if err := c.tick(); err != nil {
				return err
			}
		}
	}
	return c.tick()
}

// add writes the event of a line.
func (a *archiveOut) add(l *reader.Line) error {
	c := a.c
	text := bytes.TrimSpace(l.Text)
	if len(text) == 0 {
		return nil
	}
	o, two := c.r.Objects()
	if !two {
		o.User = text
	}
	a.look()
	for {
		if err := a.name(); err != nil {
			return err
		}
		err := a.copied.w.WriteAuto(o.User, o.Auto)
		if err == nil {
			break
		}
		full := errors.Is(err, archive.ErrFull)
		if full { // only a record begins the next archive: no archive is empty
			_, err = event.Parse(o.User)
		}
		var syntax *event.SyntaxError
		if errors.As(err, &syntax) {
			return c.bad(&reader.LineError{Path: c.r.Path(), Line: l.Number, Offset: l.Offset, Column: syntax.Offset, Expected: "a JSON object", Err: err})
		}
		if !full || err != nil {
			return fmt.Errorf("line %d: %w", l.Number, err)
		}
		if err := a.finish(false); err != nil {
			return err
		}
	}
	a.events++
	c.sum.add(text)
	c.report.Text += int64(len(l.Text)) + 1
	return nil
}

// look takes what an archive says of where its records come from, which an archive of it says, too.
func (a *archiveOut) look() {
	where := a.c.r.Range()
	if where == nil || where == a.where {
		return
	}
	a.where = where
	from := origin.Parse(where.Fields)
	if from.Filename == "" {
		from.Filename = a.from.Filename
	}
	from.ID, from.Split, from.Part, from.First = a.from.ID, a.from.Split, a.from.Part, a.from.First
	if !reflect.DeepEqual(from, a.from) {
		from.Split = 0
		a.from, a.began, a.named = from, a.events, false
	}
}

// name makes sure that there is an archive, and that it knows where the next record comes from.
func (a *archiveOut) name() error {
	switch {
	case a.copied == nil:
		if a.events > a.began {
			a.from.Split++
		}
		a.from.Part, a.from.First, a.named, a.names = int64(len(a.parts)+1), a.events, true, 1
		return a.begin()
	case !a.named:
		a.from.Part, a.from.First, a.named = int64(len(a.parts)), a.copied.first, true
		a.names++
		return a.copied.w.NextSource(a.from.Attrs())
	}
	return nil
}

// begin begins an archive.
func (a *archiveOut) begin() error {
	c := a.c
	f, err := temporary.Create(vfs.OS, c.dst)
	if err != nil {
		return err
	}
	p := &archivePart{f: f, first: a.events}
	a.parts = append(a.parts, p)
	p.w, err = archive.NewWriter(f, &archive.WriterOptions{
		Level: c.o.Level, Memory: c.o.Memory, Spill: a.spill, TimeKey: a.time, TimeAuto: a.auto, Structured: c.o.StructuredArrays, Concurrency: runtime.GOMAXPROCS(0),
		Fields: a.from.Attrs(),
	})
	a.copied = p
	return err
}

// finish completes the archive that is being written, which is the last one or full. One that is alone, of one source, does not
// say that it is a part of anything.
func (a *archiveOut) finish(last bool) error {
	p := a.copied
	a.copied = nil
	var err error
	if last && len(a.parts) == 1 && a.names == 1 {
		a.from.ID = ""
		err = p.w.SetFields(a.from.Attrs())
	}
	if err == nil {
		err = p.w.Close()
	}
	a.spill.Close()
	if err != nil {
		return err
	}
	return p.f.Sync()
}

// lines iterates over the events of the archives that were written, as lines of JSON.
func (a *archiveOut) lines() iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		for _, p := range a.parts {
			if !a.partLines(p, yield) {
				return
			}
		}
	}
}

// partLines yields the lines of one archive. It reports false when there is no more to be yielded.
func (a *archiveOut) partLines(p *archivePart, yield func([]byte, error) bool) bool {
	info, err := p.f.Stat()
	if err != nil {
		yield(nil, err)
		return false
	}
	ro := a.c.o.Read
	ro.Newlines, ro.OnBad, ro.Name = reader.LF, reader.Stop, p.f.Name()
	r, err := reader.New(io.NewSectionReader(p.f, 0, info.Size()), &ro) // of this archive alone
	if err != nil {
		yield(nil, err)
		return false
	}
	defer r.Close()
	for l, err := range r.Lines() {
		if !yield(l.Raw, err) || err != nil {
			return false
		}
	}
	return true
}

// verify reads the archives back. Almost always they have the very lines that were read; where the spelling of one is another,
// all events are compared.
func (a *archiveOut) verify() error {
	c := a.c
	got, next := newSumLike(c.sum), int64(0)
	for line, err := range a.lines() {
		if err != nil {
			return fmt.Errorf("%w: %w", ErrVerify, err)
		}
		if got.add(line); got.text >= next {
			next = got.text + interval
			if err := context.Cause(c.ctx); err != nil {
				return err
			}
		}
	}
	switch {
	case got.lines != c.sum.lines:
		return fmt.Errorf("%w: %d events became %d", ErrVerify, c.sum.lines, got.lines)
	case !got.equal(c.sum):
		return a.compare()
	}
	return nil
}

// compare compares the archives with the sources, which it reads again, event by event.
func (a *archiveOut) compare() error {
	next, stop := iter.Pull2(a.lines())
	defer stop()
	n := int64(0)
	for _, src := range a.sources {
		if err := a.compareSource(src, &n, next); err != nil {
			return err
		}
	}
	if want := a.c.sum.lines; n != want {
		return fmt.Errorf("%w: the source has %d events now, not %d", ErrVerify, n, want)
	}
	return nil
}

// compareSource compares the events of a source with those that next returns, and counts them in n.
func (a *archiveOut) compareSource(src string, n *int64, next func() ([]byte, error, bool)) error {
	r, err := a.c.reader(src)
	if err != nil {
		return err
	}
	defer r.Close()
	for l, err := range r.Lines() {
		text := bytes.TrimSpace(l.Text)
		if err != nil || len(text) == 0 {
			continue // damage was dealt with when it was copied
		}
		want, err := event.Parse(text)
		if err != nil {
			continue // likewise
		}
		line, err, _ := next()
		if err != nil {
			return fmt.Errorf("%w: %w", ErrVerify, err)
		}
		if *n++; !event.Equal(want, event.Lazy(line)) {
			return fmt.Errorf("%w: line %d of %s is another event: %.200s became %.200s", ErrVerify, l.Number, src, text, line)
		}
		if *n%4096 == 0 {
			if err := context.Cause(a.c.ctx); err != nil {
				return err
			}
		}
	}
	return nil
}

// publish gives the archives their names: the last one dst, those before it names that sort before it.
func (a *archiveOut) publish() error {
	c := a.c
	if _, err := vfs.OS.Lstat(c.dst); err == nil && !c.o.Overwrite {
		return fmt.Errorf("%s: %w", c.dst, os.ErrExist)
	}
	now, n := time.Now(), 0
	for i, p := range a.parts {
		name := c.dst
		for i < len(a.parts)-1 {
			name = naming.RotatedName(c.dst, now, n)
			n++
			if _, err := vfs.OS.Lstat(name); errors.Is(err, fs.ErrNotExist) {
				break
			}
		}
		info, err := p.f.Stat()
		if err != nil {
			return err
		}
		temporary := p.f.Name()
		if err := p.f.Close(); err != nil {
			return err
		}
		p.f = nil
		if err := vfs.OS.Rename(temporary, name); err != nil {
			return errors.Join(err, os.Remove(temporary))
		}
		c.report.DstSize += info.Size()
		if len(a.parts) > 1 {
			c.report.Parts = append(c.report.Parts, name)
		}
	}
	return vfs.OS.SyncDir(filepath.Dir(c.dst))
}

// drop removes what has no name yet.
func (a *archiveOut) drop() (err error) {
	for _, p := range a.parts {
		if p.w != nil {
			p.w.Abort()
		}
		if p.f != nil {
			err = errors.Join(err, p.f.Close(), os.Remove(p.f.Name()))
		}
	}
	a.spill.Close()
	return err
}
