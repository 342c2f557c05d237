package event

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"strings"
	"testing"
	"time"
)

// tenAttrs are ten attributes of mixed kinds; with the built-in ones their line has about 350 bytes.
func tenAttrs() []slog.Attr {
	return []slog.Attr{
		slog.String("trace_id", "4bf92f3577b34da6a3ce929d0e0e4736"),
		slog.String("span_id", "00f067aa0ba902b7"),
		slog.String("method", "GET"),
		slog.String("path", "/api/v1/users/12345/orders"),
		slog.Int("status", 200),
		slog.Int64("bytes", 48213),
		slog.Duration("elapsed", 18734*time.Microsecond),
		slog.Bool("cached", true),
		slog.Float64("ratio", 0.87345),
		slog.Any("error", errors.New("upstream closed the connection")),
	}
}

func tenRecord() slog.Record {
	r := slog.NewRecord(when, slog.LevelInfo, "request served", pc())
	r.AddAttrs(tenAttrs()...)
	return r
}

func standard(o Options) slog.Handler {
	return slog.NewJSONHandler(io.Discard, &slog.HandlerOptions{AddSource: o.AddSource, ReplaceAttr: o.ReplaceAttr})
}

// BenchmarkHandle compares a handler over this encoder with log/slog's.
func BenchmarkHandle(b *testing.B) {
	message := slog.NewRecord(when, slog.LevelInfo, "request served", pc())
	two := message.Clone()
	two.AddAttrs(slog.Int("status", 200), slog.String("method", "GET"))
	long := message.Clone()
	long.AddAttrs(slog.String("text", strings.Repeat("the quick brown fox, ", 8192/21)))
	nested := message.Clone()
	nested.AddAttrs(slog.Any("map", nestedMap(6)))
	replace := func(_ []string, a slog.Attr) slog.Attr { return a }
	grouped := func(h slog.Handler) slog.Handler {
		return h.WithGroup("g").WithAttrs(tenAttrs()[:5]).WithGroup("h").WithAttrs(tenAttrs()[5:])
	}
	plain := func(h slog.Handler) slog.Handler { return h }
	for _, c := range []struct {
		name string
		o    Options
		with steps
		r    slog.Record
	}{
		{"Message", Options{}, plain, message},
		{"MessageSource", Options{AddSource: true}, plain, message},
		{"Ten", Options{}, plain, tenRecord()},
		{"TenReplace", Options{ReplaceAttr: replace}, plain, tenRecord()},
		{"WithTen", Options{}, grouped, two},
		{"8KiB", Options{}, plain, long},
		{"Map", Options{}, plain, nested},
	} {
		for name, h := range map[string]slog.Handler{
			"event":   c.with(handler{NewJSON(c.o), io.Discard}),
			"logslog": c.with(standard(c.o)),
		} {
			b.Run(c.name+"/"+name, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					_ = h.Handle(context.Background(), c.r)
				}
			})
		}
	}
}

func nestedMap(depth int) map[string]any {
	m := map[string]any{"name": "node", "id": depth, "ratio": 0.25, "tags": []string{"a", "b"}, "ok": true}
	if depth > 0 {
		m["left"], m["right"] = nestedMap(depth-1), nestedMap(depth-1)
	}
	return m
}
