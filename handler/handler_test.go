package handler_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/tracehandler/tracehandler/format"
	"github.com/tracehandler/tracehandler/handler"
	"github.com/tracehandler/tracehandler/sink"
)

type ctxKey struct{}

func spanOf(ctx context.Context) []slog.Attr {
	if id, ok := ctx.Value(ctxKey{}).(string); ok {
		return []slog.Attr{slog.String("span", id)}
	}
	return nil
}

func noTime(groups []string, a slog.Attr) slog.Attr {
	if len(groups) == 0 && a.Key == slog.TimeKey {
		return slog.Attr{}
	}
	return a
}

func TestEvents(t *testing.T) {
	ctx := context.WithValue(context.Background(), ctxKey{}, "5f")
	done, cancel := context.WithCancel(ctx)
	cancel()
	tests := []struct {
		name string
		opts handler.Options
		log  func(l *slog.Logger)
		want string
	}{
		{"message", handler.Options{}, func(l *slog.Logger) { l.Info("m") }, `{"level":"INFO","msg":"m"}`},
		{"below the level", handler.Options{}, func(l *slog.Logger) { l.Debug("m") }, ``},
		{"level", handler.Options{Level: slog.LevelDebug}, func(l *slog.Logger) { l.Debug("m") }, `{"level":"DEBUG","msg":"m"}`},
		{"order", handler.Options{}, func(l *slog.Logger) { l.With("a", 1).Info("m", "b", 2) }, `{"level":"INFO","msg":"m","a":1,"b":2}`},
		{"siblings", handler.Options{}, func(l *slog.Logger) {
			base := l.With("a", 1)
			one, two := base.With("b", 2), base.With("c", 3)
			two.Info("m")
			one.Info("m")
		}, `{"level":"INFO","msg":"m","a":1,"c":3}` + "\n" + `{"level":"INFO","msg":"m","a":1,"b":2}`},
		{"groups", handler.Options{}, func(l *slog.Logger) {
			l.With("a", 1).WithGroup("g").With("b", 2).WithGroup("h").Info("m", "c", 3)
		}, `{"level":"INFO","msg":"m","a":1,"g":{"b":2,"h":{"c":3}}}`},
		{"empty groups", handler.Options{}, func(l *slog.Logger) {
			l.WithGroup("g").With("b", 2).WithGroup("h").Info("m")
		}, `{"level":"INFO","msg":"m","g":{"b":2}}`},
		{"context", handler.Options{Context: spanOf}, func(l *slog.Logger) {
			l.With("a", 1).WithGroup("g").InfoContext(ctx, "m", "b", 2)
		}, `{"level":"INFO","msg":"m","span":"5f","a":1,"g":{"b":2}}`},
		{"context that panics", handler.Options{Context: func(context.Context) []slog.Attr { panic("oops") }}, func(l *slog.Logger) {
			l.WithGroup("g").Info("m", "b", 2)
		}, `{"level":"INFO","msg":"m","context":"!PANIC: oops","g":{"b":2}}`},
		{"context without ids", handler.Options{Context: spanOf}, func(l *slog.Logger) { l.Info("m", "b", 2) }, `{"level":"INFO","msg":"m","b":2}`},
		{"context that is done", handler.Options{Context: spanOf}, func(l *slog.Logger) { l.InfoContext(done, "m") }, `{"level":"INFO","msg":"m","span":"5f"}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := &fakeSink{}
			tt.opts.ReplaceAttr = noTime
			tt.opts.FlushInterval = -1
			h := handler.New(s, &tt.opts)
			tt.log(slog.New(h))
			if got := strings.TrimSuffix(strings.Join(s.lines, ""), "\n"); got != tt.want {
				t.Errorf("got\n%s\nwant\n%s", got, tt.want)
			}
		})
	}
}

func TestLevelVar(t *testing.T) {
	var level slog.LevelVar
	s := &fakeSink{}
	log := slog.New(handler.New(s, &handler.Options{Level: &level, FlushInterval: -1}))
	log.Debug("no")
	level.Set(slog.LevelDebug)
	log.Debug("yes")
	if len(s.lines) != 1 {
		t.Errorf("%d events, want 1", len(s.lines))
	}
}

func TestSource(t *testing.T) {
	s := &fakeSink{}
	log := slog.New(handler.New(s, &handler.Options{AddSource: true, FlushInterval: -1}))
	log.Info("m")
	if got := s.lines[0]; !strings.Contains(got, `"source":{"function":"github.com/tracehandler/tracehandler/handler_test.TestSource"`) ||
		!strings.Contains(got, `handler_test.go","line":`) {
		t.Errorf("no source in %s", got)
	}
}

func TestWithNothingReturnsTheReceiver(t *testing.T) {
	h := handler.New(&fakeSink{}, never)
	if h.WithGroup("") != slog.Handler(h) || h.WithAttrs(nil) != slog.Handler(h) || h.WithAttrs([]slog.Attr{}) != slog.Handler(h) {
		t.Error("a handler that changes nothing is not the receiver")
	}
}

func TestNewPanicsOnNilSink(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("New accepted a nil sink")
		}
	}()
	handler.New(nil, nil)
}

// failing is a writer that has stopped working.
type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, errors.New("broken pipe") }

func TestBrokenWriterNeverBlocks(t *testing.T) {
	h := handler.New(sink.Writer(failing{}, sink.Options{BlockSize: 256, CloseWait: -1}), never)
	log := slog.New(h)
	for i := range 200 {
		log.Info("a program goes on when its trace cannot", "i", i)
	}
	if err := h.Close(); err == nil || !strings.Contains(err.Error(), "broken pipe") {
		t.Errorf("Close: %v, want the error of the writer", err)
	}
	if st := h.Stats(); st.Dropped == 0 || st.Events+st.Dropped < 200 {
		t.Errorf("%+v: events are unaccounted for", st)
	}
}

// mixed is the record of the benchmarks: ten attributes of all common kinds.
func mixed() slog.Record {
	r := record(slog.LevelInfo, "request handled")
	r.AddAttrs(slog.String("method", "GET"), slog.String("path", "/api/v1/items/12345"), slog.Int("status", 200),
		slog.Duration("took", 1234567*time.Nanosecond), slog.Bool("cached", false), slog.Float64("ratio", 0.8125),
		slog.Time("since", time.Date(2026, 11, 30, 9, 0, 0, 123456789, time.UTC)), slog.Uint64("bytes", 48213),
		slog.Any("err", io.ErrUnexpectedEOF), slog.Group("user", slog.String("id", "u-77"), slog.Int("age", 41)))
	return r
}

func BenchmarkHandle(b *testing.B) {
	ctx := context.Background()
	for _, f := range []format.Format{format.Plain, format.Zstd, format.CLPIR} {
		b.Run(f.String(), func(b *testing.B) {
			h := handler.New(sink.Writer(io.Discard, sink.Options{Format: f}), nil)
			r := mixed()
			b.ReportAllocs()
			for b.Loop() {
				_ = h.Handle(ctx, r)
			}
			b.StopTimer()
			if err := h.Close(); err != nil {
				b.Fatal(err)
			}
		})
	}
	b.Run("slog.JSONHandler", func(b *testing.B) {
		h := slog.NewJSONHandler(io.Discard, nil)
		r := mixed()
		b.ReportAllocs()
		for b.Loop() {
			_ = h.Handle(ctx, r)
		}
	})
}

// BenchmarkCaller is what a record costs the goroutine that logs it: a block full, without the work of the goroutine that
// compresses and writes, which is waited for outside of the measured time.
func BenchmarkCaller(b *testing.B) {
	const burst = 500
	ctx := context.Background()
	for _, f := range []format.Format{format.Plain, format.Zstd, format.CLPIR} {
		b.Run(f.String(), func(b *testing.B) {
			h := handler.New(sink.Writer(io.Discard, sink.Options{Format: f}), nil)
			r := mixed()
			b.ReportAllocs()
			for n := 0; b.Loop(); n++ {
				if n%burst == 0 {
					b.StopTimer()
					if err := h.Flush(); err != nil {
						b.Fatal(err)
					}
					b.StartTimer()
				}
				_ = h.Handle(ctx, r)
			}
			b.StopTimer()
			if err := h.Close(); err != nil {
				b.Fatal(err)
			}
		})
	}
}
