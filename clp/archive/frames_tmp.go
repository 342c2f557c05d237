package archive

import (
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"
)

func (r *Reader) exceptionRows(table int) []int64 { return nil }

func (r *Record) Place() (int, int64) { return r.table.index, r.row }

var errFrame = errors.New("archive: frame is not what the index says")
var tmpDec, _ = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1))

func (r *Reader) decodeFrame(dst []byte, s section, base int64, stream int, f frame) ([]byte, error) {
	wrong := func(err error) error {
		return &CorruptError{Section: s.name, Stream: stream, Offset: f.plain, Record: -1, Schema: -1, Err: err}
	}
	packed := make([]byte, f.size)
	if n, err := s.src.ReadAt(packed, s.off+base+f.at); err != nil && (err != io.EOF || n < len(packed)) {
		return dst, wrong(err)
	}
	out, err := tmpDec.DecodeAll(packed, dst)
	if err != nil {
		return dst, wrong(fmt.Errorf("archive: decompress: %w", err))
	}
	if int64(len(out)-len(dst)) != f.length {
		return dst, wrong(errFrame)
	}
	return out, nil
}
