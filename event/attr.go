package event

import (
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"strconv"

	"github.com/tracehandler/tracehandler/internal/jsontext"
)

// MaxDepth is how many objects and arrays may be open at the same place of an event, its own object included. It is the
// limit of encoding/json: 10,000.
const MaxDepth = jsontext.MaxDepth

// MaxRecordDepth is the same for the events that encoders make of records: what is deeper is a cycle, as a rule.
const MaxRecordDepth = 1000

// ErrDepth is what a [SyntaxError] wraps that reports an event nested deeper than [MaxDepth].
var ErrDepth = errors.New("event: nested deeper than MaxDepth")

const tooDeep = "!ERROR:event: value is cyclic or nested too deep"

// writer appends attributes to a JSON object. It keeps neither a separator nor a prefix: whether a comma is needed can
// be seen (appendComma), and what turns out to be empty is cut off again.
type writer struct {
	b       *Buffer
	replace func(groups []string, a slog.Attr) slog.Attr // nil: none
	builtin bool                                         // log/slog tells ReplaceAttr no groups within built-in attributes
	literal bool                                         // attributes are written as they are, empty ones too
	limit   int                                          // of depth
	depth   int                                          // open objects and arrays; inlined groups count, too
	deep    bool                                         // limit was met: everything returns, appendTop cleans up
}

// enter tells ReplaceAttr's calls which groups are open.
func (w *writer) enter(groups []string) {
	w.depth += len(groups)
	if w.replace != nil {
		w.b.groups = append(w.b.groups[:0], groups...)
	}
}

// leave forgets them, and what ReplaceAttr may have appended to them.
func (w *writer) leave() {
	if w.replace != nil {
		clear(w.b.groups[:cap(w.b.groups)])
		w.b.groups = w.b.groups[:0]
	}
}

// appendTop appends an attribute that is not in another one. What holds no other values is written here, at once.
func (w *writer) appendTop(dst []byte, a slog.Attr) []byte {
	if w.replace == nil {
		switch a.Value.Kind() {
		case slog.KindString:
			return appendStringMember(dst, a.Key, a.Value.String())
		case slog.KindInt64:
			return strconv.AppendInt(appendKey(dst, a.Key), a.Value.Int64(), 10)
		case slog.KindUint64:
			return strconv.AppendUint(appendKey(dst, a.Key), a.Value.Uint64(), 10)
		case slog.KindFloat64:
			return appendFloat(appendKey(dst, a.Key), a.Value.Float64(), 64)
		case slog.KindBool:
			return strconv.AppendBool(appendKey(dst, a.Key), a.Value.Bool())
		case slog.KindDuration:
			return strconv.AppendInt(appendKey(dst, a.Key), int64(a.Value.Duration()), 10)
		case slog.KindTime:
			return w.b.when.AppendQuoted(appendKey(dst, a.Key), a.Value.Time())
		}
	}
	mark, depth, groups := len(dst), w.depth, len(w.b.groups)
	dst = w.appendAttr(dst, a)
	if w.deep {
		w.deep = false
		w.depth = depth
		w.b.groups = w.b.groups[:groups]
		dst = appendKey(dst[:mark], a.Key)
		dst = AppendString(dst, tooDeep)
	}
	return dst
}

// appendAttr appends an attribute by the rules of [slog.Handler]: values are resolved, zero attributes and groups without
// attributes are left out, groups without a key are inlined.
func (w *writer) appendAttr(dst []byte, a slog.Attr) []byte {
	if a.Value.Kind() == slog.KindLogValuer {
		a.Value = Resolve(a.Value)
	}
	if w.replace != nil && a.Value.Kind() != slog.KindGroup {
		a = w.replaced(a)
	}
	switch a.Value.Kind() {
	case slog.KindGroup:
		return w.appendGroup(dst, a.Key, a.Value.Group())
	case slog.KindAny:
		v := a.Value.Any()
		if v == nil && a.Key == "" && !w.literal {
			return dst
		}
		if src, ok := v.(*slog.Source); ok {
			return w.appendGroup(dst, a.Key, SourceAttrs(src))
		}
		return w.appendAny(appendKey(dst, a.Key), v, true)
	}
	return w.appendScalar(appendKey(dst, a.Key), a.Value)
}

// appendGroup appends a group. It is empty if nothing was appended after its brace.
func (w *writer) appendGroup(dst []byte, key string, attrs []slog.Attr) []byte {
	if len(attrs) == 0 && !w.literal {
		return dst
	}
	if w.depth >= w.limit {
		w.deep = true
		return dst
	}
	w.depth++
	inline := key == "" && !w.literal
	track := !inline && w.replace != nil && !w.builtin
	mark := len(dst)
	if !inline {
		dst = append(appendKey(dst, key), '{')
		if track {
			w.b.groups = append(w.b.groups, key)
		}
	}
	body := len(dst)
	for i := 0; i < len(attrs) && !w.deep; i++ {
		dst = w.appendAttr(dst, attrs[i])
	}
	if !inline {
		if track {
			w.b.groups = w.b.groups[:len(w.b.groups)-1]
		}
		if len(dst) == body && !w.literal {
			dst = dst[:mark]
		} else {
			dst = append(dst, '}')
		}
	}
	w.depth--
	return dst
}

// appendObject appends attributes as an object that is a value of its own, in an array for instance. It stays when it
// is empty, and ReplaceAttr does not see what is in it: log/slog does not look into such values either.
func (w *writer) appendObject(dst []byte, attrs []slog.Attr, literal bool) []byte {
	if w.depth >= w.limit {
		w.deep = true
		return dst
	}
	in := writer{b: w.b, literal: literal, limit: w.limit, depth: w.depth + 1}
	dst = append(dst, '{')
	for i := 0; i < len(attrs) && !in.deep; i++ {
		dst = in.appendAttr(dst, attrs[i])
	}
	w.deep = in.deep
	return append(dst, '}')
}

// replaced returns what ReplaceAttr makes of a.
func (w *writer) replaced(a slog.Attr) (out slog.Attr) {
	defer func() {
		if p := recover(); p != nil {
			out = slog.String(a.Key, PanicText(nil, p))
		}
	}()
	out = w.replace(w.b.groups, a)
	if out.Value.Kind() == slog.KindLogValuer {
		out.Value = Resolve(out.Value)
	}
	return out
}

const maxLogValues = 100 // as log/slog

// Resolve is [slog.Value.Resolve], but a panic's text is the panic's value and not a stack.
func Resolve(v slog.Value) (out slog.Value) {
	first := v
	defer func() {
		if p := recover(); p != nil {
			out = slog.StringValue(PanicText(v.Any(), p))
		}
	}()
	for range maxLogValues {
		if v.Kind() != slog.KindLogValuer {
			return v
		}
		v = v.LogValuer().LogValue()
	}
	return slog.AnyValue(fmt.Errorf("LogValue called too many times on Value of type %T", first.Any()))
}

// PanicText says that a method of v panicked with p. As in fmt and log/slog, the likely reason is not worth a panic: a
// method that does not expect its nil pointer.
func PanicText(v, p any) string {
	if r := reflect.ValueOf(v); r.Kind() == reflect.Pointer && r.IsNil() {
		return "<nil>"
	}
	return fmt.Sprintf("!PANIC: %v", p)
}
