package slogkv

import (
	"io"
	"log/slog"
	"testing"
	"time"

	"github.com/tracehandler/tracehandler/event"
)

func BenchmarkRecordZZ(b *testing.B) {
	r := slog.NewRecord(time.Now(), slog.LevelInfo, "request handled", 0)
	r.AddAttrs(slog.String("method", "GET"), slog.String("path", "/api/v1/items/12345"), slog.Int("status", 200),
		slog.Duration("took", 1234567*time.Nanosecond), slog.Bool("cached", false), slog.Float64("ratio", 0.8125),
		slog.Time("since", time.Date(2026, 11, 30, 9, 0, 0, 123456789, time.UTC)), slog.Uint64("bytes", 48213),
		slog.Any("err", io.ErrUnexpectedEOF), slog.Group("user", slog.String("id", "u-77"), slog.Int("age", 41)))
	for range 3 {
		for _, e := range []struct {
			n string
			e event.Encoder
		}{{"json", event.NewJSON(event.Options{})}, {"kv", NewEncoder(event.Options{})}} {
			b.Run(e.n, func(b *testing.B) {
				var buf event.Buffer
				for b.Loop() {
					buf.Reset()
					e.e.AppendRecord(&buf, r, nil)
				}
			})
		}
	}
}
