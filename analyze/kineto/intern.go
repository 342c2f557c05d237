package kineto

import (
	"unsafe"

	"github.com/tracehandler/tracehandler/analyze/chrometrace"
)

// table interns strings. Their bytes lie in large blocks, so that a million names cost the garbage collector nothing.
//
// A raw form and a decoded one may read the same and mean different strings, so each has its own map.
type table struct {
	ids     map[string]Str // by text
	raws    map[string]Str // by raw JSON string, without its quotes
	compact map[string]Str // by raw JSON value, of those that are compacted
	strings []string
	block   []byte
}

const blockSize = 64 << 10

func newTable() *table {
	return &table{ids: map[string]Str{"": 0}, raws: map[string]Str{"": 0}, compact: map[string]Str{"": 0}, strings: []string{""}}
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
	if id, ok := t.raws[string(b)]; ok {
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
	t.raws[key] = id
	return id
}

// value interns a raw JSON value: the text of a string, anything else as it stands.
func (t *table) value(v []byte) Str {
	if len(v) >= 2 && v[0] == '"' {
		return t.raw(v[1 : len(v)-1])
	}
	return t.exact(v)
}
