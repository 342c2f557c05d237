package ir

import (
	"math"
	"strconv"
)

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

// PlainAt returns the text of the i-th value, a String, if it stands in the stream as it is. It belongs to the reader, like the
// event.
func (e *Event) PlainAt(n Namespace, i int) (text []byte, ok bool) {
	p := e.leaf(n, i)
	if p.form != formPlain {
		return nil, false
	}
	return e.r.buf[p.num>>32 : p.num&math.MaxUint32], true
}

// Readable reports whether all values of the event can be decoded and shown as JSON. It is cheaper than doing that.
func (e *Event) Readable() bool {
	for i := range e.pairs {
		p := &e.pairs[i]
		if p.form == formPlain || p.kind != String && p.kind != Array {
			continue
		}
		var v Value
		p.load(e.r.buf, &v)
		ok := v.text.decodes()
		if p.kind == Array && ok && !isIntList(v.text.logtype) {
			var err error
			e.r.scratch, err = v.AppendJSON(e.r.scratch[:0])
			ok = err == nil
		}
		if !ok {
			return false
		}
	}
	return true
}

// EncodedAt returns the i-th value, a String or Array, as it stands in the stream: equal bytes are equal text. They belong
// to the reader, like the event.
func (e *Event) EncodedAt(n Namespace, i int) []byte {
	p := e.leaf(n, i)
	return e.r.buf[p.num>>32 : p.num&math.MaxUint32]
}

// AppendLeaves appends each of parts and behind it a value as JSON, from the first-th value on. Floats are appended by
// float. An error is that of AppendJSONAt.
func (e *Event) AppendLeaves(dst []byte, n Namespace, first int, parts [][]byte, float func(dst []byte, f float64) []byte) ([]byte, error) {
	buf, pairs := e.r.buf, e.pairs
	order := e.shape.order[n][first:]
	for i, part := range parts {
		dst = append(dst, part...)
		p := &pairs[order[i]]
		switch p.kind {
		case Int:
			dst = strconv.AppendInt(dst, int64(p.num), 10)
			continue
		case Float:
			dst = float(dst, math.Float64frombits(p.num))
			continue
		case String:
			if p.form == formPlain {
				dst = AppendQuoted(dst, buf[p.num>>32:p.num&math.MaxUint32])
				continue
			}
		}
		var err error
		if dst, err = e.appendRare(dst, p); err != nil {
			return dst, err
		}
	}
	return dst, nil
}

func (e *Event) appendRare(dst []byte, p *pair) ([]byte, error) {
	var v Value
	p.load(e.r.buf, &v)
	return v.AppendJSON(dst)
}

// AppendJSONAt appends the i-th value as Value.AppendJSON does.
func (e *Event) AppendJSONAt(dst []byte, n Namespace, i int) ([]byte, error) {
	p := e.leaf(n, i)
	if p.kind == String && p.form == formPlain {
		return AppendQuoted(dst, e.r.buf[p.num>>32:p.num&math.MaxUint32]), nil
	}
	return e.appendRare(dst, p)
}
