package handler_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/tracehandler/tracehandler/finalize"
	"github.com/tracehandler/tracehandler/format"
	"github.com/tracehandler/tracehandler/handler"
	"github.com/tracehandler/tracehandler/sink"
)

func ExampleNew() {
	h := handler.New(sink.Writer(os.Stdout, sink.Options{}), &handler.Options{ReplaceAttr: noTime})
	log := slog.New(h).With("service", "shop")
	log.Info("order placed", "id", 17)
	if err := h.Close(); err != nil {
		fmt.Println(err)
	}
	fmt.Println(h.Handle(context.Background(), slog.Record{}))
	// Output:
	// {"level":"INFO","msg":"order placed","service":"shop","id":17}
	// handler: closed
}

// The ids of a trace and a span come from the context of each record.
func ExampleOptions_context() {
	h := handler.New(sink.Writer(os.Stdout, sink.Options{}), &handler.Options{ReplaceAttr: noTime, Context: spanOf})
	defer h.Close()
	ctx := context.WithValue(context.Background(), ctxKey{}, "5fca")
	slog.New(h).WithGroup("req").InfoContext(ctx, "served", "status", 200)
	// Output: {"level":"INFO","msg":"served","span":"5fca","req":{"status":200}}
}

// A handler whose context ends is closed with it. Close waits for that, and returns its outcome.
func ExampleHandler_CloseOnDone() {
	ctx, cancel := context.WithCancel(context.Background())
	h := handler.New(sink.Writer(os.Stdout, sink.Options{}), &handler.Options{ReplaceAttr: noTime})
	h.CloseOnDone(ctx)
	slog.New(h).Info("working")
	cancel()
	fmt.Println(h.Close())
	// Output:
	// {"level":"INFO","msg":"working"}
	// <nil>
}

// Rotate publishes what was logged so far; Stats says what became of the events.
func ExampleHandler_Rotate() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	h := handler.New(sink.File(filepath.Join(dir, "app.ndjson"), sink.Options{}), nil)
	log := slog.New(h)
	log.Info("first file")
	if err := h.Rotate(); err != nil { // app-20261130T103740.123456789Z.ndjson is there now
		fmt.Println(err)
	}
	log.Info("second file")
	if err := h.Close(); err != nil { // and app.ndjson
		fmt.Println(err)
	}
	files, err := os.ReadDir(dir)
	fmt.Println(len(files), "files", err)
	st := h.Stats()
	fmt.Println(st.Events, "events", st.Dropped, "dropped", st.Sink.Rotations, "rotation")
	// Output:
	// 2 files <nil>
	// 2 events 0 dropped 1 rotation
}

// What Flush returned for survives the death of the process, what Sync returned for that of the machine.
func ExampleHandler_Flush() {
	h := handler.New(sink.Writer(os.Stdout, sink.Options{}), &handler.Options{ReplaceAttr: noTime})
	defer h.Close()
	slog.New(h).Info("about to do something dangerous")
	fmt.Println(h.Flush())
	fmt.Println(h.Sync())
	// Output:
	// {"level":"INFO","msg":"about to do something dangerous"}
	// <nil>
	// <nil>
}

// Handlers made from one share its file and its lock; the level can change while they are in use.
func ExampleHandler_WithAttrs() {
	var level slog.LevelVar
	h := handler.New(sink.Writer(os.Stdout, sink.Options{}), &handler.Options{Level: &level, ReplaceAttr: noTime})
	defer h.Close()
	worker := slog.New(h.WithAttrs([]slog.Attr{slog.Int("worker", 2)}))
	worker.Debug("not yet")
	level.Set(slog.LevelDebug)
	if h.Enabled(context.Background(), slog.LevelDebug) {
		worker.Debug("queue", "length", 5)
	}
	// Output:
	// {"level":"DEBUG","msg":"queue","worker":2,"length":5}
}

// A program that has been told to end does not wait for its archive to be made. All events are in the partial; recovery makes
// the archive later.
func ExampleHandler_CloseContext() {
	dir, err := os.MkdirTemp("", "trace")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	h := handler.New(sink.File(filepath.Join(dir, "trace.clp"), sink.Options{Format: format.CLP}), nil)
	slog.New(h).Info("last words")
	ctx, cancel := context.WithCancel(context.Background())
	cancel() // no time is left
	var unfinished *sink.UnfinishedError
	if errors.As(h.CloseContext(ctx), &unfinished) {
		fmt.Println("kept", filepath.Base(unfinished.Partial))
	}
	reports, err := finalize.Recover(dir, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, r := range reports {
		fmt.Println("made", filepath.Base(r.Path), "with", r.Events, "event")
	}
	// Output:
	// kept trace.clp.partial
	// made trace.clp with 1 event
}
