package slogkv

import (
	"bytes"
	"fmt"
	"log/slog"
	"runtime"
	"testing"
	"time"

	"github.com/tracehandler/tracehandler/clp/ir"
	"github.com/tracehandler/tracehandler/event"
	"github.com/tracehandler/tracehandler/internal/corpus"
)

// tenAttrs is a record with ten attributes of mixed types.
func tenAttrs() slog.Record {
	var pc [1]uintptr
	runtime.Callers(1, pc[:])
	rec := slog.NewRecord(time.Now(), slog.LevelInfo, "request served, 3 of 4 from the cache", pc[0])
	rec.AddAttrs(slog.String("method", "GET"), slog.String("path", "/api/v1/items"), slog.Int("status", 200), slog.Int64("bytes", 48213),
		slog.Float64("ratio", 0.75), slog.Bool("cached", true), slog.Duration("took", 12500*time.Microsecond), slog.Uint64("id", 123456789),
		slog.Time("at", time.Now()), slog.Group("user", slog.String("name", "alice")))
	return rec
}

func BenchmarkRecord(b *testing.B) {
	rec := tenAttrs()
	for name, enc := range map[string]event.Encoder{"kv": NewEncoder(event.Options{}), "json": event.NewJSON(event.Options{})} {
		b.Run(name, func(b *testing.B) {
			var buf event.Buffer
			b.ReportAllocs()
			for b.Loop() {
				buf.Reset()
				enc.AppendRecord(&buf, rec, nil)
			}
		})
	}
}

// BenchmarkEvent packs lines of JSON.
func BenchmarkEvent(b *testing.B) {
	for _, kind := range corpus.Kinds() {
		var lines bytes.Buffer
		_, err := corpus.WriteNDJSON(&lines, kind, 1, 1000)
		check(b, err)
		enc := NewEncoder(event.Options{})
		b.Run(fmt.Sprint(kind), func(b *testing.B) {
			b.SetBytes(int64(lines.Len()))
			b.ReportAllocs()
			var buf event.Buffer
			for b.Loop() {
				for line := range bytes.Lines(lines.Bytes()) {
					buf.Reset()
					enc.AppendEvent(&buf, event.Lazy(bytes.TrimSpace(line)))
				}
			}
		})
	}
}

func BenchmarkDecode(b *testing.B) {
	var lines bytes.Buffer
	_, err := corpus.WriteNDJSON(&lines, corpus.Service, 1, 10_000)
	check(b, err)
	enc := NewEncoder(event.Options{})
	s := newStream(b)
	for line := range bytes.Lines(lines.Bytes()) {
		var buf event.Buffer
		enc.AppendEvent(&buf, event.Lazy(bytes.TrimSpace(line)))
		s.add(b, buf.B)
	}
	s.out = append(s.out, 0)
	b.SetBytes(int64(lines.Len()))
	b.Run("kv", func(b *testing.B) {
		b.SetBytes(int64(lines.Len()))
		var line []byte
		for b.Loop() {
			r, err := ir.NewReader(bytes.NewReader(s.out), nil)
			check(b, err)
			d := NewDecoder(r)
			for e, err := range r.All() {
				if err != nil {
					b.Fatal(err)
				}
				line, _ = d.AppendLine(line[:0], e)
			}
		}
	})
	b.Run("json", func(b *testing.B) {
		b.SetBytes(int64(lines.Len()))
		for b.Loop() {
			for line := range bytes.Lines(lines.Bytes()) {
				if _, err := event.Parse(line); err != nil {
					b.Fatal(err)
				}
			}
		}
	})
}
