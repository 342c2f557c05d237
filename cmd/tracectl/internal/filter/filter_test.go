package filter

import (
	"errors"
	"log/slog"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/tracehandler/tracehandler/event"
)

const line = `{"time":"2026-11-30T10:37:40.5Z","level":"WARN","msg":"slow query","db":{"rows":12,"pool":{"wait":1500000}},` +
	`"http.status":503,"load":0.25,"id":"007","took":"1.5ms","ok":true,"none":null,"big":18446744073709551615,` +
	`"huge":123456789012345678901234567890,"list":[1,2],"empty":"","at":"2026-11-30T12:00:00+02:00"}`

func TestConditions(t *testing.T) {
	e, err := event.Parse([]byte(line))
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]bool{
		"msg": true, "!msg": false, "nope": false, "!nope": true, "db.rows": true, "db.nope": false, "http.status": true, "empty": true,
		"msg=slow query": true, "msg=slow": false, "msg!=slow": true, "nope!=x": true, "nope=": false, "empty=": true, "empty!=": false,
		"msg~=query": true, "msg~=Query": false, "msg!~=query": false, "nope!~=x": true,
		"msg=~^slow.*y$": true, "msg=~(?i)QUERY": true, "msg!~^fast": true, "nope!~x": true, "msg!~slow": false,
		"db.rows=12": true, "db.rows=12.0": true, "db.rows=13": false, "db.rows>11": true, "db.rows>12": false, "db.rows>=12": true,
		"db.rows<12.5": true, "db.rows<=11": false, "db.rows<x": false, "nope<1": false,
		"db.pool.wait=1.5ms": true, "db.pool.wait>1ms": true, "db.pool.wait<1s": true, "took>1ms": true, "took<1ms": false, "took>=1500µs": true,
		"http.status>=500": true, "http.status=503": true,
		"load=0.25": true, "load<0.3": true, "id=7": false, "id=007": true, "id>6": true,
		"ok=true": true, "ok=false": false, "none=null": true, "none=": false, "none>1": false,
		"big=18446744073709551615": true, "big>9223372036854775807": true, "huge>1e29": true, "huge=123456789012345678901234567890": true,
		"list=[1,2]": true, "list~=2": true, `db~="rows":12`: true, "list>1": false,
		"at=2026-11-30T10:00:00Z": true, "at<2026-11-30T10:00:01Z": true, "at>2026-11-30T10:00:00Z": false, "at>2026-11": true,
		"msg=~a=b": false, "took=1.5ms": true, "level=WARN": true,
	} {
		c, err := ParseCondition(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if got := c.Match(e); got != want {
			t.Errorf("%s: %v, want %v", text, got, want)
		}
	}
}

// Keys may be written with escapes; a search for bytes must not hide them.
func TestEscapedKeys(t *testing.T) {
	for line, conditions := range map[string][]string{
		`{"\u0073tatus":1}`:             {"status=1", "status", "status!=2"},
		`{"http":{"statu\u0073":1}}`:    {"http.status=1"},
		`{"a\/b":1}`:                    {"a/b=1"},
		`{"a\"b":1}`:                    {`a"b=1`},
		`{"é":1}`:                       {"é=1"},
		`{"http.status":1}`:             {"http.status=1"},
		`{"x":"status","y":"status\""}`: {"!status", "status!=1", "status!~1"},
	} {
		for _, text := range conditions {
			c, err := ParseCondition(text)
			if err != nil {
				t.Fatal(err)
			}
			if !c.Match(event.Lazy([]byte(line))) {
				t.Errorf("%s does not choose %s", text, line)
			}
		}
	}
}

func TestConditionsRefused(t *testing.T) {
	for _, text := range []string{"", "!", "=x", "!=x", "<3", "a=~(", "a<", "a!~["} {
		_, err := ParseCondition(text)
		var e *ConditionError
		if !errors.As(err, &e) || e.Text != text {
			t.Errorf("ParseCondition(%q) = %v, want a *ConditionError", text, err)
		}
	}
}

func TestPaths(t *testing.T) {
	for key, want := range map[string][][]string{
		"a":         {{"a"}},
		"a.b":       {{"a", "b"}, {"a.b"}},
		"a.b.c":     {{"a", "b", "c"}, {"a.b", "c"}, {"a", "b.c"}, {"a.b.c"}},
		"a.b.c.d.e": {{"a", "b", "c", "d", "e"}, {"a.b.c.d.e"}},
	} {
		if got := paths(key); !reflect.DeepEqual(got, want) {
			t.Errorf("paths(%q) = %v, want %v", key, got, want)
		}
	}
}

func TestParseLevel(t *testing.T) {
	for word, want := range map[string]slog.Level{
		"trace": -8, "debug": -4, "Info": 0, "WARN": 4, "warning": 4, "error": 8, "err": 8, "fatal": 12, "info+2": 2, "warning-1": 3, "DEBUG-4": -8,
	} {
		if got, err := ParseLevel(word); err != nil || got != want {
			t.Errorf("ParseLevel(%q) = %d, %v; want %d", word, got, err, want)
		}
	}
	for _, word := range []string{"", "loud", "4", "info+", "info+x", "+2"} {
		var e *LevelError
		if got, err := ParseLevel(word); !errors.As(err, &e) {
			t.Errorf("ParseLevel(%q) = %d, %v; want a *LevelError", word, got, err)
		}
	}
}

func TestFilter(t *testing.T) {
	e, _ := event.Parse([]byte(line))
	bare, _ := event.Parse([]byte(`{"msg":"x"}`))
	at := time.Date(2026, 11, 30, 10, 37, 40, 500e6, time.UTC)
	warn, bad := slog.LevelWarn, slog.LevelError
	for name, c := range map[string]struct {
		f          Filter
		want, bare bool
	}{
		"empty":            {Filter{}, true, true},
		"level":            {Filter{Level: &warn}, true, false},
		"above":            {Filter{Level: &bad}, false, false},
		"since is in":      {Filter{Since: at}, true, false},
		"since after":      {Filter{Since: at.Add(1)}, false, false},
		"until is out":     {Filter{Until: at}, false, false},
		"until after":      {Filter{Until: at.Add(1)}, true, false},
		"before the range": {Filter{Since: at.Add(-2), Until: at.Add(-1)}, false, false},
	} {
		if got := c.f.Match(e); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
		if got := c.f.Match(bare); got != c.bare {
			t.Errorf("%s, without level and time: %v, want %v", name, got, c.bare)
		}
	}
}

func FuzzParseCondition(f *testing.F) {
	for _, s := range []string{"a=b", "!a", "a.b.c>=1.5ms", "a=~x.*", "a!~=b"} {
		f.Add(s)
	}
	e := event.Lazy([]byte(line))
	f.Fuzz(func(t *testing.T, s string) {
		if c, err := ParseCondition(s); err == nil {
			c.Match(e)
		}
	})
}

// TestNames takes away from events what a filter says that it does not look at.
func TestNames(t *testing.T) {
	for _, key := range TimeKeys {
		if k, ok := event.New(slog.String(key, "2026-11-30T10:37:40Z")).TimeKey(); !ok || k != key {
			t.Errorf("%s has no time", key)
		}
	}
	for _, key := range LevelKeys {
		if k, ok := event.New(slog.String(key, "WARN")).LevelKey(); !ok || k != key {
			t.Errorf("%s has no level", key)
		}
	}
	warn := slog.LevelWarn
	conditions := []*Condition{}
	for _, text := range []string{"db.rows>11", "http.status=503", "!none.x"} {
		c, err := ParseCondition(text)
		if err != nil {
			t.Fatal(err)
		}
		conditions = append(conditions, c)
	}
	f := Filter{Level: &warn, Since: time.Unix(0, 0), Conditions: conditions}
	names := f.Names()
	e, _ := event.Parse([]byte(line))
	var kept []slog.Attr
	for a := range e.All() {
		if slices.Contains(names, a.Key) {
			kept = append(kept, a)
		}
	}
	if len(kept) != 5 || !f.Match(e) || !f.Match(event.New(kept...)) {
		t.Errorf("%q leave %v", names, kept)
	}
}
