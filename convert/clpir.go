package convert

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/tracehandler/tracehandler/clp/ir"
	"github.com/tracehandler/tracehandler/clp/ir/slogkv"
	"github.com/tracehandler/tracehandler/event"
	"github.com/tracehandler/tracehandler/internal/vfs"
	"github.com/tracehandler/tracehandler/naming"
	"github.com/tracehandler/tracehandler/reader"
)

// packer makes packed key-value events of lines. A packed event says what an event says, however its line is spelled, so
// that the sum over packed events tells whether a copy is the same.
type packer struct {
	enc *slogkv.Encoder
	buf event.Buffer
}

func newPacker() *packer { return &packer{enc: slogkv.NewEncoder(event.Options{})} }

// pack returns the event that l holds; nil if l is blank. The error is a *reader.LineError.
func (p *packer) pack(l *reader.Line, path string) ([]byte, error) {
	text := bytes.TrimSpace(l.Text)
	if len(text) == 0 {
		return nil, nil
	}
	ev, err := event.Parse(text)
	if err != nil {
		return nil, &reader.LineError{Path: path, Line: l.Number, Offset: l.Offset, Expected: "a JSON object", Err: err}
	}
	p.buf.Reset()
	p.enc.AppendEvent(&p.buf, ev)
	return p.buf.B, nil
}

// packed copies the event of a line.
func (c *copying) packed(l *reader.Line) error {
	p, err := c.pack.pack(l, c.r.Path())
	if err != nil {
		return c.bad(err)
	}
	if p == nil {
		return nil
	}
	if err := c.s.Append(p); err != nil {
		return err
	}
	c.sum.add(p)
	c.report.Text += int64(len(l.Text)) + 1
	return nil
}

// emptyStream is a stream without events.
func emptyStream() ([]byte, error) {
	var b bytes.Buffer
	w, err := ir.NewKVWriter(&b, &ir.KVOptions{Output: ir.Output{Zstd: true}})
	if err != nil {
		return nil, err
	}
	err = w.Close()
	return b.Bytes(), err
}

// holdsText reports whether the lines at src are those of a text log: the first that is not blank begins with a time.
func holdsText(src string, o reader.Options) (bool, error) {
	r, err := reader.Open(src, &o)
	if err != nil {
		return false, err
	}
	defer r.Close()
	for l, err := range r.Lines() {
		if err != nil {
			return false, nil // the conversion will say so
		}
		if len(bytes.TrimSpace(l.Raw)) == 0 {
			continue
		}
		_, _, ok := leadingTime(l.Raw)
		return ok && r.Kind() != reader.PrefixedLines, nil
	}
	return false, nil
}

// textOut is a text stream that is being written beside dst.
type textOut struct {
	dst  string
	f    vfs.File
	w    *ir.TextWriter
	sum  *sum
	hold []byte // message of the event that further lines may belong to
	ms   int64
	open bool
}

// textFile is File for a text log.
func (c *copying) textFile(src string) (Report, error) {
	err := c.toText(c.o.Overwrite)
	if err != nil {
		return c.report, fmt.Errorf("convert: %s to %s: %w", src, c.dst, err)
	}
	info, err := os.Stat(c.dst)
	if err != nil {
		return c.report, fmt.Errorf("convert: %w", err)
	}
	c.report.DstSize = info.Size()
	return c.report, nil
}

// toText writes the lines of c.r, those of a text log, to a text stream at c.dst. A line that begins with a time is an
// event; other lines belong to the event before them. The time is kept in ms, the message is the rest of the line.
func (c *copying) toText(overwrite bool) (err error) {
	t := &textOut{dst: c.dst, sum: c.sum}
	if t.f, err = vfs.OS.OpenFile(t.partial(), os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600); err != nil {
		return err
	}
	defer func() {
		if t.f != nil {
			err = errors.Join(err, t.f.Close(), os.Remove(t.partial()))
		}
	}()
	if err := t.f.TryLock(); err != nil { // so that no recovery takes it for what a dead program left
		return err
	}
	if t.w, err = ir.NewTextWriter(t.f, &ir.TextOptions{Output: ir.Output{Zstd: true, Level: c.o.Level}}); err != nil {
		return err
	}
	next := int64(0)
	for l, err := range c.r.Lines() {
		if err == nil {
			err = t.add(&l)
		} else {
			err = c.bad(err)
		}
		if err != nil {
			return err
		}
		if c.report.Text += int64(len(l.Raw)) + 1; c.report.Text >= next {
			next = c.report.Text + interval
			if err := c.tick(); err != nil {
				return err
			}
		}
	}
	if err := errors.Join(t.end(), t.w.Close(), t.f.Sync()); err != nil {
		return err
	}
	c.report.Lines = c.sum.lines
	if err := t.verify(c); err != nil {
		return err
	}
	if err := c.tick(); err != nil {
		return err
	}
	return t.publish(overwrite)
}

func (t *textOut) partial() string { return t.dst + naming.PartialSuffix }

func (t *textOut) add(l *reader.Line) error {
	when, end, ok := leadingTime(l.Raw)
	if !ok {
		if !t.open {
			return fmt.Errorf("line %d: expected a time at its beginning", l.Number)
		}
		t.hold = append(append(t.hold, l.Raw...), '\n')
		return nil
	}
	if err := t.end(); err != nil {
		return err
	}
	t.open, t.ms = true, when.UnixMilli()
	t.hold = append(append(t.hold[:0], l.Raw[end:]...), '\n')
	return nil
}

// end writes the event that is held.
func (t *textOut) end() error {
	if !t.open {
		return nil
	}
	t.open = false
	message := bytes.ToValidUTF8(bytes.ReplaceAll(t.hold, []byte{0}, []byte("�")), []byte("�"))
	t.sum.add(fmt.Appendf(nil, "%d%s", t.ms, message))
	return t.w.Write(t.ms, message)
}

// verify reads the stream back.
func (t *textOut) verify(c *copying) error {
	f, err := vfs.OS.OpenFile(t.partial(), os.O_RDONLY, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	r, err := ir.NewReader(f, nil)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrVerify, err)
	}
	defer r.Close()
	got := newSumLike(t.sum)
	var message []byte
	for e, err := range r.All() {
		if err == nil {
			message, err = e.AppendMessage(message[:0])
		}
		if err != nil {
			return fmt.Errorf("%w: %w", ErrVerify, err)
		}
		got.add(fmt.Appendf(nil, "%d%s", e.Time(), message))
	}
	if !got.equal(t.sum) {
		return fmt.Errorf("%w: %d events became %d", ErrVerify, t.sum.lines, got.lines)
	}
	return nil
}

// publish gives the stream its name.
func (t *textOut) publish(overwrite bool) error {
	if _, err := vfs.OS.Lstat(t.dst); err == nil && !overwrite {
		return fmt.Errorf("%s: %w", t.dst, os.ErrExist)
	}
	err := t.f.Close()
	t.f = nil
	if err == nil {
		err = vfs.OS.Rename(t.partial(), t.dst)
	}
	if err != nil {
		return errors.Join(err, os.Remove(t.partial()))
	}
	return vfs.OS.SyncDir(filepath.Dir(t.dst))
}
