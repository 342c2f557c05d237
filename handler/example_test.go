package handler_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"

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
