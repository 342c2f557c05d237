package slogkv

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"math/rand/v2"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tracehandler/tracehandler/clp/ir"
	"github.com/tracehandler/tracehandler/event"
	"github.com/tracehandler/tracehandler/internal/corpus"
)

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// stream is a stream under construction.
type stream struct {
	w   *Writer
	out []byte
}

func newStream(t testing.TB) *stream {
	t.Helper()
	return newLimited(t, ir.Limits{})
}

func newLimited(t testing.TB, l ir.Limits) *stream {
	t.Helper()
	w := NewWriter(l)
	out, err := w.AppendPreamble(nil)
	check(t, err)
	return &stream{w: w, out: out}
}

func (s *stream) add(t testing.TB, packed []byte) {
	t.Helper()
	var err error
	s.out, err = s.w.Append(s.out, packed)
	check(t, err)
}

// lines reads the stream back.
func (s *stream) lines(t testing.TB) [][]byte {
	t.Helper()
	r, err := ir.NewReader(bytes.NewReader(append(s.out, 0)), nil)
	check(t, err)
	d := NewDecoder(r)
	var lines [][]byte
	for e, err := range r.All() {
		check(t, err)
		line, err := d.AppendLine(nil, e)
		check(t, err)
		lines = append(lines, line)
		var b textBuilder
		ok, err := d.Build(&b, e)
		check(t, err)
		if ok && "{"+string(b)+"}" != string(line) {
			t.Errorf("built {%s}\nwant   %s", b, line)
		}
	}
	return lines
}

// textBuilder makes text of what it is given: the members of an object.
type textBuilder []byte

func (b *textBuilder) key(key string) {
	if n := len(*b); n > 0 && (*b)[n-1] != '{' {
		*b = append(*b, ',')
	}
	*b = append(event.AppendString(*b, key), ':')
}

func (b *textBuilder) Open(key string)             { b.Raw(key, []byte("{")) }
func (b *textBuilder) Close()                      { *b = append(*b, '}') }
func (b *textBuilder) Int(key string, v int64)     { b.Raw(key, strconv.AppendInt(nil, v, 10)) }
func (b *textBuilder) Float(key string, v float64) { b.Raw(key, event.AppendFloat(nil, v)) }
func (b *textBuilder) Bool(key string, v bool)     { b.Raw(key, strconv.AppendBool(nil, v)) }
func (b *textBuilder) Null(key string)             { b.Raw(key, []byte("null")) }
func (b *textBuilder) String(key string, v []byte) { b.Raw(key, event.AppendString(nil, string(v))) }
func (b *textBuilder) Time(key string, v time.Time) {
	b.Raw(key, []byte(`"`+v.Format(time.RFC3339Nano)+`"`))
}

func (b *textBuilder) Raw(key string, text []byte) {
	b.key(key)
	*b = append(*b, text...)
}

func equal(t testing.TB, got, want []byte) {
	t.Helper()
	w, err := event.Parse(bytes.TrimSpace(want))
	check(t, err)
	g, err := event.Parse(got)
	if err != nil || !event.Equal(g, w) {
		t.Errorf("differ (%v):\n got %s\nwant %s", err, got, want)
	}
}

type valuer struct{ v slog.Value }

func (v valuer) LogValue() slog.Value { return v.v }

type panics struct{}

func (*panics) Error() string { panic("no text") }

type panicValuer struct{}

func (panicValuer) LogValue() slog.Value { panic("no value") }

type marshaler struct{}

func (marshaler) MarshalJSON() ([]byte, error) { return []byte(`{"a": 1.0, "b": [1, 2.50]}`), nil }

type brokenMarshaler struct{}

func (brokenMarshaler) MarshalJSON() ([]byte, error) { return nil, errors.New("broken") }

type point struct {
	X, Y float32
	Name string `json:"name,omitempty"`
}

// attrs has every kind of attribute that there is a rule for.
var attrs = []slog.Attr{
	slog.String("s", "word"), slog.String("two words", "took 12.50 ms on node_7"), slog.String("", "empty key"), slog.String("bad\xff", "bad\xff \x00"),
	slog.Int("i", 0), slog.Int64("min", math.MinInt64), slog.Int64("max", math.MaxInt64),
	slog.Uint64("u", 7), slog.Uint64("umax", math.MaxUint64), slog.Uint64("u63", 1<<63),
	slog.Float64("f", 1.5), slog.Float64("whole", 3), slog.Float64("zero", math.Copysign(0, -1)), slog.Float64("big", 1e20), slog.Float64("huge", 1e300),
	slog.Float64("tiny", 5e-324), slog.Float64("nan", math.NaN()), slog.Float64("inf", math.Inf(1)), slog.Float64("ninf", math.Inf(-1)),
	slog.Bool("t", true), slog.Bool("f", false), slog.Duration("d", 1500*time.Millisecond),
	slog.Time("time2", time.Date(2024, 2, 29, 1, 2, 3, 40_000, time.UTC)), slog.Time("far", time.Date(12345, 1, 1, 0, 0, 0, 0, time.FixedZone("", 3600))),
	slog.Any("nil", nil), slog.Attr{}, slog.Group("g", slog.Int("a", 1), slog.Group("h", slog.String("b", "x y"))), slog.Group("empty"),
	slog.Group("", slog.Int("inlined", 1)), slog.Group("only empty", slog.Group("inner")), slog.Any("lv", valuer{slog.GroupValue(slog.Int("n", 3))}),
	slog.Any("lv2", valuer{slog.AnyValue(valuer{slog.StringValue("deep")})}), slog.Any("panic", panicValuer{}), slog.Any("err", errors.New("an error")),
	slog.Any("perr", (*panics)(nil)), slog.Any("perr2", &panics{}), slog.Any("bytes", []byte("hello world")), slog.Any("nobytes", []byte(nil)),
	slog.Any("ss", []string{"a", "b c"}), slog.Any("is", []int{1, 2}), slog.Any("anys", []any{1, "x", nil, 2.5, map[string]any{"k": 1}}),
	slog.Any("map", map[string]any{"b": 1, "a": map[string]any{}, "c": []any{}}), slog.Any("point", point{1, 2.25, "n"}), slog.Any("pp", &point{Y: 0.1}),
	slog.Any("f32", float32(0.1)), slog.Any("f32w", float32(16777216)), slog.Any("level", slog.LevelWarn+1), slog.Any("raw", json.RawMessage(`{"z":1.0,"y":[1.0],"w":1e5}`)),
	slog.Any("num", json.Number("1.10")), slog.Any("num2", json.Number("123456789012345678901234567890")), slog.Any("num3", json.Number("1e999")),
	slog.Any("num4", json.Number("-0")), slog.Any("num5", json.Number("1.0")), slog.Any("m", marshaler{}), slog.Any("bm", brokenMarshaler{}),
	slog.Any("chan", make(chan int)), slog.Any("src", &slog.Source{Function: "f", File: "x.go", Line: 3}), slog.Any("attrs", []slog.Attr{slog.Int("a", 1)}),
	slog.String("message", "not the message"), slog.String("msg", "again"), slog.Int("time", 1), slog.Int("g", 5), slog.Group("g", slog.Int("c", 9)),
	slog.Any("i8", int8(-3)), slog.Any("u8", uint8(200)), slog.Any("lvls", slog.LevelError), slog.String("quote\"", "\"\\\n\u2028"),
}

func TestRecordsAgreeWithJSON(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	s := newStream(t)
	var want [][]byte
	var pc [1]uintptr
	runtime.Callers(1, pc[:])
	replace := func(groups []string, a slog.Attr) slog.Attr {
		switch a.Key {
		case "i", "nan":
			return slog.Attr{}
		case "s":
			return slog.String(strings.Join(append(groups, "renamed"), "."), "replaced")
		case "u":
			return slog.Any("u", valuer{slog.GroupValue(slog.Int("s", 1))})
		case "d":
			panic("in replace")
		}
		return a
	}
	dropTime := func(groups []string, a slog.Attr) slog.Attr {
		if len(groups) == 0 && (a.Key == slog.TimeKey || a.Key == slog.SourceKey) {
			return slog.Attr{}
		}
		return a
	}
	odd := func(groups []string, a slog.Attr) slog.Attr {
		if len(groups) == 0 {
			switch a.Key {
			case slog.LevelKey:
				return slog.String("severity", a.Value.String())
			case slog.MessageKey:
				return slog.Group("msg", slog.String("s", a.Value.String()))
			}
		}
		return a
	}
	pick := func(n int) []slog.Attr {
		var out []slog.Attr
		for range r.IntN(n + 1) {
			out = append(out, attrs[r.IntN(len(attrs))])
		}
		return out
	}
	for range 5000 {
		o := event.Options{AddSource: r.IntN(2) == 0}
		switch r.IntN(8) {
		case 0:
			o.ReplaceAttr = replace
		case 1:
			o.ReplaceAttr = dropTime
		case 2:
			o.ReplaceAttr = odd
		}
		var kv, js event.Encoder = NewEncoderWith(Options{Options: o, ViewerKeys: r.IntN(4) == 0}), event.NewJSON(o)
		for range r.IntN(4) {
			if r.IntN(2) == 0 {
				name := fmt.Sprint("group", r.IntN(3))
				kv, js = kv.WithGroup(name), js.WithGroup(name)
			} else {
				a := pick(3)
				kv, js = kv.WithAttrs(a), js.WithAttrs(a)
			}
		}
		when := time.Unix(r.Int64N(4e9)-1e9, r.Int64N(1e9))
		switch r.IntN(6) {
		case 0:
			when = time.Time{}
		case 1:
			when = when.In(time.FixedZone("", int(r.Int64N(50_000)-25_000)))
		case 2:
			when = when.UTC().Truncate(time.Second)
		case 3:
			when = time.Unix(math.MaxInt64/4, 5)
		}
		rec := slog.NewRecord(when, slog.Level(r.IntN(30)-12), attrsMessage(r), 0)
		if r.IntN(2) == 0 {
			rec.PC = pc[0]
		}
		rec.AddAttrs(pick(6)...)
		extra := pick(1)
		var a, b event.Buffer
		kv.AppendRecord(&a, rec, extra)
		js.AppendRecord(&b, rec, extra)
		s.add(t, a.B)
		want = append(want, bytes.Clone(b.B))
	}
	got := s.lines(t)
	if len(got) != len(want) {
		t.Fatalf("%d events, want %d", len(got), len(want))
	}
	for i := range got {
		if equal(t, got[i], want[i]); t.Failed() {
			t.Fatalf("event %d", i)
		}
	}
}

func attrsMessage(r *rand.Rand) string {
	return [...]string{"", "hello", "request 12 took 1.50 ms", "bad \xff", "user=alice", "世界 12"}[r.IntN(6)]
}

func TestLinesSurvive(t *testing.T) {
	lines := []string{
		`{}`, `{"a":1}`, `{"a":{}}`, `{"a":{"b":{}},"c":[]}`, `{"a":null}`, `{"a":1,"a":2}`, `{"a":{"b":1},"x":2,"a":{"c":3}}`, `{"a":1,"a":{"b":2},"a":"x"}`,
		`{"time":"2026-11-30T10:46:59.123456789Z","level":"INFO","msg":"m"}`, `{"time":"2026-11-30T10:46:59.1+01:00","level":"WARN+1","source":{"function":"f","file":"x","line":1},"msg":"m","a":1}`,
		`{"level":"INFO","msg":"m","message":"x"}`, `{"msg":"m","level":"INFO"}`, `{"time":"yesterday","level":"INFO","msg":"m"}`, `{"level":"info","msg":"m"}`,
		`{"time":"2026-11-30T10:46:59.120Z","level":"INFO","msg":"m"}`, `{"level":"INFO","msg":5}`, `{"level":"INFO","source":{"file":"x","extra":1},"msg":"m"}`,
		`{"level":"INFO","source":{},"msg":"m"}`, `{"level":"INFO","source":null,"msg":"m"}`, `{"message":"m","timestamp":"2026-11-30T10:46:59Z","severity":"error"}`,
		`{"x":1.0,"y":2.50,"z":1e5,"w":-0,"v":-0.0,"u":1e999,"t":18446744073709551615,"s":123456789012345678901234567890,"r":0.1}`, `{"x":1.0}`, `{"x":1.0,"y":1.5,"z":3}`,
		`{"x":1.0,"y":1e20,"z":100000000000000000000}`, `{"x":[1.0,1e999,{"a":1,"a":2}]}`, ` { "a" : [ 1 , "x y" ] , "b" : { } } `, `{"":{"":""}}`, `{"a":"\ud800 \u0000\u2028 \"\\\/"}`,
		`{"a":"\ud83d\ude00"}`, `{"timestamp":{"unix_millisecs":5},"level":{"name":"INFO","num":3},"exact":{"json":"{}"}}`, `{"@":1,"@level":{"x":1}}`,
		`{"deep":` + strings.Repeat(`{"d":`, 1100) + `1` + strings.Repeat(`}`, 1100) + `,"message":"m"}`, `{"level":"INFO","msg":"deep","deep":` + strings.Repeat(`{"d":`, 1100) + `{}` + strings.Repeat(`}`, 1101),
	}
	s := newStream(t)
	for _, viewer := range []bool{false, true} {
		enc := NewEncoderWith(Options{ViewerKeys: viewer})
		for _, line := range lines {
			ev, err := event.Parse([]byte(line))
			check(t, err)
			var b event.Buffer
			enc.AppendEvent(&b, ev)
			s.add(t, b.B)
		}
	}
	lines = append(lines, lines...)
	for i, got := range s.lines(t) {
		equal(t, got, []byte(lines[i]))
		// Numbers keep their spelling.
		a, _ := event.Lazy(got).Attrs()
		w, _ := event.Lazy([]byte(lines[i])).Attrs()
		if fmt.Sprint(a) != fmt.Sprint(w) {
			t.Errorf("spelled differently:\n got %s\nwant %s", got, lines[i])
		}
	}
}

func TestCorporaSurvive(t *testing.T) {
	enc := NewEncoder(event.Options{})
	for _, kind := range []corpus.Kind{corpus.Demo, corpus.Service, corpus.Spans} {
		var lines bytes.Buffer
		_, err := corpus.WriteNDJSON(&lines, kind, 1, 2000)
		check(t, err)
		s := newStream(t)
		want := bytes.Split(bytes.TrimSpace(lines.Bytes()), []byte("\n"))
		for _, line := range want {
			var b event.Buffer
			enc.AppendEvent(&b, event.Lazy(line))
			s.add(t, b.B)
		}
		for i, got := range s.lines(t) {
			equal(t, got, want[i])
			if !bytes.Equal(got, want[i]) {
				t.Fatalf("another text:\n got %s\nwant %s", got, want[i])
			}
		}
	}
}

// TestKeyLimit writes more keys than a stream may have: the events survive.
func TestKeyLimit(t *testing.T) {
	s := newLimited(t, ir.Limits{Keys: 40})
	var want [][]byte
	for i := range 100 {
		rec := slog.NewRecord(time.Unix(1, 0), slog.LevelInfo, "m", 0)
		rec.Add(fmt.Sprint("key", i), i)
		var a, b event.Buffer
		NewEncoder(event.Options{}).AppendRecord(&a, rec, nil)
		event.NewJSON(event.Options{}).AppendRecord(&b, rec, nil)
		s.add(t, a.B)
		want = append(want, b.B)
	}
	for i, got := range s.lines(t) {
		equal(t, got, want[i])
	}
}

// TestOddStrings writes lines whose strings are not ones of Unicode: nothing is lost.
func TestOddStrings(t *testing.T) {
	for _, c := range []struct{ line, want, user string }{
		{`{"level":"INFO","msg":"half \ud800","a":1}`, "", `{"message":"half �","a":1}`},
		{`{"a":"\udc00\ud800","b":18446744073709551615}`, "", `{"a":"��","b":"18446744073709551615"}`},
		{"{\"a\":\"\xff\\\"\xc3\",\"k\xe4\":[\"\x80\"]}", `{"a":"\udcff\"\udcc3","k\udce4":["\udc80"]}`, ""},
		{`{"a":"\ud83d\ude00 \\ud800"}`, `{"a":"😀 \\ud800"}`, `{"a":"😀 \\ud800"}`},
	} {
		s := newStream(t)
		var b event.Buffer
		NewEncoder(event.Options{}).AppendEvent(&b, event.Lazy([]byte(c.line)))
		s.add(t, b.B)
		want := c.want
		if want == "" {
			want = c.line
		}
		got := s.lines(t)[0]
		if string(got) != want || !event.Equal(event.Lazy(got), event.Lazy([]byte(c.line))) {
			t.Errorf("%q:\n got %s\nwant %s", c.line, got, want)
		}
		if c.user == "" {
			continue
		}
		r, err := ir.NewReader(bytes.NewReader(append(s.out, 0)), nil)
		check(t, err)
		e, err := r.Next()
		check(t, err)
		if user, err := e.AppendObject(nil, ir.User); err != nil || string(user) != c.user {
			t.Errorf("%q: others see %s, %v, want %s", c.line, user, err, c.user)
		}
	}
}

func TestViewerKeys(t *testing.T) {
	s := newStream(t)
	var b event.Buffer
	rec := slog.NewRecord(time.UnixMilli(1700000000250), slog.LevelWarn, "m", 0)
	rec.Add("a", 1)
	NewEncoderWith(Options{ViewerKeys: true}).AppendRecord(&b, rec, nil)
	s.add(t, b.B)
	r, err := ir.NewReader(bytes.NewReader(append(s.out, 0)), nil)
	check(t, err)
	e, err := r.Next()
	check(t, err)
	got, err := e.AppendObject(nil, ir.User)
	check(t, err)
	if want := `{"timestamp":1700000000250,"log":{"level":"WARN"},"message":"m","a":1}`; string(got) != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestForeignStream(t *testing.T) {
	var b ir.Builder
	b.Open("timestamp")
	b.Int("unix_millisecs", 1700000000250)
	b.Int("utc_offset_secs", 3600)
	b.String("source", "clock")
	b.Close()
	b.Open("level")
	b.String("name", "INFO")
	b.Int("num", 20)
	b.Close()
	b.Open("source_location")
	b.String("path", "main.py")
	b.Int("line", 7)
	b.Close()
	b.Open("exact")
	b.Bool("point", true)
	b.Close()
	b.String("host", "a b")
	b.User()
	b.String("message", "hello")
	b.Float("f", 3)
	var out bytes.Buffer
	w, err := ir.NewKVWriter(&out, nil)
	check(t, err)
	check(t, w.Write(&b))
	check(t, w.Close())
	r, err := ir.NewReader(&out, nil)
	check(t, err)
	e, err := r.Next()
	check(t, err)
	line, err := NewDecoder(r).AppendLine(nil, e)
	check(t, err)
	want := `{"time":"2023-11-14T23:13:20.25+01:00","level":"INFO","source":{"file":"main.py","line":7},"message":"hello","f":3.0,` +
		`"@":{"timestamp":{"source":"clock"},"level":{"num":20},"exact":{"point":true},"host":"a b"}}`
	if string(line) != want {
		t.Errorf("got %s\nwant %s", line, want)
	}
}

// TestAppendForeign has objects that are not as expected: nothing is lost, and an object stays where it is.
func TestAppendForeign(t *testing.T) {
	for _, c := range [][3]string{
		{`{"a":1}`, `{}`, `{"a":1}`},
		{`{}`, `{}`, `{}`},
		{`{ }`, `{"level":{"name":"INFO"}}`, `{"level":"INFO"}`},
		{` {"a":1} `, ` {"level" : {"name" : "INFO", "x":{"y":1}} } `, `{"level":"INFO","a":1,"@":{"level":{"x":{"y":1}}}}`},
		{`{}`, `{"level":{},"timestamp":5,"source_location":null}`, `{"@":{"level":{},"timestamp":5,"source_location":null}}`},
		{`{}`, `{"level":{"name":7},"timestamp":{"unix_millisecs":1.0},"source_location":{"line":"7","path":["x"]}}`,
			`{"@":{"level":{"name":7},"timestamp":{"unix_millisecs":1.0},"source_location":{"line":"7","path":["x"]}}}`},
		{`{"time":1}`, `{"timestamp":{"unix_millisecs":1000},"a\u00e9\"}":["}",{"x":"{"}]}`, `{"time":"1970-01-01T00:00:01Z","time":1,"@":{"a\u00e9\"}":["}",{"x":"{"}]}}`},
		{`5`, `{"level":{"name":"INFO"}}`, `5`},
		{``, `{"level":{"name":"INFO"}}`, ``},
		{`{"a":1}`, `{"level":}}`, `{"a":1}`},
		{`{"a":1}`, `[]`, `{"a":1}`},
		{`{"a":1}`, ``, `{"a":1}`},
	} {
		if got := AppendForeign([]byte("> "), []byte(c[0]), []byte(c[1])); string(got) != "> "+c[2] {
			t.Errorf("%s %s: got %s\nwant %s", c[0], c[1], got, c[2])
		}
	}
}

func TestTextStream(t *testing.T) {
	var out bytes.Buffer
	w, err := ir.NewTextWriter(&out, nil)
	check(t, err)
	check(t, w.Write(1700000000250, []byte(" WARN took 12.50 ms\n")))
	check(t, w.WriteUTCOffset(3600_000))
	check(t, w.Write(-1, []byte("no level\n\n")))
	check(t, w.Close())
	r, err := ir.NewReader(&out, nil)
	check(t, err)
	d := NewDecoder(r)
	var got []string
	for e, err := range r.All() {
		check(t, err)
		line, err := d.AppendLine(nil, e)
		check(t, err)
		got = append(got, string(line))
	}
	want := []string{`{"time":"2023-11-14T22:13:20.25Z","level":"WARN","msg":" WARN took 12.50 ms"}`, `{"time":"1970-01-01T00:59:59.999+01:00","msg":"no level\n"}`}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got %q", got)
	}
}
