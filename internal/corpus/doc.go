// Package corpus generates events to write, read and measure with: endless, realistic streams of [slog.Record] that
// depend on a seed alone.
//
//	s := corpus.New(corpus.Demo, seed, worker)
//	for range 1000 {
//		_ = handler.Handle(ctx, s.Next())
//	}
//
// The same kind, seed and worker give the same records, times and program counters included, in every process of one
// binary, so that what was written can be compared with what is generated again. Streams of different workers are
// independent: each counts its own events in the attribute "seq" and names itself in "worker".
//
// [WriteNDJSON] writes a corpus as text with the standard library's handler. It depends on no clock, path or processor.
package corpus
