package reader

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync"
	"sync/atomic"

	"github.com/tracehandler/tracehandler/clp/archive"
	"github.com/tracehandler/tracehandler/clp/kql"
	"github.com/tracehandler/tracehandler/event"
	"github.com/tracehandler/tracehandler/format"
)

// archiveSource delivers the records of a CLP archive, in the order of the log, as lines of JSON. An archive is read here and
// there, never from its beginning to its end: one that comes through a pipe or out of a compressed file is first copied
// into a temporary file.
type archiveSource struct {
	path    string
	in      *input      // nil for a directory
	src     io.ReaderAt // nil for a directory, which dir is
	dir     string
	size    int64 // of the archive, as it is there
	promise int64 // bytes that its header promises, 0 for a directory
	limit   int   // of a line
	r       *archive.Reader
	records int64 // that the archive should have
	reports []error
	gaps    *[]error // damage of the layers around the archive; nil if there are none
	scratch *scratch
	spooled *spooled
	skip    int64 // records that were delivered before the file was opened again
	seen    Stats
	text    int64
	record  *archive.Record // that was delivered last
	autos   bool            // it has keys that a logging library made
	foreign bool            // events are made of two objects: see objects.go
	shown   shown           // buffers of the event that was delivered last
	part    int             // of the range index, that the last record was in
	last    int64           // its number, -1 before the first
	mixed   bool            // records did not come in their order, which was reported
	auto    []byte
	at      int64                                 // records of the log up to the last one delivered
	pull    func() (*archive.Record, error, bool) // of a query's answer; nil without a query
	stop    func()
	query   *kql.Query
	names   []string      // see Project; nil if all is wanted
	tail    int64         // records at the end that are wanted; 0 if all are
	near    archive.Spent // by reading what is around records that were found
	ended   bool
	drained bool
}

// openArchive makes a source of a layer that begins as an archive does.
func openArchive(in *input, o *Options) (source, error) {
	s := &archiveSource{path: in.path, in: in, limit: o.MaxLine, scratch: &scratch{}, last: -1}
	if l, ok := in.src.(*layer); ok {
		s.gaps = l.reports
	}
	if _, direct := in.src.(*tail); in.live && !direct {
		return nil, fmt.Errorf("reader: %s: a CLP archive inside a compressed file cannot be followed", in.path)
	}
	src, err := s.place(in)
	if err != nil {
		return nil, errors.Join(err, s.close())
	}
	s.src = src
	var head [24]byte
	if n, _ := src.ReadAt(head[:], 0); n == len(head) {
		s.promise = int64(min(binary.LittleEndian.Uint64(head[16:]), 1<<62))
	}
	r, err := archive.Open(src, s.size, s.options(o))
	return s.opened(r, err)
}

// openArchiveDir makes a source of a directory that is an archive. name stands for it in errors.
func openArchiveDir(path, name string, o *Options) (source, error) {
	s := &archiveSource{path: name, dir: path, limit: o.MaxLine, scratch: &scratch{}, last: -1}
	r, err := archive.OpenDir(os.DirFS(path), s.options(o))
	if r != nil {
		s.size = r.Info().Size
	}
	return s.opened(r, err)
}

func (s *archiveSource) options(o *Options) *archive.Options {
	return &archive.Options{Scratch: s.scratch, Parallel: o.Parallel}
}

// opened takes what opening the archive has given. Damage is reported in the place of the first record.
func (s *archiveSource) opened(r *archive.Reader, err error) (source, error) {
	var corrupt *archive.CorruptError
	switch {
	case err == nil:
		s.r, s.records, s.autos, s.foreign = r, r.Info().Records, hasAuto(r), isForeign(r)
		return s, nil
	case errors.Is(err, archive.ErrVersion), !errors.As(err, &corrupt):
		return nil, errors.Join(fmt.Errorf("reader: %s: %w", s.path, err), s.close())
	}
	s.ended, s.reports = true, s.damage(err)
	return s, nil
}

// place finds bytes that can be read anywhere, and sets their number.
func (s *archiveSource) place(in *input) (io.ReaderAt, error) {
	at := in.offset()
	src := in.src
	if t, ok := src.(*tail); ok {
		src = t.f
	}
	if f, ok := src.(io.ReaderAt); ok && restful(src) {
		if end, ok := sizeOf(src); ok && end >= at {
			s.size = end - at
			return io.NewSectionReader(f, at, s.size), nil
		}
	}
	var err error
	if s.spooled, err = spool(in); err != nil {
		return nil, fmt.Errorf("reader: %s: a copy of the archive, which can be read anywhere: %w", in.path, err)
	}
	s.size = s.spooled.size
	return s.spooled.f, nil
}

// sizeOf returns the offset of the end of what can be read anywhere.
func sizeOf(src any) (int64, bool) {
	switch f := src.(type) {
	case interface{ Size() int64 }: // bytes.Reader, io.SectionReader and their like
		return f.Size(), true
	case interface{ Stat() (fs.FileInfo, error) }:
		info, err := f.Stat()
		if err != nil {
			return 0, false
		}
		return info.Size(), true
	}
	return 0, false
}

func (s *archiveSource) begin(bool, int) {}
func (s *archiveSource) end()            {}
func (s *archiveSource) kind() Kind      { return CLPArchive }

func (s *archiveSource) stats() Stats {
	st := s.seen
	st.Text, st.Stored = s.text, s.size
	if !s.ended && s.records > 0 {
		st.Stored = int64(float64(s.size) * (float64(s.at) / float64(s.records)))
	}
	return st
}

func (s *archiveSource) close() error {
	var first error
	if s.stop != nil {
		s.stop()
	}
	if s.r != nil {
		first = s.r.Close()
	}
	return errors.Join(first, s.scratch.close(), s.spooled.close())
}

// next implements source.
func (s *archiveSource) next(rec *record) error {
	for {
		if s.gaps != nil && len(*s.gaps) > 0 {
			err := (*s.gaps)[0]
			*s.gaps = (*s.gaps)[1:]
			return s.report(err)
		}
		if len(s.reports) > 0 {
			err := s.reports[0]
			s.reports = s.reports[1:]
			return s.report(err)
		}
		if s.ended {
			return s.drain()
		}
		if s.tail > 0 {
			if err := s.seekTail(); err != nil {
				return err
			}
		}
		r, err := s.nextRecord()
		switch {
		case err == io.EOF:
			s.ended = true
			continue
		case err != nil && r != nil:
			s.seen.Lines++
			return s.bad(r, err)
		case err != nil:
			s.ended = true
			if s.reports = s.damage(err); len(s.reports) == 0 {
				return fmt.Errorf("reader: %s: %w", s.path, err)
			}
			continue
		}
		if s.skip > 0 {
			s.skip--
			s.seen.Lines++
			continue
		}
		return s.deliver(rec, r)
	}
}

// seekTail goes to the last records, if the archive knows where they are.
func (s *archiveSource) seekTail() error {
	n := s.tail
	s.tail = 0
	if s.query != nil || s.seen.Lines > 0 || n >= s.records || !s.r.Stats().Index || !s.r.Info().Ordered {
		return nil
	}
	if err := s.r.SeekRecord(s.records - n); err != nil {
		return fmt.Errorf("reader: %s: %w", s.path, err)
	}
	s.seen.Lines = s.records - n
	return nil
}

func (s *archiveSource) deliver(rec *record, r *archive.Record) error {
	s.seen.Lines++
	s.record = r
	number := s.number(r)
	if n := r.Number(); n >= 0 {
		if n <= s.last && !s.mixed {
			s.mixed = true
			s.reports = append(s.reports, &DamageError{
				Path: s.path, Line: number, Section: "/0", Expected: "records in the order of their numbers",
				Err: fmt.Errorf("record %d comes behind record %d", n, s.last),
			})
		}
		s.last = n
	}
	line, err := s.show(r, &s.shown)
	if err != nil {
		return s.bad(r, err)
	}
	*rec = record{line: Line{Number: number, Offset: s.text, Raw: line, Text: line}, ev: event.Lazy(line)}
	s.text += int64(len(line)) + 1
	s.seen.Events++
	return nil
}

// show returns a record as a line, valid as long as the record is and nothing else is shown with the same buffers.
func (s *archiveSource) show(r *archive.Record, b *shown) ([]byte, error) {
	line, err := r.JSON()
	if err == nil && s.foreign {
		line, err = b.event(r, line)
	}
	if err == nil && len(line) > s.limit {
		err = errTooLong
	}
	if err == nil && (bytes.IndexByte(line, '\n') >= 0 || bytes.IndexByte(line, '\r') >= 0) {
		line = bytes.Clone(line)
		oneLine(line) // an array is kept as it was spelt; between its tokens may be anything
	}
	return line, err
}

// number returns the number of a record as a line.
func (s *archiveSource) number(r *archive.Record) int64 {
	n := s.seen.Lines
	if s.query != nil && r.Number() >= 0 {
		n = r.Number() + 1
	}
	s.at = n
	return n
}

// bad reports a record that cannot be shown. What is wrong with a value is in the record; a limit is one of all.
func (s *archiveSource) bad(r *archive.Record, err error) error {
	number := s.number(r)
	var limit *archive.LimitError
	if errors.As(err, &limit) {
		return fmt.Errorf("reader: %s: record %d: %w", s.path, number, err)
	}
	s.seen.Bad++
	return &LineError{Path: s.path, Line: number, Offset: s.text, Expected: "a record that can be shown", Err: err}
}

// oneLine makes valid JSON one line: no string has these bytes in it.
func oneLine(b []byte) {
	for i, c := range b {
		if c == '\n' || c == '\r' {
			b[i] = ' '
		}
	}
}

// drain ends the source. A file that is followed ends when it is not the one at its path any more.
func (s *archiveSource) drain() error {
	if s.in == nil || !s.in.live || s.drained {
		return io.EOF
	}
	s.drained = true
	if _, err := io.Copy(io.Discard, s.in); err != nil {
		return fmt.Errorf("reader: %s: %w", s.path, err)
	}
	return io.EOF
}

func (s *archiveSource) report(err error) error {
	s.seen.Damage++
	var damage *DamageError
	var torn *TornError
	switch {
	case errors.As(err, &damage):
		s.seen.Skipped += damage.Skipped
	case errors.As(err, &torn):
		s.seen.Skipped += torn.Skipped
	}
	return err
}

// damage turns what an archive says about its damage into reports: none if that is no damage.
func (s *archiveSource) damage(err error) []error {
	var reports []error
	lost := max(0, s.records-s.seen.Lines)
	for _, err := range split(err) {
		var c *archive.CorruptError
		if !errors.As(err, &c) {
			return nil
		}
		d := DamageError{Path: s.path, Offset: c.Offset, Line: s.seen.Lines, Section: c.Section, Lost: lost, Expected: "a whole CLP archive", Err: c}
		if s.in != nil && errors.Is(c, archive.ErrShort) && s.size < max(s.promise, headerOfArchive) {
			d.Expected = "a CLP archive"
			if s.promise > 0 {
				d.Expected = fmt.Sprintf("a CLP archive of %d bytes", s.promise)
			}
			reports = append(reports, &TornError{Path: d.Path, Offset: s.size, Line: d.Line, Section: d.Section, Lost: d.Lost, Expected: d.Expected, Err: c})
		} else {
			reports = append(reports, &d)
		}
		lost = 0 // counted once
	}
	return reports
}

// headerOfArchive is the least that an archive has, in bytes.
const headerOfArchive = 64

// split takes joined errors apart.
func split(err error) []error {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		return joined.Unwrap()
	}
	return []error{err}
}

// IsArchiveDir reports whether a directory is a CLP archive, which Open reads like a file: by its header, which is a file in it.
func IsArchiveDir(path string) bool {
	f, err := os.DirFS(path).Open("header")
	if err != nil {
		return false
	}
	defer f.Close()
	head := make([]byte, format.HeadSize)
	n, _ := io.ReadFull(f, head) // a shorter file is none
	return format.Detect(head[:n]) == format.ArchiveMagic
}

// spooled is a copy of what cannot be read anywhere, in a temporary file.
type spooled struct {
	f    *os.File
	size int64
}

// spool copies the rest of in. A failure of in is one of the layers around the archive, or of the source.
func spool(in *input) (*spooled, error) {
	f, err := createTemp()
	if err != nil {
		return nil, err
	}
	s := &spooled{f: f}
	if s.size, err = io.CopyBuffer(struct{ io.Writer }{f}, in, make([]byte, readSize)); err != nil {
		return nil, errors.Join(err, s.close())
	}
	return s, nil
}

func (s *spooled) close() error {
	if s == nil {
		return nil
	}
	return removeTemp(s.f)
}

// createTemp creates a file that only its owner can read (0600), and takes its name away where that is possible while it is
// open: then nothing is left of it, however the program ends.
func createTemp() (*os.File, error) {
	f, err := os.CreateTemp("", "tracehandler-*")
	if err != nil {
		return nil, err
	}
	_ = os.Remove(f.Name()) // removeTemp tries again
	return f, nil
}

func removeTemp(f *os.File) error {
	err := f.Close()
	if rm := os.Remove(f.Name()); rm != nil && !errors.Is(rm, fs.ErrNotExist) {
		err = errors.Join(err, rm)
	}
	return err
}

// scratch is a temporary file that is made when it is first written. It is safe for concurrent use.
type scratch struct {
	once sync.Once
	f    atomic.Pointer[os.File]
	err  error
}

// WriteAt implements io.WriterAt.
func (s *scratch) WriteAt(p []byte, off int64) (int, error) {
	s.once.Do(func() {
		f, err := createTemp()
		if err == nil {
			s.f.Store(f)
		}
		s.err = err
	})
	if s.err != nil {
		return 0, s.err
	}
	return s.f.Load().WriteAt(p, off)
}

// ReadAt implements io.ReaderAt.
func (s *scratch) ReadAt(p []byte, off int64) (int, error) {
	f := s.f.Load()
	if f == nil {
		return 0, io.EOF
	}
	return f.ReadAt(p, off)
}

func (s *scratch) close() error {
	if f := s.f.Swap(nil); f != nil {
		return removeTemp(f)
	}
	return nil
}
