package ir

import (
	"encoding/binary"
	"fmt"
)

// Encoder turns events into the bytes of one key-value stream. It keeps the keys of the stream, and nothing of its
// bytes: they are appended to what the caller gives. An Encoder is for one goroutine at a time.
//
// An event that is refused adds nothing, neither bytes nor keys.
type Encoder struct {
	limits  Limits
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

// NewEncoder starts a stream without keys.
func NewEncoder(l Limits) *Encoder {
	return &Encoder{limits: l.withDefaults(), auto: newTree(), user: newTree(), shapes: map[string]*shape{}}
}

// Keys returns how many keys the stream has.
func (e *Encoder) Keys() int { return int(e.auto.count + e.user.count - 2) }

// Append appends the event in b to dst, behind the keys it uses first. The error is ErrBuilder, ErrSameKey or
// ErrIDTwice (with the name; a format of objects cannot hold a name twice), or a *LimitError.
func (e *Encoder) Append(dst []byte, b *Builder) ([]byte, error) {
	b.begin()
	if b.bad || len(b.opened) > 0 {
		return dst, ErrBuilder
	}
	return e.append(dst, b.shape, b.values)
}

// AppendKeys appends the keys of the event in b, as far as the stream has not got them, and not the event.
func (e *Encoder) AppendKeys(dst []byte, b *Builder) ([]byte, error) {
	b.begin()
	if b.bad || len(b.opened) > 0 {
		return dst, ErrBuilder
	}
	if e.shapes[string(b.shape)] != nil {
		return dst, nil
	}
	if _, err := e.learn(b.shape); err != nil {
		return dst, err
	}
	return append(dst, e.inserts...), nil
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
	if len(values)+3*len(steps) > e.limits.Event { // a step takes two bytes at least, and an ID five at most
		return dst, &LimitError{What: "bytes of an event", Limit: int64(e.limits.Event), Offset: -1}
	}
	s := e.shapes[string(steps)]
	if s == nil {
		var err error
		if s, err = e.learn(steps); err != nil {
			return dst, err
		}
		dst = append(dst, e.inserts...)
	}
	for _, id := range s.auto {
		n := valueSize(values)
		dst = append(dst, id...)
		dst = append(dst, values[:n]...)
		values = values[n:]
	}
	if s.n == 0 {
		return append(dst, tagEmpty), nil
	}
	dst = append(dst, s.user...)
	return append(dst, values...), nil
}

// learn finds the keys of a shape, and inserts those that are new (e.inserts).
func (e *Encoder) learn(steps []byte) (*shape, error) {
	autoKeys, userKeys := e.auto.count, e.user.count
	s, err := e.resolve(steps)
	if err != nil {
		e.auto.truncate(autoKeys)
		e.user.truncate(userKeys)
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
	if e.Keys() >= e.limits.Keys {
		return 0, &LimitError{What: "keys", Limit: int64(e.limits.Keys), Offset: -1}
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

// valueSize returns the size of the first value of a list that a Builder made.
func valueSize(values []byte) int {
	switch tag := values[0]; tag {
	case tagInt8:
		return 2
	case tagInt16:
		return 3
	case tagInt32:
		return 5
	case tagInt64, tagFloat:
		return 9
	case tagTrue, tagFalse, tagEmpty, tagNull:
		return 1
	case tagString8:
		return 2 + int(values[1])
	}
	c := cursor{b: values}
	if c.value(&pair{}) != nil {
		return len(values) // no builder makes such a list
	}
	return c.pos
}
