package convert

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/tracehandler/tracehandler/event"
	"github.com/tracehandler/tracehandler/format"
	"github.com/tracehandler/tracehandler/naming"
	"github.com/tracehandler/tracehandler/reader"
	"github.com/tracehandler/tracehandler/sink"
)

// Options change how a trace is converted. The zero value and nil are what most callers want.
type Options struct {
	// Level is the effort of compression, as in sink.Options. Zero means the format's default.
	Level int

	// TimeKey is the key that has the time of events, in the syntax of a query's key, for format.CLP. If it is empty, that is
	// what an archive that is read has, and otherwise "time".
	TimeKey string

	// StructuredArrays takes the arrays of events apart, for format.CLP: their values become columns, by which queries on large
	// arrays of numbers take less time, instead of text. The events are the same.
	StructuredArrays bool

	// Memory is what making an archive may hold, in bytes, about; 0 means 256 MiB. What needs more becomes several archives.
	Memory int64

	// Overwrite replaces dst if it exists, also if it is src. Without it, an existing dst is an error that wraps
	// fs.ErrExist.
	Overwrite bool

	// Salvage converts what is intact of a damaged source, and leaves out lines longer than Read.MaxLine; Report.Damage
	// says what was left out. Without it, damage is an error.
	Salvage bool

	// Progress, if not nil, is called now and then, by the calling goroutine, with the number of bytes of src read so far,
	// as they are stored.
	Progress func(read int64)

	// Read has the limits of the reader. Its policies are ignored.
	Read reader.Options
}

// Report says what was converted.
type Report struct {
	Lines   int64    // lines in dst
	Bad     int64    // of them, lines that are neither blank nor one JSON object
	Text    int64    // bytes of text in dst, line ends included
	SrcSize int64    // bytes of src read, as stored
	DstSize int64    // bytes of dst, of all archives if there are several
	Parts   []string // the archives that dst became, if one was not enough; the last is dst, and reading it reads all
	Damage  []error  // what could not be read, with Options.Salvage: at most 100 reports
	Damaged int64    // how many there were
}

const (
	maxReports = 100
	interval   = 1 << 20 // bytes of text between two looks at the context and two calls of Progress
)

// ErrVerify is wrapped by the error of a conversion whose result, read back, was not what had been written.
var ErrVerify = errors.New("convert: the copy differs from the source")

// File writes the lines of the trace at src to dst, in format f. A line ends at "\n"; everything else, "\r" and invalid bytes
// included, is copied as it is. If the last line has no line end, it gets one.
//
// A trace of format clp or clp-ir holds events, not lines: an event that is read from it is equal (event.Equal) to the one in
// the line. How that was spelled, blank lines and prefixes are gone. Of what decodes as U+FFFD, clp-ir keeps halves of
// surrogate pairs, and bytes that are not UTF-8 as escapes, \udc80 to \udcff (as Python's surrogateescape); in clp it may be
// U+FFFD from then on. A line that is no JSON object is damage. If the first line is none and begins with a time, src is a
// text log, and dst, if it is to be a clp-ir trace, becomes a CLP text stream: a line that begins with a time is an event, kept to the
// millisecond, and other lines belong to the event before them. Report.Lines are events then.
//
// An archive says where its events come from, which queries have as $_filename: what src is called, or, if that is an archive itself,
// what it says. Of a key-value stream of another library it keeps the keys that the library made, and its metadata.
//
// dst appears whole or not at all: the copy is a partial (dst + naming.PartialSuffix) until it was read back and found to
// have the same lines, and is removed on any error, also when ctx ends. If there is such a partial already, whoever's it
// is, File refuses with an error that wraps fs.ErrExist.
func File(ctx context.Context, src, dst string, f format.Format, o *Options) (Report, error) {
	if o == nil {
		o = &Options{}
	}
	if !f.Valid() {
		return Report{}, fmt.Errorf("convert: %s: unknown format %v", dst, f)
	}
	if err := free(dst, o.Overwrite); err != nil {
		return Report{}, err
	}
	if f == format.CLP {
		return Files(ctx, []string{src}, dst, o)
	}
	c := &copying{ctx: ctx, o: o, dst: dst, sum: newSum()}
	if err := c.open(src); err != nil {
		return Report{}, err
	}
	r := c.r
	defer r.Close()
	if f == format.CLPIR {
		text, err := holdsText(src, c.readerOptions())
		if err != nil {
			return Report{}, fmt.Errorf("convert: %w", err)
		}
		if text {
			return c.textFile(src)
		}
		c.pack = newPacker()
	}
	mode := sink.Fail
	if o.Overwrite {
		mode = sink.Truncate
	}
	c.s = sink.File(dst, sink.Options{Format: f, Level: o.Level, Exists: mode, BeforePublish: c.verify})
	err := c.copy()
	// The source may be the file that dst replaces; where open files cannot be replaced, it must be closed before.
	if cerr := r.Close(); err == nil {
		err = cerr
	}
	c.failed = err
	cerr := c.s.Close()
	if err == nil {
		err = cerr
	}
	if err == nil && c.sum.lines == 0 {
		err = writeEmpty(dst, f, o.Overwrite)
	}
	if err != nil {
		return c.report, errors.Join(fmt.Errorf("convert: %s to %s: %w", src, dst, err), c.remove(err))
	}
	info, err := os.Stat(dst)
	if err != nil {
		return c.report, fmt.Errorf("convert: %w", err)
	}
	c.report.DstSize = info.Size()
	return c.report, nil
}

// free makes sure that nothing is in the way.
func free(dst string, overwrite bool) error {
	partial := dst + naming.PartialSuffix
	if _, err := os.Lstat(partial); err == nil {
		return fmt.Errorf("convert: %w", &fs.PathError{Op: "create", Path: partial, Err: fs.ErrExist})
	}
	info, err := os.Lstat(dst)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("convert: %w", err)
	case !overwrite:
		return fmt.Errorf("convert: %w", &fs.PathError{Op: "create", Path: dst, Err: fs.ErrExist})
	case !info.Mode().IsRegular():
		return fmt.Errorf("convert: %s: is not a regular file", dst)
	}
	return nil
}

// copying is one conversion.
type copying struct {
	ctx    context.Context
	o      *Options
	r      *reader.Reader
	before int64 // bytes of sources before that of r
	s      sink.Sink
	dst    string
	sum    *sum
	buf    []byte
	report Report
	failed error // set before the sink is closed

	pack *packer // dst holds events, not lines; else nil
}

// open opens a source.
func (c *copying) open(src string) error {
	r, err := c.reader(src)
	if err != nil {
		return fmt.Errorf("convert: %w", err)
	}
	c.r = r
	return nil
}

// another is done with the source, and opens the next one.
func (c *copying) another(src string) error {
	c.before += c.r.Stats().Stored
	if err := c.r.Close(); err != nil {
		return err
	}
	r, err := c.reader(src)
	if err == nil {
		c.r = r
	}
	return err
}

func (c *copying) reader(src string) (*reader.Reader, error) {
	ro := c.readerOptions()
	return reader.Open(src, &ro)
}

func (c *copying) readerOptions() reader.Options {
	ro := c.o.Read
	ro.Newlines, ro.OnBad = reader.LF, reader.Continue
	return ro
}

// copy copies all lines to the sink.
func (c *copying) copy() error {
	next := int64(0)
	for l, err := range c.r.Lines() {
		if err != nil {
			if err := c.bad(err); err != nil {
				return err
			}
			continue
		}
		if c.pack != nil {
			if err := c.packed(&l); err != nil {
				return err
			}
		} else {
			c.buf = append(append(c.buf[:0], l.Raw...), '\n')
			if err := c.s.Append(c.buf); err != nil {
				return err
			}
			c.sum.add(l.Raw)
		}
		if t := bytes.TrimSpace(l.Text); c.pack == nil && len(t) > 0 {
			if _, err := event.Parse(t); err != nil {
				c.report.Bad++
			}
		}
		if c.sum.text >= next {
			next = c.sum.text + interval
			if err := c.tick(); err != nil {
				return err
			}
		}
	}
	c.report.Lines = c.sum.lines
	if c.pack == nil {
		c.report.Text = c.sum.text
	}
	return c.tick()
}

// tick looks at the context and tells the progress.
func (c *copying) tick() error {
	c.report.SrcSize = c.before + c.r.Stats().Stored
	if c.o.Progress != nil {
		c.o.Progress(c.report.SrcSize)
	}
	return context.Cause(c.ctx)
}

// bad deals with an error of the reader.
func (c *copying) bad(err error) error {
	if !c.o.Salvage || !reader.IsReport(err) {
		return err
	}
	if c.report.Damaged++; c.report.Damaged <= maxReports {
		c.report.Damage = append(c.report.Damage, err)
	}
	return nil
}

// verify reads the partial back. The sink calls it once all is written.
func (c *copying) verify(partial string) error {
	if c.failed != nil {
		return c.failed // not to be published
	}
	ro := c.o.Read
	ro.Newlines, ro.OnBad, ro.Name = reader.LF, reader.Stop, partial
	r, err := reader.Open(partial, &ro)
	if err != nil {
		return err
	}
	defer r.Close()
	got, next := newSumLike(c.sum), int64(0)
	for l, err := range r.Lines() {
		if err != nil {
			return fmt.Errorf("%w: %w", ErrVerify, err)
		}
		if c.pack == nil {
			got.add(l.Raw)
		} else if packed, err := c.pack.pack(&l, partial); err != nil {
			return fmt.Errorf("%w: %w", ErrVerify, err)
		} else {
			got.add(packed)
		}
		if got.text >= next {
			next = got.text + interval
			if err := context.Cause(c.ctx); err != nil {
				return err
			}
		}
	}
	if !got.equal(c.sum) {
		return fmt.Errorf("%w: %d lines of %d bytes became %d of %d", ErrVerify, c.sum.lines, c.sum.text, got.lines, got.text)
	}
	return context.Cause(c.ctx)
}

// remove takes the partial of a conversion that failed with cause away. That of somebody else, who came between, stays.
func (c *copying) remove(cause error) error {
	var locked *sink.LockedError
	var exists *sink.ExistsError
	if errors.As(cause, &locked) || errors.As(cause, &exists) {
		return nil
	}
	err := os.Remove(c.dst + naming.PartialSuffix)
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return fmt.Errorf("convert: %w", err)
}
