package slogkv

import (
	"encoding/base64"
	"encoding/json"
	"log/slog"
	"math"
	"strconv"
	"sync"
	"time"

	"github.com/tracehandler/tracehandler/clp/ir"
	"github.com/tracehandler/tracehandler/event"
	"github.com/tracehandler/tracehandler/internal/slogtext"
)

// layout is an event under construction. It does with a Builder what the JSON encoder does with bytes; the two must
// agree on every value, and a test compares them.
type layout struct {
	b       ir.Builder
	replace func(groups []string, a slog.Attr) slog.Attr // nil: none
	groups  []string                                     // open groups, for replace
	builtin bool                                         // log/slog tells ReplaceAttr no groups within built-in attributes
	depth   int
	deep    bool // an attribute was nested too deep: everything returns, attr cleans up

	leaves int // user-generated values so far
	exact  exact
	text   []byte
	when   slogtext.Clock
	json   event.Buffer
}

// exact collects what a key-value event cannot say of the numbers of an event.
type exact struct {
	numbers []spelling
	points  int    // floats without a fraction whose text ends in ".0"
	bare    int    // and those whose text does not
	known   bool   // this is the second pass over the same event: the above is known, and is written
	spell   bool   // each of points is to be among numbers
	line    []byte // the whole event, if its strings are not ones of Unicode
}

// spelling is the JSON text of a value.
type spelling struct {
	leaf int
	text string
}

// again reports whether the event has to be laid out again with what was learned, and makes ready for that.
func (l *layout) again() bool {
	x := l.exact
	if x.known || x.line != nil || len(x.numbers) == 0 && x.points == 0 {
		return false
	}
	l.start()
	if x.points > 0 && x.bare > 0 && !x.spell {
		l.exact.spell = true
		return true
	}
	l.exact = x
	l.exact.known = true
	return true
}

// exactKeys adds the auto-generated keys that say what was learned.
func (l *layout) exactKeys() {
	if l.exact.line != nil {
		l.b.Open(keyExact)
		l.b.StringBytes(keyJSON, l.exact.line)
		l.b.Close()
		return
	}
	if !l.exact.known {
		return
	}
	l.b.Open(keyExact)
	if n := l.exact.numbers; len(n) > 0 {
		l.text = append(l.text[:0], '[')
		for i, s := range n {
			if i > 0 {
				l.text = append(l.text, ',')
			}
			l.text = strconv.AppendInt(l.text, int64(s.leaf), 10)
			l.text = append(append(append(l.text, ',', '"'), s.text...), '"')
		}
		l.text = append(l.text, ']')
		l.b.Array(keyNumbers, l.text)
	}
	if l.exact.points > 0 && !l.exact.spell {
		l.b.Bool(keyPoint, true)
	}
	l.b.Close()
}

var layouts = sync.Pool{New: func() any { return new(layout) }}

func newLayout(replace func([]string, slog.Attr) slog.Attr) *layout {
	l := layouts.Get().(*layout)
	l.replace = replace
	l.start()
	return l
}

func (l *layout) start() {
	l.b.Reset()
	l.depth, l.deep, l.leaves, l.exact = 1, false, 0, exact{}
}

// maxPooled is the size above which a layout is left to the garbage collector.
const maxPooled = 64 << 10

func (l *layout) free() {
	clear(l.groups)
	l.groups, l.replace = l.groups[:0], nil
	if l.b.Size() <= maxPooled && cap(l.text) <= maxPooled {
		layouts.Put(l)
	}
}

// attr adds an attribute that is not in another one.
func (l *layout) attr(a slog.Attr) {
	if l.replace == nil {
		switch a.Value.Kind() {
		case slog.KindString:
			l.leaves++
			l.b.String(a.Key, a.Value.String())
			return
		case slog.KindInt64:
			l.leaves++
			l.b.Int(a.Key, a.Value.Int64())
			return
		case slog.KindAny, slog.KindGroup, slog.KindLogValuer:
		default:
			l.scalar(a.Key, a.Value)
			return
		}
	}
	m, leaves, depth, groups, numbers := l.b.Mark(), l.leaves, l.depth, len(l.groups), len(l.exact.numbers)
	l.any(a)
	if l.deep {
		l.deep, l.depth, l.groups = false, depth, l.groups[:groups]
		l.b.Drop(m)
		l.leaves, l.exact.numbers = leaves+1, l.exact.numbers[:numbers]
		l.b.String(a.Key, tooDeep)
	}
}

const tooDeep = "!ERROR:event: value is cyclic or nested too deep"

// any adds an attribute by the rules of slog.Handler: values are resolved, zero attributes and groups without attributes
// are left out, groups without a key are inlined.
func (l *layout) any(a slog.Attr) {
	if a.Value.Kind() == slog.KindLogValuer {
		a.Value = event.Resolve(a.Value)
	}
	if l.replace != nil && a.Value.Kind() != slog.KindGroup {
		a = l.replaced(a)
	}
	switch a.Value.Kind() {
	case slog.KindGroup:
		l.group(a.Key, a.Value.Group())
	case slog.KindAny:
		v := a.Value.Any()
		if v == nil && a.Key == "" {
			return
		}
		if src, ok := v.(*slog.Source); ok {
			l.group(a.Key, event.SourceAttrs(src))
			return
		}
		l.value(a.Key, v)
	default:
		l.scalar(a.Key, a.Value)
	}
}

func (l *layout) group(key string, attrs []slog.Attr) {
	if len(attrs) == 0 {
		return
	}
	if l.depth >= event.MaxRecordDepth {
		l.deep = true
		return
	}
	l.depth++
	m, leaves := l.b.Mark(), l.leaves
	track := key != "" && l.replace != nil && !l.builtin
	if key != "" {
		l.b.Open(key)
		if track {
			l.groups = append(l.groups, key)
		}
	}
	for i := 0; i < len(attrs) && !l.deep; i++ {
		l.any(attrs[i])
	}
	if track {
		l.groups = l.groups[:len(l.groups)-1]
	}
	switch {
	case l.leaves == leaves:
		l.b.Drop(m)
	case key != "" && !l.deep:
		l.b.Close()
	}
	l.depth--
}

// scalar adds a value that is neither a group nor of any type.
func (l *layout) scalar(key string, v slog.Value) {
	switch v.Kind() {
	case slog.KindUint64:
		l.uint(key, v.Uint64())
	case slog.KindFloat64:
		l.float(key, v.Float64())
	case slog.KindTime:
		l.time(key, v.Time())
	default:
		l.leaves++
		switch v.Kind() {
		case slog.KindString:
			l.b.String(key, v.String())
		case slog.KindInt64:
			l.b.Int(key, v.Int64())
		case slog.KindBool:
			l.b.Bool(key, v.Bool())
		case slog.KindDuration:
			l.b.Int(key, int64(v.Duration()))
		}
	}
}

func (l *layout) uint(key string, v uint64) {
	if v <= math.MaxInt64 {
		l.leaves++
		l.b.Int(key, int64(v))
		return
	}
	l.text = strconv.AppendUint(l.text[:0], v, 10)
	l.spelled(l.text)
	l.b.StringBytes(key, l.text)
	l.leaves++
}

// float adds a float of a record.
func (l *layout) float(key string, v float64) {
	l.leaves++
	if v-v != 0 { // JSON has a string for it
		l.text = event.AppendFloat(l.text[:0], v)
		l.b.StringBytes(key, l.text[1:len(l.text)-1])
		return
	}
	if isWhole(v) && !l.exact.known {
		l.exact.bare++
	}
	l.b.Float(key, v)
}

// isWhole reports whether JSON encoders write v without a point or an exponent.
func isWhole(v float64) bool { return v == math.Trunc(v) && math.Abs(v) < 1e21 }

func (l *layout) time(key string, t time.Time) {
	l.text = l.when.Append(l.text[:0], t)
	l.b.StringBytes(key, l.text)
	l.leaves++
}

// spelled notes the JSON text of the number that comes next.
func (l *layout) spelled(text []byte) {
	if !l.exact.known {
		l.exact.numbers = append(l.exact.numbers, spelling{l.leaves, string(text)})
	}
}

// number adds a number that JSON text has.
func (l *layout) number(key string, text []byte) {
	var buf [40]byte
	s := string(text)
	if i, err := strconv.ParseInt(s, 10, 64); err == nil && s != "-0" {
		l.b.Int(key, i)
		l.leaves++
		return
	}
	f, err := strconv.ParseFloat(s, 64)
	plain := event.AppendFloat(buf[:0], f)
	switch {
	case err != nil || isInteger(text) && s != "-0":
		l.spelled(text)
		l.b.StringBytes(key, text)
	case string(plain) == s && s != "-0":
		l.b.Float(key, f)
	case string(plain)+".0" == s:
		if !l.exact.known {
			l.exact.points++
		}
		if l.exact.spell {
			l.spelled(text)
		}
		l.b.Float(key, f)
	default:
		l.spelled(text)
		l.b.Float(key, f)
	}
	l.leaves++
}

func isInteger(text []byte) bool {
	for _, c := range text {
		if c != '-' && c-'0' > 9 {
			return false
		}
	}
	return true
}

// value adds a value of any type. The common ones are added as what they are; of the rest, encoding/json says what
// they are.
func (l *layout) value(key string, v any) {
	switch v := v.(type) {
	case nil:
		l.b.Null(key)
	case string:
		l.b.String(key, v)
	case bool:
		l.b.Bool(key, v)
	case int:
		l.b.Int(key, int64(v))
	case int8:
		l.b.Int(key, int64(v))
	case int16:
		l.b.Int(key, int64(v))
	case int32:
		l.b.Int(key, int64(v))
	case int64:
		l.b.Int(key, v)
	case uint8:
		l.b.Int(key, int64(v))
	case uint16:
		l.b.Int(key, int64(v))
	case uint32:
		l.b.Int(key, int64(v))
	case uint:
		l.uint(key, uint64(v))
		return
	case uint64:
		l.uint(key, v)
		return
	case float64:
		l.float(key, v)
		return
	case time.Duration:
		l.b.Int(key, int64(v))
	case time.Time:
		l.time(key, v)
		return
	case slog.Level:
		l.b.String(key, v.String())
	case []byte:
		if v == nil {
			l.b.Null(key)
			break
		}
		l.text = base64.StdEncoding.AppendEncode(l.text[:0], v)
		l.b.StringBytes(key, l.text)
	case error:
		if _, ok := v.(json.Marshaler); ok {
			l.foreign(key, v)
			return
		}
		l.b.String(key, errorText(v))
	default:
		l.foreign(key, v)
		return
	}
	l.leaves++
}

func errorText(err error) (s string) {
	defer func() {
		if p := recover(); p != nil {
			s = event.PanicText(err, p)
		}
	}()
	return err.Error()
}

// foreign adds what the JSON encoder makes of v.
func (l *layout) foreign(key string, v any) {
	l.json.B = l.json.AppendValue(l.json.B[:0], slog.AnyValue(v))
	l.jsonValue(key, l.json.B)
}

// replaced returns what ReplaceAttr makes of a.
func (l *layout) replaced(a slog.Attr) (out slog.Attr) {
	defer func() {
		if p := recover(); p != nil {
			out = slog.String(a.Key, event.PanicText(nil, p))
		}
	}()
	out = l.replace(l.groups, a)
	if out.Value.Kind() == slog.KindLogValuer {
		out.Value = event.Resolve(out.Value)
	}
	return out
}
