package handler

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/tracehandler/tracehandler/event"
	"github.com/tracehandler/tracehandler/sink"
)

// Handler is a slog.Handler that writes events to a sink. All its methods may be called concurrently with themselves and
// each other. Handlers made by WithAttrs and WithGroup share its sink, its mutex and its life: closing one closes all.
type Handler struct {
	// Neither field changes after construction.
	trace *trace
	enc   event.Encoder
}

var _ slog.Handler = (*Handler)(nil)

// New returns a handler that writes to s and owns it from now on: only the handler may call its methods. Nil options are
// the defaults. New panics if s is nil, as slog.New does for a nil handler.
func New(s sink.Sink, o *Options) *Handler {
	if s == nil {
		panic("handler: nil sink")
	}
	opts := o.orDefault()
	enc := s.Encoder(event.Options{ReplaceAttr: opts.ReplaceAttr, AddSource: opts.AddSource})
	return &Handler{trace: newTrace(s, opts, enc), enc: enc}
}

// Enabled reports whether records at the level are logged.
func (h *Handler) Enabled(_ context.Context, level slog.Level) bool {
	return level >= h.trace.opts.Level.Level()
}

// Handle encodes the record and appends it to the trace. A context that is done does not keep a record from being
// written. Handle does not check the level again.
//
// It returns ErrClosed once Close has begun. Any other error says that the sink is failing now: either this event was
// dropped, or it was accepted and waits in memory behind a write that will be tried again (see sink.Sink).
func (h *Handler) Handle(ctx context.Context, r slog.Record) error {
	t := h.trace
	if t.closing.Load() {
		return ErrClosed
	}
	var extra []slog.Attr
	if t.opts.Context != nil {
		extra = attrsOf(ctx, t.opts.Context)
	}
	b := event.GetBuffer()
	h.enc.AppendRecord(b, r, extra)
	err := t.append(b.B, t.opts.SyncLevel != nil && r.Level >= t.opts.SyncLevel.Level())
	b.Free()
	return err
}

// attrsOf returns the attributes of a context. A panic becomes one, as those of values do: the program goes on.
func attrsOf(ctx context.Context, of func(context.Context) []slog.Attr) (attrs []slog.Attr) {
	defer func() {
		if p := recover(); p != nil {
			attrs = []slog.Attr{slog.String("context", fmt.Sprintf("!PANIC: %v", p))}
		}
	}()
	return of(ctx)
}

// WithAttrs returns a handler whose events carry the attributes, which are encoded now, once; a LogValuer among them is
// resolved now. Without attributes it returns the receiver.
func (h *Handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	if len(attrs) == 0 {
		return h
	}
	return &Handler{trace: h.trace, enc: h.enc.WithAttrs(attrs)}
}

// WithGroup returns a handler that puts all attributes added later into a group. A group that stays empty is not
// written. With an empty name it returns the receiver.
func (h *Handler) WithGroup(name string) slog.Handler {
	if name == "" {
		return h
	}
	return &Handler{trace: h.trace, enc: h.enc.WithGroup(name)}
}

// Flush hands every event accepted so far to the operating system; it waits for the write. What Flush returned nil for
// survives the death of the process. After Close has begun it returns ErrClosed.
func (h *Handler) Flush() error { return h.trace.do(sink.Sink.Flush) }

// Sync puts every event accepted so far on the disk. What Sync returned nil for survives the death of the machine. After
// Close has begun it returns ErrClosed.
func (h *Handler) Sync() error { return h.trace.do(sink.Sink.Sync) }

// Rotate completes the current file, publishes it under a name with the time, and lets the next event start a new one.
// After Close has begun it returns ErrClosed.
func (h *Handler) Rotate() error { return h.trace.do(sink.Sink.Rotate) }

// Close completes the trace. It holds the mutex while the sink finalizes, so that when it returns every event whose
// Handle returned nil is in the finished file. It returns the first error of the handler's life, and with it the error of
// closing if that was another one; every further call waits for the first and returns the same.
func (h *Handler) Close() error { return h.trace.close(context.Background()) }

// CloseContext is Close, but does not wait for archives (format clp) longer than until ctx is done: what is left then are
// partials with all events, of which finalize.Recover makes the archives. The error is a *sink.UnfinishedError.
func (h *Handler) CloseContext(ctx context.Context) error { return h.trace.close(ctx) }

// CloseOnDone closes the handler when ctx is done, in a goroutine of its own. A caller that needs the finished file calls
// Close too, which waits. The returned function cancels the arrangement, as that of context.AfterFunc does.
func (h *Handler) CloseOnDone(ctx context.Context) (stop func() bool) {
	return context.AfterFunc(ctx, func() { _ = h.Close() }) // every later Close returns the same error
}

// Stats returns what has happened so far. It may be called at any time, after Close too.
func (h *Handler) Stats() Stats { return h.trace.stats() }
