package bench

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"runtime"
	"strings"
	"time"
)

var (
	ctx         = context.Background()
	errUpstream = errors.New("upstream closed the connection")
)

// ten are ten attributes of mixed kinds, made anew as a caller makes them.
func ten() []slog.Attr {
	return []slog.Attr{
		slog.String("trace_id", "4bf92f3577b34da6a3ce929d0e0e4736"), slog.String("span_id", "00f067aa0ba902b7"),
		slog.String("method", "GET"), slog.String("path", "/api/v1/users/12345/orders"),
		slog.Int("status", 200), slog.Int64("bytes", 48213), slog.Duration("elapsed", 18734*time.Microsecond),
		slog.Bool("cached", true), slog.Float64("ratio", 0.87345), slog.Any("error", errUpstream),
	}
}

func record(attrs ...slog.Attr) slog.Record {
	var pcs [1]uintptr
	runtime.Callers(2, pcs[:])
	r := slog.NewRecord(time.Now(), slog.LevelInfo, "request served", pcs[0])
	r.AddAttrs(attrs...)
	return r
}

// scenario is something that a program does with a logger or a handler, n times.
type scenario struct {
	name   string
	source bool
	run    func(h slog.Handler) func(n int)
}

func handled(r slog.Record) func(slog.Handler) func(int) {
	return func(h slog.Handler) func(int) {
		return func(n int) {
			for range n {
				_ = h.Handle(ctx, r)
			}
		}
	}
}

func nested(depth int) map[string]any {
	m := map[string]any{"name": "node", "id": depth, "ratio": 0.25, "tags": []string{"a", "b"}, "ok": true}
	if depth > 0 {
		m["left"], m["right"] = nested(depth-1), nested(depth-1)
	}
	return m
}

const barred = "10 attributes, Handle alone"

var scenarios = []scenario{
	{"disabled, 3 attributes", false, func(h slog.Handler) func(int) {
		l := slog.New(h)
		return func(n int) {
			for range n {
				l.LogAttrs(ctx, slog.LevelDebug, "m", slog.Int("a", 1), slog.String("b", "x"), slog.Bool("c", true))
			}
		}
	}},
	{"message only, through a Logger", false, func(h slog.Handler) func(int) {
		l := slog.New(h)
		return func(n int) {
			for range n {
				l.LogAttrs(ctx, slog.LevelInfo, "request served")
			}
		}
	}},
	{"the same with source", true, func(h slog.Handler) func(int) {
		l := slog.New(h)
		return func(n int) {
			for range n {
				l.LogAttrs(ctx, slog.LevelInfo, "request served")
			}
		}
	}},
	{"10 attributes, through a Logger", false, func(h slog.Handler) func(int) {
		l := slog.New(h)
		return func(n int) {
			for range n {
				logTen(l)
			}
		}
	}},
	{barred, false, handled(record(ten()...))},
	{"With 10 in 2 groups, and 2", false, func(h slog.Handler) func(int) {
		h = h.WithGroup("request").WithAttrs(ten()[:5]).WithGroup("result").WithAttrs(ten()[5:])
		return handled(record(slog.Int("attempt", 2), slog.String("host", "web-17")))(h)
	}},
	{"string of 8 KiB", false, handled(record(slog.String("text", strings.Repeat("the quick brown fox, ", 8192/21))))},
	{"nested maps, about 64 KiB", false, handled(record(slog.Any("tree", nested(9))))},
}

func logTen(l *slog.Logger) {
	l.LogAttrs(ctx, slog.LevelInfo, "request served",
		slog.String("trace_id", "4bf92f3577b34da6a3ce929d0e0e4736"), slog.String("span_id", "00f067aa0ba902b7"),
		slog.String("method", "GET"), slog.String("path", "/api/v1/users/12345/orders"),
		slog.Int("status", 200), slog.Int64("bytes", 48213), slog.Duration("elapsed", 18734*time.Microsecond),
		slog.Bool("cached", true), slog.Float64("ratio", 0.87345), slog.Any("error", errUpstream))
}

// Handle compares the handlers without a destination.
func Handle(out *Output, rounds int) {
	out.title("Handlers, to nowhere", "CPU ns per event, in parentheses the allocations. The writer discards; tracehandler's figure includes its helper goroutine.")
	table := Table{Head: []string{"scenario"}}
	for _, p := range Peers {
		table.Head = append(table.Head, p.Name)
	}
	table.Head = append(table.Head, "ours / slog", "ours / phuslu")
	for _, s := range scenarios {
		var cases []Case
		var allocs []float64
		var handlers []slog.Handler
		for _, p := range Peers {
			h := p.New(io.Discard, s.source)
			handlers = append(handlers, h)
			run := s.run(h)
			cases = append(cases, Case{p.Name, run})
			allocs = append(allocs, Allocs(run))
		}
		row := []string{s.name}
		results := Interleave(cases, Plan{Rounds: rounds, Slice: 500 * time.Microsecond})
		for i, r := range results {
			row = append(row, cell(r.CPU, allocs[i]))
		}
		table.add(append(row, ratio(results[0].CPU, results[1].CPU), ratio(results[0].CPU, results[4].CPU))...)
		if s.name == barred {
			out.atMost("CPU of Handle with 10 attributes, to nowhere / slog.JSONHandler", 0.45, results[0].CPU/results[1].CPU)
			out.atMost("the same / phuslu/log", 1, results[0].CPU/results[4].CPU)
			out.atMost("allocations of the same", 0, allocs[0])
		}
		for _, h := range handlers {
			closeHandler(h)
		}
	}
	out.table(table)
	message := scenarios[1]
	off, on := Peers[0].New(io.Discard, false), Peers[0].New(io.Discard, true)
	source := Interleave([]Case{{"off", message.run(off)}, {"on", message.run(on)}}, Plan{Rounds: rounds, Slice: 500 * time.Microsecond})
	closeHandler(off)
	closeHandler(on)
	out.atMost("message only, with source / without", 1.1, source[1].CPU/source[0].CPU)
	front := Interleave([]Case{{"front end", func(n int) {
		l := slog.New(noop{})
		for range n {
			logTen(l)
		}
	}}}, Plan{Rounds: rounds, Slice: 500 * time.Microsecond})
	out.note("Of a call through a Logger with 10 attributes, %.0f ns are spent before any handler is asked to write.", front[0].CPU)
}
