package finalize

import (
	"bufio"
	"io"

	"github.com/klauspost/compress/gzip"

	"github.com/tracehandler/tracehandler/internal/frame"
)

// gunzip decodes gzip members one at a time. The zero value is ready.
type gunzip struct {
	br *bufio.Reader
	zr *gzip.Reader
}

// member writes the text of the member at off to w and returns the offset behind it. If the file ends inside the member
// the error is io.ErrUnexpectedEOF.
func (g *gunzip) member(r io.ReaderAt, off, size int64, w io.Writer) (end int64, err error) {
	src := io.NewSectionReader(r, off, size-off)
	if g.br == nil {
		g.br = bufio.NewReader(src)
		g.zr = new(gzip.Reader)
	} else {
		g.br.Reset(src)
	}
	// A few bytes that are no header are garbage, not a header cut short.
	if head, _ := g.br.Peek(3); !frame.IsGzip(head) {
		return 0, gzip.ErrHeader
	}
	if err := g.zr.Reset(g.br); err != nil {
		return 0, err
	}
	g.zr.Multistream(false)
	if _, err := g.zr.WriteTo(w); err != nil {
		return 0, err
	}
	// The decoder takes single bytes from a bufio.Reader and none beyond the member.
	read, err := src.Seek(0, io.SeekCurrent)
	return off + read - int64(g.br.Buffered()), err
}
