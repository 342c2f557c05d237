package handler

import (
	"context"
	"log/slog"
	"time"
)

// DefaultFlushInterval is how long an accepted event stays in the memory of the process at most, when
// Options.FlushInterval is zero and the disk keeps up.
const DefaultFlushInterval = time.Second

// Options configure a Handler. The zero value, like a nil pointer, logs records at slog.LevelInfo and above, without
// source, and flushes every DefaultFlushInterval.
type Options struct {
	// Level is the minimum level that is logged; nil means slog.LevelInfo. It is asked at every record, so a
	// *slog.LevelVar changes the level of a running program.
	Level slog.Leveler

	// AddSource adds the key "source" with function, file and line of the call. The location is resolved once per call
	// site, so it costs about nothing.
	AddSource bool

	// ReplaceAttr rewrites each non-group attribute before it is encoded, with the rules of slog.HandlerOptions.
	// It must be safe for concurrent use.
	ReplaceAttr func(groups []string, a slog.Attr) slog.Attr

	// Context returns attributes that belong to the context of a record, such as the ids of a trace and a span. They
	// stand at the root of the event, after the message and before the attributes of the logger, whatever groups the
	// logger has opened. It must be safe for concurrent use and must not keep the context. If it panics, the event has the
	// attribute "context" with the text "!PANIC: …" instead.
	Context func(ctx context.Context) []slog.Attr

	// OnError is told of the first error of each episode: a run of failures that ends when writing works again. It runs in
	// the goroutine that met the error, without the handler's mutex.
	OnError func(error)

	// SyncLevel is the level from which on a record is on the disk before Handle returns; nil means never. Other
	// goroutines wait meanwhile, so it is for the rare and the last records.
	SyncLevel slog.Leveler

	// FlushInterval bounds the time that an accepted event waits in memory: the handler flushes that long after the first
	// unflushed event. Zero means DefaultFlushInterval, a negative value never.
	FlushInterval time.Duration
}

func (o *Options) orDefault() Options {
	if o == nil {
		o = &Options{}
	}
	r := *o
	if r.Level == nil {
		r.Level = slog.LevelInfo
	}
	if r.FlushInterval == 0 {
		r.FlushInterval = DefaultFlushInterval
	}
	return r
}
