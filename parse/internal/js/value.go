package js

import (
	"iter"
	"strconv"

	"github.com/tracehandler/tracehandler/internal/jsontext"
)

// Value is one value of a Doc. The zero Value is missing: it has no members, no elements, no text.
type Value struct {
	d *Doc
	i int32
}

// Root returns the outermost value of a Doc that was parsed without error.
func (d *Doc) Root() Value {
	if d == nil || len(d.nodes) == 0 {
		return Value{}
	}
	return Value{d: d}
}

func (v Value) node() *node { return &v.d.nodes[v.i] }

// Exists reports whether the value is there. A null exists.
func (v Value) Exists() bool { return v.d != nil }

// Kind returns the type of the value.
func (v Value) Kind() Kind {
	if v.d == nil {
		return Missing
	}
	return v.node().kind
}

// Raw returns the text of the value as it stands in the document, nil if it is missing. It belongs to the Doc.
func (v Value) Raw() []byte {
	if v.d == nil {
		return nil
	}
	n := v.node()
	return v.d.Text[n.start:n.end]
}

// Offset returns where the value begins, in bytes from the start of the Doc's text.
func (v Value) Offset() int {
	if v.d == nil {
		return 0
	}
	return int(v.node().start)
}

// Sub returns the Doc that Known gave for this value, or nil.
func (v Value) Sub() *Doc {
	if v.d == nil {
		return nil
	}
	if n := v.node(); n.sub > 0 {
		return v.d.subs[n.sub-1]
	}
	return nil
}

// inside returns the value in whose Doc the members and elements of v are indexed.
func (v Value) inside() Value {
	if s := v.Sub(); s != nil {
		return s.Root()
	}
	return v
}

// Get returns the member with that key, missing if v is no object or has none. Of several the last one counts.
func (v Value) Get(key string) Value {
	if v.Kind() != Object {
		return Value{}
	}
	v = v.inside()
	var found Value
	nodes := v.d.nodes
	end := v.node().next
	for i := v.i + 1; i < end; i = nodes[i].next {
		n := &nodes[i]
		if int(n.keyEnd-n.keyStart)-2 == len(key) && !n.keyEscaped {
			if string(v.d.Text[n.keyStart+1:n.keyEnd-1]) == key {
				found = Value{v.d, i}
			}
		} else if n.keyEscaped && v.d.key(n) == key {
			found = Value{v.d, i}
		}
	}
	return found
}

func (d *Doc) key(n *node) string {
	b := d.Text[n.keyStart+1 : n.keyEnd-1]
	if !n.keyEscaped {
		return string(b)
	}
	return string(jsontext.AppendUnescaped(nil, b))
}

// Key returns the decoded key under which v stands in its object, "" for an element of an array.
func (v Value) Key() string {
	if v.d == nil || v.node().keyEnd == 0 {
		return ""
	}
	return v.d.key(v.node())
}

// RawKey returns the key as it stands in the text, quotes included.
func (v Value) RawKey() []byte {
	n := v.node()
	return v.d.Text[n.keyStart:n.keyEnd]
}

// KeyPlain returns the bytes of the key and true if it has no escapes, so that they can be compared without a copy.
func (v Value) KeyPlain() ([]byte, bool) {
	n := v.node()
	if n.keyEnd == 0 {
		return nil, false
	}
	return v.d.Text[n.keyStart+1 : n.keyEnd-1], !n.keyEscaped
}

// Each yields the members of an object or the elements of an array in order, repeated keys included.
func (v Value) Each() iter.Seq[Value] {
	return func(yield func(Value) bool) {
		if k := v.Kind(); k != Object && k != Array {
			return
		}
		in := v.inside()
		end := in.node().next
		for i := in.i + 1; i < end; i = in.d.nodes[i].next {
			if !yield(Value{in.d, i}) {
				return
			}
		}
	}
}

// Len returns the number of members or elements.
func (v Value) Len() int {
	n := 0
	for range v.Each() {
		n++
	}
	return n
}

// Str returns the decoded string, "" if v is not a string.
func (v Value) Str() string {
	if v.Kind() != String {
		return ""
	}
	n := v.node()
	b := v.d.Text[n.start+1 : n.end-1]
	if !n.escaped {
		return string(b)
	}
	return string(jsontext.AppendUnescaped(nil, b))
}

// AppendStr appends the decoded string.
func (v Value) AppendStr(dst []byte) []byte {
	if v.Kind() != String {
		return dst
	}
	n := v.node()
	b := v.d.Text[n.start+1 : n.end-1]
	if !n.escaped {
		return append(dst, b...)
	}
	return jsontext.AppendUnescaped(dst, b)
}

// Is reports whether v is the string s.
func (v Value) Is(s string) bool {
	if v.Kind() != String {
		return false
	}
	n := v.node()
	if n.escaped {
		return v.Str() == s
	}
	return string(v.d.Text[n.start+1:n.end-1]) == s
}

// Int returns the number if it is written as an integer that fits an int64.
func (v Value) Int() (int64, bool) {
	if v.Kind() != Number {
		return 0, false
	}
	n, err := strconv.ParseInt(string(v.Raw()), 10, 64)
	return n, err == nil
}

// AppendString appends s as a JSON string: UTF-8 as it is, only what must be escaped is escaped.
func AppendString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	from := 0
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c >= 0x20 && c != '"' && c != '\\' {
			continue
		}
		dst = append(dst, s[from:i]...)
		dst = jsontext.AppendEscape(dst, c)
		from = i + 1
	}
	dst = append(dst, s[from:]...)
	return append(dst, '"')
}
