package chrometrace

import (
	"bufio"
	"fmt"
	"io"
	"os"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/tracehandler/tracehandler/format"
)

// MaxWindow bounds what a zstd frame may ask for.
const MaxWindow = 256 << 20

// Open scans a file. gzip (also of several members) and zstd are recognised by their first bytes, whatever the name.
// Compressed input is inflated in a goroutine of its own, which Close ends.
func Open(path string) (*Scanner, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("chrometrace: %w", err)
	}
	if fi, err := f.Stat(); err == nil && fi.IsDir() {
		f.Close()
		return nil, fmt.Errorf("chrometrace: %s is a directory", path)
	}
	s, err := NewFileScanner(f)
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("chrometrace: %s: %w", path, err)
	}
	inner := s.close
	s.close = func() error {
		if inner != nil {
			inner()
		}
		return f.Close()
	}
	return s, nil
}

// NewFileScanner scans r as Open scans a file; Close does not close r.
func NewFileScanner(r io.Reader) (*Scanner, error) {
	br := bufio.NewReaderSize(r, 64<<10)
	head, err := br.Peek(format.HeadSize)
	if err != nil && err != io.EOF {
		return nil, err
	}
	switch format.Detect(head) {
	case format.GzipMagic:
		zr, err := gzip.NewReader(br)
		if err != nil {
			return failed(err), nil
		}
		return ahead(zr, func() { zr.Close() }), nil
	case format.ZstdMagic:
		zr, err := zstd.NewReader(br, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(MaxWindow))
		if err != nil {
			return failed(err), nil
		}
		return ahead(zr, zr.Close), nil
	}
	// The scanner's own buffer is larger than br's, so br passes reads through once its head is used up.
	return NewScanner(br), nil
}

// failed is a scanner whose input could not be opened: it reports that in the same way as a later fault.
func failed(err error) *Scanner {
	s := NewScanner(eofReader{})
	s.report(Input, 0, "", err)
	return s
}

type eofReader struct{}

func (eofReader) Read([]byte) (int, error) { return 0, io.EOF }

func ahead(r io.Reader, release func()) *Scanner {
	a := newReadAhead(r)
	s := NewScanner(a)
	s.close = func() error {
		a.stop()
		release()
		return nil
	}
	return s
}
