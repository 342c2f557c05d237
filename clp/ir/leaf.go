package ir

import "math"

// The methods of this file give single values of an event by their places, and make no Value of them: what a program that
// knows an event's Shape uses for speed. The i-th value is the one that Visit visits as the i-th, from 0.

func (e *Event) leaf(n Namespace, i int) *pair { return &e.pairs[e.shape.order[n][i]] }

// KindAt returns the kind of the i-th value.
func (e *Event) KindAt(n Namespace, i int) Kind { return e.leaf(n, i).kind }

// IntAt returns the i-th value, an Int.
func (e *Event) IntAt(n Namespace, i int) int64 { return int64(e.leaf(n, i).num) }

// FloatAt returns the i-th value, a Float.
func (e *Event) FloatAt(n Namespace, i int) float64 { return math.Float64frombits(e.leaf(n, i).num) }

// BoolAt returns the i-th value, a Bool.
func (e *Event) BoolAt(n Namespace, i int) bool { return e.leaf(n, i).num != 0 }

// AppendTextAt appends the i-th value, a String or Array, as Value.AppendText does.
func (e *Event) AppendTextAt(dst []byte, n Namespace, i int) ([]byte, error) {
	p := e.leaf(n, i)
	if p.form == formPlain {
		return append(dst, e.r.buf[p.num>>32:p.num&math.MaxUint32]...), nil
	}
	var v Value
	p.load(e.r.buf, &v)
	return v.text.appendTo(dst)
}

// EncodedAt returns the i-th value, a String or Array, as it stands in the stream: equal bytes are equal text. They belong
// to the reader, like the event.
func (e *Event) EncodedAt(n Namespace, i int) []byte {
	p := e.leaf(n, i)
	return e.r.buf[p.num>>32 : p.num&math.MaxUint32]
}

// AppendJSONAt appends the i-th value as Value.AppendJSON does.
func (e *Event) AppendJSONAt(dst []byte, n Namespace, i int) ([]byte, error) {
	p := e.leaf(n, i)
	if p.kind == String && p.form == formPlain {
		return AppendQuoted(dst, e.r.buf[p.num>>32:p.num&math.MaxUint32]), nil
	}
	var v Value
	p.load(e.r.buf, &v)
	return v.AppendJSON(dst)
}
