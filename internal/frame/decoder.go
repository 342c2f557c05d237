package frame

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/klauspost/compress/zstd"
)

// Decoder decodes whole zstd frames. Its zero value is ready; it holds buffers between calls and is not safe for
// concurrent use.
type Decoder struct {
	zstd   *zstd.Decoder
	walker walker
	reader bytes.Reader // the frame, for walker
}

// maxWindow is the largest window that any known encoder makes (zstd --ultra --long=31). A whole frame is decoded into
// dst, which is its own window, so that a large one costs nothing.
const maxWindow = 1 << 31

// decodeSlack is room behind the content that lets the decompressor copy in long steps.
const decodeSlack = 32

// AppendZstd decodes frame, which must be one whole zstd frame or skippable frame, and returns dst with its content
// appended. The content is checked against the frame's content size and checksum. A skippable frame adds nothing. At
// most limit bytes are decoded; memory grows with what is decoded, not with what a header claims.
//
// On error dst is returned with the length it had. The error is a *TornError if frame ends early, a *LimitError if the
// content is larger than limit, a *CorruptError otherwise; their offsets count from the start of frame.
func (d *Decoder) AppendZstd(dst, frame []byte, limit int) ([]byte, error) {
	info, err := d.info(frame)
	switch {
	case len(frame) == 0:
		return dst, &TornError{}
	case err != nil:
		return dst, err
	case info.Size != int64(len(frame)):
		return dst, &CorruptError{At: info.Size, Msg: fmt.Sprintf("%d bytes behind the frame", int64(len(frame))-info.Size)}
	case info.Skippable:
		return dst, nil
	case info.ContentSize > int64(limit):
		return dst, &LimitError{Limit: limit, Size: info.ContentSize}
	}
	if d.zstd == nil {
		d.zstd, err = zstd.NewReader(nil,
			zstd.WithDecoderConcurrency(1),
			zstd.WithDecodeAllCapLimit(true),
			zstd.WithDecoderMaxWindow(maxWindow),
		)
		if err != nil {
			return dst, fmt.Errorf("frame: zstd: %w", err)
		}
	}
	if info.ContentSize >= 0 {
		return d.decode(dst, frame, int(info.ContentSize), limit)
	}
	// The header does not say: try with more and more room.
	for room := min(MaxBlock, limit); ; room = 2 * min(room, limit/2+1) {
		room = min(room, limit)
		out, err := d.decode(dst, frame, room, limit)
		var limitErr *LimitError
		if !errors.As(err, &limitErr) || room == limit {
			return out, err
		}
	}
}

func (d *Decoder) info(frame []byte) (Info, error) {
	d.reader.Reset(frame)
	d.walker.r, d.walker.size, d.walker.win = &d.reader, int64(len(frame)), nil
	info, err := d.walker.walk(0, -1)
	d.reader.Reset(nil) // frame is the caller's
	return info, err
}

// decode decodes into at most room bytes behind dst.
func (d *Decoder) decode(dst, frame []byte, room, limit int) ([]byte, error) {
	n := len(dst)
	dst = slices.Grow(dst, room+decodeSlack)
	out, err := d.zstd.DecodeAll(frame, dst[:n:n+room+decodeSlack])
	switch {
	case errors.Is(err, zstd.ErrDecoderSizeExceeded), err == nil && len(out)-n > room:
		return dst[:n], &LimitError{Limit: limit, Size: -1}
	case err != nil:
		return dst[:n], &CorruptError{Msg: "zstd frame does not decode", Err: err}
	}
	return dst[:len(out)], nil
}
