package event

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestParseErrors(t *testing.T) {
	for _, c := range []struct {
		line string
		want string
	}{
		{"", "event: offset 0: expected an object, the line ends"},
		{"  ", "event: offset 2: expected an object, the line ends"},
		{"[1]", "event: offset 0: expected an object, found '['"},
		{"\xef\xbb\xbf{}", `event: offset 0: expected an object, found '\ufeff'`},
		{"{", "event: offset 1: expected a key in quotes, the line ends"},
		{"{}x", "event: offset 2: expected nothing after the object, found 'x'"},
		{"{} {}", "event: offset 3: expected nothing after the object, found '{'"},
		{"{a:1}", "event: offset 1: expected a key in quotes, found 'a'"},
		{`{"a"}`, "event: offset 4: expected ':' after a key, found '}'"},
		{`{"a":}`, "event: offset 5: expected a value, found '}'"},
		{`{"a":1,}`, "event: offset 7: expected a key in quotes, found '}'"},
		{`{,"a":1}`, "event: offset 1: expected a key in quotes, found ','"},
		{`{"a":1 "b":2}`, "event: offset 7: expected ',' or '}' after a member, found '\"'"},
		{`{"a":[1 2]}`, "event: offset 8: expected ',' or ']' after an element, found '2'"},
		{`{"a":[1,]}`, "event: offset 8: expected a value, found ']'"},
		{`{"a":[1}`, "event: offset 7: expected ',' or ']' after an element, found '}'"},
		{`{"a":01}`, "event: offset 6: expected ',' or '}' after a member, found '1'"},
		{`{"a":-}`, "event: offset 6: expected a digit of a number, found '}'"},
		{`{"a":1.}`, "event: offset 7: expected a digit of a number, found '}'"},
		{`{"a":1e+}`, "event: offset 8: expected a digit of a number, found '}'"},
		{`{"a":.5}`, "event: offset 5: expected a value, found '.'"},
		{`{"a":+1}`, "event: offset 5: expected a value, found '+'"},
		{`{"a":NaN}`, "event: offset 5: expected a value, found 'N'"},
		{`{"a":tru}`, "event: offset 5: expected true, false or null, found 't'"},
		{`{"a":nul`, "event: offset 5: expected true, false or null, found 'n'"},
		{`{"a":"b`, "event: offset 7: the string does not end"},
		{`{"a":"b\`, "event: offset 7: unknown escape in a string"},
		{`{"a":"\x41"}`, "event: offset 6: unknown escape in a string"},
		{`{"a":"\u12g4"}`, "event: offset 6: unknown escape in a string"},
		{"{\"a\":\"b\tc\"}", "event: offset 7: control character 0x09 in a string"},
		{"{\"a\x00\":1}", "event: offset 3: control character 0x00 in a string"},
	} {
		_, err := Parse([]byte(c.line))
		if err == nil || err.Error() != c.want {
			t.Errorf("%q: %v, want %s", c.line, err, c.want)
		}
		var syntax *SyntaxError
		if !errors.As(err, &syntax) {
			t.Errorf("%q: a %T", c.line, err)
		}
		if _, err := Lazy([]byte(c.line)).Attrs(); err == nil || err.Error() != c.want {
			t.Errorf("%q: Attrs: %v, want %s", c.line, err, c.want)
		}
	}
}

func TestDepth(t *testing.T) {
	for _, c := range [][2]string{{"[", "]"}, {`{"a":`, "}"}, {`[{"a":`, "}]"}} {
		levels := strings.Count(c[0], "[") + strings.Count(c[0], "{")
		text := func(depth int) []byte {
			n := (depth - 1) / levels
			return []byte(`{"x":` + strings.Repeat(c[0], n) + "1" + strings.Repeat(c[1], n) + "}")
		}
		e, err := Parse(text(MaxDepth))
		if err != nil {
			t.Fatal(err)
		}
		attrs, err := e.Attrs()
		if err != nil || !Equal(e, New(attrs...)) {
			t.Errorf("%s: %v, or not equal", c, err)
		}
		if _, err := Parse(text(MaxDepth + 2)); !errors.Is(err, ErrDepth) {
			t.Errorf("%s: %v", c, err)
		}
		if _, err := Lazy(text(1 << 20)).Attrs(); !errors.Is(err, ErrDepth) {
			t.Errorf("%s: %v", c, err)
		}
		Lazy(text(1 << 20)).Get("y")
		Lazy(text(1 << 20)).Get("x")
	}
}

func TestAttrs(t *testing.T) {
	for _, c := range []struct {
		json string
		want any // of slog.Value.Any
	}{
		{`null`, nil}, {`true`, true}, {`false`, false}, {`""`, ""},
		{`0`, int64(0)}, {`-0`, math.Copysign(0, -1)}, {`1`, int64(1)}, {`-17`, int64(-17)}, {`999999999999999999`, int64(999999999999999999)},
		{`9223372036854775807`, int64(math.MaxInt64)}, {`-9223372036854775808`, int64(math.MinInt64)},
		{`9223372036854775808`, uint64(1 << 63)}, {`18446744073709551615`, uint64(math.MaxUint64)},
		{`18446744073709551616`, json.Number("18446744073709551616")}, {`-9223372036854775809`, json.Number("-9223372036854775809")},
		{`100000000000000000000`, 1e20}, {`1e+21`, 1e21}, {`1e21`, json.Number("1e21")}, {`1E5`, json.Number("1E5")}, {`1e5`, json.Number("1e5")},
		{`0.5`, 0.5}, {`-0.5`, -0.5}, {`1.0`, json.Number("1.0")}, {`0.10`, json.Number("0.10")}, {`1e-7`, 1e-7}, {`1e-07`, json.Number("1e-07")}, {`0.0000001`, json.Number("0.0000001")},
		{`1e999`, json.Number("1e999")}, {`-1.2345678901234567e-308`, -1.2345678901234567e-308}, {`123456789012345678901234567890`, json.Number("123456789012345678901234567890")},
		{`0.1000000000000000055511151231257827`, json.Number("0.1000000000000000055511151231257827")},
		{`"a\"\\\/\b\f\n\r\tb"`, "a\"\\/\b\f\n\r\tb"}, {`"\u00e9\u65E5"`, "é日"}, {`"\ud83c\udf89!"`, "🎉!"},
		{`"\ud83c"`, "\ufffd"}, {`"\udf89\ud83c"`, "\ufffd\ufffd"}, {`"\ud83c\u0041"`, "\ufffdA"}, {`"\ud83cx"`, "\ufffdx"}, {`"\ud83c\n"`, "\ufffd\n"},
		{"\"\xff\xc3é\xed\xa0\x80\"", "\ufffd\ufffdé\ufffd\ufffd\ufffd"}, {"\"\\n\xff\"", "\n\ufffd"}, {`"\u0000"`, "\x00"},
		{`[]`, []any{}}, {`[ 1 , "a",[null,true] , 1.50, 18446744073709551615 ]`, []any{int64(1), "a", []any{nil, true}, json.Number("1.50"), uint64(math.MaxUint64)}},
		{`[{"b":1,"a":[{}]}]`, []any{New(slog.Int("b", 1), slog.Any("a", []any{New([]slog.Attr{}...)}))}},
	} {
		line := []byte(" {\t\"k\" :\n" + c.json + " }\r\n")
		e, err := Parse(line)
		if err != nil {
			t.Errorf("%s: %v", c.json, err)
			continue
		}
		attrs, err := e.Attrs()
		if err != nil || len(attrs) != 1 || attrs[0].Key != "k" {
			t.Errorf("%s: %v, %v", c.json, attrs, err)
			continue
		}
		got := attrs[0].Value.Any()
		if !same(got, c.want) {
			t.Errorf("%s: got %#v, want %#v", c.json, got, c.want)
		}
		v, ok := e.Get("k")
		if !ok || !same(v.Any(), c.want) {
			t.Errorf("%s: Get: %#v, want %#v", c.json, v.Any(), c.want)
		}
		for a := range Lazy(line).All() {
			if !same(a.Value.Any(), c.want) {
				t.Errorf("%s: All: %#v, want %#v", c.json, a.Value.Any(), c.want)
			}
		}
		// Attributes keep the text of numbers.
		if n, ok := got.(json.Number); ok && string(n) != c.json {
			t.Errorf("%s became %s", c.json, n)
		}
		if back := string(New(attrs...).AppendJSON(nil)); isNumber(c.json[0]) && back != `{"k":`+c.json+`}` {
			t.Errorf("%s became %s", c.json, back)
		}
	}
}

func same(a, b any) bool {
	if f, ok := a.(float64); ok {
		g, ok := b.(float64)
		return ok && math.Float64bits(f) == math.Float64bits(g)
	}
	return reflect.DeepEqual(a, b)
}

func TestOrder(t *testing.T) {
	const text = `{"z":1,"a":{"y":{},"":{"":null},"x":[{}],"y":2},"z":2,"":null,"b":[[],{"q":1,"q":{}}]}`
	e, err := Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	attrs, _ := e.Attrs()
	if got := string(New(attrs...).AppendJSON(nil)); got != text {
		t.Errorf("got  %s\nwant %s", got, text)
	}
	if got := string(New(slices.Collect(e.All())...).AppendJSON(nil)); got != text {
		t.Errorf("All: got  %s\nwant %s", got, text)
	}
	if attrs[1].Value.Kind() != slog.KindGroup || len(attrs[1].Value.Group()) != 4 || attrs[1].Value.Group()[0].Value.Kind() != slog.KindGroup {
		t.Errorf("groups: %v", attrs[1].Value)
	}
	n := 0
	for range e.All() {
		n++
		break
	}
	if n != 1 {
		t.Error("All goes on")
	}
}

func TestGet(t *testing.T) {
	const text = ` { "a" : 1, "b" : {"c":{"d":"x"}, "c":2 }, "a":2, "k\u0065y":[1], "é":3, "\ud83c":4, "n":null, "e":{} }`
	parsed, err := Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	attrs, _ := parsed.Attrs()
	for name, e := range map[string]Event{"parsed": parsed, "lazy": Lazy([]byte(text)), "attrs": New(attrs...)} {
		for _, c := range []struct {
			path string
			want string // "" is not found
		}{
			{"a", "1"}, {"b.c.d", "x"}, {"b.c.d.e", ""}, {"b.x", ""}, {"x", ""}, {"a.b", ""}, {"key", "[1]"}, {"key.0", ""}, {"é", "3"}, {"\ufffd", "4"}, {"n", "<nil>"}, {"e.x", ""},
			{"b.c", "[d=x]"}, {"e", "[]"},
		} {
			v, ok := e.Get(strings.Split(c.path, ".")...)
			if got := v.String(); ok != (c.want != "") || ok && got != c.want {
				t.Errorf("%s, %s: %v, %v, want %s", name, c.path, got, ok, c.want)
			}
		}
		if _, ok := e.Get(); ok {
			t.Errorf("%s: found nothing", name)
		}
	}
	e := New(slog.Any("m", map[string]any{"a": map[string]int{"b": 7}}), slog.Any("v", valuer{slog.GroupValue(slog.Int("x", 1))}), slog.Any("e", Lazy([]byte(`{"y":2}`))), slog.Any("s", struct{ A []int }{[]int{1}}))
	for path, want := range map[string]int64{"m.a.b": 7, "v.x": 1, "e.y": 2} {
		if v, ok := e.Get(strings.Split(path, ".")...); !ok || v.Int64() != want {
			t.Errorf("%s: %v, %v", path, v, ok)
		}
	}
	if v, ok := e.Get("s", "A"); !ok || fmt.Sprint(v) != "[1]" {
		t.Errorf("s.A: %v, %v", v, ok)
	}
}

// TestCut looks into every prefix of a line: what is before the cut is found, and nothing else.
func TestCut(t *testing.T) {
	const text = `{"a":"x","b":{"c":[1,{"d":"\u00e9"}],"e":-1.5e3},"f":true,"g":null}`
	keys := []string{"a", "b", "f", "g"}
	for n := range len(text) {
		e := Lazy([]byte(text[:n]))
		if _, err := e.Attrs(); err == nil {
			t.Errorf("%s: no error", text[:n])
		}
		i := 0
		for a := range e.All() {
			if a.Key != keys[i] {
				t.Errorf("%s: %s", text[:n], a.Key)
			}
			i++
		}
		for _, k := range append(keys, "x") {
			_, ok := e.Get(k)
			if want := slices.Contains(keys[:i], k); ok != want {
				t.Errorf("%s: Get(%s) %v, want %v", text[:n], k, ok, want)
			}
		}
		e.Time()
		if got := string(e.AppendJSON(nil)); got != text[:n] {
			t.Errorf("%s became %s", text[:n], got)
		}
	}
}

func TestBuiltins(t *testing.T) {
	for _, c := range []struct {
		line  string
		time  string // "" is none
		level string
		msg   string
	}{
		{`{"time":"2026-11-30T10:46:59.5Z","level":"INFO+2","msg":"m\n"}`, "2026-11-30T10:46:59.5Z", "INFO+2", "m\n"},
		{`{"time":"2026-11-30T10:46:59.5+02:00","level":"WARN","msg":""}`, "2026-11-30T08:46:59.5Z", "WARN", "\"\""},
		{`{"ts":1.7000000002500e9}`, "2023-11-14T22:13:20.25Z", "", ""},
		{`{"level":"info","ts":1700000000.25,"message":"zap"}`, "2023-11-14T22:13:20.25Z", "INFO", "zap"},
		{`{"level":30,"time":1700000000250,"msg":"pino"}`, "2023-11-14T22:13:20.25Z", "INFO", "pino"},
		{`{"level":10,"time":1700000000000250}`, "2023-11-14T22:13:20.00025Z", "DEBUG-4", ""},
		{`{"level":60,"time":1700000000000000250}`, "2023-11-14T22:13:20.00000025Z", "ERROR+4", ""},
		{`{"level":-4,"time":-1.5}`, "1969-12-31T23:59:58.5Z", "DEBUG", ""},
		{`{"severity":"WARNING","timestamp":"2026-11-30 10:46:59,123"}`, "2026-11-30T10:46:59.123Z", "WARN", ""},
		{`{"levelname":"CRITICAL","@timestamp":"2026-11-30T10:46:59.123456"}`, "2026-11-30T10:46:59.123456Z", "ERROR+4", ""},
		{`{"lvl":"trace","timestamp":"\u00322026-11-30T10:46:59+0100","time":"\u0032026-11-30T10:46:59Z"}`, "2026-11-30T10:46:59Z", "DEBUG-4", ""},
		{`{"level":{"a":1},"time":null,"msg":5,"log.level":"err"}`, "", "ERROR", ""},
		{`{"level":"loud","time":"soon","msg":[]}`, "", "", ""},
		{`{"level":1e99,"time":1e300}`, "", "", ""},
		{`{}`, "", "", ""},
	} {
		e, err := Parse([]byte(c.line))
		if err != nil {
			t.Fatal(err)
		}
		attrs, _ := e.Attrs()
		for _, e := range []Event{e, New(attrs...)} {
			if got, ok := e.Time(); ok != (c.time != "") || ok && got.UTC().Format(time.RFC3339Nano) != c.time {
				t.Errorf("%s: time %v, %v", c.line, got, ok)
			}
			if got, ok := e.Level(); ok != (c.level != "") || ok && got.String() != c.level {
				t.Errorf("%s: level %v, %v", c.line, got, ok)
			}
			if got, ok := e.Message(); ok != (c.msg != "") || ok && got != strings.Trim(c.msg, `"`) {
				t.Errorf("%s: message %q, %v", c.line, got, ok)
			}
		}
	}
	for _, e := range []Event{Lazy([]byte(`{"time":1e400,"severity":"x","message":"m","ts":1,"lvl":"warn"}`)), New(slog.Int("ts", 1), slog.String("lvl", "warn"), slog.String("message", ""))} {
		time, ok1 := e.TimeKey()
		level, ok2 := e.LevelKey()
		message, ok3 := e.MessageKey()
		if !ok1 || !ok2 || !ok3 || time != "ts" || level != "lvl" || message != "message" {
			t.Errorf("%s: keys %q, %q, %q", e.AppendJSON(nil), time, level, message)
		}
	}
	if key, ok := (Event{}).TimeKey(); ok || key != "" {
		t.Error(key)
	}
	e := New(slog.Time("time", when), slog.Any("level", slog.LevelWarn+1), slog.String("msg", "x"))
	if got, ok := e.Time(); !ok || !got.Equal(when) {
		t.Error(got, ok)
	}
	if got, ok := e.Level(); !ok || got != slog.LevelWarn+1 {
		t.Error(got, ok)
	}
	// All levels that log/slog writes.
	for l := slog.Level(-20); l < 20; l++ {
		if got, ok := New(slog.String("level", l.String())).Level(); !ok || got != l {
			t.Errorf("%v became %v, %v", l, got, ok)
		}
	}
}

func TestEqual(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{`{}`, ` { } `, true},
		{`{"a":1}`, `{ "a" : 1.0 }`, true}, {`{"a":1}`, `{"\u0061":10e-1}`, true}, {`{"a":100}`, `{"a":1E+2}`, true}, {`{"a":0}`, `{"a":-0.00e5}`, true},
		{`{"a":0.1}`, `{"a":0.10000000000000001}`, false}, {`{"a":1}`, `{"a":-1}`, false}, {`{"a":12}`, `{"a":1.2}`, false}, {`{"a":1}`, `{"a":"1"}`, false},
		{`{"a":1e999}`, `{"a":10e998}`, true}, {`{"a":1e999}`, `{"a":1e998}`, false},
		{`{"a":1e99999999999999999999}`, `{"a":1.0e+099999999999999999999}`, true}, {`{"a":1e99999999999999999999}`, `{"a":1e-99999999999999999999}`, false},
		{`{"a":123456789012345678901234567890}`, `{"a":123456789012345678901234567890.0}`, true}, {`{"a":123456789012345678901234567890}`, `{"a":123456789012345678901234567891}`, false},
		{`{"a":"\u00e9\n"}`, "{\"a\":\"é\\u000a\"}", true}, {`{"a":"x"}`, `{"a":"y"}`, false},
		{`{"a":1,"b":2}`, `{"b":2,"a":1}`, false}, {`{"a":1,"a":1}`, `{"a":1}`, false}, {`{"a":[1,2]}`, `{"a":[1,[2]]}`, false}, {`{"a":{}}`, `{"a":[]}`, false},
		{`{"a":true}`, `{"a":false}`, false}, {`{"a":null}`, `{}`, false}, {`{"a":null}`, `{"a":true}`, false},
		{`{"a":`, `{"a":`, true}, {`{"a":`, `{"a": `, false}, {`{`, `{}`, false},
	} {
		a, b := Lazy([]byte(c.a)), Lazy([]byte(c.b))
		if Equal(a, b) != c.want || Equal(b, a) != c.want {
			t.Errorf("%s and %s: not %v", c.a, c.b, c.want)
		}
		x, errX := a.Attrs()
		y, errY := b.Attrs()
		if errX == nil && errY == nil && (Equal(New(x...), New(y...)) != c.want || Equal(a, New(y...)) != c.want) {
			t.Errorf("%s and %s as attributes: not %v", c.a, c.b, c.want)
		}
	}
	if !Equal(Event{}, New()) || !Equal(Event{}, Lazy([]byte("{}"))) || Equal(Event{}, Lazy(nil)) {
		t.Error("the zero event")
	}
}

func TestClone(t *testing.T) {
	line := []byte(`{"a":"x","b":["y"]}`)
	e, _ := Parse(line)
	c := e.Clone()
	attrs, _ := e.Attrs()
	v, _ := e.Get("b")
	clear(line)
	if s, ok := c.Get("a"); !ok || s.String() != "x" || attrs[0].Value.String() != "x" || fmt.Sprint(v) != "[y]" {
		t.Error("it refers to the line")
	}
	if Event.Clone(Event{}).Line() != nil || string(c.Line()) != `{"a":"x","b":["y"]}` {
		t.Error("Line")
	}
}

func TestMarshal(t *testing.T) {
	e := Lazy([]byte("{\"b\": 1}"))
	if got, err := json.Marshal(map[string]any{"x": []Event{e, {}}}); err != nil || string(got) != `{"x":[{"b":1},{}]}` {
		t.Errorf("%s, %v", got, err)
	}
	if got := fmt.Sprint(e, New(slog.Int("a", 1))); got != `{"b": 1} {"a":1}` {
		t.Error(got)
	}
	if got := record(t, NewJSON(Options{}), slog.Any("es", []Event{e}), slog.Any("ptr", &e)); got != `,"es":[{"b":1}],"ptr":{"b":1}` {
		t.Error(got)
	}
	if _, err := json.Marshal(Lazy([]byte("{"))); err == nil {
		t.Error("no error")
	}
}
