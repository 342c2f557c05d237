package finalize

import (
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"

	"github.com/tracehandler/tracehandler/format"
	"github.com/tracehandler/tracehandler/internal/frame"
)

// scan walks over a file and tells what is whole, what is damaged, and where the torn tail begins.
//
// Torn and damaged are different things. Torn is what an interrupted write leaves: the file ends before the frame or
// line does, or ends in zeros that the file system put there before the data came. Only that is ever cut. Damaged is
// everything else: bytes that are there and wrong. They stay where they are.
type scan struct {
	r    *window
	deep bool // decode everything; otherwise the frames of a zstd file are walked by their headers

	rep   *Report
	lines lineCounter // of the whole frames
	table *table      // of the whole frames, nil if not wanted

	end    int64      // the file may be cut here: what follows is torn, or the seek table
	torn   error      // why, nil if nothing torn follows
	odd    bool       // of a stream: its frames do not end with whole events
	broken bool       // of a stream: there is damage in it
	bad    int64      // where the last damage ends
	last   frame.Info // the last whole frame with text

	zr  *zstd.Decoder
	gz  gunzip
	buf []byte
}

// run scans from the offset from on, which is 0 or the end of a frame or line. Its error is a failure to read; what is
// wrong with the content is in the fields.
func (s *scan) run(from int64) error {
	var err error
	switch s.rep.Format {
	case format.Gzip:
		err = s.frames(from, s.nextGzip, frame.FindGzip)
	case format.Zstd, format.CLPIR, format.CLP:
		err = s.frames(from, s.nextZstd, frame.FindZstd)
	default:
		err = s.plain(from)
	}
	if s.r.err != nil {
		err = s.r.err
	}
	s.rep.Events, s.rep.Text = s.lines.n, s.lines.bytes
	if s.lines.open {
		s.rep.Events++ // the last line lacks its newline
	}
	s.rep.TornBytes = 0
	if s.torn != nil {
		s.rep.TornBytes = s.r.size - s.end
	}
	if err == nil && isStream(s.rep.Format) {
		err = s.countStream()
	}
	return err
}

// close frees the decoder.
func (s *scan) close() {
	if s.zr != nil {
		s.zr.Close()
	}
}

type (
	// nextFunc returns the frame at off, after reading as much of it as the scan asks for.
	nextFunc func(off int64) (frame.Info, error)
	// findFunc returns the next offset from on at which a frame may begin.
	findFunc func(r io.ReaderAt, from, size int64) (int64, bool, error)
)

func (s *scan) frames(off int64, next nextFunc, find findFunc) error {
	for off < s.r.size {
		m := s.lines
		info, err := next(off)
		if s.r.err != nil {
			return s.r.err
		}
		if err == nil {
			if s.isIndex(info) {
				s.end = off
				return nil
			}
			s.whole(info)
			off += info.Size
			continue
		}
		s.lines = m
		resume, whole, ferr := s.resume(off+1, next, find)
		if ferr != nil {
			return ferr
		}
		end := off + info.Size // as its headers have it, if they do
		if info.Size > 0 && (!whole || end < resume) {
			resume = end
		} else if !whole {
			if torn, terr := s.isTorn(off, err); terr != nil {
				return terr
			} else if torn {
				s.end, s.torn = off, err
				return nil
			}
		}
		s.rep.damaged(off, resume-off, err)
		s.table.spoil()
		off, s.bad = resume, resume
	}
	s.end = off
	return nil
}

func (s *scan) whole(info frame.Info) {
	s.rep.Frames++
	s.table.add(info)
	if !info.Skippable {
		s.last = info
	}
}

// isIndex reports whether the frame is the seek table at the end of the file.
func (s *scan) isIndex(info frame.Info) bool {
	if !info.Skippable || info.Offset+info.Size != s.r.size {
		return false
	}
	_, err := frame.ReadSeekTable(s.r, s.r.size)
	return err == nil
}

// resume returns the offset of the first whole frame from on. If there is none, it returns the offset of the first torn
// one, or the size of the file.
func (s *scan) resume(from int64, next nextFunc, find findFunc) (off int64, whole bool, err error) {
	torn := s.r.size
	for {
		off, ok, err := find(s.r, from, s.r.size)
		if err != nil || !ok {
			return torn, false, err
		}
		m, deep := s.lines, s.deep
		s.deep = true // a few bytes that look like a header are not enough
		_, err = next(off)
		s.deep = deep
		s.lines = m
		if s.r.err != nil {
			return 0, false, s.r.err
		}
		if err == nil {
			return off, true, nil
		}
		if isCut(err) {
			torn = min(torn, off)
		}
		from = off + 1
	}
}

// isCut reports whether err means that the file ends too early.
func isCut(err error) bool {
	var torn *frame.TornError
	return errors.As(err, &torn) || errors.Is(err, io.ErrUnexpectedEOF)
}

// isTorn reports whether the rest of the file from off on, which starts no whole frame because of err and holds none, is
// what an interrupted write leaves.
func (s *scan) isTorn(off int64, err error) (bool, error) {
	if isCut(err) {
		return true, nil
	}
	return s.zeros(off)
}

// zeros reports whether there is nothing but zero bytes from off on.
func (s *scan) zeros(off int64) (bool, error) {
	end, err := s.skipZeros(off)
	return end == s.r.size, err
}

// skipZeros returns the offset of the first byte from off on that is not zero.
func (s *scan) skipZeros(off int64) (int64, error) {
	buf := s.buffer()
	for off < s.r.size {
		n := min(int64(len(buf)), s.r.size-off)
		if _, err := s.r.ReadAt(buf[:n], off); err != nil {
			return 0, err
		}
		for i, c := range buf[:n] {
			if c != 0 {
				return off + int64(i), nil
			}
		}
		off += n
	}
	return off, nil
}

func (s *scan) buffer() []byte {
	if s.buf == nil {
		s.buf = make([]byte, min(s.r.size, 64<<10))
	}
	return s.buf
}

func (s *scan) nextZstd(off int64) (frame.Info, error) {
	info, err := frame.NextZstd(s.r, off, s.r.size)
	if err != nil {
		info.Size = 0
		return info, err
	}
	if info.Skippable || !s.deep {
		return info, nil
	}
	n := s.lines.bytes
	if err := s.decodeZstd(&s.lines, off, info.Size); err != nil {
		return info, err
	}
	if info.ContentSize < 0 {
		info.ContentSize = s.lines.bytes - n
	}
	return info, nil
}

// maxWindow is the largest window in bytes that a zstd frame may ask for: what `zstd -d` allows without --long.
const maxWindow = 128 << 20

// decodeZstd writes the text of size bytes from off on to w.
func (s *scan) decodeZstd(w io.Writer, off, size int64) error {
	if s.zr == nil {
		zr, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
			zstd.WithDecoderMaxWindow(maxWindow))
		if err != nil {
			return fmt.Errorf("finalize: zstd: %w", err)
		}
		s.zr = zr
	}
	if err := s.zr.Reset(io.NewSectionReader(s.r, off, size)); err != nil {
		return err
	}
	_, err := s.zr.WriteTo(w)
	return err
}

func (s *scan) nextGzip(off int64) (frame.Info, error) {
	n := s.lines.bytes
	end, err := s.gz.member(s.r, off, s.r.size, &s.lines)
	if err != nil {
		return frame.Info{Offset: off}, err
	}
	return frame.Info{Offset: off, Size: end - off, ContentSize: s.lines.bytes - n}, nil
}

// plain reads text. Only its last line can be torn.
func (s *scan) plain(from int64) error {
	end, err := s.lastLineEnd(from)
	if err != nil {
		return err
	}
	s.end = end
	if end < s.r.size {
		s.torn = errTornLine
	}
	if !s.deep {
		return nil
	}
	buf := s.buffer()
	for off := from; off < end; {
		n := min(int64(len(buf)), end-off)
		if _, err := s.r.ReadAt(buf[:n], off); err != nil {
			return err
		}
		s.lines.Write(buf[:n])
		off += n
	}
	return nil
}

var errTornLine = errors.New("finalize: the last line has no end")

// lastLineEnd returns the offset behind the last newline, from if there is none.
func (s *scan) lastLineEnd(from int64) (int64, error) {
	buf := s.buffer()
	for end := s.r.size; end > from; {
		n := min(int64(len(buf)), end-from)
		if _, err := s.r.ReadAt(buf[:n], end-n); err != nil {
			return 0, err
		}
		for i := n - 1; i >= 0; i-- {
			if buf[i] == '\n' {
				return end - n + i + 1, nil
			}
		}
		end -= n
	}
	return from, nil
}
