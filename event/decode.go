package event

import (
	"encoding/json"
	"log/slog"
	"strconv"
	"strings"
	"sync"
	"unicode/utf16"
	"unicode/utf8"
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

func decodeKey(text []byte) string {
	d := decoder{b: text}
	return d.unquote(0, len(text))
}

// object decodes the object at d.i.
func (d *decoder) object() []slog.Attr {
	d.i = spaceEnd(d.b, d.i+1)
	start := len(d.attrs)
	for d.b[d.i] != '}' {
		if d.b[d.i] == ',' {
			d.i = spaceEnd(d.b, d.i+1)
		}
		key := d.string()
		d.i = spaceEnd(d.b, spaceEnd(d.b, d.i)+1)
		v := d.value()
		d.attrs = append(d.attrs, slog.Attr{Key: key, Value: v})
		d.i = spaceEnd(d.b, d.i)
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
	d.i = spaceEnd(d.b, d.i+1)
	start := len(d.elems)
	for d.b[d.i] != ']' {
		if d.b[d.i] == ',' {
			d.i = spaceEnd(d.b, d.i+1)
		}
		var e any
		if d.b[d.i] == '{' {
			e = New(d.object()...)
		} else {
			e = d.value().Any()
		}
		d.elems = append(d.elems, e)
		d.i = spaceEnd(d.b, d.i)
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
	d.i = stringEnd(d.b, first)
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
	n := strings.IndexByte(s, '\\')
	if n < 0 && utf8.ValidString(s) {
		return s
	}
	out := make([]byte, 0, len(s))
	for {
		if n < 0 {
			return string(appendValid(out, s))
		}
		out = appendValid(out, s[:n])
		var size int
		out, size = appendUnescaped(out, s[n:])
		s = s[n+size:]
		n = strings.IndexByte(s, '\\')
	}
}

// appendValid appends s with U+FFFD for each byte that is not UTF-8.
func appendValid(dst []byte, s string) []byte {
	if utf8.ValidString(s) {
		return append(dst, s...)
	}
	for _, r := range s {
		dst = utf8.AppendRune(dst, r)
	}
	return dst
}

// appendUnescaped appends the character whose escape s starts with, and returns the length of the escape.
func appendUnescaped(dst []byte, s string) ([]byte, int) {
	switch c := s[1]; c {
	case 'b':
		return append(dst, '\b'), 2
	case 'f':
		return append(dst, '\f'), 2
	case 'n':
		return append(dst, '\n'), 2
	case 'r':
		return append(dst, '\r'), 2
	case 't':
		return append(dst, '\t'), 2
	case 'u':
		r, size := hex4(s[2:]), 6
		if utf16.IsSurrogate(r) {
			low := rune(-1)
			if len(s) >= 12 && s[6] == '\\' && s[7] == 'u' {
				low = hex4(s[8:])
			}
			if r = utf16.DecodeRune(r, low); r != utf8.RuneError {
				size = 12
			}
		}
		return utf8.AppendRune(dst, r), size
	default:
		return append(dst, c), 2
	}
}

func hex4(s string) rune {
	return rune(hexValue[s[0]])<<12 | rune(hexValue[s[1]])<<8 | rune(hexValue[s[2]])<<4 | rune(hexValue[s[3]])
}

// number decodes the number at d.i.
func (d *decoder) number() slog.Value {
	first := d.i
	d.i = numberEnd(d.b, first)
	text := d.b[first:d.i]
	if n, ok := smallInt(text); ok {
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

// smallInt returns the value of an integer of at most 18 digits. The text -0 is none: it is the float with that text.
func smallInt(text []byte) (n int64, ok bool) {
	digits := text
	if digits[0] == '-' {
		digits = digits[1:]
	}
	if len(digits) > 18 || digits[0] == '0' && len(text) > 1 {
		return 0, false
	}
	for _, c := range digits {
		if c -= '0'; c > 9 {
			return 0, false
		}
		n = n*10 + int64(c)
	}
	if len(digits) < len(text) {
		n = -n
	}
	return n, true
}
