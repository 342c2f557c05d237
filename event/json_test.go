package event

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"runtime"
	"strings"
	"testing"
	"testing/slogtest"
	"time"
)

// handler is the smallest handler over an encoder.
type handler struct {
	enc Encoder
	w   io.Writer
}

func (h handler) Enabled(context.Context, slog.Level) bool { return true }
func (h handler) WithAttrs(as []slog.Attr) slog.Handler    { return handler{h.enc.WithAttrs(as), h.w} }
func (h handler) WithGroup(name string) slog.Handler       { return handler{h.enc.WithGroup(name), h.w} }
func (h handler) Handle(_ context.Context, r slog.Record) error {
	b := GetBuffer()
	defer b.Free()
	h.enc.AppendRecord(b, r, nil)
	_, err := h.w.Write(b.B)
	return err
}

func TestSlogtest(t *testing.T) {
	var buf bytes.Buffer
	slogtest.Run(t, func(*testing.T) slog.Handler {
		buf.Reset()
		return handler{NewJSON(Options{}), &buf}
	}, func(t *testing.T) map[string]any {
		var m map[string]any
		if err := json.Unmarshal(buf.Bytes(), &m); err != nil {
			t.Fatalf("%v: %s", err, buf.Bytes())
		}
		return m
	})
}

var when = time.Date(2026, 11, 30, 10, 46, 59, 123456789, time.UTC)

// pc is a place in this file.
func pc() uintptr {
	var pcs [1]uintptr
	runtime.Callers(2, pcs[:])
	return pcs[0]
}

// steps builds a handler from another one.
type steps func(slog.Handler) slog.Handler

func line(t *testing.T, h slog.Handler, buf *bytes.Buffer, r slog.Record) string {
	t.Helper()
	buf.Reset()
	if err := h.Handle(context.Background(), r); err != nil {
		t.Fatal(err)
	}
	return buf.String()
}

type (
	named    string
	namedInt int
	structs  struct {
		A int `json:"a"`
		B *structs
		c int
	}
	valuer struct{ v slog.Value }
	secret string
	texts  struct{}
	fails  struct{}
)

func (v valuer) LogValue() slog.Value      { return v.v }
func (secret) LogValue() slog.Value        { return slog.StringValue("REDACTED") }
func (texts) MarshalText() ([]byte, error) { return []byte("<text>\n"), nil }
func (fails) MarshalJSON() ([]byte, error) { return nil, errors.New("no") }
func (s structs) String() string           { return "unused" }

type jsonError struct{ error }

func (jsonError) MarshalJSON() ([]byte, error) { return []byte(`{ "json" : true }`), nil }

// manyAttrs are attributes that log/slog writes as it should.
func manyAttrs() []slog.Attr {
	zone := time.FixedZone("", 5*3600+1800)
	return []slog.Attr{
		slog.String("s", "plain"), slog.String("empty", ""), slog.String("", "no key"),
		slog.String("esc", "a\"b\\c\n\r\t\x00\x1f\x7f<>&\u2028\u2029é日本🎉\xff\xc3tail"),
		slog.String("k\"e\ny\u2028\xff", "v"), slog.String("8 bytes!", "exactly8"), slog.String("long", strings.Repeat("abcdefg", 33)+"\n"),
		slog.String("late", "0123456\"89ab"), slog.String("é", strings.Repeat("é", 17)),
		slog.Int("i", -1), slog.Int64("min", math.MinInt64), slog.Uint64("max", math.MaxUint64), slog.Bool("t", true), slog.Bool("f", false),
		slog.Float64("f0", 0), slog.Float64("f-0", math.Copysign(0, -1)), slog.Float64("f1", 1), slog.Float64("f12.5", 12.5),
		slog.Float64("small", 1e-7), slog.Float64("small2", 1.234e-9), slog.Float64("tiny", 5e-324), slog.Float64("edge", 1e-6), slog.Float64("edge2", 9.99e-7),
		slog.Float64("big", 1e20), slog.Float64("bigger", 1e21), slog.Float64("max", math.MaxFloat64), slog.Float64("1e300", 1e300),
		slog.Float64("2^53", 1<<53), slog.Float64("2^60", 1<<60), slog.Float64("2^53+2", 1<<53+2), slog.Float64("-2^53", -(1 << 53)), slog.Float64("third", 1.0/3), slog.Any("f32", float32(0.1)),
		slog.Duration("d", 1500*time.Millisecond), slog.Duration("d-", -1),
		slog.Time("t", when), slog.Time("t0", time.Time{}), slog.Time("tz", when.In(zone)), slog.Time("ms", when.Truncate(time.Millisecond)), slog.Time("s", when.Truncate(time.Second)),
		slog.Time("neg", time.Unix(-1, 5)), slog.Time("y0", time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC)), slog.Time("y9999", time.Date(9999, 12, 31, 23, 59, 59, 999999999, time.UTC)),
		slog.Time("local", time.Now()), slog.Any("lvl", slog.LevelWarn+1), slog.Any("lvl-", slog.LevelDebug-3),
		slog.Group("g", slog.Int("a", 1), slog.Group("h", slog.String("b", "c"), slog.Group("", slog.Int("inl", 1)))), slog.Group("", slog.Int("inline", 2)),
		slog.Group("empty"), slog.Group("g2", slog.Group("empty")), {}, slog.Any("nil", nil), slog.Any("a", nil), slog.Any("a", "dup"),
		slog.Any("err", errors.New("bad\n\"thing\"")), slog.Any("nilerr", error(nil)), slog.Any("jsonerr", jsonError{}), slog.Any("wrap", fmt.Errorf("w: %w", io.EOF)),
		slog.Any("bytes", []byte("\x00\xffabc")), slog.Any("nobytes", []byte{}), slog.Any("nilbytes", []byte(nil)), slog.Any("array", [3]byte{1, 2, 3}),
		slog.Any("strs", []string{"a", "b\n", ""}), slog.Any("nostrs", []string{}), slog.Any("nilstrs", []string(nil)),
		slog.Any("ints", []int{1, -2, 3}), slog.Any("int64s", []int64{1, math.MinInt64}), slog.Any("floats", []float64{1, 0.5, 1e-9, 1e21}), slog.Any("bools", []bool{true, false}),
		slog.Any("anys", []any{nil, 1, int8(2), int16(3), int32(4), int64(5), uint(6), uint8(7), uint16(8), uint32(9), uint64(10), uintptr(11), 1.5, float32(0.1), float32(1e-7), float32(1e21), float32(3),
			"x", true, time.Second, when, slog.LevelError + 1, json.Number("1.0"), json.RawMessage(`{"b": [1, "\u0041 b"], "a" : null }`), []string{"y"}, named("n"), namedInt(3), []any{[]any{}},
			errors.New("hidden"), structs{1, &structs{2, nil, 3}, 4}, &structs{}, (*structs)(nil), secret("json sees it"), []error{io.EOF}, map[int]string{2: "b", 1: "a"}, texts{}, map[texts]int{{}: 1}, []byte("b"), io.EOF}),
		slog.Any("map", map[string]any{"b": 1, "a": map[string]string{"z": "1", "y": "<2>"}, "é": []any{}, "": nil, "q\"": map[string]any(nil)}), slog.Any("nomap", map[string]any{}), slog.Any("mss", map[string]string(nil)),
		slog.Any("struct", structs{A: 1, B: &structs{}}), slog.Any("ptr", &structs{A: 2}), slog.Any("nilptr", (*structs)(nil)), slog.Any("named", named("<n>")), slog.Any("namedInt", namedInt(7)),
		slog.Any("num", json.Number("1e5")), slog.Any("nonum", json.Number("")), slog.Any("badnum", json.Number("1x")), slog.Any("raw", json.RawMessage("[1,\n 2]")), slog.Any("badraw", json.RawMessage("[1,")), slog.Any("emptyraw", json.RawMessage("")),
		slog.Any("chan", make(chan int)), slog.Any("func", func() {}), slog.Any("cplx", 1i), slog.Any("fails", fails{}), slog.Any("text", texts{}), slog.Any("kind", slog.KindBool),
		slog.Any("src", &slog.Source{Function: "f", File: "x.go"}), slog.Any("nosrc", &slog.Source{}), slog.Any("nilsrc", (*slog.Source)(nil)), slog.Any("srcs", []*slog.Source{{Line: 1}}),
		slog.Any("secret", secret("x")), slog.Any("vg", valuer{slog.GroupValue(slog.Int("in", 1), slog.Any("s", secret("y")))}), slog.Any("", valuer{slog.GroupValue(slog.Int("in2", 1))}), slog.Any("veg", valuer{slog.GroupValue()}),
		slog.Any("vv", valuer{slog.AnyValue(valuer{slog.IntValue(3)})}), slog.Any("attrs", []slog.Attr{slog.Int("x", 1)}),
	}
}

// TestAsStandard compares with log/slog, byte for byte, what that does right.
func TestAsStandard(t *testing.T) {
	with := map[string]steps{
		"plain": func(h slog.Handler) slog.Handler { return h },
		"attrs": func(h slog.Handler) slog.Handler {
			return h.WithAttrs([]slog.Attr{slog.Int("w", 1), slog.Any("s", secret("x"))})
		},
		"group":  func(h slog.Handler) slog.Handler { return h.WithGroup("G") },
		"groups": func(h slog.Handler) slog.Handler { return h.WithGroup("G\"\n").WithGroup("H") },
		"attrs groups": func(h slog.Handler) slog.Handler {
			return h.WithAttrs([]slog.Attr{slog.Int("w", 1)}).WithGroup("G").WithGroup("H")
		},
		"groups attrs": func(h slog.Handler) slog.Handler {
			return h.WithGroup("G").WithGroup("H").WithAttrs([]slog.Attr{slog.Int("w", 1)})
		},
		"mixed": func(h slog.Handler) slog.Handler {
			return h.WithGroup("G").WithAttrs([]slog.Attr{slog.Int("w", 1)}).WithGroup("H").WithAttrs([]slog.Attr{slog.Int("x", 1)}).WithGroup("I")
		},
		"empty group": func(h slog.Handler) slog.Handler {
			return h.WithGroup("G").WithAttrs([]slog.Attr{slog.Group("e")}).WithGroup("H")
		},
		"group in with": func(h slog.Handler) slog.Handler {
			return h.WithAttrs([]slog.Attr{slog.Group("e", slog.Int("a", 1)), slog.Group("", slog.Int("b", 1))})
		},
	}
	replaces := map[string]func([]string, slog.Attr) slog.Attr{
		"none":     nil,
		"identity": func(_ []string, a slog.Attr) slog.Attr { return a },
		"path":     func(gs []string, a slog.Attr) slog.Attr { a.Key = strings.Join(append(gs, a.Key), "."); return a },
		"builtins": func(gs []string, a slog.Attr) slog.Attr {
			if len(gs) == 0 {
				switch a.Key {
				case slog.TimeKey:
					return slog.Int64("ts", a.Value.Time().Unix())
				case slog.LevelKey:
					return slog.Attr{}
				case slog.MessageKey:
					return slog.Group("m", slog.String("text", a.Value.String()))
				case slog.SourceKey:
					src := a.Value.Any().(*slog.Source)
					src.File = "short.go"
				}
			}
			return a
		},
		"valuer": func(_ []string, a slog.Attr) slog.Attr { return slog.Any(a.Key, secret(a.Value.String())) },
		"drop a": func(_ []string, a slog.Attr) slog.Attr {
			if a.Key == "a" {
				return slog.Attr{}
			}
			return a
		},
	}
	records := map[string]slog.Record{
		"message":   slog.NewRecord(when, slog.LevelInfo, "hello \"you\"", 0),
		"no time":   slog.NewRecord(time.Time{}, slog.LevelWarn, "", pc()),
		"pc":        slog.NewRecord(time.Now(), slog.LevelError+3, "m", pc()),
		"debug":     slog.NewRecord(when.Truncate(time.Hour), slog.LevelDebug-1, "m", pc()),
		"bad level": slog.NewRecord(when, math.MinInt32, "m", pc()),
	}
	all := slog.NewRecord(when, slog.LevelInfo, "all", pc())
	all.AddAttrs(manyAttrs()...)
	records["all"] = all
	for i, a := range manyAttrs() {
		r := slog.NewRecord(when, slog.LevelInfo, "one", pc())
		r.AddAttrs(slog.Int("first", i), a, slog.Bool("last", true))
		records[fmt.Sprint("one ", i, " ", a.Key)] = r
	}
	var want, got bytes.Buffer
	for rn, replace := range replaces {
		for _, source := range []bool{false, true} {
			std := slog.NewJSONHandler(&want, &slog.HandlerOptions{Level: slog.Level(math.MinInt), AddSource: source, ReplaceAttr: replace})
			our := handler{NewJSON(Options{AddSource: source, ReplaceAttr: replace}), &got}
			for wn, with := range with {
				h1, h2 := with(std), with(our)
				for name, r := range records {
					w, g := line(t, h1, &want, r.Clone()), line(t, h2, &got, r.Clone())
					if w != g {
						t.Errorf("replace %s, source %v, %s, record %s:\nlog/slog %s\nevent    %s", rn, source, wn, name, w, g)
					}
				}
			}
		}
	}
}
