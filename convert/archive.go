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
	"runtime"
	"time"

	"github.com/tracehandler/tracehandler/clp/archive"
	"github.com/tracehandler/tracehandler/clp/kql"
	"github.com/tracehandler/tracehandler/event"
	"github.com/tracehandler/tracehandler/internal/temporary"
	"github.com/tracehandler/tracehandler/internal/vfs"
	"github.com/tracehandler/tracehandler/naming"
	"github.com/tracehandler/tracehandler/reader"
)

// ErrNoEvents is wrapped by the error of a conversion to an archive of a trace without events: an archive has one at least.
var ErrNoEvents = errors.New("convert: no events, and a CLP archive cannot be empty")

// archiveOut is a set of archives that is being written beside dst: one, unless the writer says that it is full.
type archiveOut struct {
	c      *copying
	source string
	id     string // of the set
	time   []string
	parts  []*archivePart
	events int64
	first  int64        // events before the part that is being written
	copied *archivePart // it; nil before the first event
	spill  *temporary.Spill
}

type archivePart struct {
	f vfs.File
	w *archive.Writer
}

// archiveFile is File for format.CLP.
func (c *copying) archiveFile(src string) (Report, error) {
	err := c.toArchive(src)
	if err != nil {
		return c.report, fmt.Errorf("convert: %s to %s: %w", src, c.dst, err)
	}
	return c.report, nil
}

func (c *copying) toArchive(src string) (err error) {
	a := &archiveOut{c: c, source: src, spill: temporary.NewSpill(vfs.OS, c.dst)}
	if a.time, err = c.timeKey(); err != nil {
		return err
	}
	if a.id, err = setID(src); err != nil {
		return err
	}
	// An earlier conversion, which was killed, may have left its files.
	if err := temporary.RemoveAll(vfs.OS, c.dst); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.drop()) }()
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
	c.report.Lines = c.sum.lines
	if err := c.tick(); err != nil {
		return err
	}
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

// timeKey returns the path of the key that has the time of records.
func (c *copying) timeKey() ([]string, error) {
	key := c.o.TimeKey
	if key == "" {
		key = c.r.TimeKey()
	}
	if key == "" {
		return []string{slog.TimeKey}, nil
	}
	path, err := kql.Path(key)
	if err != nil {
		return nil, fmt.Errorf("the key of the time, %q: %w", key, err)
	}
	return path, nil
}

// setID returns what tells the archives made of a trace from all others: the same each time a file is converted.
func setID(src string) (string, error) {
	if info, err := os.Stat(src); err == nil && info.Mode().IsRegular() {
		sum := sha256.Sum256(fmt.Appendf(nil, "%q %d %d", filepath.Base(src), info.Size(), info.ModTime().UnixNano()))
		return hex.EncodeToString(sum[:16]), nil
	}
	var id [16]byte
	_, err := rand.Read(id[:])
	return hex.EncodeToString(id[:]), err
}

// add writes the event of a line.
func (a *archiveOut) add(l *reader.Line) error {
	c := a.c
	text := bytes.TrimSpace(l.Text)
	if len(text) == 0 {
		return nil
	}
	for {
		if a.copied == nil {
			if err := a.begin(); err != nil {
				return err
			}
		}
		err := a.copied.w.Write(text)
		if err == nil {
			break
		}
		var syntax *event.SyntaxError
		if errors.As(err, &syntax) {
			return c.bad(&reader.LineError{Path: c.r.Path(), Line: l.Number, Offset: l.Offset, Column: syntax.Offset, Expected: "a JSON object", Err: err})
		}
		if !errors.Is(err, archive.ErrFull) {
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

// begin begins an archive.
func (a *archiveOut) begin() error {
	c := a.c
	f, err := temporary.Create(vfs.OS, c.dst)
	if err != nil {
		return err
	}
	p := &archivePart{f: f}
	a.parts = append(a.parts, p)
	p.w, err = archive.NewWriter(f, &archive.WriterOptions{
		Level: c.o.Level, Memory: c.o.Memory, Spill: a.spill, TimeKey: a.time, Concurrency: runtime.GOMAXPROCS(0),
	})
	a.copied, a.first = p, a.events
	return err
}

// fields are those of the archive that is being written. One that is alone does not say that it is a part.
func (a *archiveOut) fields(last bool) []slog.Attr {
	fields := []slog.Attr{slog.String("_filename", filepath.Base(a.source))}
	if last && len(a.parts) == 1 {
		return fields
	}
	return append(fields, slog.Group("tracehandler", slog.String("journal", a.id), slog.Int("part", len(a.parts)), slog.Int64("first", a.first)))
}

// finish completes the archive that is being written, which is the last one or full.
func (a *archiveOut) finish(last bool) error {
	p := a.copied
	a.copied = nil
	err := p.w.SetFields(a.fields(last))
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

// compare compares the archives with the source, which it reads again, event by event.
func (a *archiveOut) compare() error {
	c := a.c
	next, stop := iter.Pull2(a.lines())
	defer stop()
	ro := c.o.Read
	ro.Newlines, ro.OnBad = reader.LF, reader.Continue
	r, err := reader.Open(a.source, &ro)
	if err != nil {
		return err
	}
	defer r.Close()
	n := int64(0)
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
		if n++; !event.Equal(want, event.Lazy(line)) {
			return fmt.Errorf("%w: line %d is another event: %.200s became %.200s", ErrVerify, l.Number, text, line)
		}
		if n%4096 == 0 {
			if err := context.Cause(c.ctx); err != nil {
				return err
			}
		}
	}
	if n != c.sum.lines {
		return fmt.Errorf("%w: the source has %d events now, not %d", ErrVerify, n, c.sum.lines)
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
