package bench

import (
	"context"
	"io"
	"log/slog"
	"sync"
	"time"

	phuslu "github.com/phuslu/log"
	"github.com/rs/zerolog"
	"github.com/tracehandler/tracehandler/format"
	"github.com/tracehandler/tracehandler/handler"
	"github.com/tracehandler/tracehandler/sink"
	"go.uber.org/zap/exp/zapslog"
	"go.uber.org/zap/zapcore"
)

// Ours is the name of tracehandler in the tables.
const Ours = "tracehandler"

// Peer makes handlers that write JSON lines to a writer which they lock.
type Peer struct {
	Name string
	New  func(w io.Writer, source bool) slog.Handler
}

// Peers are all of them, tracehandler first.
var Peers = []Peer{
	{Ours, func(w io.Writer, source bool) slog.Handler {
		return handler.New(sink.Writer(w, sink.Options{Format: format.Plain}), &handler.Options{AddSource: source})
	}},
	{"slog.JSONHandler", func(w io.Writer, source bool) slog.Handler {
		return slog.NewJSONHandler(w, &slog.HandlerOptions{AddSource: source})
	}},
	{"zap + zapslog", func(w io.Writer, source bool) slog.Handler {
		core := zapcore.NewCore(zapcore.NewJSONEncoder(zapcore.EncoderConfig{
			TimeKey: "time", LevelKey: "level", MessageKey: "msg", CallerKey: "source", LineEnding: "\n",
			EncodeTime: zapcore.RFC3339NanoTimeEncoder, EncodeLevel: zapcore.CapitalLevelEncoder,
			EncodeDuration: zapcore.NanosDurationEncoder, EncodeCaller: zapcore.FullCallerEncoder,
		}), zapcore.Lock(zapcore.AddSync(w)), zapcore.InfoLevel)
		return zapslog.NewHandler(core, zapslog.WithCaller(source))
	}},
	{"zerolog", func(w io.Writer, source bool) slog.Handler {
		c := zerolog.New(&locked{w: w}).Level(zerolog.InfoLevel).With()
		if source {
			c = c.Caller()
		}
		return zerolog.NewSlogHandler(c.Logger())
	}},
	{"phuslu/log", func(w io.Writer, source bool) slog.Handler {
		return phuslu.SlogNewJSONHandler(&locked{w: w}, &slog.HandlerOptions{AddSource: source, Level: slog.LevelInfo})
	}},
}

func init() { zerolog.TimeFieldFormat = time.RFC3339Nano }

// locked is a writer for handlers that do not lock theirs.
type locked struct {
	mu sync.Mutex
	w  io.Writer
}

func (l *locked) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(p)
}

// noop is a handler that does nothing: what the front end of log/slog costs by itself.
type noop struct{}

func (noop) Enabled(context.Context, slog.Level) bool  { return true }
func (noop) Handle(context.Context, slog.Record) error { return nil }
func (noop) WithAttrs([]slog.Attr) slog.Handler        { return noop{} }
func (noop) WithGroup(string) slog.Handler             { return noop{} }

// closeHandler closes h if it is ours.
func closeHandler(h slog.Handler) {
	if c, ok := h.(io.Closer); ok {
		if err := c.Close(); err != nil {
			panic(err)
		}
	}
}
