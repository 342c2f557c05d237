package event

import (
	"encoding/base64"
	"encoding/json"
	"log/slog"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/tracehandler/tracehandler/internal/jsontext"
)

// AppendValue appends the JSON of an attribute's value as [NewJSON] writes it: an object for a group, empty or not, its
// members by the rules of [slog.Handler]. It uses what b remembers, not its output.
func (b *Buffer) AppendValue(dst []byte, v slog.Value) []byte {
	w := writer{b: b, limit: MaxRecordDepth, depth: 1}
	mark := len(dst)
	dst = w.appendValue(dst, v)
	if w.deep {
		dst = AppendString(dst[:mark], tooDeep)
	}
	return dst
}

// appendValue appends a value that is not an attribute's: there is no key that could be left out with it.
func (w *writer) appendValue(dst []byte, v slog.Value) []byte {
	if v.Kind() == slog.KindLogValuer {
		v = Resolve(v)
	}
	switch v.Kind() {
	case slog.KindGroup:
		return w.appendObject(dst, v.Group(), w.literal)
	case slog.KindAny:
		return w.appendAny(dst, v.Any(), true)
	}
	return w.appendScalar(dst, v)
}

// appendScalar appends a value that is neither a group nor of any type.
func (w *writer) appendScalar(dst []byte, v slog.Value) []byte {
	switch v.Kind() {
	case slog.KindString:
		return AppendString(dst, v.String())
	case slog.KindInt64:
		return strconv.AppendInt(dst, v.Int64(), 10)
	case slog.KindUint64:
		return strconv.AppendUint(dst, v.Uint64(), 10)
	case slog.KindFloat64:
		return appendFloat(dst, v.Float64(), 64)
	case slog.KindBool:
		return strconv.AppendBool(dst, v.Bool())
	case slog.KindDuration:
		return strconv.AppendInt(dst, int64(v.Duration()), 10)
	case slog.KindTime:
		return w.b.when.AppendQuoted(dst, v.Time())
	}
	return w.appendAny(dst, v.Any(), true)
}

// appendAny appends a value of any type. The common ones are written here; the rest is left to encoding/json, whose
// text these have, too. Only the value of an attribute itself (attr) may be an error: elsewhere encoding/json decides.
func (w *writer) appendAny(dst []byte, v any, attr bool) []byte {
	switch v := v.(type) {
	case nil:
		return append(dst, "null"...)
	case string:
		return AppendString(dst, v)
	case bool:
		return strconv.AppendBool(dst, v)
	case int:
		return strconv.AppendInt(dst, int64(v), 10)
	case int8:
		return strconv.AppendInt(dst, int64(v), 10)
	case int16:
		return strconv.AppendInt(dst, int64(v), 10)
	case int32:
		return strconv.AppendInt(dst, int64(v), 10)
	case int64:
		return strconv.AppendInt(dst, v, 10)
	case uint:
		return strconv.AppendUint(dst, uint64(v), 10)
	case uint8:
		return strconv.AppendUint(dst, uint64(v), 10)
	case uint16:
		return strconv.AppendUint(dst, uint64(v), 10)
	case uint32:
		return strconv.AppendUint(dst, uint64(v), 10)
	case uint64:
		return strconv.AppendUint(dst, v, 10)
	case float32:
		return appendFloat(dst, float64(v), 32)
	case float64:
		return appendFloat(dst, v, 64)
	case time.Duration:
		return strconv.AppendInt(dst, int64(v), 10)
	case time.Time:
		return w.b.when.AppendQuoted(dst, v)
	case slog.Level:
		return appendLevel(dst, v)
	case json.Number:
		return w.appendNumber(dst, v)
	case json.RawMessage:
		return w.appendRaw(dst, v)
	case []byte:
		if v == nil {
			return append(dst, "null"...)
		}
		return append(base64.StdEncoding.AppendEncode(append(dst, '"'), v), '"')
	case []string:
		return appendArray(w, dst, v, AppendString)
	case []int:
		return appendArray(w, dst, v, func(dst []byte, i int) []byte { return strconv.AppendInt(dst, int64(i), 10) })
	case []int64:
		return appendArray(w, dst, v, func(dst []byte, i int64) []byte { return strconv.AppendInt(dst, i, 10) })
	case []float64:
		return appendArray(w, dst, v, func(dst []byte, f float64) []byte { return appendFloat(dst, f, 64) })
	case []any:
		return appendArray(w, dst, v, func(dst []byte, e any) []byte { return w.appendAny(dst, e, false) })
	case []slog.Value:
		return appendArray(w, dst, v, w.appendValue)
	case map[string]any:
		return appendMap(w, dst, v, func(dst []byte, e any) []byte { return w.appendAny(dst, e, false) })
	case map[string]string:
		return appendMap(w, dst, v, AppendString)
	case map[string]slog.Value:
		return appendMap(w, dst, v, w.appendValue)
	case slog.Value:
		return w.appendValue(dst, v)
	case slog.Attr:
		return w.appendObject(dst, []slog.Attr{v}, w.literal)
	case []slog.Attr:
		return w.appendObject(dst, v, w.literal)
	case Event:
		v = v.told()
		if v.line != nil {
			return w.appendRaw(dst, v.line)
		}
		return w.appendObject(dst, v.attrs, true)
	}
	return w.appendForeign(dst, v, attr)
}

// appendArray appends a slice. An element sees its array as one more level.
func appendArray[E any](w *writer, dst []byte, s []E, element func([]byte, E) []byte) []byte {
	if s == nil {
		return append(dst, "null"...)
	}
	if w.depth >= w.limit {
		w.deep = true
		return dst
	}
	w.depth++
	dst = append(dst, '[')
	for i := 0; i < len(s) && !w.deep; i++ {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = element(dst, s[i])
	}
	w.depth--
	return append(dst, ']')
}

// appendMap appends a map, its keys sorted as encoding/json sorts them.
func appendMap[E any](w *writer, dst []byte, m map[string]E, element func([]byte, E) []byte) []byte {
	if m == nil {
		return append(dst, "null"...)
	}
	if w.depth >= w.limit {
		w.deep = true
		return dst
	}
	w.depth++
	start := len(w.b.keys) // below are the keys of the maps that this one is in
	for k := range m {
		w.b.keys = append(w.b.keys, k)
	}
	end := len(w.b.keys)
	slices.Sort(w.b.keys[start:end])
	dst = append(dst, '{')
	for i := start; i < end && !w.deep; i++ {
		k := w.b.keys[i]
		dst = element(appendKey(dst, k), m[k])
	}
	clear(w.b.keys[start:end])
	w.b.keys = w.b.keys[:start]
	w.depth--
	return append(dst, '}')
}

// appendForeign appends a value whose type only its methods or reflection know.
func (w *writer) appendForeign(dst []byte, v any, attr bool) (out []byte) {
	defer func() {
		if p := recover(); p != nil {
			w.b.sink.dst = nil
			out = AppendString(dst, PanicText(v, p))
		}
	}()
	if attr {
		if err, ok := v.(error); ok {
			if _, ok := v.(json.Marshaler); !ok {
				return AppendString(dst, err.Error())
			}
		}
	}
	return w.appendStandard(dst, v)
}

// appendStandard appends what encoding/json makes of v, or its error, as log/slog does.
func (w *writer) appendStandard(dst []byte, v any) []byte {
	out, err := w.b.appendJSON(dst, v)
	if err != nil {
		return AppendString(dst, "!ERROR:"+err.Error())
	}
	return w.checked(out, len(dst))
}

// checked returns dst after text of unknown origin was appended at start: valid JSON in one line, but perhaps not UTF-8
// or too deep.
func (w *writer) checked(dst []byte, start int) []byte {
	text := dst[start:]
	if !utf8.Valid(text) {
		dst = append(dst[:start], repaired(text)...)
		text = dst[start:]
	}
	if room := w.limit - w.depth; len(text) > 2*room && jsontext.Deeper(text, room) { // a level has two brackets
		w.deep = true
	}
	return dst
}

// repaired returns valid JSON text with \ufffd for each byte that is not UTF-8; it can only be in a string.
func repaired(text []byte) []byte {
	out := make([]byte, 0, len(text)+16)
	for len(text) > 0 {
		r, size := utf8.DecodeRune(text)
		if r == utf8.RuneError && size == 1 {
			out = append(out, `\ufffd`...)
		} else {
			out = append(out, text[:size]...)
		}
		text = text[size:]
	}
	return out
}

// appendNumber appends n as encoding/json does.
func (w *writer) appendNumber(dst []byte, n json.Number) []byte {
	if n == "" {
		return append(dst, '0')
	}
	if !jsontext.IsNumber([]byte(n)) {
		return w.appendForeign(dst, n, false)
	}
	return append(dst, n...)
}

// appendRaw appends JSON text without the white space between its tokens, so that it stays in its line.
func (w *writer) appendRaw(dst []byte, raw []byte) []byte {
	if raw == nil {
		return append(dst, "null"...)
	}
	if !jsontext.Valid(raw) {
		return w.appendForeign(dst, json.RawMessage(raw), false)
	}
	start := len(dst)
	return w.checked(jsontext.AppendCompact(dst, raw), start)
}
