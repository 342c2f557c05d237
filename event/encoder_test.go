package event

import (
	"bytes"
	"errors"
	"log/slog"
	"math"
	"testing"
	"time"
)

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
