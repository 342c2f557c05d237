package event

import (
	"encoding/json"
	"log/slog"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/tracehandler/tracehandler/internal/jsontext"
)

// decoder turns valid text into values. It checks nothing.
type decoder struct {
	b []byte
	i int
	s string // b, copied when the first string was met; all strings are parts of it

	attrs []slog.Attr // members of the open objects, the inner ones last
	elems []any       // elements of the open arrays
}

// decoders keep their stacks, which are empty and clear between uses.
var decoders = sync.Pool{New: func() any { return new(decoder) }}

func (d *decoder) free() {
	const most = 1 << 12
	if cap(d.attrs) <= most && cap(d.elems) <= most {
		d.b, d.i, d.s = nil, 0, ""
		decoders.Put(d)
	}
}

func decodeValue(text []byte) slog.Value {
	if text[0] != '{' && text[0] != '[' {
		d := decoder{b: text}
		return d.value()
	}
	d := decoders.Get().(*decoder)
	d.b = text
	v := d.value()
	d.free()
	return v
}

// object decodes the object at d.i.
func (d *decoder) object() []slog.Attr {
	d.i = jsontext.SkipSpace(d.b, d.i+1)
	start := len(d.attrs)
	for d.b[d.i] != '}' {
		if d.b[d.i] == ',' {
			d.i = jsontext.SkipSpace(d.b, d.i+1)
		}
		key := d.string()
		d.i = jsontext.SkipSpace(d.b, jsontext.SkipSpace(d.b, d.i)+1)
		v := d.value()
		d.attrs = append(d.attrs, slog.Attr{Key: key, Value: v})
		d.i = jsontext.SkipSpace(d.b, d.i)
	}
	d.i++
	attrs := make([]slog.Attr, len(d.attrs)-start)
	copy(attrs, d.attrs[start:])
	clear(d.attrs[start:])
	d.attrs = d.attrs[:start]
	return attrs
}

// value decodes the value at d.i.
func (d *decoder) value() slog.Value {
	switch c := d.b[d.i]; c {
	case '"':
		return slog.StringValue(d.string())
	case '{':
		return group(d.object())
	case '[':
		return slog.AnyValue(d.array())
	case 't':
		d.i += 4
		return slog.BoolValue(true)
	case 'f':
		d.i += 5
		return slog.BoolValue(false)
	case 'n':
		d.i += 4
		return slog.AnyValue(nil)
	}
	return d.number()
}

// group returns the group of attrs, as it is. [slog.GroupValue] would leave out the empty groups among them, so it is
// shown others first.
func group(attrs []slog.Attr) slog.Value {
	for _, a := range attrs {
		if a.Value.Kind() == slog.KindGroup && len(a.Value.Group()) == 0 {
			all := make([]slog.Attr, len(attrs))
			v := slog.GroupValue(all...)
			copy(all, attrs)
			return v
		}
	}
	return slog.GroupValue(attrs...)
}

// array decodes the array at d.i.
func (d *decoder) array() []any {
	d.i = jsontext.SkipSpace(d.b, d.i+1)
	start := len(d.elems)
	for d.b[d.i] != ']' {
		if d.b[d.i] == ',' {
			d.i = jsontext.SkipSpace(d.b, d.i+1)
		}
		var e any
		if d.b[d.i] == '{' {
			e = New(d.object()...)
		} else {
			e = d.value().Any()
		}
		d.elems = append(d.elems, e)
		d.i = jsontext.SkipSpace(d.b, d.i)
	}
	d.i++
	elems := make([]any, len(d.elems)-start)
	copy(elems, d.elems[start:])
	clear(d.elems[start:])
	d.elems = d.elems[:start]
	return elems
}

// string decodes the string at d.i.
func (d *decoder) string() string {
	first := d.i + 1
	d.i = jsontext.StringEnd(d.b, first)
	return d.unquote(first, d.i-1)
}

// text returns the text from i to j as a part of the one copy.
func (d *decoder) text(i, j int) string {
	if d.s == "" {
		d.s = string(d.b)
	}
	return d.s[i:j]
}

// unquote returns what the text from i to j means, which stands between quotes.
func (d *decoder) unquote(i, j int) string {
	s := d.text(i, j)
	if strings.IndexByte(s, '\\') < 0 && utf8.ValidString(s) {
		return s
	}
	return string(jsontext.AppendText(make([]byte, 0, len(s)), d.b[i:j]))
}

// number decodes the number at d.i.
func (d *decoder) number() slog.Value {
	first := d.i
	d.i = jsontext.NumberEnd(d.b, first)
	if n, ok := jsontext.Int(d.b[first:d.i]); ok {
		return slog.Int64Value(n)
	}
	s := d.text(first, d.i)
	if s[0] != '-' {
		if u, err := strconv.ParseUint(s, 10, 64); err == nil {
			if int64(u) >= 0 {
				return slog.Int64Value(int64(u))
			}
			return slog.Uint64Value(u)
		}
	} else if n, err := strconv.ParseInt(s, 10, 64); err == nil && n != 0 {
		return slog.Int64Value(n)
	}
	if len(s) <= maxFloatText {
		if f, err := strconv.ParseFloat(s, 64); err == nil {
			var buf [maxFloatText + 8]byte
			if string(appendFloat(buf[:0], f, 64)) == s {
				return slog.Float64Value(f)
			}
		}
	}
	return slog.AnyValue(json.Number(s))
}

// maxFloatText is the length of the longest text that appendFloat writes: -1.2345678901234567e-308.
const maxFloatText = 25
