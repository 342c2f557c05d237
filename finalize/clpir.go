package finalize

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"

	"github.com/tracehandler/tracehandler/clp/ir"
	"github.com/tracehandler/tracehandler/clp/ir/slogkv"
	"github.com/tracehandler/tracehandler/format"
	"github.com/tracehandler/tracehandler/internal/frame"
	"github.com/tracehandler/tracehandler/internal/vfs"
)

// A trace of the format clp-ir is one CLP IR stream in zstd frames, each of whole events, and at its end a frame that
// holds the end mark. While it is a partial the mark is not there; Complete writes it, as it does the seek table.

// streamText returns the uncompressed text of the first size bytes of r, which are zstd frames.
func streamText(r io.ReaderAt, size int64) (*zstd.Decoder, error) {
	z, err := zstd.NewReader(io.NewSectionReader(r, 0, size), zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
		zstd.WithDecoderMaxWindow(maxWindow))
	if err != nil {
		return nil, fmt.Errorf("finalize: zstd: %w", err)
	}
	return z, nil
}

// endMarkSize is the most that the frame of an end mark and its entry in the seek table take.
const endMarkSize = 32

// isStream reports whether files of a format, or their partials, are streams.
func isStream(f format.Format) bool { return f == format.CLPIR || f == format.CLP }

// framesOf returns the format of the frames that files of a format, or their partials, consist of.
func framesOf(f format.Format) format.Format {
	if isStream(f) {
		return format.Zstd
	}
	return f
}

// contentOf returns the format of a file that begins with a zstd frame: its text decides. It is that of an archive if the
// file is the journal of one.
func contentOf(r io.ReaderAt, size int64) format.Format {
	if head := firstText(r, size); len(head) < 4 || !isIR(format.Detect(head)) {
		return format.Zstd
	}
	s, err := ir.NewReader(io.NewSectionReader(r, 0, size), nil)
	if err != nil {
		return format.CLPIR // its preamble is cut or damaged
	}
	defer s.Close()
	if _, ok := slogkv.JournalOf(s.Metadata()); ok {
		return format.CLP
	}
	return format.CLPIR
}

func isIR(m format.Magic) bool { return m == format.IRMagic4 || m == format.IRMagic8 }

// hasPreamble reports whether the stream in the zstd frames of f begins as a whole one does.
func hasPreamble(f vfs.File) bool {
	info, err := f.Stat()
	if err != nil {
		return false
	}
	s, err := ir.NewReader(io.NewSectionReader(f, 0, info.Size()), nil)
	if err != nil {
		return false
	}
	return s.Close() == nil
}

// readable reports whether there is any text in the zstd frames of f.
func readable(f vfs.File) bool {
	info, err := f.Stat()
	return err == nil && len(firstText(f, info.Size())) > 0
}

// firstText returns the first four bytes of text, fewer if there are no more.
func firstText(r io.ReaderAt, size int64) []byte {
	z, err := streamText(r, size)
	if err != nil {
		return nil
	}
	defer z.Close()
	var head bytes.Buffer
	_, _ = z.WriteTo(&limited{&head, 4}) // that it ends in an error, now or later, is the scan's business
	return head.Bytes()
}

// streamState is what reading a stream tells.
type streamState struct {
	events   int64
	boundary int64 // end of the last whole event, in the text
	ended    bool  // the end mark follows
	damage   error // nil if only its end is missing
}

// readStream reads the stream in text to its end. What is wrong is damage, of the stream or of the frames that it is in,
// unless the file could not be read: callers look at that first.
func readStream(text io.Reader) (st streamState) {
	r, err := ir.NewReader(text, nil)
	if err == nil {
		defer r.Close()
		for err == nil {
			_, err = r.Next()
		}
		st.events, st.boundary = r.Number(), r.Offset()
	}
	switch {
	case err == io.EOF:
		st.ended = true
		st.boundary-- // the mark
	case !errors.Is(err, io.ErrUnexpectedEOF):
		st.damage = err
	}
	return st
}

// countStream fills in what a scan of frames cannot know of a stream: its events, whether its frames hold whole ones, and
// whether the last frame is the end mark. Then s.end is set before that frame.
func (s *scan) countStream() error {
	z, err := streamText(s.r, s.end)
	if err != nil {
		return err
	}
	defer z.Close()
	text := &counting{r: z}
	st := readStream(text)
	if s.r.err != nil {
		return s.r.err
	}
	s.rep.Events = st.events
	if st.damage != nil && len(s.rep.Damage) == 0 { // else the frames have said where it is
		s.rep.damaged(s.end, 0, st.damage)
	}
	if s.broken = len(s.rep.Damage) > 0; s.broken || st.ended {
		mark, err := s.isEndMark()
		if err != nil {
			return err
		}
		if mark {
			s.end = s.last.Offset
			s.rep.Frames--
			s.rep.Text--
			s.table.drop()
			return nil
		}
	}
	if s.broken {
		return nil
	}
	s.odd = st.ended || text.n != st.boundary
	return nil
}

// isEndMark reports whether the last frame is the end mark and nothing else.
func (s *scan) isEndMark() (bool, error) {
	if s.last.ContentSize != 1 || s.last.End() != s.end {
		return false, nil
	}
	var text bytes.Buffer
	err := s.decodeZstd(&limited{&text, 1}, s.last.Offset, s.last.Size)
	if s.r.err != nil {
		return false, s.r.err
	}
	return err == nil && text.Len() == 1 && text.Bytes()[0] == ir.EndMark, nil
}

// errBroken says that a stream cannot be continued because of damage in it: what its keys mean may depend on that.
var errBroken = errors.New("finalize: damaged stream")

// continuable returns an error if events cannot be appended: errBroken, or another if the frames were cut by somebody
// else.
func (s *scan) continuable(name string) error {
	if s.broken {
		return errBroken
	}
	if s.odd {
		return fmt.Errorf("finalize: %s: its frames do not end with whole events: convert it to continue it", name)
	}
	return nil
}

// drop forgets the last frame.
func (t *table) drop() {
	if t != nil && len(t.entries) > 0 {
		t.entries = t.entries[:len(t.entries)-1]
	}
}

// appendEnd writes the end mark and the seek table of a stream, without counting them as content: size stays the end of
// the last frame of events.
func (p *Partial) appendEnd() error {
	enc, err := frame.NewEncoder(format.Zstd, 0)
	if err != nil {
		return err
	}
	mark, err := enc.AppendFrame(nil, []byte{ir.EndMark})
	if err != nil {
		return err
	}
	if err := p.write(mark); err != nil {
		p.dirty = true
		return errors.Join(err, p.clean())
	}
	p.dirty = true // from here on: behind size
	p.report.Size = p.size + int64(len(mark))
	p.table.add(frame.Info{Size: int64(len(mark)), ContentSize: 1})
	b := p.table.append(nil)
	p.table.drop()
	if err := p.write(b); err != nil {
		// A stream without a seek table is whole. What was written of it is behind the end mark, where nobody reads.
		if err := p.f.Truncate(p.report.Size); err != nil {
			return fmt.Errorf("finalize: %w", err)
		}
		return nil
	}
	p.report.Size += int64(len(b))
	return nil
}

// Stream returns the uncompressed text of a partial of format clp-ir or clp, as far as it was written, for a writer that goes
// on with it and has to learn the keys. The caller closes it.
func (p *Partial) Stream() (io.ReadCloser, error) {
	z, err := streamText(p.f, p.size)
	if err != nil {
		return nil, err
	}
	return z.IOReadCloser(), nil
}

// wholeEvents returns the part of a torn frame's text, as far as it could be decoded, that holds whole events, and how
// many.
func (s *scan) wholeEvents() (text []byte, events int64, err error) {
	var torn bytes.Buffer
	s.decodeTorn(&limited{&torn, maxLine})
	z, err := streamText(s.r, s.end)
	if err != nil {
		return nil, 0, err
	}
	defer z.Close()
	before := &counting{r: z}
	st := readStream(io.MultiReader(before, bytes.NewReader(torn.Bytes())))
	if s.r.err != nil {
		return nil, 0, s.r.err
	}
	if st.damage != nil || st.boundary <= before.n {
		return nil, 0, nil
	}
	return torn.Bytes()[:st.boundary-before.n], st.events - s.rep.Events, nil
}

// salvageTo writes what is whole in the text of the torn frame to w.
func (s *scan) salvageTo(w *salvager) error {
	if !isStream(s.rep.Format) {
		s.decodeTorn(w)
		return nil
	}
	text, events, err := s.wholeEvents()
	if err == nil && events > 0 {
		w.block, w.events = text, events
	}
	return err
}

// counting counts what was read.
type counting struct {
	r io.Reader
	n int64
}

func (c *counting) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}

// limited is a writer that fails after n bytes.
type limited struct {
	w io.Writer
	n int
}

func (l *limited) Write(p []byte) (int, error) {
	if len(p) > l.n {
		n, _ := l.w.Write(p[:l.n])
		l.n -= n
		return n, io.ErrShortBuffer
	}
	l.n -= len(p)
	return l.w.Write(p)
}

// setAside publishes a stream that cannot be continued under a rotated name, and opens a new partial in its place: events
// that are there stay, and events that come find room.
func (p *Partial) setAside(o OpenOptions) (*Partial, error) {
	info, err := p.f.Stat()
	if err == nil {
		_, err = p.Complete(CompleteOptions{Rotated: info.ModTime()})
	}
	if err != nil {
		if p.f != nil {
			err = errors.Join(err, p.release())
		}
		return nil, fmt.Errorf("finalize: set %s aside: %w", p.Name(), err)
	}
	return OpenPartial(p.path, o)
}
