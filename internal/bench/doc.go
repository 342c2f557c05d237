// Package bench measures tracehandler against its peers: log/slog's JSON handler, zap behind zapslog, zerolog's slog
// handler and phuslu/log's. It is a module of its own, so that their code is no dependency of the product.
//
//	cd internal/bench
//	go run ./cmd/bench              # all tables, as Markdown
//	go run ./cmd/bench -only handle # one of them
//	go run ./cmd/soak -gb 4         # much data through one sink: bytes, speed, peak memory
//
// All peers of a table run in one process, in turn, in short slices (see [Interleave]); a figure is the tenth percentile
// of the slices, which is what a slice costs that nothing disturbed. Compare figures of one table only.
//
// Peers that do not lock their writer get one that does, as every slog handler must serialise its output.
package bench
