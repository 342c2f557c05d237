// Package handler is the slog.Handler that writes traces.
//
// A Handler turns each slog.Record into one encoded event, outside any lock and without allocating, and appends it to a
// [sink.Sink] under the one mutex that it shares with every handler derived from it:
//
//	h := handler.New(sink.File("app.ndjson.zst", sink.Options{Format: format.Zstd}), nil)
//	defer h.Close()
//	log := slog.New(h)
//	log.Info("request", "path", "/", "took", 3*time.Millisecond)
//
// # Life cycle
//
// Nothing is opened before the first record, so New cannot fail; what goes wrong surfaces from Handle, through
// [Options.OnError] and again from Close. Flush hands everything accepted so far to the operating system (it survives the
// death of the process), Sync puts it on the disk (it survives the death of the machine), Rotate starts a new file, and
// Close completes the trace. Close holds the mutex while it finalizes: when it has returned, the file is whole, has its
// final name and may be read. From the moment Close begins, Handle returns [ErrClosed], also from derived handlers.
//
// # When the sink fails
//
// A failing sink never panics, blocks for ever or stops the program. The error is returned from Handle, reported once per
// episode through OnError, and kept for Close. Events that the sink refused are counted in [Handler.Stats], and once
// writing works again an event with the message [DroppedMessage] says in the trace how many are missing.
//
// # Locks and callbacks
//
// LogValue methods, marshalers, Options.ReplaceAttr, Options.Context and Options.OnError are called without the mutex, so
// they may log to the same handler. The rank function of a directory sink and a sink's BeforePublish hook are called with
// the mutex held and must not.
package handler
