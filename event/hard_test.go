package event

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

type (
	panicError  struct{ text string }
	panicJSON   struct{}
	panicValuer struct{}
	panicTexts  struct{}
	nilValuer   struct{ v slog.Value }
	endless     struct{}
	endlessIn   struct{}
	endlessTree struct{}
	badUTF8     struct{}
	list        struct {
		Next *list `json:",omitempty"`
	}
)

func (e *panicError) Error() string             { return e.text }
func (panicJSON) MarshalJSON() ([]byte, error)  { panic("json\n") }
func (panicValuer) LogValue() slog.Value        { panic("value") }
func (panicTexts) MarshalText() ([]byte, error) { panic(errors.New("text")) }
func (v *nilValuer) LogValue() slog.Value       { return v.v }
func (e endless) LogValue() slog.Value          { return slog.AnyValue(e) }
func (e endlessIn) LogValue() slog.Value        { return slog.GroupValue(slog.Any("", e), slog.Any("x", e)) }
func (e endlessTree) LogValue() slog.Value {
	return slog.GroupValue(slog.Any("l", e), slog.Any("r", e))
}
func (badUTF8) MarshalJSON() ([]byte, error) { return []byte("{\"k\xff\":\"a\xc3\"}"), nil }

type panicsInError struct{}

func (panicsInError) Error() string { panic("error") }

// record encodes one record and checks that its text is one valid line; it returns what comes after the message.
func record(t *testing.T, enc Encoder, attrs ...slog.Attr) string {
	t.Helper()
	r := slog.NewRecord(time.Time{}, slog.LevelInfo, "m", 0)
	r.AddAttrs(attrs...)
	return encoded(t, enc, r, nil)
}

func encoded(t *testing.T, enc Encoder, r slog.Record, extra []slog.Attr) string {
	t.Helper()
	var b Buffer
	enc.AppendRecord(&b, r, extra)
	checkLine(t, b.B)
	return strings.TrimSuffix(strings.TrimPrefix(string(b.B), `{"level":"INFO","msg":"m"`), "}\n")
}

func checkLine(t *testing.T, line []byte) {
	t.Helper()
	if !json.Valid(line) || !utf8.Valid(line) || bytes.IndexByte(line, '\n') != len(line)-1 {
		t.Fatalf("not one line of JSON: %.2000q", line)
	}
	if _, err := Parse(line); err != nil {
		t.Fatalf("%v: %.2000q", err, line)
	}
}

// TestHardCases has what other handlers get wrong, log/slog's among them.
func TestHardCases(t *testing.T) {
	cyclicMap := map[string]any{"a": 1}
	cyclicMap["self"] = cyclicMap
	cyclicSlice := []any{1, nil}
	cyclicSlice[1] = cyclicSlice
	cyclicList := &list{}
	cyclicList.Next = cyclicList
	var deepList *list
	for range 3000 {
		deepList = &list{deepList}
	}
	b := slog.Int("b", 1)
	for _, c := range []struct {
		name  string
		attrs []slog.Attr
		want  string
	}{
		{"quote and newline in a key", []slog.Attr{slog.Int("a\"\n", 1)}, `,"a\"\n":1`},
		{"quote and newline in a group", []slog.Attr{slog.Group("g\"\n", b)}, `,"g\"\n":{"b":1}`},
		{"invalid UTF-8 in a value", []slog.Attr{slog.String("s", "a\xffb\xc3")}, `,"s":"a\ufffdb\ufffd"`},
		{"invalid UTF-8 in a key", []slog.Attr{slog.String("\xff", "")}, `,"\ufffd":""`},
		{"invalid UTF-8 from a marshaler", []slog.Attr{slog.Any("s", badUTF8{})}, `,"s":{"k\ufffd":"a\ufffd"}`},
		{"invalid UTF-8 in raw JSON", []slog.Attr{slog.Any("s", json.RawMessage("[\"\xff\"]"))}, `,"s":["\ufffd"]`},
		{"U+2028", []slog.Attr{slog.String("s", "\u2028\u2029")}, `,"s":"\u2028\u2029"`},
		{"group of an empty attribute", []slog.Attr{slog.Group("g", slog.Attr{}), b}, `,"b":1`},
		{"group of empty groups", []slog.Attr{{Key: "g", Value: group([]slog.Attr{slog.Group("h"), {Key: "i", Value: group([]slog.Attr{{}})}})}, b}, `,"b":1`},
		{"inlined group of an empty attribute", []slog.Attr{slog.Group("", slog.Attr{}), b}, `,"b":1`},
		{"group first, then empty ones", []slog.Attr{slog.Group("g", slog.Int("x", 1), slog.Group("h", slog.Attr{}), slog.Int("y", 2)), b}, `,"g":{"x":1,"y":2},"b":1`},
		{"year 10000", []slog.Attr{slog.Time("t", time.Date(10000, 1, 2, 3, 4, 5, 6, time.UTC)), b}, `,"t":"10000-01-02T03:04:05.000000006Z","b":1`},
		{"year -1", []slog.Attr{slog.Time("t", time.Date(-1, 1, 2, 3, 4, 5, 0, time.UTC)), b}, `,"t":"-0001-01-02T03:04:05Z","b":1`},
		{"year 10000 in a map", []slog.Attr{slog.Any("t", map[string]any{"t": time.Date(10000, 1, 2, 3, 4, 5, 0, time.FixedZone("", -3600))})}, `,"t":{"t":"10000-01-02T03:04:05-01:00"}`},
		{"far year", []slog.Attr{slog.Time("t", time.Date(1<<30, 12, 31, 23, 59, 59, 999999999, time.UTC))}, `,"t":"1073741824-12-31T23:59:59.999999999Z"`},
		{"NaN and infinities", []slog.Attr{slog.Float64("n", math.NaN()), slog.Float64("p", math.Inf(1)), slog.Float64("m", math.Inf(-1))}, `,"n":"NaN","p":"+Inf","m":"-Inf"`},
		{"NaN in slices and maps", []slog.Attr{slog.Any("s", []float64{1, math.NaN()}), slog.Any("m", map[string]any{"x": math.Inf(1), "y": float32(math.Inf(-1))})}, `,"s":[1,"NaN"],"m":{"x":"+Inf","y":"-Inf"}`},
		{"NaN in a struct", []slog.Attr{slog.Any("s", struct{ F float64 }{math.NaN()}), b}, `,"s":"!ERROR:json: unsupported value: NaN","b":1`},
		{"unsupported in a slice", []slog.Attr{slog.Any("s", []any{1, make(chan int), 2})}, `,"s":[1,"!ERROR:json: unsupported type: chan int",2]`},
		{"cyclic map", []slog.Attr{slog.Any("c", cyclicMap), b}, `,"c":"!ERROR:event: value is cyclic or nested too deep","b":1`},
		{"cyclic slice", []slog.Attr{slog.Any("c", cyclicSlice), b}, `,"c":"!ERROR:event: value is cyclic or nested too deep","b":1`},
		{"cyclic map in a group", []slog.Attr{slog.Group("g", slog.Int("a", 1), slog.Any("c", cyclicMap)), b}, `,"g":"!ERROR:event: value is cyclic or nested too deep","b":1`},
		{"cyclic pointer", []slog.Attr{slog.Any("c", cyclicList), b}, `,"c":"!ERROR:json: unsupported value: encountered a cycle via *event.list","b":1`},
		{"deep list", []slog.Attr{slog.Any("c", deepList), b}, `,"c":"!ERROR:event: value is cyclic or nested too deep","b":1`},
		{"deep raw JSON", []slog.Attr{slog.Any("c", json.RawMessage(strings.Repeat("[", 2000)+strings.Repeat("]", 2000))), b}, `,"c":"!ERROR:event: value is cyclic or nested too deep","b":1`},
		{"MarshalJSON panics", []slog.Attr{slog.Any("p", panicJSON{}), b}, `,"p":"!PANIC: json\n","b":1`},
		{"MarshalJSON panics in a slice", []slog.Attr{slog.Any("p", []any{1, panicJSON{}}), b}, `,"p":[1,"!PANIC: json\n"],"b":1`},
		{"MarshalText panics", []slog.Attr{slog.Any("p", panicTexts{}), b}, `,"p":"!PANIC: text","b":1`},
		{"MarshalText of a key panics", []slog.Attr{slog.Any("p", map[panicTexts]int{{}: 1}), b}, `,"p":"!PANIC: text","b":1`},
		{"Error panics", []slog.Attr{slog.Any("p", panicsInError{}), b}, `,"p":"!PANIC: error","b":1`},
		{"typed nil error", []slog.Attr{slog.Any("e", (*panicError)(nil)), b}, `,"e":"<nil>","b":1`},
		{"LogValue panics", []slog.Attr{slog.Any("p", panicValuer{}), b}, `,"p":"!PANIC: value","b":1`},
		{"LogValue panics in a group", []slog.Attr{slog.Group("g", slog.Any("p", panicValuer{})), b}, `,"g":{"p":"!PANIC: value"},"b":1`},
		{"LogValue of a nil pointer", []slog.Attr{slog.Any("p", (*nilValuer)(nil)), b}, `,"p":"<nil>","b":1`},
		{"LogValue of a nil pointer, wrapped", []slog.Attr{slog.Any("p", valuer{slog.AnyValue((*nilValuer)(nil))}), b}, `,"p":"<nil>","b":1`},
		{"LogValue is endless", []slog.Attr{slog.Any("p", endless{}), b}, `,"p":"LogValue called too many times on Value of type event.endless","b":1`},
		{"LogValue is an endless group", []slog.Attr{slog.Any("p", endlessTree{}), b}, `,"p":"!ERROR:event: value is cyclic or nested too deep","b":1`},
		{"LogValue is an endless inlined group", []slog.Attr{slog.Any("", endlessIn{}), b}, `,"":"!ERROR:event: value is cyclic or nested too deep","b":1`},
		{"LogValue is an empty group", []slog.Attr{slog.Any("a", valuer{slog.GroupValue()}), b}, `,"b":1`},
		{"LogValue is a group of empty attributes", []slog.Attr{slog.Any("a", valuer{slog.GroupValue(slog.Attr{})}), b}, `,"b":1`},
		{"Value in a slice", []slog.Attr{slog.Any("s", []any{slog.IntValue(1), slog.StringValue("x"), slog.GroupValue(b, slog.Attr{}), slog.AnyValue(secret("s"))})}, `,"s":[1,"x",{"b":1},"REDACTED"]`},
		{"slice of Values", []slog.Attr{slog.Any("s", []slog.Value{slog.DurationValue(5), slog.GroupValue(), slog.TimeValue(when)})}, `,"s":[5,{},"2026-11-30T10:46:59.123456789Z"]`},
		{"Values in maps", []slog.Attr{slog.Any("s", map[string]any{"v": slog.BoolValue(true), "a": b, "as": []slog.Attr{b, b}}), slog.Any("m", map[string]slog.Value{"x": slog.IntValue(1)})}, `,"s":{"a":{"b":1},"as":{"b":1,"b":1},"v":true},"m":{"x":1}`},
		{"Attr as a value", []slog.Attr{slog.Any("a", b), slog.Any("s", [][]slog.Attr{{b}})}, `,"a":{"b":1},"s":[[{"Key":"b","Value":{}}]]`},
		{"Events as values", []slog.Attr{slog.Any("e", New(slog.Attr{Value: group([]slog.Attr{slog.Group("x")})})), slog.Any("s", []any{Lazy([]byte("{ \"a\" : [1,\n2] }")), Event{}})}, `,"e":{"":{"x":{}}},"s":[{"a":[1,2]},{}]`},
		{"line that is no event", []slog.Attr{slog.Any("e", Lazy([]byte(`{"a`))), b}, `,"e":"!ERROR:json: error calling MarshalJSON for type json.RawMessage: unexpected end of JSON input","b":1`},
		{"duplicate keys", []slog.Attr{slog.String("msg", "x"), b, b}, `,"msg":"x","b":1,"b":1`},
		{"1e300", []slog.Attr{slog.Float64("f", 1e300)}, `,"f":1e+300`},
		{"bytes", []slog.Attr{slog.Any("f", []byte("ab"))}, `,"f":"YWI="`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := record(t, NewJSON(Options{}), c.attrs...); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
			// The same preformatted, in a group, and as a group's members.
			if got := record(t, NewJSON(Options{}).WithAttrs(c.attrs)); got != c.want {
				t.Errorf("WithAttrs: got  %s\nwant %s", got, c.want)
			}
			if got, want := record(t, NewJSON(Options{}).WithGroup("G"), c.attrs...), `,"G":{`+c.want[1:]+"}"; got != want && !strings.Contains(want, "too deep") {
				t.Errorf("WithGroup: got  %s\nwant %s", got, want)
			}
			if got := encoded(t, NewJSON(Options{}).WithGroup("G"), slog.NewRecord(time.Time{}, slog.LevelInfo, "m", 0), c.attrs); got != c.want {
				t.Errorf("extra: got  %s\nwant %s", got, c.want)
			}
			identity := func(_ []string, a slog.Attr) slog.Attr { return a }
			if got := record(t, NewJSON(Options{ReplaceAttr: identity}), c.attrs...); got != c.want {
				t.Errorf("ReplaceAttr: got  %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestGroups(t *testing.T) {
	a, b := slog.Int("a", 1), slog.Int("b", 2)
	e := NewJSON(Options{})
	empty := []slog.Attr{slog.Group("h", slog.Attr{})}
	for i, c := range []struct {
		enc   Encoder
		attrs []slog.Attr
		want  string
	}{
		{e.WithGroup("g").WithAttrs(empty), nil, ``},
		{e.WithGroup("g").WithAttrs(empty), []slog.Attr{b}, `,"g":{"b":2}`},
		{e.WithGroup("g").WithAttrs(empty).WithGroup("i"), []slog.Attr{b}, `,"g":{"i":{"b":2}}`},
		{e.WithGroup("g").WithGroup("h"), []slog.Attr{slog.Group("x", slog.Attr{})}, ``},
		{e.WithGroup("g").WithAttrs([]slog.Attr{a}).WithGroup("h"), nil, `,"g":{"a":1}`},
		{e.WithGroup("g").WithAttrs([]slog.Attr{a}).WithGroup("h"), empty, `,"g":{"a":1}`},
		{e.WithGroup("g").WithAttrs([]slog.Attr{a}).WithGroup("h"), []slog.Attr{b}, `,"g":{"a":1,"h":{"b":2}}`},
		{e.WithGroup("g").WithAttrs([]slog.Attr{a}).WithGroup("h").WithAttrs([]slog.Attr{b}).WithGroup("i"), []slog.Attr{a}, `,"g":{"a":1,"h":{"b":2,"i":{"a":1}}}`},
		{e.WithGroup("").WithAttrs(nil).WithAttrs([]slog.Attr{a}).WithGroup(""), []slog.Attr{b}, `,"a":1,"b":2`},
		{e.WithAttrs([]slog.Attr{slog.String("{", "{")}), []slog.Attr{slog.String("{", "{"), b}, `,"{":"{","{":"{","b":2`},
	} {
		if got := record(t, c.enc, c.attrs...); got != c.want {
			t.Errorf("%d: got  %s\nwant %s", i, got, c.want)
		}
	}
	if e.WithGroup("") != e || e.WithAttrs(nil) != e || e.WithAttrs(empty) != e {
		t.Error("an encoder that nothing was added to is not the same")
	}
	r := slog.NewRecord(time.Time{}, slog.LevelInfo, "m", 0)
	r.AddAttrs(b)
	if got, want := encoded(t, e.WithAttrs([]slog.Attr{a}).WithGroup("g"), r, []slog.Attr{slog.Int("x", 0)}), `,"x":0,"a":1,"g":{"b":2}`; got != want {
		t.Errorf("extra: got %s, want %s", got, want)
	}
	deep := e
	for range 3000 {
		deep = deep.WithGroup("g")
	}
	if got := record(t, deep, b); strings.Count(got, "g") != MaxRecordDepth/2 {
		t.Errorf("%d groups", strings.Count(got, "g"))
	}
}

// TestDerived checks that encoders made from the same one do not write into each other's memory.
func TestDerived(t *testing.T) {
	base := NewJSON(Options{}).WithAttrs([]slog.Attr{slog.Int("a", 1)}).WithGroup("g")
	var encs []Encoder
	for i := range 10 {
		encs = append(encs, base.WithGroup(fmt.Sprint("g", i)).WithGroup("h"), base.WithAttrs([]slog.Attr{slog.Int("x", i)}))
	}
	for i := range 10 {
		if got, want := record(t, encs[2*i], slog.Int("b", i)), fmt.Sprintf(`,"a":1,"g":{"g%d":{"h":{"b":%d}}}`, i, i); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
		if got, want := record(t, encs[2*i+1]), fmt.Sprintf(`,"a":1,"g":{"x":%d}`, i); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

func TestReplaceAttr(t *testing.T) {
	b := slog.Int("b", 1)
	drop := func(keys ...string) func([]string, slog.Attr) slog.Attr {
		return func(_ []string, a slog.Attr) slog.Attr {
			if slices.Contains(keys, a.Key) {
				return slog.Attr{}
			}
			return a
		}
	}
	t.Run("a group that it empties disappears alone", func(t *testing.T) {
		enc := NewJSON(Options{ReplaceAttr: drop("x", "y")})
		attrs := []slog.Attr{slog.Group("g", slog.Int("x", 1), slog.Group("h", slog.Int("y", 1))), b}
		for _, got := range []string{record(t, enc, attrs...), record(t, enc.WithAttrs(attrs)), record(t, enc.WithAttrs(attrs[:1]), b), record(t, enc.WithGroup("e").WithAttrs(attrs[:1]).WithAttrs(nil)) + `,"b":1`} {
			if got != `,"b":1` {
				t.Errorf("got %s", got)
			}
		}
	})
	t.Run("all built-in attributes dropped", func(t *testing.T) {
		enc := NewJSON(Options{ReplaceAttr: drop("time", "level", "msg", "source"), AddSource: true})
		var buf Buffer
		enc.AppendRecord(&buf, slog.NewRecord(when, 0, "m", pc()), nil)
		enc.WithAttrs([]slog.Attr{b}).AppendRecord(&buf, slog.NewRecord(when, 0, "m", pc()), nil)
		if got := string(buf.B); got != "{}\n{\"b\":1}\n" {
			t.Errorf("got %s", got)
		}
	})
	t.Run("groups", func(t *testing.T) {
		var calls []string
		enc := NewJSON(Options{ReplaceAttr: func(gs []string, a slog.Attr) slog.Attr {
			calls = append(calls, strings.Join(gs, ".")+":"+a.Key)
			if a.Value.Kind() == slog.KindGroup || a.Value.Kind() == slog.KindLogValuer {
				t.Errorf("called for %v", a)
			}
			return a
		}})
		enc = enc.WithGroup("G").WithAttrs([]slog.Attr{slog.Group("w", slog.Int("a", 1))}).WithGroup("H")
		record(t, enc, slog.Int("a", 1), slog.Group("g", b, slog.Group("", slog.Int("i", 1)), slog.Any("v", valuer{slog.GroupValue(b)})), slog.Int("c", 1))
		want := []string{"G.w:a", ":level", ":msg", "G.H:a", "G.H.g:b", "G.H.g:i", "G.H.g.v:b", "G.H:c"}
		if !slices.Equal(calls, want) {
			t.Errorf("got  %q\nwant %q", calls, want)
		}
	})
	t.Run("the result is resolved, and may be a group", func(t *testing.T) {
		enc := NewJSON(Options{ReplaceAttr: func(gs []string, a slog.Attr) slog.Attr {
			switch a.Key {
			case "v":
				a.Value = slog.AnyValue(secret("x"))
			case "g":
				return slog.Group("new", b)
			case "e":
				return slog.Group("new")
			}
			return a
		}})
		if got := record(t, enc, slog.Int("v", 1), slog.Int("g", 1), slog.Int("e", 1)); got != `,"v":"REDACTED","new":{"b":1}` {
			t.Errorf("got %s", got)
		}
	})
	t.Run("a panic hides the value", func(t *testing.T) {
		enc := NewJSON(Options{ReplaceAttr: func(gs []string, a slog.Attr) slog.Attr {
			if a.Key == "s" {
				panic("oops")
			}
			return a
		}})
		if got := record(t, enc, slog.Group("g", slog.String("s", "secret")), b); got != `,"g":{"s":"!PANIC: oops"},"b":1` {
			t.Errorf("got %s", got)
		}
	})
	t.Run("the source is a copy", func(t *testing.T) {
		enc := NewJSON(Options{AddSource: true, ReplaceAttr: func(gs []string, a slog.Attr) slog.Attr {
			if src, ok := a.Value.Any().(*slog.Source); ok {
				src.File = "[" + src.File + "]"
			}
			return a
		}})
		r := slog.NewRecord(time.Time{}, 0, "m", pc())
		if first, second := encoded(t, enc, r, nil), encoded(t, enc, r, nil); first != second || strings.Contains(first, "[[") {
			t.Errorf("%s, then %s", first, second)
		}
	})
}

func TestSourceCache(t *testing.T) {
	enc := NewJSON(Options{AddSource: true}).(*JSON)
	for range 2 {
		for pc := uintptr(1); pc < 5000; pc++ {
			r := slog.NewRecord(time.Time{}, 0, "m", pc)
			if at := enc.sources.get(&r); at.pc != pc {
				t.Fatalf("call site %d for %d", at.pc, pc)
			}
		}
	}
	r := slog.NewRecord(time.Time{}, 0, "m", pc())
	want := *r.Source()
	for range 2 {
		if got := enc.sources.get(&r).source; got != want {
			t.Errorf("got %v, want %v", got, want)
		}
	}
}

func TestAppendEvent(t *testing.T) {
	enc := NewJSON(Options{ReplaceAttr: func([]string, slog.Attr) slog.Attr { return slog.Attr{} }}).WithGroup("g")
	b := GetBuffer()
	defer b.Free()
	enc.AppendEvent(b, New(slog.Group("g"), slog.Int("a", 1)))
	enc.AppendEvent(b, Lazy([]byte("{\"a\":\n [1,\r\n2] }\n")))
	enc.AppendEvent(b, Event{})
	if got, want := string(b.B), "{\"g\":{},\"a\":1}\n{\"a\":  [1,\r 2] } \n{}\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestNesting logs from the methods of a value that is being logged.
func TestNesting(t *testing.T) {
	var buf bytes.Buffer
	log := slog.New(handler{NewJSON(Options{}), &buf})
	log.Info("outer", "v", logs{log}, "w", 1)
	checkLine(t, bytes.SplitAfter(buf.Bytes(), []byte("\n"))[0])
	checkLine(t, bytes.SplitAfter(buf.Bytes(), []byte("\n"))[1])
}

type logs struct{ *slog.Logger }

func (l logs) MarshalJSON() ([]byte, error) {
	l.Info("inner", "m", map[string]any{"a": 1})
	return []byte(`"done"`), nil
}

func TestAllocs(t *testing.T) {
	r := tenRecord()
	withMap := r.Clone()
	withMap.AddAttrs(slog.Any("m", map[string]any{"b": 1, "a": []string{"x"}}), slog.Time("t", time.Now()), slog.Group("g", slog.Int("a", 1), slog.Any("f", []float64{1.5})), slog.Any("v", secret("x")))
	extra := []slog.Attr{slog.String("trace", "x")}
	replace := func(gs []string, a slog.Attr) slog.Attr { return a }
	for _, c := range []struct {
		name string
		enc  Encoder
		r    slog.Record
		want float64
	}{
		{"ten", NewJSON(Options{}), r, 0},
		{"source", NewJSON(Options{AddSource: true}), r, 0},
		{"with", NewJSON(Options{}).WithGroup("g").WithAttrs(tenAttrs()).WithGroup("h"), r, 0},
		{"maps, groups, valuers", NewJSON(Options{}), withMap, 0},
		{"replace", NewJSON(Options{ReplaceAttr: replace}).WithGroup("g"), r, 1}, // slog.Any boxes the level
	} {
		var b Buffer // not one of the pool, which loses some under the race detector
		run := func() {
			b.Reset()
			c.enc.AppendRecord(&b, c.r, extra)
		}
		run()
		if got := testing.AllocsPerRun(100, run); got > c.want {
			t.Errorf("%s: %v allocations, want at most %v", c.name, got, c.want)
		}
	}
	line := tenLine()
	if got := testing.AllocsPerRun(100, func() {
		e, _ := Parse(line)
		e.Time()
		e.Level()
		e.Get("status")
		e.Get("cached")
	}); got > 0 {
		t.Errorf("reading: %v allocations", got)
	}
}

// TestBufferKeepsNothing checks that a buffer in the pool does not hold on to what was logged.
func TestBufferKeepsNothing(t *testing.T) {
	enc := NewJSON(Options{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr { return a }}).WithGroup("group")
	r := slog.NewRecord(when, 0, "m", 0)
	m := map[string]any{"a": map[string]string{"b": "c", "d": "e"}, "f": panicJSON{}, "g": []any{map[string]any{"h": structs{}}}}
	cycle := map[string]any{"i": nil}
	cycle["j"] = cycle
	r.AddAttrs(slog.Any("m", m), slog.Group("n", slog.Any("m", m), slog.Any("o", panicJSON{})), slog.Group("p", slog.Any("q", cycle)))
	var b Buffer
	enc.AppendRecord(&b, r, nil)
	checkLine(t, b.B)
	if len(b.keys) != 0 || len(b.groups) != 0 || b.sink.dst != nil {
		t.Errorf("%d keys, %d groups, %d bytes", len(b.keys), len(b.groups), len(b.sink.dst))
	}
	for _, s := range append(b.keys[:cap(b.keys)], b.groups[:cap(b.groups)]...) {
		if s != "" {
			t.Errorf("it holds %q", s)
		}
	}
}

func TestAppendValue(t *testing.T) {
	cycle := []any{nil}
	cycle[0] = cycle
	var b Buffer
	for _, c := range []struct {
		v    slog.Value
		want string
	}{
		{slog.GroupValue(), `{}`},
		{slog.GroupValue(slog.Attr{}, slog.Int("a", 1), slog.Group("g", slog.Attr{})), `{"a":1}`},
		{slog.AnyValue(secret("x")), `"REDACTED"`},
		{slog.AnyValue(errors.New("e")), `"e"`},
		{slog.AnyValue(cycle), `"` + tooDeep + `"`},
		{slog.TimeValue(when), `"2026-11-30T10:46:59.123456789Z"`},
	} {
		if got := string(b.AppendValue([]byte("x"), c.v)); got != "x"+c.want {
			t.Errorf("got %s, want x%s", got, c.want)
		}
	}
	if got := string(AppendFloat(AppendString(nil, "a\n"), math.NaN())); got != `"a\n""NaN"` {
		t.Error(got)
	}
}
