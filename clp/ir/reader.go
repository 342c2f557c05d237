package ir

import (
	"bytes"
	"errors"
	"io"
	"iter"

	"github.com/klauspost/compress/zstd"
)

// ReaderOptions are the settings of a Reader.
type ReaderOptions struct {
	Limits Limits

	// MaxWindow is how many bytes back a zstd frame may look, and what its decoding costs at most in memory; it is
	// rounded down to a power of two. A frame that asks for a larger window is decoded as long as it does not need it;
	// then the error is a *LimitError. Zero means 8 MiB, what zstd uses up to level 19; 128 MiB is what the reference
	// reads (zstd --long).
	MaxWindow int
}

// Reader reads a stream. It is not safe for concurrent use. It reads its source in large pieces and keeps one event
// in memory; nothing behind the end of the stream is looked at, though it may have been read.
type Reader struct {
	src    io.Reader
	close  func()
	limits Limits

	buf    []byte
	pos    int   // of the next unit
	base   int64 // offset of buf[0] in the uncompressed stream
	filled bool  // the last read left no room in buf

	width  Width
	meta   *Metadata
	number int64 // of the next event
	ended  bool
	err    error // damage that no reading can pass

	event   Event
	scratch []byte
	frames  *windowReader // nil if the stream is raw
	auto    *tree         // of key-value streams; nil in text streams
	user    *tree

	shapes     map[uint64]*Shape // by hash
	shapesSize int
	lastShape  *Shape
	large      Shape // of an event that is too large to keep its shape

	last int64 // text: time of the event before
	zone int64 // UTC offset, ms
}

// NewReader reads the preamble of a stream, raw or in zstd, whichever src holds. Damage in it is a *CorruptError; if
// src ends inside it, the error is an *IncompleteError.
func NewReader(src io.Reader, o *ReaderOptions) (*Reader, error) {
	if o == nil {
		o = &ReaderOptions{}
	}
	r := &Reader{src: src, close: func() {}, limits: o.Limits.withDefaults()}
	window := o.MaxWindow
	if window <= 0 {
		window = defaultWindow
	}
	window = max(window, zstd.MinWindowSize)
	if err := r.decompress(uint64(window)); err != nil {
		return nil, err
	}
	for {
		err := r.preamble()
		if err == nil {
			return r, nil
		}
		if err == errShort {
			err = r.fill(int64(len(r.buf))+1, int64(len(r.buf))+1)
		}
		if err != nil {
			r.Close()
			return nil, err
		}
	}
}

// Close frees the decompressor. It does not close the source.
func (r *Reader) Close() error {
	r.close()
	r.close = func() {}
	if r.err == nil {
		r.err = ErrClosed
	}
	return nil
}

// IsText reports whether events are messages (text) or objects (key-value).
func (r *Reader) IsText() bool { return r.auto == nil }

// Width returns the size of numbers inside encoded text, as the magic number says.
func (r *Reader) Width() Width { return r.width }

// Metadata returns what the preamble says.
func (r *Reader) Metadata() *Metadata { return r.meta }

// Offset returns where the next unit starts in the uncompressed stream: everything before is whole.
func (r *Reader) Offset() int64 { return r.base + int64(r.pos) }

// Keys returns how many keys a key-value stream has so far.
func (r *Reader) Keys() int {
	if r.IsText() {
		return 0
	}
	return int(r.auto.count + r.user.count - 2)
}

// preamble reads magic number and metadata.
func (r *Reader) preamble() error {
	c := cursor{b: r.buf}
	switch {
	case len(c.b) < 4:
		if !isPrefix(c.b, magicFour) && !isPrefix(c.b, magicEight) && !isPrefix(c.b, zstdMagic) {
			return r.corrupt(c.bad(ErrMagic, "% X", c.b))
		}
		return errShort
	case isPrefix(c.b[:4], magicFour):
	case isPrefix(c.b[:4], magicEight):
		r.width = EightByte
	default:
		return r.corrupt(c.bad(ErrMagic, "% X", c.b[:4]))
	}
	c.pos = 4
	if tag, err := c.tag(); err != nil {
		return err
	} else if tag != tagMetaJSON {
		return r.corrupt(c.bad(ErrMetadata, "0x%02X where 0x01 is due", tag))
	}
	c.pos++
	tag, err := c.tag()
	if err != nil {
		return err
	}
	if tag != tagMetaLen8 && tag != tagMetaLen16 {
		return r.corrupt(c.bad(ErrMetadata, "0x%02X where its length is due", tag))
	}
	at := c.pos
	raw, err := c.sized(tagMetaLen8, false)
	if err != nil {
		return err
	}
	if r.meta, err = parseMetadata(bytes.Clone(raw), r.width); err != nil {
		return r.corrupt(&CorruptError{Offset: int64(at), Err: err})
	}
	r.pos = c.pos
	if r.meta.Version == VersionKV {
		r.auto, r.user, r.shapes = newTree(), newTree(), map[uint64]*Shape{}
	}
	r.last = r.meta.Reference
	return nil
}

func isPrefix(b []byte, s string) bool { return len(b) <= len(s) && string(b) == s[:len(b)] }

// corrupt makes the offset of a *CorruptError, which counts from the buffer, one of the stream.
func (r *Reader) corrupt(err error) error {
	var ce *CorruptError
	if errors.As(err, &ce) {
		ce.Offset += r.base
		ce.Event = r.number
	}
	return err
}

// Next returns the next event, which is valid until Next is called again. At the end of the stream the error is
// io.EOF. After an *IncompleteError the input may have grown, and Next may be called again; any other error stays.
func (r *Reader) Next() (*Event, error) {
	if r.err != nil {
		return nil, r.err
	}
	for {
		found, err := r.unit()
		switch {
		case err == nil && found:
			r.number++
			return &r.event, nil
		case err == nil && r.ended:
			r.err = io.EOF
			return nil, io.EOF
		case err != nil:
			if !errors.Is(err, io.ErrUnexpectedEOF) {
				r.err = err
			}
			return nil, err
		}
	}
}

// unit reads one unit, and reports whether it was an event.
func (r *Reader) unit() (found bool, err error) {
	for {
		c := cursor{b: r.buf, pos: r.pos}
		var tag byte
		if tag, err = c.tag(); err == nil {
			switch {
			case tag == tagEnd:
				r.ended = true
				c.pos++
			case tag == tagUTCOffset:
				var ms int64
				if ms, err = c.integer(8); err == nil {
					r.zone = ms
				}
			case r.IsText():
				found, err = true, r.textEvent(&c)
			case tag == tagEmpty || tag-tagID8 <= tagID32-tagID8:
				found, err = true, r.kvEvent(&c)
			default:
				err = r.node(&c)
			}
		}
		if err == nil {
			if c.pos-r.pos > r.limits.Event {
				return false, &LimitError{What: "bytes of an event", Limit: int64(r.limits.Event), Offset: r.Offset()}
			}
			if found {
				r.event.size = int64(c.pos - r.pos)
			}
			r.pos = c.pos
			return found, nil
		}
		if err != errShort {
			return false, r.corrupt(err)
		}
		// Parsing starts again when there is more. A large unit waits for half as much again, so that the work stays
		// linear; a small one for no more than it needs, so that a live stream is seen at once.
		have := int64(len(r.buf) - r.pos)
		need := max(c.need-int64(r.pos), have+1)
		want := need
		if have > 1<<20 {
			want = max(need, have+have/2)
		}
		if err = r.fill(need, want); err != nil {
			return false, err
		}
	}
}

// All returns the events up to the end of the stream. An error comes as the last pair; there is none at a clean end.
func (r *Reader) All() iter.Seq2[*Event, error] {
	return func(yield func(*Event, error) bool) {
		for {
			e, err := r.Next()
			if err == io.EOF {
				return
			}
			if !yield(e, err) || err != nil {
				return
			}
		}
	}
}

// Number returns how many events were read.
func (r *Reader) Number() int64 { return r.number }
