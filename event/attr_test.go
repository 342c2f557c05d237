package event

import (
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"
)

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
