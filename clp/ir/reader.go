package ir

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"

	"github.com/klauspost/compress/zstd"
)

// ReaderOptions are the settings of a Reader.
type ReaderOptions struct {
	Limits Limits

	// MaxWindow is the largest window of a zstd frame, in bytes, that is decoded: the decompressor takes as much memory
	// as soon as a frame asks for it. Zero means 128 MiB, what the reference reads; 8 MiB is enough for what zstd writes
	// up to level 19.
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

	event Event
	auto  *tree // of key-value streams; nil in text streams
	user  *tree

	shapes     map[uint64]*Shape // by hash
	shapesSize int
	lastShape  *Shape
	large      Shape // of an event that is too large to keep its shape

	last int64 // text: time of the event before
	zone int64 // UTC offset, ms
}

const (
	minBuffer     = 4 << 10   // doubled each time the source fills it, …
	easyBuffer    = 128 << 10 // … up to this; beyond, only for an event that needs it
	maxZstdWindow = 128 << 20 // what the reference reads
	zstdMagic     = "\x28\xB5\x2F\xFD"
)

// NewReader reads the preamble of a stream, raw or in zstd, whichever src holds. Damage in it is a *CorruptError; if
// src ends inside it, the error is an *IncompleteError.
func NewReader(src io.Reader, o *ReaderOptions) (*Reader, error) {
	if o == nil {
		o = &ReaderOptions{}
	}
	r := &Reader{src: src, close: func() {}, limits: o.Limits.withDefaults()}
	window := o.MaxWindow
	if window <= 0 {
		window = maxZstdWindow
	}
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

// decompress puts a decompressor in front of src if src holds zstd frames (RFC 8878; also skippable ones).
func (r *Reader) decompress(window uint64) error {
	var head [4]byte
	n, err := io.ReadFull(r.src, head[:])
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return r.readError(err)
	}
	skippable := n == 4 && head[0]&0xF0 == 0x50 && string(head[1:]) == "\x2A\x4D\x18"
	if string(head[:n]) != zstdMagic && !skippable {
		r.buf = append(r.buf, head[:n]...)
		return nil
	}
	z, err := zstd.NewReader(io.MultiReader(bytes.NewReader(head[:]), r.src), zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
		zstd.WithDecoderMaxWindow(window))
	if err != nil {
		return r.readError(err)
	}
	r.src, r.close = z, z.Close
	return nil
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

// fill reads until at least need bytes of the unit at pos are there, and want bytes if the input has them. The buffer
// grows only with bytes that came in.
func (r *Reader) fill(need, want int64) error {
	if need > int64(r.limits.Event) {
		return &LimitError{What: "bytes of an event", Limit: int64(r.limits.Event), Offset: r.Offset()}
	}
	if r.pos > 0 && len(r.buf)-r.pos <= r.pos { // move the rest down only if that frees half or more
		r.base += int64(r.pos)
		r.buf = append(r.buf[:0], r.buf[r.pos:]...)
		r.pos = 0
	}
	for idle := 0; int64(len(r.buf)-r.pos) < want; {
		if len(r.buf) == cap(r.buf) || r.filled && cap(r.buf) < easyBuffer {
			grown := make([]byte, len(r.buf), max(minBuffer, 2*cap(r.buf)))
			copy(grown, r.buf)
			r.buf = grown
		}
		n, err := r.src.Read(r.buf[len(r.buf):cap(r.buf)])
		r.buf = r.buf[:len(r.buf)+n]
		r.filled = len(r.buf) == cap(r.buf)
		switch {
		case n > 0:
			idle = 0
		case err == nil:
			if idle++; idle > 100 {
				return r.readError(io.ErrNoProgress)
			}
		case int64(len(r.buf)-r.pos) >= need:
			return nil // the error comes again if the unit needs more
		case err == io.EOF || errors.Is(err, io.ErrUnexpectedEOF):
			return &IncompleteError{Unit: r.Offset(), Offset: r.base + int64(len(r.buf))}
		default:
			return r.readError(err)
		}
	}
	return nil
}

// readError wraps an error of the source. One of the decompressor is damage.
func (r *Reader) readError(err error) error {
	at := r.base + int64(len(r.buf))
	if _, ok := r.src.(*zstd.Decoder); ok {
		return r.corrupt(&CorruptError{Offset: at - r.base, Detail: "behind this place", Err: err})
	}
	return fmt.Errorf("ir: reading at byte %d: %w", at, err)
}

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

func (r *Reader) textEvent(c *cursor) error {
	e := &r.event
	e.reset(r, c.pos)
	var err error
	if e.message, err = c.text(r.width.encoding()); err != nil {
		return err
	}
	tag, err := c.tag()
	if err != nil {
		return err
	}
	switch {
	case r.width == EightByte && tag == tagTime:
		e.time, err = c.integer(8)
	case r.width == FourByte && tag-tagDelta8 <= tagDelta64-tagDelta8:
		var delta int64
		delta, err = c.integer(1 << (tag - tagDelta8))
		e.time = r.last + delta
	default:
		return c.bad(ErrTag, "0x%02X where a timestamp is due", tag)
	}
	if err == nil {
		r.last = e.time
	}
	return err
}

// node reads the insertion of a key.
func (r *Reader) node(c *cursor) error {
	from := c.pos
	typ := nodeType(c.b[c.pos])
	if typ < nodeInt || typ > nodeObject {
		if typ&0x70 == 0x70 {
			return c.bad(ErrNodeType, "0x%02X", byte(typ))
		}
		return c.bad(ErrTag, "0x%02X where a unit is due", byte(typ))
	}
	c.pos++
	tag, err := c.tag()
	if err != nil {
		return err
	}
	if tag-tagParent8 > tagParent32-tagParent8 {
		return c.bad(ErrTag, "0x%02X where the ID of a parent is due", tag)
	}
	id, err := c.integer(1 << (tag - tagParent8))
	if err != nil {
		return err
	}
	t, parent := r.tree(id)
	at := c.pos
	if tag, err := c.tag(); err == nil && tag-tagString8 > tagString32-tagString8 {
		return c.bad(ErrTag, "0x%02X where a name is due", tag)
	}
	key, err := c.sized(tagString8, false)
	if err != nil {
		return err
	}
	end := c.pos
	c.pos = from
	switch {
	case parent >= t.count || t.node(parent).typ != nodeObject:
		return c.bad(ErrParent, "ID %d", id)
	case t.lookup(parent, key, typ) != 0:
		return c.bad(ErrNodeExists, "%q", key)
	case r.Keys() >= r.limits.Keys:
		return &LimitError{What: "keys", Limit: int64(r.limits.Keys), Offset: r.Offset()}
	case int(t.node(parent).depth) >= r.limits.Depth:
		return &LimitError{What: "levels of nesting", Limit: int64(r.limits.Depth), Offset: r.base + int64(at)}
	}
	t.insert(parent, key, typ)
	c.pos = end
	return nil
}

// tree returns where an ID, as a stream has it, belongs.
func (r *Reader) tree(id int64) (*tree, int32) {
	if id < 0 {
		return r.auto, int32(^id)
	}
	return r.user, int32(id)
}

func (r *Reader) kvEvent(c *cursor) error {
	start := c.pos
	if r.quick(c) {
		return nil
	}
	c.pos = start
	if err := r.slowEvent(c); err != nil {
		return err
	}
	r.event.shape = r.learn()
	return nil
}

// slowEvent reads an event and checks all that an event must not be.
func (r *Reader) slowEvent(c *cursor) error {
	e := &r.event
	e.reset(r, c.pos)
	r.auto.begin()
	r.user.begin()
	users := false
	for {
		tag, err := c.tag()
		if err != nil {
			return err
		}
		if tag-tagID8 > tagID32-tagID8 {
			break
		}
		at := c.pos
		id, err := c.integer(1 << (tag - tagID8))
		if err != nil {
			return err
		}
		t, node := r.tree(id)
		fail := func(err error) error {
			c.pos = at
			return c.bad(err, "ID %d", id)
		}
		if node == 0 || node >= t.count {
			return fail(ErrID)
		}
		n := int32(len(e.pairs))
		e.add(node)
		if id >= 0 {
			users = true
			if err := t.touch(node, n); err != nil {
				return fail(err)
			}
			continue
		}
		if users {
			return fail(ErrKeyOrder)
		}
		if err := r.pairValue(c, t, &e.pairs[n]); err != nil {
			return err
		}
		// An auto-generated key may come twice; the first value counts.
		if err := t.touch(node, n); err == ErrIDTwice {
			e.pairs = e.pairs[:n]
		} else if err != nil {
			return fail(err)
		}
		e.autos = len(e.pairs)
	}
	if !users {
		if tag := c.b[c.pos]; tag != tagEmpty {
			return c.bad(ErrTag, "0x%02X where an ID or 0x5E is due", tag)
		}
		c.pos++
		return nil
	}
	for n := e.autos; n < len(e.pairs); n++ {
		if err := r.pairValue(c, r.user, &e.pairs[n]); err != nil {
			return err
		}
	}
	return nil
}

// pairValue reads the value of p.
func (r *Reader) pairValue(c *cursor, t *tree, p *pair) error {
	at := c.pos
	if err := c.value(p); err != nil {
		return err
	}
	typ := t.node(p.node).typ
	if !p.suits(typ) {
		c.pos = at
		return c.bad(ErrValueType, "%v for key %q", p.kind, t.key(t.node(p.node)))
	}
	if typ == nodeArray {
		p.kind = Array
	}
	return nil
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
