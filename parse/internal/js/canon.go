package js

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"math"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/tracehandler/tracehandler/internal/jsontext"
)

// Canonizer writes canonical forms and keeps its working memory. The zero Canonizer is ready; one goroutine uses it.
type Canonizer struct {
	stack []Member // of objects with many or escaped keys
	order []keyed  // of the others
}

// keyed is a member of an object by the first eight bytes of its key. It holds no pointers, so that sorting moves little.
type keyed struct {
	prefix uint64 // big-endian, filled up with zeros, which no key without escapes can hold
	i      int32  // its node
}

// AppendCanonical appends v in the form in which equal values are equal bytes: keys sorted by code point, the last of
// repeated keys only, no space, ASCII with \u escapes in lower-case hex, integers of 64 bits as they are and every other
// number as the shortest decimal that reads back, written as Python's repr writes it. This is what Python's
// json.dumps(v, sort_keys=True, separators=(",", ":")) gives for a decoded value.
//
// Members for whose key skip returns true are left out, at every depth; skip may be nil.
func (v Value) AppendCanonical(dst []byte, skip func(key []byte) bool) []byte {
	var c Canonizer
	return c.Append(dst, v, skip)
}

// Append is AppendCanonical without allocation.
func (c *Canonizer) Append(dst []byte, v Value, skip func(key []byte) bool) []byte {
	switch v.Kind() {
	case Null, True, False:
		return append(dst, v.Raw()...)
	case Number:
		return appendNumber(dst, v.Raw())
	case String:
		n := v.node()
		return appendASCII(dst, v.d.Text[n.start:n.end], n.escaped)
	case Array:
		dst = append(dst, '[')
		in := v.inside()
		end := in.node().next
		for i := in.i + 1; i < end; i = in.d.nodes[i].next {
			if i > in.i+1 {
				dst = append(dst, ',')
			}
			dst = c.Append(dst, Value{in.d, i}, skip)
		}
		return append(dst, ']')
	case Object:
		if dst, ok := c.small(dst, v, skip); ok {
			return dst
		}
		from := len(c.stack)
		c.stack = v.Sorted(c.stack, skip)
		dst = append(dst, '{')
		for i := from; i < len(c.stack); i++ {
			if i > from {
				dst = append(dst, ',')
			}
			m := c.stack[i].Value
			dst = append(m.AppendCanonicalKey(dst), ':')
			dst = c.Append(dst, m, skip)
		}
		c.stack = c.stack[:from]
		return append(dst, '}')
	}
	return dst
}

// few is the number of members up to which an object is sorted by insertion.
const few = 64

// small is Append for an object of few members whose keys have no escapes; for another it returns dst and false.
func (c *Canonizer) small(dst []byte, v Value, skip func(key []byte) bool) ([]byte, bool) {
	in := v.inside()
	d, end := in.d, in.node().next
	from := len(c.order)
	defer func() { c.order = c.order[:from] }()
	for i := in.i + 1; i < end; i = d.nodes[i].next {
		n := &d.nodes[i]
		if n.keyEscaped || len(c.order)-from >= few {
			return dst, false
		}
		k := d.Text[n.keyStart+1 : n.keyEnd-1]
		if skip != nil && skip(k) {
			continue
		}
		m := keyed{keyPrefix(k), i}
		j := len(c.order)
		order := 1 // of k to the key before j
		for ; j > from; j-- {
			b := c.order[j-1]
			if order = cmp.Compare(m.prefix, b.prefix); order == 0 && len(k) >= 8 {
				o := &d.nodes[b.i]
				order = bytes.Compare(k, d.Text[o.keyStart+1:o.keyEnd-1])
			}
			if order >= 0 {
				break
			}
		}
		if j > from && order == 0 {
			c.order[j-1] = m // of repeated keys the last one counts
			continue
		}
		c.order = append(c.order, m)
		copy(c.order[j+1:], c.order[j:])
		c.order[j] = m
	}
	dst = append(dst, '{')
	for j := from; j < len(c.order); j++ {
		if j > from {
			dst = append(dst, ',')
		}
		n := &d.nodes[c.order[j].i]
		dst = append(appendASCII(dst, d.Text[n.keyStart:n.keyEnd], false), ':')
		dst = c.Append(dst, Value{d, c.order[j].i}, skip)
	}
	return append(dst, '}'), true
}

func keyPrefix(k []byte) (p uint64) {
	if len(k) >= 8 {
		return binary.BigEndian.Uint64(k)
	}
	for i, c := range k {
		p |= uint64(c) << (56 - 8*i)
	}
	return p
}

// AppendCanonicalKey appends the key of v as AppendCanonical writes it.
func (v Value) AppendCanonicalKey(dst []byte) []byte {
	n := v.node()
	return appendASCII(dst, v.d.Text[n.keyStart:n.keyEnd], n.keyEscaped)
}

// Member is a member of an object together with its decoded key.
type Member struct {
	Key   []byte
	Value Value
}

// Sorted appends the members of an object to dst, sorted by key, repeated keys reduced to the last, without those for
// which skip returns true. Keys without escapes point into the text.
func (v Value) Sorted(dst []Member, skip func(key []byte) bool) []Member {
	if v.Kind() != Object {
		return dst
	}
	from := len(dst)
	repeated := false
	in := v.inside()
	end := in.node().next
	for i := in.i + 1; i < end; i = in.d.nodes[i].next {
		n := &in.d.nodes[i]
		k := in.d.Text[n.keyStart+1 : n.keyEnd-1]
		if n.keyEscaped {
			k = []byte(in.d.key(n))
		}
		if skip != nil && skip(k) {
			continue
		}
		// Objects are small or nearly sorted, as a rule: insert each key at its place, later ones behind equal ones.
		dst = append(dst, Member{k, Value{in.d, i}})
		if j := len(dst) - 1; j > from {
			order := bytes.Compare(dst[j-1].Key, k)
			if order == 0 {
				repeated = true
			}
			if order > 0 {
				if len(dst)-from > 64 {
					continue
				}
				m := dst[j]
				for ; j > from && bytes.Compare(dst[j-1].Key, k) > 0; j-- {
					dst[j] = dst[j-1]
				}
				dst[j] = m
				repeated = repeated || j > from && bytes.Equal(dst[j-1].Key, k)
			}
		}
	}
	ms := dst[from:]
	if len(ms) > 64 {
		slices.SortStableFunc(ms, func(a, b Member) int {
			return cmp.Or(bytes.Compare(a.Key, b.Key), cmp.Compare(a.Value.i, b.Value.i))
		})
		repeated = true
	}
	if !repeated {
		return dst
	}
	w := 0
	for i := range ms {
		if i+1 < len(ms) && bytes.Equal(ms[i].Key, ms[i+1].Key) {
			continue
		}
		ms[w] = ms[i]
		w++
	}
	return dst[:from+w]
}

// appendASCII appends the string s, which is quoted JSON, in ASCII.
func appendASCII(dst, s []byte, escaped bool) []byte {
	if !escaped {
		plain := true
		for _, c := range s {
			if c >= 0x7f {
				plain = false
				break
			}
		}
		if plain {
			return append(dst, s...)
		}
	}
	const hex = "0123456789abcdef"
	in := s[1 : len(s)-1]
	if escaped {
		in = jsontext.AppendUnescaped(nil, in)
	}
	u := func(r rune) {
		dst = append(dst, '\\', 'u', hex[r>>12&15], hex[r>>8&15], hex[r>>4&15], hex[r&15])
	}
	dst = append(dst, '"')
	for i := 0; i < len(in); {
		r, n := utf8.DecodeRune(in[i:])
		i += n
		switch {
		case r == '"' || r == '\\':
			dst = append(dst, '\\', byte(r))
		case r >= ' ' && r <= '~':
			dst = append(dst, byte(r))
		case r == '\n':
			dst = append(dst, '\\', 'n')
		case r == '\r':
			dst = append(dst, '\\', 'r')
		case r == '\t':
			dst = append(dst, '\\', 't')
		case r == '\b':
			dst = append(dst, '\\', 'b')
		case r == '\f':
			dst = append(dst, '\\', 'f')
		case r >= 0x10000:
			r -= 0x10000
			u(0xD800 + r>>10)
			u(0xDC00 + r&0x3FF)
		default:
			u(r)
		}
	}
	return append(dst, '"')
}

func appendNumber(dst, raw []byte) []byte {
	integer := true
	for _, c := range raw {
		if c == '.' || c == 'e' || c == 'E' {
			integer = false
			break
		}
	}
	if integer {
		if len(raw) < 19 || fits64(raw) {
			if string(raw) == "-0" {
				return append(dst, '0')
			}
			return append(dst, raw...)
		}
	}
	f, _ := strconv.ParseFloat(string(raw), 64)
	return AppendFloat(dst, f)
}

func fits64(raw []byte) bool {
	if raw[0] == '-' {
		_, err := strconv.ParseInt(string(raw), 10, 64)
		return err == nil
	}
	_, err := strconv.ParseUint(string(raw), 10, 64)
	return err == nil
}

// AppendFloat appends f, which is finite, as Python's repr does: shortest digits, an exponent below 1e-4 and from 1e16
// up, ".0" behind a whole number.
func AppendFloat(dst []byte, f float64) []byte {
	if a := math.Abs(f); a != 0 && (a < 1e-4 || a >= 1e16) {
		return strconv.AppendFloat(dst, f, 'e', -1, 64)
	}
	from := len(dst)
	dst = strconv.AppendFloat(dst, f, 'f', -1, 64)
	if bytes.IndexByte(dst[from:], '.') < 0 {
		dst = append(dst, '.', '0')
	}
	return dst
}

// AppendShort appends v with every string of more than limit characters (not keys) replaced by "<N chars omitted>". Everything else is copied.
func (v Value) AppendShort(dst []byte, limit int) []byte {
	switch v.Kind() {
	case String:
		n := v.node()
		if int(n.end-n.start)-2 > limit {
			if chars := utf8.RuneCount(v.AppendStr(nil)); chars > limit {
				dst = append(dst, `"<`...)
				dst = strconv.AppendInt(dst, int64(chars), 10)
				return append(dst, ` chars omitted>"`...)
			}
		}
		return append(dst, v.Raw()...)
	case Array, Object:
		open, closing := byte('['), byte(']')
		if v.Kind() == Object {
			open, closing = '{', '}'
		}
		dst = append(dst, open)
		first := true
		for m := range v.Each() {
			if !first {
				dst = append(dst, ',')
			}
			first = false
			if open == '{' {
				dst = append(append(dst, m.RawKey()...), ':')
			}
			dst = m.AppendShort(dst, limit)
		}
		return append(dst, closing)
	}
	return append(dst, v.Raw()...)
}
