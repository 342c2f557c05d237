package slogkv

import (
	"testing"

	"github.com/tracehandler/tracehandler/event"
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
