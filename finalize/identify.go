package finalize

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"github.com/tracehandler/tracehandler/format"
	"github.com/tracehandler/tracehandler/internal/frame"
	"github.com/tracehandler/tracehandler/internal/vfs"
)

// identify tells the format of a file by its content. Where the beginning is damaged, the first whole frame decides: a file
// taken for text by mistake would be cut at some byte that happens to be a newline.
func identify(f vfs.File, path string) (format.Format, error) {
	info, err := f.Stat()
	if err != nil {
		return 0, fmt.Errorf("finalize: %w", err)
	}
	size := info.Size()
	head, err := readHead(f)
	if err != nil {
		return 0, err
	}
	switch m := format.Detect(head); {
	case m == format.GzipMagic:
		return format.Gzip, nil
	case m == format.ZstdMagic:
		return contentOf(f, size), nil
	case m != format.Text:
		return 0, &UnsupportedError{Path: path, Have: m}
	case isText(head):
		return format.Plain, nil
	}
	s := &scan{r: newWindow(f, size), deep: true, rep: &Report{}}
	defer s.close()
	found, err := s.anyFrame()
	if err != nil {
		return 0, fmt.Errorf("finalize: read %s: %w", path, err)
	}
	if found != format.Plain {
		return found, nil
	}
	return s.textOrTorn(path)
}

// anyFrame returns the format of the first whole frame in the file, Plain if there is none.
func (s *scan) anyFrame() (format.Format, error) {
	zstdAt, isZstd, err := s.resume(0, s.nextZstd, frame.FindZstd)
	if err != nil {
		return 0, err
	}
	gzipAt, isGzip, err := s.resume(0, s.nextGzip, frame.FindGzip)
	switch {
	case err != nil:
		return 0, err
	case isZstd && (!isGzip || zstdAt < gzipAt):
		return format.Zstd, nil
	case isGzip:
		return format.Gzip, nil
	}
	return format.Plain, nil
}

// textOrTorn decides about a file that neither begins as text nor holds a whole frame: a page of it may be missing, it may
// be no more than a torn magic number, or it is something else, which must not be touched.
func (s *scan) textOrTorn(path string) (format.Format, error) {
	start, err := s.skipZeros(0)
	if err != nil {
		return 0, fmt.Errorf("finalize: read %s: %w", path, err)
	}
	b := make([]byte, min(4<<10, s.r.size-start))
	if _, err := s.r.ReadAt(b, start); err != nil && !errors.Is(err, io.EOF) {
		return 0, fmt.Errorf("finalize: read %s: %w", path, err)
	}
	kept, err := s.keptText()
	if err != nil {
		return 0, fmt.Errorf("finalize: read %s: %w", path, err)
	}
	switch {
	case len(b) == 0, isMostlyText(b) && isMostlyText(b[:max(0, min(int64(len(b)), kept-start))]):
		return format.Plain, nil
	case start > 0:
	case tornHead(b, format.Gzip):
		return format.Gzip, nil
	case tornHead(b, format.Zstd):
		return format.Zstd, nil
	}
	return 0, &UnsupportedError{Path: path, Have: format.Text}
}

// keptText returns how many bytes of the file would stay if it was recovered as text. What stays must be taken for text, too.
func (s *scan) keptText() (int64, error) {
	end, err := s.lastLineEnd(0)
	if err != nil {
		return 0, err
	}
	s.end = end
	whole, err := wholeObject(s)
	if whole {
		end = s.r.size
	}
	return end, err
}

func isText(b []byte) bool {
	for len(b) > 0 {
		r, n := utf8.DecodeRune(b)
		if r == utf8.RuneError && n == 1 && utf8.FullRune(b) || r < ' ' && r != '\t' && r != '\n' && r != '\r' {
			return false
		}
		b = b[n:]
	}
	return true
}

// isMostlyText reports whether b is text with a few damaged bytes. Compressed data is text in two bytes of five.
func isMostlyText(b []byte) bool {
	n := 0
	for _, c := range b {
		if c >= ' ' && c < 0x7f || c == '\t' || c == '\n' || c == '\r' {
			n++
		}
	}
	return n >= len(b)-len(b)/4
}

// tornHead reports whether head, all of a file or its first HeadSize bytes, may be the torn beginning of a file of the
// format: part of a magic number, or zeros that were never filled.
func tornHead(head []byte, f format.Format) bool {
	isMagic, size := frame.IsGzip, 3
	if framesOf(f) == format.Zstd {
		isMagic, size = frame.IsZstd, 4
	}
	return len(head) < size && isMagic(head) || len(bytes.Trim(head, "\x00")) == 0
}

// readHead returns the first bytes of a file.
func readHead(f vfs.File) ([]byte, error) {
	head := make([]byte, format.HeadSize)
	n, err := f.ReadAt(head, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("finalize: read %s: %w", f.Name(), err)
	}
	return head[:n], nil
}

// expect makes sure that a file holds the format that was asked for, or nothing yet.
func expect(f vfs.File, path string, want format.Format) error {
	head, err := readHead(f)
	if err != nil || tornHead(head, want) {
		return err
	}
	have, err := identify(f, path)
	var other *UnsupportedError
	switch {
	case errors.As(err, &other):
		return &FormatError{Path: path, Want: want, Have: other.Have}
	case err != nil:
		return err
	case have == format.Zstd && isStream(want) && !readable(f), have == format.CLPIR && want == format.CLP && !hasPreamble(f):
		return nil // the first write was torn
	case have != want:
		return &FormatError{Path: path, Want: want, Have: magicOf(have), Journal: have == format.CLP}
	}
	return nil
}

func magicOf(f format.Format) format.Magic {
	switch f {
	case format.Gzip:
		return format.GzipMagic
	case format.Zstd:
		return format.ZstdMagic
	case format.CLPIR, format.CLP:
		return format.IRMagic4
	}
	return format.Text
}
