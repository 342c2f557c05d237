package kineto

import (
	"encoding/binary"
	"unsafe"

	"github.com/tracehandler/tracehandler/analyze/chrometrace"
)

// table interns strings. Their bytes lie in large blocks, so that a million names cost the garbage collector nothing.
//
// A raw form and a decoded one may read the same and mean different strings, so each has its own index.
type table struct {
	ids     map[string]Str // by text
	raws    index          // by raw JSON string, without its quotes
	compact index          // by raw JSON value, of those that are compacted
	strings []string
	block   []byte
}

const blockSize = 64 << 10

func newTable() *table {
	return &table{ids: map[string]Str{"": 0}, raws: newIndex(), compact: newIndex(), strings: []string{""}}
}

// index finds a string by a text. Most texts were looked up a moment ago: each has a place in recent, which costs a fraction
// of a look-up in the map.
type index struct {
	all    map[string]entry
	recent *[1 << placeBits]entry
}

// entry is a key, whose bytes stay, with its string.
type entry struct {
	key string
	id  Str
}

func newIndex() index {
	return index{map[string]entry{"": {}}, new([1 << placeBits]entry)}
}

func (x index) find(b []byte) (Str, bool) {
	r := &x.recent[place(b)]
	if r.key == string(b) { // a place that was never used has the empty text, which is 0
		return r.id, true
	}
	e, ok := x.all[string(b)]
	if ok {
		*r = e
	}
	return e.id, ok
}

func (x index) add(key string, id Str) { x.all[key] = entry{key, id} }

const placeBits = 10

// place mixes the length of b with its first, middle and last bytes.
func place(b []byte) uint64 {
	const odd = 0x9e3779b97f4a7c15 // 2^64 by the golden ratio
	h := uint64(len(b))
	switch n := len(b); {
	case n >= 8:
		h ^= binary.LittleEndian.Uint64(b)*odd ^ binary.LittleEndian.Uint64(b[n-8:])
		h = h*odd ^ binary.LittleEndian.Uint64(b[(n-8)/2:])
	case n > 0:
		h ^= uint64(b[0])<<8 | uint64(b[n/2])<<16 | uint64(b[n-1])<<24
	}
	return h * odd >> (64 - placeBits)
}

// keep copies b into a block. The block is never written again where a string points, which makes the cast safe.
func (t *table) keep(b []byte) string {
	if len(b) == 0 {
		return ""
	}
	if len(b) > cap(t.block)-len(t.block) {
		t.block = make([]byte, 0, max(blockSize, len(b)))
	}
	n := len(t.block)
	t.block = append(t.block, b...)
	return unsafe.String(&t.block[n], len(b))
}

// exact interns b as it is.
func (t *table) exact(b []byte) Str {
	if id, ok := t.ids[string(b)]; ok {
		return id
	}
	return t.add(t.keep(b))
}

func (t *table) add(s string) Str {
	id := Str(len(t.strings))
	t.strings = append(t.strings, s)
	t.ids[s] = id
	return id
}

// raw interns the decoded form of a raw JSON string.
func (t *table) raw(b []byte) Str {
	if id, ok := t.raws.find(b); ok {
		return id
	}
	s := chrometrace.String(b)
	id, ok := t.ids[s]
	if !ok {
		id = t.add(t.keep([]byte(s)))
	}
	key := t.strings[id]
	if s != string(b) {
		key = t.keep(b)
	}
	t.raws.add(key, id)
	return id
}

// value interns a raw JSON value: the text of a string, anything else as it stands.
func (t *table) value(v []byte) Str {
	if len(v) >= 2 && v[0] == '"' {
		return t.raw(v[1 : len(v)-1])
	}
	return t.exact(v)
}
