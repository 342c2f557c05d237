package slogkv

import (
	"testing"

	"github.com/tracehandler/tracehandler/event"
	"github.com/tracehandler/tracehandler/internal/jsontext"
)

// FuzzLine packs any JSON object, twice over in one stream, and reads it back.
func FuzzLine(f *testing.F) {
	for _, line := range []string{
		`{}`, `{"a":1,"a":{"b":2},"c":[1.0]}`, `{"time":"2026-11-30T10:46:59.1+01:00","level":"WARN+1","source":{"function":"f","file":"x","line":1},"msg":"m","a":1.0}`,
		`{"level":"INFO","msg":"m","message":"x"}`, `{"x":1.0,"y":1e20,"z":100000000000000000000,"w":-0}`, `{"exact":{"json":"{}"},"":{"":null}}`,
		`{"time":"2026-11-30T10:46:59Z","level":"INFO","msg":"\ud800 \u0000\\ 12.5"}`,
	} {
		f.Add([]byte(line))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		ev, err := event.Parse(line)
		if err != nil || len(line) > 100_000 {
			return
		}
		enc := NewEncoder(event.Options{})
		s := newStream(t)
		var b event.Buffer
		for range 2 {
			b.Reset()
			enc.AppendEvent(&b, ev)
			s.add(t, b.B)
		}
		lines := s.lines(t)
		if len(lines) != 2 {
			t.Fatalf("%d events", len(lines))
		}
		for _, got := range lines {
			equal(t, got, line)
		}
	})
}

// FuzzForeign makes the line of an event of another library of any two texts: an event, if both are objects, and no panic otherwise.
// An event's own auto-generated keys never are anything but an object either.
func FuzzForeign(f *testing.F) {
	for _, texts := range [][2]string{
		{`{"a":1}`, `{"timestamp":{"unix_millisecs":1700000000250,"x":{}},"level":{"name":"INFO","num":[1]},"host":"a b"}`},
		{`{ }`, ` {"level" : {} , "source_location":{"path":"\u0041","line":7,"function":null}} `},
		{`5`, `{"level":{"name":"\ud800"}}`}, {`{`, `{}`}, {`}`, `{"a"`},
	} {
		f.Add([]byte(texts[0]), []byte(texts[1]))
	}
	f.Fuzz(func(t *testing.T, user, auto []byte) {
		line := AppendForeign(nil, user, auto)
		_, errUser := event.Parse(user)
		_, errAuto := event.Parse(auto)
		if errUser != nil || errAuto != nil || jsontext.Deeper(user, 100) || jsontext.Deeper(auto, 100) {
			return
		}
		ev, err := event.Parse(line)
		if err != nil {
			t.Fatalf("%s %s: %s: %v", user, auto, line, err)
		}
		if own := AppendAuto(nil, ev); !jsontext.Valid(own) || own[0] != '{' {
			t.Fatalf("%s: %s", line, own)
		}
	})
}
