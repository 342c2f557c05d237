package pretty

import (
	"flag"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tracehandler/tracehandler/event"
)

var update = flag.Bool("update", false, "write the golden files anew")

const events = `{"time":"2026-11-30T10:37:40.123456789Z","level":"INFO","source":{"function":"main.serve","file":"/src/shop/serve.go","line":42},"msg":"request served","http":{"method":"GET","route":"/v1/items/{id}","status":200},"took":1234567}
{"time":"2026-11-30T10:37:40.223456789Z","level":"DEBUG","msg":"cache lookup","key":"item:7","hit":true,"ratio":0.25,"none":null,"empty":"","list":[1,2,{"a":"b"}],"nothing":{}}
{"time":"2026-11-30T10:37:42Z","level":"WARN","msg":"a message that is longer than the column for messages","text":"with blanks and \"quotes\" and a \\ and a ="}
{"time":"2026-11-30T11:37:42Z","level":"ERROR","msg":"checkout failed","err":"dial tcp: connection refused","db":{"err":"x y"},"stack":"goroutine 1 [running]:\nmain.main()\n\t/src/main.go:12 +0x1d\n"}
{"time":"2026-12-01T00:00:00Z","level":"INFO+2","msg":"custom levels"}
{"time":"2026-12-01T00:00:00.5Z","level":"DEBUG-4","msg":"two lines\nof message","k":1}
{"msg":"no time, no level"}
{"level":"INFO","k":"only a level"}
{"time":"2025-07-07T19:58:27.%fZ","level":"loud","msg":7,"event_type":"launch"}
{"ts":1764515045.25,"severity":"err","message":"a foreign logger","logger":"zap"}
{"time":"2026-12-01T00:00:01Z","level":"INFO","msg":"evil \u001b[2J\u0007 \u0000 text","\u001b]0;x\u0007key":"\u202e reversed \u0085 \u2028"}
{"time":"2026-12-01T00:00:02Z","level":"INFO","msg":"東京 ist schön","city":"Zürich","emoji":"🦉"}
{"time":"2026-12-01T00:00:03Z","time":"2026-12-01T00:00:04Z","level":"INFO","level":"WARN","msg":"twice","msg":"again"}
{}
{"time":"2026-12-01T00:00:05Z","level":"INFO","msg":"long","blob":"LONG","many":MANY}`

func input() []string {
	var many strings.Builder
	for i := range 40 {
		fmt.Fprintf(&many, `,"k%02d":%d`, i, i)
	}
	text := strings.Replace(events, "LONG", strings.Repeat("ä", 150), 1)
	return strings.Split(strings.Replace(text, "MANY", "{"+many.String()[1:]+"}", 1), "\n")
}

func TestGolden(t *testing.T) {
	zone := time.FixedZone("CET", 3600)
	for name, o := range map[string]Options{
		"plain":   {Zone: zone},
		"color":   {Zone: zone, Color: true},
		"full":    {Zone: time.UTC, Full: true, Clock: TimeOfDay},
		"delta":   {Zone: zone, Clock: Delta},
		"rfc3339": {Zone: zone, Clock: RFC3339},
		"none":    {Clock: NoClock},
		"wrap":    {Zone: zone, Width: 110},
		"narrow":  {Zone: zone, Width: 60, Color: true},
	} {
		t.Run(name, func(t *testing.T) {
			p := New(o)
			var got []byte
			for _, line := range input() {
				e, err := event.Parse([]byte(line))
				if err != nil {
					t.Fatalf("%v: %s", err, line)
				}
				got = p.Append(got, e)
			}
			path := filepath.Join("testdata", name+".golden")
			if *update {
				if err := os.WriteFile(path, got, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			want = []byte(strings.ReplaceAll(string(want), "\r\n", "\n"))
			if string(got) != string(want) {
				t.Errorf("differs from %s; got:\n%s", path, got)
			}
		})
	}
}

func attrs(s string) []slog.Attr {
	return []slog.Attr{slog.String("msg", s), slog.String(s, "v"), slog.String("k", s), slog.Any("list", []string{s}), slog.Group(s, slog.String("err", s))}
}

// Nothing in an event may move the cursor, ring a bell or change the title of the terminal.
func FuzzNoControls(f *testing.F) {
	f.Add("evil \x1b[2J", true)
	f.Add("\u009b31m\u202e\u2028", false)
	f.Fuzz(func(t *testing.T, s string, full bool) {
		p := New(Options{Full: full, Zone: time.UTC})
		line, err := event.Parse(event.New(attrs(s)...).AppendJSON(nil))
		if err != nil {
			t.Fatalf("the encoder's own line: %v", err)
		}
		for _, r := range string(p.Append(nil, line)) {
			if r < ' ' && r != '\n' || r >= 0x7f && r < 0xa0 || r >= 0x202a && r <= 0x202e || r == 0x2028 || r == 0x2029 {
				t.Fatalf("control %q printed for %q", r, s)
			}
		}
	})
}

func TestNothingIsWiderThanTheTerminal(t *testing.T) {
	for _, color := range []bool{false, true} {
		for width := narrowest; width < 200; width += 7 {
			p := New(Options{Width: width, Color: color})
			for _, line := range input()[:2] { // no single value there is wider than any of these
				text := p.Append(nil, event.Lazy([]byte(line)))
				for l := range strings.Lines(string(text)) {
					if n := columns([]byte(strings.TrimSuffix(l, "\n"))); n > width && n > 55 {
						t.Errorf("width %d: %d columns: %q", width, n, l)
					}
				}
			}
		}
	}
}

func BenchmarkAppend(b *testing.B) {
	p := New(Options{Color: true})
	line := []byte(input()[0])
	var buf []byte
	b.SetBytes(int64(len(line)))
	b.ReportAllocs()
	for b.Loop() {
		buf = p.Append(buf[:0], event.Lazy(line))
	}
}
