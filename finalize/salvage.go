package finalize

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"

	"github.com/tracehandler/tracehandler/event"
	"github.com/tracehandler/tracehandler/format"
	"github.com/tracehandler/tracehandler/internal/frame"
	"github.com/tracehandler/tracehandler/internal/vfs"
	"github.com/tracehandler/tracehandler/naming"
)

// Salvaging replaces a torn frame by whole frames that hold the whole lines found in it. Cutting first and appending
// after would lose them if the machine crashed in between. So they first go into a journal beside the partial,
//
//	[frames] [trailer: magic, boundary, length, events, torn, crc of the text before the boundary, crc of all this]
//
// which is synced before the partial is touched, applied (cut the partial at the boundary, append the frames, sync), and
// removed. A recovery that finds a whole journal applies it again, which gives the same bytes; one that finds a torn
// journal removes it and starts over, because then the partial has not been touched. All numbers are little-endian.

// journalSuffix ends the name of a journal. It is a partial too, so that nobody takes it for a trace.
const journalSuffix = ".salvage" + naming.PartialSuffix

const (
	journalMagic = "TRSALVG1"
	trailerSize  = 8 + 4*8 + 4 + 4
	guardSize    = 64 << 10 // bytes before the boundary that must be the same when the journal is applied
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func checksum(b []byte) uint32 { return crc32.Checksum(b, castagnoli) }

type journal struct {
	boundary int64 // where the partial is cut
	length   int64 // bytes of frames
	events   int64 // in the frames
	torn     int64 // bytes that were cut from the partial
	guard    uint32
}

func (j *journal) trailer(crc uint32) []byte {
	b := make([]byte, 0, trailerSize)
	b = append(b, journalMagic...)
	for _, v := range []int64{j.boundary, j.length, j.events, j.torn} {
		b = binary.LittleEndian.AppendUint64(b, uint64(v))
	}
	b = binary.LittleEndian.AppendUint32(b, j.guard)
	return binary.LittleEndian.AppendUint32(b, crc32.Update(crc, castagnoli, b))
}

// salvage writes the whole lines of the torn frame at the end of the file to the journal and applies it. It returns nil
// if there are none.
func (p *Partial) salvage(s *scan) (*journal, error) {
	w := &salvager{limit: frame.BlockSize(framesOf(p.report.Format))}
	w.open = func() (err error) {
		if w.enc, err = frame.NewEncoder(framesOf(p.report.Format), 0); err == nil {
			w.f, err = p.fs.OpenFile(p.journal(), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
		}
		return err
	}
	j, err := p.writeJournal(s, w)
	if w.f != nil {
		err = errors.Join(err, w.f.Close())
	}
	if err != nil {
		return nil, fmt.Errorf("finalize: salvage %s: %w", p.Name(), err)
	}
	if j == nil {
		return nil, nil
	}
	if err := p.fs.SyncDir(dirOf(p.path)); err != nil {
		return nil, fmt.Errorf("finalize: %w", err)
	}
	return p.redo(s.r.size)
}

func (p *Partial) writeJournal(s *scan, w *salvager) (*journal, error) {
	if err := s.salvageTo(w); err != nil {
		return nil, err
	}
	if s.r.err != nil {
		return nil, s.r.err
	}
	if err := w.flush(); err != nil || w.f == nil {
		return nil, err
	}
	j := &journal{boundary: s.end, length: w.length, events: w.events, torn: s.r.size - s.end}
	var err error
	if j.guard, err = guard(p.f, j.boundary); err != nil {
		return nil, err
	}
	if _, err := w.f.Write(j.trailer(w.crc)); err != nil {
		return nil, err
	}
	return j, w.f.Sync()
}

// decodeTorn writes the text that can be decoded of the torn frame to w.
func (s *scan) decodeTorn(w io.Writer) {
	// That decoding fails at the end is what torn means. A failure to read is in s.r.err, one to write in w.
	switch s.rep.Format {
	case format.Zstd, format.CLPIR, format.CLP:
		_ = s.decodeZstd(w, s.end, s.r.size-s.end)
	case format.Gzip:
		_, _ = s.gz.member(s.r, s.end, s.r.size, w)
	}
}

// guard returns a checksum of the bytes before off.
func guard(r io.ReaderAt, off int64) (uint32, error) {
	from := max(0, off-guardSize)
	b := make([]byte, off-from)
	if _, err := r.ReadAt(b, from); err != nil && !(errors.Is(err, io.EOF) && len(b) == 0) {
		return 0, err
	}
	return checksum(b), nil
}

func (p *Partial) journal() string { return p.path + journalSuffix }

// redo applies the journal if there is one and it belongs to the partial, and removes it. It returns nil if nothing was
// applied.
func (p *Partial) redo(size int64) (*journal, error) {
	f, err := p.fs.OpenFile(p.journal(), os.O_RDWR, 0) // not only to read: then a planted link would be followed
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("finalize: %w", err)
	}
	j, err := readJournal(f)
	if err == nil && j != nil {
		j, err = p.apply(j, f, size)
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, fmt.Errorf("finalize: journal %s: %w", p.journal(), err)
	}
	if err := p.fs.Remove(p.journal()); err != nil {
		return nil, fmt.Errorf("finalize: %w", err)
	}
	if err := p.fs.SyncDir(dirOf(p.path)); err != nil {
		return nil, fmt.Errorf("finalize: %w", err)
	}
	return j, nil
}

// readJournal returns nil if the journal is not whole.
func readJournal(f vfs.File) (*journal, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("not a regular file")
	}
	length := info.Size() - trailerSize
	if length < 0 {
		return nil, nil
	}
	t := make([]byte, trailerSize)
	if _, err := f.ReadAt(t, length); err != nil {
		return nil, err
	}
	num := func(i int) int64 { return int64(binary.LittleEndian.Uint64(t[8+8*i:])) }
	j := &journal{boundary: num(0), length: num(1), events: num(2), torn: num(3), guard: binary.LittleEndian.Uint32(t[40:])}
	if string(t[:8]) != journalMagic || j.length != length || j.boundary < 0 {
		return nil, nil
	}
	h := crc32.New(castagnoli)
	if _, err := io.Copy(h, io.NewSectionReader(f, 0, length)); err != nil {
		return nil, err
	}
	if !bytes.Equal(t, j.trailer(h.Sum32())) {
		return nil, nil
	}
	return j, nil
}

// apply replaces what stands behind the boundary by the frames of the journal. It returns nil if the partial is not the
// one that the journal was made for.
func (p *Partial) apply(j *journal, f vfs.File, size int64) (*journal, error) {
	if size < j.boundary {
		return nil, nil
	}
	if sum, err := guard(p.f, j.boundary); err != nil {
		return nil, err
	} else if sum != j.guard {
		return nil, nil
	}
	p.size, p.dirty = j.boundary, true
	if err := p.clean(); err != nil {
		return nil, err
	}
	if _, err := io.Copy(writerOnly{p.f}, io.NewSectionReader(f, 0, j.length)); err != nil {
		return nil, err
	}
	if err := p.f.Sync(); err != nil {
		return nil, err
	}
	p.size += j.length
	return j, nil
}

// writerOnly hides the other methods of a file from io.Copy.
type writerOnly struct{ io.Writer }

// salvager is an io.Writer that keeps whole lines of the text written to it, as frames in a journal, up to the first line
// that is no event. Without open it only counts them.
type salvager struct {
	limit int // bytes of text in a frame
	open  func() error

	enc    frame.Encoder
	f      vfs.File // nil as long as nothing was salvaged
	line   []byte   // begun, not ended
	block  []byte
	out    []byte
	length int64
	crc    uint32
	events int64
	over   bool // a line was no event: nothing behind it can be trusted
}

func (w *salvager) Write(p []byte) (int, error) {
	n := len(p)
	for !w.over && len(p) > 0 {
		i := bytes.IndexByte(p, '\n')
		if i < 0 {
			w.line = append(w.line, p...)
			w.over = len(w.line) > maxLine
			break
		}
		w.line = append(w.line, p[:i+1]...)
		p = p[i+1:]
		if err := w.keep(w.line); err != nil {
			return 0, err
		}
		w.line = w.line[:0]
	}
	return n, nil
}

func (w *salvager) keep(line []byte) error {
	if _, err := event.Parse(line[:len(line)-1]); err != nil {
		w.over = true
		return nil
	}
	w.events++
	if w.open == nil {
		return nil
	}
	if len(w.block)+len(line) > w.limit {
		if err := w.flush(); err != nil {
			return err
		}
	}
	w.block = append(w.block, line...)
	return nil
}

func (w *salvager) flush() error {
	if len(w.block) == 0 {
		return nil
	}
	if w.f == nil {
		if err := w.open(); err != nil {
			return err
		}
	}
	var err error
	if w.out, err = w.enc.AppendFrame(w.out[:0], w.block); err != nil {
		return err
	}
	w.block = w.block[:0]
	w.length += int64(len(w.out))
	w.crc = crc32.Update(w.crc, castagnoli, w.out)
	n, err := w.f.Write(w.out)
	if err == nil && n < len(w.out) {
		err = io.ErrShortWrite
	}
	return err
}
