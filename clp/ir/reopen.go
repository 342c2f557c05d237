package ir

import (
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"

	"github.com/tracehandler/tracehandler/internal/frame"
)

// File is what a stream lies in that is opened again; *os.File is one.
type File interface {
	io.ReaderAt
	io.Writer
	io.Seeker
	Truncate(size int64) error
}

// Reopened tells what was found in a stream that was opened again.
type Reopened struct {
	Events  int64 // whole events, all kept
	Ended   bool  // the stream had its end mark, which is gone now
	Dropped int64 // bytes of an unfinished event behind them, uncompressed, which are gone
}

// ErrKind says that a stream is not of the kind, text or key-value, that was asked for.
var ErrKind = errors.New("ir: stream of the other kind")

// ReopenKV opens a key-value stream to go on with it, be it ended or left by a writer that died: it reads all of it, so
// that the keys are known again, and cuts f behind the last whole event. Width, user-defined metadata and
// compression are those of the stream; of o only Limits, Level and FrameSize count. A stream that is damaged before
// its end is not touched, and the error is a *CorruptError.
//
// Events in a torn zstd frame are written again as a frame of their own, before f is cut. If the machine dies in that
// moment they may be lost: call f.Sync (if it has one) first where that matters.
func ReopenKV(f File, o *KVOptions) (*KVWriter, Reopened, error) {
	if o == nil {
		o = &KVOptions{}
	}
	w := &KVWriter{}
	r, info, err := reopen(f, &w.out, o.Limits, o.Output, false)
	if err != nil {
		return nil, info, err
	}
	w.enc = newEncoder(r.width, o.Limits, r.auto, r.user)
	w.enc.AnyBytes = o.AnyBytes
	return w, info, nil
}

// ReopenText is ReopenKV for a text stream.
func ReopenText(f File, o *TextOptions) (*TextWriter, Reopened, error) {
	if o == nil {
		o = &TextOptions{}
	}
	w := &TextWriter{limit: o.Limits.withDefaults().Event}
	r, info, err := reopen(f, &w.out, o.Limits, o.Output, true)
	if err != nil {
		return nil, info, err
	}
	w.enc = NewTextEncoder(r.width, r.last)
	w.enc.AnyBytes = o.AnyBytes
	return w, info, nil
}

// reopen reads the stream in f, cuts f, and makes out ready to go on.
func reopen(f File, out *output, l Limits, s Output, text bool) (r *Reader, info Reopened, err error) {
	size, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return nil, info, fmt.Errorf("ir: reopening: %w", err)
	}
	r, err = NewReader(io.NewSectionReader(f, 0, size), &ReaderOptions{Limits: l})
	if err != nil {
		return nil, info, err
	}
	defer r.Close()
	if r.IsText() != text {
		return nil, info, ErrKind
	}
	_, s.Zstd = r.src.(*zstd.Decoder)
	if err := out.open(f, s); err != nil {
		return nil, info, err
	}
	for err == nil {
		_, err = r.Next()
	}
	end := r.Offset()
	var incomplete *IncompleteError
	switch {
	case err == io.EOF:
		info.Ended = true
		end-- // the mark
	case errors.As(err, &incomplete):
		info.Dropped = incomplete.Offset - incomplete.Unit
	default:
		return nil, info, err
	}
	info.Events = r.number
	cut := end
	if s.Zstd {
		if cut, err = rewriteTail(f, out, size, end); err != nil {
			return nil, info, err
		}
	}
	if err = f.Truncate(cut); err == nil {
		_, err = f.Seek(cut, io.SeekStart)
	}
	if err != nil {
		return nil, info, fmt.Errorf("ir: reopening: %w", err)
	}
	return r, info, nil
}

// rewriteTail finds the frame that holds byte end of the stream, writes what it has before that byte as a new frame in
// its place, and returns where in f that ends.
func rewriteTail(f File, out *output, size, end int64) (cut int64, err error) {
	z, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxZstdWindow))
	if err != nil {
		return 0, fmt.Errorf("ir: reopening: %w", err)
	}
	defer z.Close()
	var before int64 // bytes of the stream in the frames up to cut
	for cut < size && before < end {
		info, err := frame.NextZstd(f, cut, size)
		var torn *frame.TornError
		if errors.As(err, &torn) {
			info.Size = size - cut
		} else if err != nil {
			return 0, fmt.Errorf("ir: reopening: %w", err)
		}
		if torn == nil && (info.Skippable || info.ContentSize >= 0 && before+info.ContentSize <= end) {
			before += max(info.ContentSize, 0)
			cut += info.Size
			continue
		}
		if err := z.Reset(io.NewSectionReader(f, cut, info.Size)); err != nil {
			return 0, fmt.Errorf("ir: reopening: %w", err)
		}
		n, err := io.CopyN(io.Discard, z, end-before)
		if n < end-before && (err == io.EOF && torn == nil) {
			before += n
			cut += info.Size
			continue
		}
		if n < end-before {
			return 0, fmt.Errorf("ir: reopening: %w", err)
		}
		if extra, _ := io.CopyN(io.Discard, z, 1); extra == 0 && torn == nil {
			return cut + info.Size, nil // nothing but whole events in it
		}
		return replaceFrame(f, out, z, cut, info.Size, n)
	}
	return cut, nil
}

// replaceFrame writes the first n bytes of the content of a frame as new frames over it.
func replaceFrame(f File, out *output, z *zstd.Decoder, at, size, n int64) (cut int64, err error) {
	if err := z.Reset(io.NewSectionReader(f, at, size)); err != nil {
		return 0, fmt.Errorf("ir: reopening: %w", err)
	}
	var frames, block []byte
	for n > 0 {
		block = append(block[:0], make([]byte, min(n, int64(out.size)))...)
		if _, err := io.ReadFull(z, block); err != nil {
			return 0, fmt.Errorf("ir: reopening: %w", err)
		}
		if frames, err = out.enc.AppendFrame(frames, block); err != nil {
			return 0, fmt.Errorf("ir: reopening: %w", err)
		}
		n -= int64(len(block))
	}
	if _, err := f.Seek(at, io.SeekStart); err != nil {
		return 0, fmt.Errorf("ir: reopening: %w", err)
	}
	if _, err := f.Write(frames); err != nil {
		return 0, fmt.Errorf("ir: reopening: %w", err)
	}
	return at + int64(len(frames)), nil
}

// Resume reads a stream, raw or in zstd, to where it ends or was left, and returns the encoder of the events that follow.
// It is for programs that keep the bytes of the stream themselves; what stands behind the last whole unit (an end mark, a
// torn event) they must have cut off. A torn event is an *IncompleteError; the encoder is returned with it.
func Resume(src io.Reader, l Limits) (*Encoder, error) {
	r, err := NewReader(src, &ReaderOptions{Limits: l})
	if err != nil {
		return nil, err
	}
	defer r.Close()
	if r.IsText() {
		return nil, ErrKind
	}
	for err == nil {
		_, err = r.Next()
	}
	var incomplete *IncompleteError
	switch {
	case err == io.EOF, errors.As(err, &incomplete) && incomplete.Unit == incomplete.Offset:
		err = nil
	case incomplete == nil:
		return nil, err
	}
	return newEncoder(r.width, l, r.auto, r.user), err
}
