// Package spans logs the spans of a Go program through slog, and turns them into Chrome's trace-event JSON, which Perfetto,
// chrome://tracing and this project's own report open.
//
//	ctx, span := spans.Start(ctx, logger, "request", "path", r.URL.Path)
//	defer span.End()
//	…
//	rep, err := spans.WriteChrome(w, reader.Events(), spans.Options{})
//
// A span is one event, logged when it ends: its name is the message, "start" and "duration" say when, "span" and "parent"
// are ids. Events of other origin are spans if they have a duration and either a start or a time at which they ended; see
// Options for the names. All other events become instants.
package spans
