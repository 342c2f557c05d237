package ir

import (
	"bytes"
	"encoding/binary"
	"unsafe"

	"github.com/tracehandler/tracehandler/clp/encoding"
)

// Builder lays out one key-value event: auto-generated keys first, then, behind User, the user-generated ones. Objects
// are opened and closed like brackets. A Builder belongs to one goroutine, but to no stream: it copies what it is given
// and leaves the rest to the Encoder, so that a goroutine that logs is done soon and without the stream's lock.
//
// The zero Builder is ready for use. Errors (a Close without an Open, User twice) are kept and come out of
// Encoder.Append.
type Builder struct {
	// The event in two parts: its shape, which is the same for all events from one place in a program, and values. The
	// encoder looks the shape up as a whole.
	shape  []byte // see op
	values []byte // auto-generated ones, then the user's: as in a stream, but no text is encoded, and arrays have tags of their own
	opened []int  // of each open object: where its op stands in shape
	user   bool   // User was called
	bad    bool
}

// Width is the size of numbers inside encoded text. Use FourByte unless no reader in a browser will ever read it.
type Width uint8

const (
	FourByte Width = iota
	EightByte
)

func (w Width) encoding() encoding.Width {
	if w == EightByte {
		return encoding.EightByte
	}
	return encoding.FourByte
}

// A shape is a sequence of steps: a node type (with a uvarint length and a name) adds a pair, opObject a pair whose
// key is an object, opOpen goes into an object, opClose out of it, opUser changes to the user's tree. Values that the
// stream writes in different ways (short and long integers, say) have the same shape.
const (
	opClose  = 0x01
	opUser   = 0x02
	opObject = 0x03
	opOpen   = byte(nodeObject)
)

// tagArray8 is the first of three tags, as those of strings, for the text of an array. Streams have no such tag.
const tagArray8 = 0x4D

// Reset empties b for the next event.
func (b *Builder) Reset() {
	b.shape, b.values, b.opened, b.user, b.bad = b.shape[:0], b.values[:0], b.opened[:0], false, false
}

// User ends the auto-generated keys. An event needs it only before its first user-generated key.
func (b *Builder) User() {
	if b.user || len(b.opened) > 0 {
		b.bad = true
		return
	}
	b.user = true
	b.shape = append(b.shape, opUser)
}

func (b *Builder) step(op byte, key string) {
	if len(key) < 0x80 {
		b.shape = append(append(b.shape, op, byte(len(key))), key...)
		return
	}
	b.shape = binary.AppendUvarint(append(b.shape, op), uint64(len(key)))
	b.shape = append(b.shape, key...)
}

// Int adds an integer.
func (b *Builder) Int(key string, v int64) {
	b.step(byte(nodeInt), key)
	b.values = appendInteger(b.values, tagInt8, v)
}

// Float adds a float. NaN and infinities are carried, but readers show null.
func (b *Builder) Float(key string, v float64) {
	b.step(byte(nodeFloat), key)
	b.values = appendFloat(b.values, v)
}

// Bool adds a boolean.
func (b *Builder) Bool(key string, v bool) {
	b.step(byte(nodeBool), key)
	tag := byte(tagFalse)
	if v {
		tag = tagTrue
	}
	b.values = append(b.values, tag)
}

// String adds a string.
func (b *Builder) String(key, v string) {
	b.step(byte(nodeString), key)
	b.values = append(appendLength(b.values, tagString8, len(v)), v...)
}

// StringBytes adds a string; v is copied.
func (b *Builder) StringBytes(key string, v []byte) {
	b.step(byte(nodeString), key)
	b.values = append(appendLength(b.values, tagString8, len(v)), v...)
}

// Array adds an array, given as JSON text in UTF-8, which nobody checks before a reader shows it. (clp-ffi-js shows an
// event with text that is not JSON as {}.)
func (b *Builder) Array(key string, json []byte) {
	b.step(byte(nodeArray), key)
	b.values = append(appendLength(b.values, tagArray8, len(json)), json...)
}

// Null adds a null.
func (b *Builder) Null(key string) {
	b.step(opObject, key)
	b.values = append(b.values, tagNull)
}

// Open starts an object. The pairs up to Close are its members.
func (b *Builder) Open(key string) {
	b.opened = append(b.opened, len(b.shape))
	b.step(opOpen, key)
}

// Close ends the object that was opened last. Without members it becomes an empty object.
func (b *Builder) Close() {
	last := len(b.opened) - 1
	if last < 0 {
		b.bad = true
		return
	}
	at := b.opened[last]
	b.opened = b.opened[:last]
	if n, size := binary.Uvarint(b.shape[at+1:]); at+1+size+int(n) == len(b.shape) {
		b.shape[at] = opObject
		b.values = append(b.values, tagEmpty)
		return
	}
	b.shape = append(b.shape, opClose)
}

// Drop takes back what was added since m. The call of User must not be among it.
func (b *Builder) Drop(m Mark) {
	b.shape, b.values, b.opened = b.shape[:m.shape], b.values[:m.values], b.opened[:m.opened]
}

// Size returns the bytes of memory that b keeps for the next event.
func (b *Builder) Size() int { return cap(b.shape) + cap(b.values) }

// Mark is a place in an event under construction.
type Mark struct{ shape, values, opened int }

// Mark returns the current place; Drop goes back to it.
func (b *Builder) Mark() Mark { return Mark{len(b.shape), len(b.values), len(b.opened)} }

// bytesOf gives the bytes of s, to be read only.
func bytesOf(s string) []byte { return unsafe.Slice(unsafe.StringData(s), len(s)) }

// AppendTo appends the event to dst in a form of its own, which Encoder.AppendPacked takes. It is how an event travels
// from the goroutine that logs to the one that owns the stream. The form is private to one version of this package.
func (b *Builder) AppendTo(dst []byte) ([]byte, error) {
	if b.bad || len(b.opened) > 0 {
		return dst, ErrBuilder
	}
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(b.shape)))
	dst = append(dst, b.shape...)
	return append(dst, b.values...), nil
}

// Fragment is a part of an event that is laid out once and added to many: the keys that a logger was given, say. It does
// not change, and may be used by many goroutines. The zero Fragment is empty.
type Fragment struct {
	shape, values []byte
	opened        []int
}

// Fragment returns a copy of what was added since m, objects that are still open included. m must not be inside an
// object that was closed since, and the call of User not between m and here.
func (b *Builder) Fragment(m Mark) Fragment {
	f := Fragment{shape: bytes.Clone(b.shape[m.shape:]), values: bytes.Clone(b.values[m.values:])}
	for _, at := range b.opened[m.opened:] {
		f.opened = append(f.opened, at-m.shape)
	}
	return f
}

// Add adds the keys and values of f, and leaves the objects open that f leaves open.
func (b *Builder) Add(f *Fragment) {
	for _, at := range f.opened {
		b.opened = append(b.opened, len(b.shape)+at)
	}
	b.shape = append(b.shape, f.shape...)
	b.values = append(b.values, f.values...)
}

// AddInts adds the keys of f, all of them integers, with these values in place of those of f.
func (b *Builder) AddInts(f *Fragment, v ...int64) {
	b.shape = append(b.shape, f.shape...)
	for _, i := range v {
		b.values = appendInteger(b.values, tagInt8, i)
	}
}
