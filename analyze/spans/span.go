package spans

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"
)

// Keys of a span's event.
const (
	KeyStart    = "start"
	KeyDuration = "duration"
	KeySpan     = "span"
	KeyParent   = "parent"
)

// Span is one stretch of work. Its methods may be called from any goroutine; only the first End counts.
type Span struct {
	logger *slog.Logger
	ctx    context.Context
	name   string
	id     uint64
	parent uint64
	start  time.Time
	attrs  []any
	ended  atomic.Bool
}

type contextKey struct{}

// lastID numbers the spans of this process.
var lastID atomic.Uint64

// Start begins a span that is the child of the one in ctx, if there is one. args are as for slog.Logger.Info. The returned
// context carries the span.
func Start(ctx context.Context, logger *slog.Logger, name string, args ...any) (context.Context, *Span) {
	s := &Span{logger: logger, name: name, id: lastID.Add(1), start: time.Now(), attrs: args}
	if p, ok := ctx.Value(contextKey{}).(*Span); ok {
		s.parent = p.id
	}
	s.ctx = context.WithValue(ctx, contextKey{}, s)
	return s.ctx, s
}

// End logs the span at level Info, with more args if there are any.
func (s *Span) End(args ...any) {
	if s.ended.Swap(true) || !s.logger.Enabled(s.ctx, slog.LevelInfo) {
		return
	}
	all := append(make([]any, 0, 4+len(s.attrs)+len(args)), slog.Time(KeyStart, s.start), slog.Duration(KeyDuration, time.Since(s.start)), slog.Uint64(KeySpan, s.id))
	if s.parent != 0 {
		all = append(all, slog.Uint64(KeyParent, s.parent))
	}
	s.logger.InfoContext(s.ctx, s.name, append(append(all, s.attrs...), args...)...)
}
