package event

import (
	"bytes"
	"encoding/json"
	"errors"
	"log/slog"
	"math"
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
