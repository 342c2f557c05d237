package archive

import (
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"
)

// errFrame is what is wrong with a frame that is not the one of the index.
var errFrame = errors.New("archive: frame is not what the index says")

// decodeFrame appends the plain bytes of a frame to dst. The frames of section s begin at base. Damage, a checksum that
// does not fit included, is a *CorruptError at the frame's first plain byte; on an error dst is returned as it was. It is
// safe for concurrent use.
func (r *Reader) decodeFrame(dst []byte, s section, base int64, stream int, f frame) ([]byte, error) {
	wrong := func(err error) error {
		return &CorruptError{Section: s.name, Stream: stream, Offset: f.plain, Record: -1, Schema: -1, Err: err}
	}
	if f.at < 0 || f.size < 0 || base+f.at > s.size || f.size > s.size-base-f.at {
		return dst, wrong(ErrShort)
	}
	buf := r.pool.buffer()
	defer r.pool.buffers.Put(buf)
	if int64(cap(*buf)) < f.size {
		*buf = make([]byte, f.size)
	}
	packed := (*buf)[:f.size]
	if n, err := s.src.ReadAt(packed, s.off+base+f.at); err != nil && (err != io.EOF || n < len(packed)) {
		if err == io.EOF {
			err = ErrShort
		}
		return dst, wrong(err)
	}
	count := r.spent.of(s.name)
	count.add(f.size, 0)
	var h zstd.Header
	if err := h.Decode(packed); err != nil {
		return dst, wrong(fmt.Errorf("archive: decompress: %w", err))
	}
	if h.Skippable || h.HasFCS && h.FrameContentSize != uint64(f.length) { // short frames do not say how long they are
		return dst, wrong(errFrame)
	}
	n := len(dst)
	if cap(dst)-n < int(f.length) {
		dst = append(make([]byte, 0, n+int(f.length)), dst...)
	}
	out, err := r.frames.DecodeAll(packed, dst)
	switch {
	case err != nil:
		return dst, wrong(fmt.Errorf("archive: decompress: %w", err))
	case int64(len(out)-n) != f.length:
		return dst, wrong(errFrame)
	}
	count.add(0, f.length)
	return out, nil
}
