package kql

import (
	"errors"
	"log/slog"
	"math"
	"strings"
	"testing"

	"github.com/tracehandler/tracehandler/event"
)

func TestSyntaxErrors(t *testing.T) {
	deep := strings.Repeat("(", maxDepth+1) + "a"
	tests := []struct {
		query  string
		offset int
		hint   string // a part of it
	}{
		{``, 0, ""},
		{`a:`, 2, ""},
		{`:1`, 0, ""},
		{`a: 1 AND`, 8, ""},
		{`AND`, 0, "quotes"},
		{`a: (1`, 5, ""},
		{`a: 1)`, 4, ""},
		{`a: "open`, 3, "a quote inside"},
		{`a = 1`, 2, "colon"},
		{`a: 1 && b: 2`, 5, "AND"},
		{`a: 1 || b: 2`, 5, "OR"},
		{`a: 1 b: 2`, 5, "spaces"},
		{`a: > 5`, 3, "without the colon"},
		{`a: x\.b`, 4, "in quotes"},
		{`a: \q`, 3, `\\`},
		{`a: "\ud83d"`, 4, "itself"},
		{`a..b: 1`, 2, "dot"},
		{`"": 1`, 1, ""},
		{`@: 1`, 1, ""},
		{`a: (v1 or v2)`, 7, "in front"},
		{`a: {@b: 1}`, 0, "outer"},
		{`a: {b: 1`, 8, ""},
		{`a: timestamp("nonsense")`, 14, "2026"},
		{`a: timestamp(5)`, 13, ""},
		{`a: timestamp("5"`, 16, ""},
		{`a: timestamp("5", 5)`, 18, ""},
		{`a: x\`, 4, ""},
		{`a\`, 1, ""},
		{`"a\q": 1`, 2, ""},
		{`"a\u00": 1`, 2, ""},
		{deep, maxDepth, ""},
		{strings.Repeat("NOT ", maxDepth+1) + "a", 4 * (maxDepth - 1), ""},
		{strings.Repeat("a.", maxWords) + "a: 1", 2*maxWords + 1, ""},
		{strings.Repeat("a.", maxWords-1) + "a: {b: 1}", 0, ""},
	}
	for _, tt := range tests {
		_, err := Parse(tt.query, nil)
		var e *SyntaxError
		if !errors.As(err, &e) || e.Offset != tt.offset || !strings.Contains(e.Hint, tt.hint) {
			t.Errorf("%.60s: got %v, want an error at %d with %q", tt.query, err, tt.offset, tt.hint)
		}
	}
	for _, key := range []string{"a.*", "", "a."} {
		if _, err := Parse("a", &Options{TimeKey: key}); (err == nil) != (key == "") {
			t.Errorf("key of the time %q: %v", key, err)
		}
	}
}

func TestMatch(t *testing.T) {
	const e = `{"time":"2026-01-02T03:04:05.5Z","level":"INFO","msg":"took 12 ms","n":5,"f":1.50,"big":18446744073709551615,"ok":true,"none":null,` +
		`"req":{"id":"A-1","":{"x":1},"tags":["x","y z",[3,{"k":{"v":7}}]],"empty":{},"list":[]}}`
	tests := []struct {
		query string
		o     Options
		want  bool
	}{
		{`level: INFO`, Options{}, true},
		{`level: info`, Options{}, false},
		{`level: info`, Options{Fold: true}, true},
		{`LEVEL: INFO`, Options{Fold: true}, false},
		{`msg: took`, Options{}, false},
		{`msg: took`, Options{Contains: true}, true},
		{`msg: "TOOK 1"`, Options{Contains: true, Fold: true}, true},
		{`msg: "took ?? ms"`, Options{}, true},
		{`msg: "took ? ms"`, Options{}, false},
		{`took*`, Options{}, true},
		{`n: 5 AND f: 1.5`, Options{}, true},
		{`n: 6 OR n: 5 AND ok: false`, Options{}, false},
		{`n: 5 OR (n: 6 AND ok: false)`, Options{}, true},
		{`n > 4.5`, Options{}, true},
		{`n >= 5.5`, Options{}, false},
		{`n < 5 OR n <= 5`, Options{}, true},
		{`big > 9223372036854775807`, Options{}, true},
		{`big: 18446744073709551615`, Options{}, true},
		{`big < 0`, Options{}, false},
		{`none: null`, Options{}, true},
		{`NOT none: null`, Options{}, false},
		{`NOT level: null`, Options{}, true},
		{`nokey: *`, Options{}, false},
		{`NOT nokey: *`, Options{}, true},
		{`NOT nokey: 1`, Options{}, false},
		{`NOT level: ERROR`, Options{}, true},
		{`NOT n: 6`, Options{}, true},
		{`NOT n: x`, Options{}, false},
		{`NOT msg: x`, Options{}, true},
		{`req.id: A-1`, Options{}, true},
		{`req: {id: A-1 AND NOT id: B}`, Options{}, true},
		{`*.id: A-1`, Options{}, true},
		{`req.*: A-1`, Options{}, true},
		{`req.x: 1`, Options{}, true},
		{`req.tags: x`, Options{}, true},
		{`req.tags: "y z"`, Options{}, true},
		{`req.tags: 3`, Options{}, true},
		{`req.tags > 2`, Options{}, true},
		{`req.tags > 3`, Options{}, false},
		{`req.tags.k.v: 7`, Options{}, true},
		{`req.tags.k: *`, Options{}, true},
		{`req.tags.v: 7`, Options{}, false},
		{`*.v: 7`, Options{}, false},
		{`*.v: 7`, Options{Structured: true}, true},
		{`*: 7`, Options{}, true},
		{`NOT *: 8`, Options{}, true},
		{`NOT *: 7`, Options{}, false},
		{`req.empty: *`, Options{}, false},
		{`req.list: *`, Options{}, true},
		{`req.list: *`, Options{Structured: true}, true},
		{`level: (WARN INFO)`, Options{}, true},
		{`level: (AND WARN INFO)`, Options{}, false},
		{`level: (NOT WARN ERROR)`, Options{}, true},
		{`time: 2026*`, Options{}, true},
		{`time: 2026*`, Options{TimeKey: "time"}, false},
		{`time >= timestamp("2026-01-02T03:04:05Z")`, Options{TimeKey: "time"}, true},
		{`time < timestamp("2026-01-02T03:04:05.6+00:00")`, Options{TimeKey: "time"}, true},
		{`time > timestamp("2026-01-03", "\Y-\m-\d")`, Options{TimeKey: "time"}, false},
		{`@level: INFO`, Options{}, false},
		{`n > a`, Options{}, false},
		{`NOT n > a`, Options{}, false},
	}
	for _, tt := range tests {
		q, err := Parse(tt.query, &tt.o)
		check(t, err)
		line := event.Lazy([]byte(e))
		if got := q.Match(line); got != tt.want {
			t.Errorf("%s %+v: %v", tt.query, tt.o, got)
		}
		attrs, err := line.Attrs()
		check(t, err)
		if got := q.Match(event.New(attrs...)); got != tt.want {
			t.Errorf("%s %+v of attributes: %v", tt.query, tt.o, got)
		}
	}
}

func TestNamespaces(t *testing.T) {
	in := &Input{
		Event:    event.New(slog.String("level", "user")),
		Auto:     event.New(slog.Group("level", slog.String("name", "WARN"))),
		Metadata: event.New(slog.String("_filename", "a.jsonl"), slog.Any("list", []any{1})),
	}
	for query, want := range map[string]bool{
		`@level.name: WARN`: true, `level.name: WARN`: false, `level: user AND $_filename: *.jsonl`: true, `$list: 1`: false, `$*: a.jsonl`: true,
		`!level: user`: false, `\@level: user`: false, `*: WARN`: false, `@*: WARN`: true,
	} {
		q, err := Parse(query, nil)
		check(t, err)
		if got := q.MatchInput(in); got != want {
			t.Errorf("%s: %v", query, got)
		}
	}
}

func TestNever(t *testing.T) {
	for query, want := range map[string]bool{
		`a: ()`: true, `a > x`: true, `a > x OR b: 1`: false, `a > x AND b: 1`: true, `NOT a: ()`: true, `a: 1`: false, `a < true`: true, `a > *`: true,
	} {
		q, err := Parse(query, nil)
		check(t, err)
		if q.Never() != want {
			t.Errorf("%s: %v", query, q.Never())
		}
	}
}

func TestParseTime(t *testing.T) {
	const at = 1704164645_000000000 // 2024-01-02T03:04:05Z
	tests := []struct {
		text string
		ns   int64 // -1: none
	}{
		{"2024-01-02T03:04:05Z", at},
		{"2024/01/02 03:04:05", at},
		{"2024-01-02T03:04:05.678Z", at + 678e6},
		{"2024-01-02T03:04:05,678901", at + 678901e3},
		{"2024-01-02T03:04:05.6+05:30", at + 600e6 - 19800e9},
		{"2024-01-02T03:04:05.10Z", -1},
		{"2024-01-02 03:04:05 UTC", at},
		{"2024-01-02 03:04:05 EST", at + 5*3600e9},
		{"2024-01-02 03:04:05UTC-05", at + 5*3600e9},
		{"[2024-01-02 03:04:05.678]", at + 678e6},
		{"[2024-01-02 03:04:05", at},
		{"<<<2024-01-02 03:04:05:678", at + 678e6},
		{"02 Jan 2024 03:04:05,678", at + 678e6},
		{"[20240102-03:04:05]", at},
		{"24/01/02 03:04:05", at},
		{"240102  3:04:05", at},
		{"Jan 02, 2024  3:04:05 AM", at},
		{"Jan 02, 2024 03:04:05 PM", at + 12*3600e9},
		{"January 02, 2024 03:04", at - 5e9},
		{"[02/Jan/2024:03:04:05", at},
		{"Tue Jan  2 03:04:05 2024", at},
		{"Wed Jan  2 03:04:05 2024", -1},
		{"Tue, 02 Jan 2024 03:04:05 GMT", at},
		{" 2 Jan 24 03:04 PST", at - 5e9 + 8*3600e9},
		{"2024-02-30T03:04:05Z", -1},
		{"2024-01-02T03:04:60Z", at + 54e9},
		{"9999-01-02T03:04:05Z", -1},
		{"2024-01-02", -1},
		{"1704164645", at},
		{"1704164645000", at},
		{"1704164645.5", at + 500e6},
		{"-1.5", -1_500_000_000},
		{"0", 0},
		{"9223372036854775807", math.MaxInt64},
		{"10000000000", -1}, // as seconds beyond what nanoseconds can be, and no milliseconds yet
		{"", -1},
		{"x", -1},
	}
	for _, tt := range tests {
		got, ok := parseTime(tt.text)
		if ok != (tt.ns != -1) || ok && got != tt.ns {
			t.Errorf("%s: got %d, %v, want %d", tt.text, got, ok, tt.ns)
		}
	}
	if _, ok := parseTimeAs("x", `\`); ok {
		t.Error("a pattern that ends in a backslash")
	}
	if _, ok := parseTimeAs("x", `\B`); ok {
		t.Error("a pattern without its names")
	}
}

// FuzzParse parses and evaluates arbitrary queries: no panic, and errors with a place in the query.
func FuzzParse(f *testing.F) {
	for _, q := range []string{`a: 1`, `NOT a.b > 5 OR c: (AND "x y" *)`, `a: {b: timestamp("1", "\E") AND \u0041.*: *}`, `"\"q\\": x\?`, `@a.b: null AND $c < 1e5`} {
		f.Add(q, `{"a":{"b":[1,{"c":"x y"}]},"":{"k":null}}`)
	}
	f.Fuzz(func(t *testing.T, text, line string) {
		for _, o := range []Options{{}, {Fold: true, Contains: true}, {TimeKey: "a.b"}, {Structured: true}} {
			q, err := Parse(text, &o)
			if err != nil {
				var e *SyntaxError
				if !errors.As(err, &e) || e.Offset < 0 || e.Offset > len(text) {
					t.Fatalf("%q: %v", text, err)
				}
				return
			}
			q.Never()
			e := event.Lazy([]byte(line))
			q.MatchInput(&Input{Event: e, Auto: e, Metadata: e})
			// A query and its opposite never both hold.
			if n, err := Parse("NOT ("+text+")", &o); err == nil && n.Match(e) && q.Match(e) {
				if !strings.ContainsAny(text, "nN") { // null and NOT are looked at in their own way
					t.Fatalf("%q and its opposite match %q", text, line)
				}
			}
		}
	})
}

func BenchmarkMatch(b *testing.B) {
	line := []byte(`{"time":"2026-01-02T03:04:05.5Z","level":"INFO","msg":"took 12 ms","request":{"id":"be71c2d9-e66c-4e98-a942-8e8a34c6049f","method":"GET","bytes":4812}}`)
	for _, text := range []string{`level: ERROR`, `msg: "*took*" AND request.bytes > 4000`, `*be71*`} {
		q, err := Parse(text, nil)
		check(b, err)
		b.Run(text, func(b *testing.B) {
			b.SetBytes(int64(len(line)))
			b.ReportAllocs()
			for b.Loop() {
				q.Match(event.Lazy(line))
			}
		})
	}
}
