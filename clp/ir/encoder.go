package ir

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"unicode/utf8"

	"github.com/tracehandler/tracehandler/clp/encoding"
)

// Encoder turns events into the bytes of one key-value stream. It keeps the keys of the stream, and nothing of its
// bytes: they are appended to what the caller gives. An Encoder is for one goroutine at a time.
//
// An event that is refused adds nothing, neither bytes nor keys.
type Encoder struct {
	// AnyBytes keeps bytes in names and strings that are not UTF-8. Readers show garbage then; without it they show
	// U+FFFD.
	AnyBytes bool

	// Spare is how many of the keys that Limits allow are kept back, for events that come when the others are used up.
	Spare int

	limits  Limits
	text    textEncoder
	clean   []byte
	auto    *tree
	user    *tree
	inserts []byte // of the event at hand

	// Shapes that were seen, by their bytes: the keys of an event from the same place in a program are looked up at
	// once. A node never goes away, so an entry is right for ever.
	shapes     map[string]*shape
	shapeBytes int
}

// shape is what the stream says of the keys of an event.
type shape struct {
	auto [][]byte // tag and ID of each auto-generated key
	user []byte   // those of all user-generated keys
	n    int      // number of the user-generated ones
}

// maxShapeBytes bounds the memory for shapes. When they are more, all are forgotten and learned again.
const maxShapeBytes = 4 << 20

// NewEncoder starts a stream without keys. Use FourByte for width, unless no reader in a browser will ever read it.
func NewEncoder(width Width, l Limits) *Encoder {
	return newEncoder(width, l, newTree(), newTree())
}

func newEncoder(width Width, l Limits, auto, user *tree) *Encoder {
	return &Encoder{limits: l.withDefaults(), text: textEncoder{width: width.encoding()}, auto: auto, user: user,
		shapes: map[string]*shape{}}
}

// Keys returns how many keys the stream has.
func (e *Encoder) Keys() int { return int(e.auto.count + e.user.count - 2) }

// Append appends the event in b to dst, behind the keys it uses first. The error is ErrBuilder, ErrSameKey or
// ErrIDTwice (with the name; a format of objects cannot hold a name twice), or a *LimitError.
func (e *Encoder) Append(dst []byte, b *Builder) ([]byte, error) {
	if b.bad || len(b.opened) > 0 {
		return dst, ErrBuilder
	}
	return e.append(dst, b.shape, b.values)
}

// AppendPacked is Append for an event that Builder.AppendTo packed.
func (e *Encoder) AppendPacked(dst, packed []byte) ([]byte, error) {
	if len(packed) < 4 {
		return dst, ErrBuilder
	}
	n := uint64(binary.LittleEndian.Uint32(packed))
	if n > uint64(len(packed)-4) {
		return dst, ErrBuilder
	}
	return e.append(dst, packed[4:4+n], packed[4+n:])
}

func (e *Encoder) append(dst, steps, values []byte) ([]byte, error) {
	start, autoKeys, userKeys := len(dst), e.auto.count, e.user.count
	s := e.shapes[string(steps)]
	if s == nil {
		var err error
		if s, err = e.learn(steps); err != nil {
			return dst, err
		}
		dst = append(dst, e.inserts...)
	}
	event := len(dst)
	for _, id := range s.auto {
		dst, values = e.value(append(dst, id...), values)
	}
	if s.n == 0 {
		dst = append(dst, tagEmpty)
	}
	dst = append(dst, s.user...)
	for range s.n {
		dst, values = e.value(dst, values)
	}
	if len(dst)-event > e.limits.Event {
		e.forget(steps, autoKeys, userKeys)
		return dst[:start], &LimitError{What: "bytes of an event", Limit: int64(e.limits.Event), Offset: -1}
	}
	return dst, nil
}

// value appends the first of values, which a builder made, as a stream has it, and returns the others.
func (e *Encoder) value(dst, values []byte) (out, rest []byte) {
	n := 1
	switch tag := values[0]; tag {
	case tagInt8:
		n = 2
	case tagInt16:
		n = 3
	case tagInt32:
		n = 5
	case tagInt64, tagFloat:
		n = 9
	case tagString8, tagString16, tagString32:
		size, head := sizeOf(values, tagString8)
		return e.str(dst, values[head:head+size], false), values[head+size:]
	case tagArray8, tagArray8 + 1, tagArray8 + 2:
		size, head := sizeOf(values, tagArray8)
		return e.str(dst, values[head:head+size], true), values[head+size:]
	}
	return append(dst, values[:n]...), values[n:]
}

// str appends a string or the text of an array. A string with a space in it is encoded, any other is not: clp-s makes
// different columns of the two, and chooses the column to search by whether the query holds a space.
func (e *Encoder) str(dst, s []byte, array bool) []byte {
	if !e.AnyBytes && !utf8.Valid(s) {
		e.clean = appendValid(e.clean[:0], s)
		s = e.clean
	}
	if !array && bytes.IndexByte(s, ' ') < 0 {
		return append(appendLength(dst, tagString8, len(s)), s...)
	}
	tag := byte(tagText8)
	if e.text.width == encoding.FourByte {
		tag = tagText4
	}
	return appendText(&e.text, append(dst, tag), s)
}

// appendValid appends text with U+FFFD in place of each byte that is not part of valid UTF-8.
func appendValid(dst, text []byte) []byte {
	for _, r := range string(text) {
		dst = utf8.AppendRune(dst, r)
	}
	return dst
}

// learn finds the keys of a shape, and inserts those that are new (e.inserts).
func (e *Encoder) learn(steps []byte) (*shape, error) {
	autoKeys, userKeys := e.auto.count, e.user.count
	s, err := e.resolve(steps)
	if err != nil {
		e.forget(steps, autoKeys, userKeys)
		return nil, err
	}
	size := len(steps) + len(s.user) + 32*len(s.auto) + 128
	if size > maxShapeBytes/16 {
		return s, nil
	}
	if e.shapeBytes += size; e.shapeBytes > maxShapeBytes {
		clear(e.shapes)
		e.shapeBytes = size
	}
	e.shapes[string(steps)] = s
	return s, nil
}

// forget takes back the keys that the event at hand has brought.
func (e *Encoder) forget(steps []byte, autoKeys, userKeys int32) {
	if e.auto.count > autoKeys || e.user.count > userKeys {
		e.auto.truncate(autoKeys)
		e.user.truncate(userKeys)
		delete(e.shapes, string(steps))
	}
}

func (e *Encoder) resolve(steps []byte) (*shape, error) {
	e.inserts = e.inserts[:0]
	e.auto.begin()
	e.user.begin()
	s := &shape{}
	t, complement := e.auto, int32(-1)
	parents := []int32{0}
	var pair int32
	for i := 0; i < len(steps); {
		op := steps[i]
		i++
		switch op {
		case opClose:
			parents = parents[:len(parents)-1]
			continue
		case opUser:
			t, complement = e.user, 0
			continue
		}
		n, size := binary.Uvarint(steps[i:])
		key := steps[i+size : i+size+int(n)]
		i += size + int(n)
		if !e.AnyBytes && !utf8.Valid(key) {
			key = appendValid(nil, key)
		}
		typ := nodeType(op)
		if op == opObject {
			typ = nodeObject
		}
		id, err := e.key(t, complement, parents[len(parents)-1], key, typ)
		if err != nil {
			return nil, err
		}
		if op == opOpen {
			if t.node(id).stamp == t.event { // it was there, and closed again
				return nil, fmt.Errorf("%w: %q", ErrIDTwice, key)
			}
			parents = append(parents, id)
			continue
		}
		if err := t.touch(id, pair); err != nil {
			return nil, fmt.Errorf("%w: %q", err, key)
		}
		pair++
		if t == e.auto {
			s.auto = append(s.auto, appendID(nil, tagID8, id^complement))
		} else {
			s.user = appendID(s.user, tagID8, id)
			s.n++
		}
	}
	return s, nil
}

// key returns the node (parent, key, typ), inserted if need be.
func (e *Encoder) key(t *tree, complement, parent int32, key []byte, typ nodeType) (int32, error) {
	if id := t.lookup(parent, key, typ); id != 0 {
		return id, nil
	}
	if e.Keys() >= e.limits.Keys-e.Spare {
		return 0, &LimitError{What: "keys", Limit: int64(e.limits.Keys - e.Spare), Offset: -1}
	}
	if int(t.node(parent).depth) >= e.limits.Depth {
		return 0, &LimitError{What: "levels of nesting", Limit: int64(e.limits.Depth), Offset: -1}
	}
	e.inserts = appendID(append(e.inserts, byte(typ)), tagParent8, parent^complement)
	e.inserts = append(appendLength(e.inserts, tagString8, len(key)), key...)
	return t.insert(parent, key, typ), nil
}

// appendID appends an ID as a stream has it (those of auto-generated keys complemented) behind the first of three tags.
func appendID(dst []byte, tag8 byte, id int32) []byte {
	switch {
	case id == int32(int8(id)):
		return append(dst, tag8, byte(id))
	case id == int32(int16(id)):
		return append(dst, tag8+1, byte(id>>8), byte(id))
	}
	return append(dst, tag8+2, byte(id>>24), byte(id>>16), byte(id>>8), byte(id))
}
