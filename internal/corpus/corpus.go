package corpus

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"iter"
	"log/slog"
	"math/rand/v2"
	"runtime"
	"time"
)

// Kind names a generator.
type Kind string

const (
	// Demo is an instrumented service: requests of several events each, with nested groups, durations, errors, a
	// secret behind a LogValuer, multi-line stack traces, and every level. About 290 bytes an event without source.
	Demo Kind = "demo"
	// Service is a log of prose: numbers, addresses and paths stand in the message, few attributes beside it. About
	// 180 bytes an event.
	Service Kind = "service"
	// Spans is a trace of spans: random 128-bit trace ids and 64-bit span ids, ten attributes. About 330 bytes an
	// event, a quarter of them incompressible hexadecimal.
	Spans Kind = "spans"
)

// Kinds returns all kinds, in the order of their declaration.
func Kinds() []Kind { return []Kind{Demo, Service, Spans} }

// Epoch is the time of which every stream starts.
var Epoch = time.Date(2026, time.March, 2, 8, 0, 0, 0, time.UTC)

// Stream is an endless sequence of records. It is not safe for concurrent use; make one for each goroutine.
type Stream struct {
	rnd     *rand.Rand
	now     time.Time
	worker  int
	seq     int
	next    func(*Stream)
	pending []slog.Record // the rest of the request being told
	told    int           // how many of pending were handed out
}

// New returns the stream of one worker. It panics if the kind is not one of [Kinds], which is a mistake in the program.
func New(k Kind, seed uint64, worker int) *Stream {
	s := &Stream{rnd: rand.New(rand.NewPCG(seed, uint64(worker)+1)), now: Epoch, worker: worker}
	switch k {
	case Demo:
		s.next = (*Stream).request
	case Service:
		s.next = (*Stream).prose
	case Spans:
		s.next = (*Stream).span
	default:
		panic(fmt.Sprintf("corpus: no kind %q", k))
	}
	return s
}

// Next returns the next record. The record is the caller's.
func (s *Stream) Next() slog.Record {
	if s.told == len(s.pending) {
		s.pending, s.told = s.pending[:0], 0
		s.next(s)
	}
	r := s.pending[s.told]
	s.pending[s.told] = slog.Record{}
	s.told++
	return r
}

// Records returns the first n records that follow.
func (s *Stream) Records(n int) iter.Seq[slog.Record] {
	return func(yield func(slog.Record) bool) {
		for range n {
			if !yield(s.Next()) {
				return
			}
		}
	}
}

// WriteNDJSON writes the first n events of worker 0 to w as lines of JSON, encoded by [slog.JSONHandler] without source,
// and returns the number of bytes.
func WriteNDJSON(w io.Writer, k Kind, seed uint64, n int) (int64, error) {
	count := &counter{w: w}
	buf := bufio.NewWriterSize(count, 1<<16)
	h := slog.NewJSONHandler(buf, &slog.HandlerOptions{Level: slog.Level(-100)})
	ctx := context.Background()
	for r := range New(k, seed, 0).Records(n) {
		if err := h.Handle(ctx, r); err != nil {
			return count.n, fmt.Errorf("corpus: %w", err)
		}
	}
	if err := buf.Flush(); err != nil {
		return count.n, fmt.Errorf("corpus: %w", err)
	}
	return count.n, nil
}

type counter struct {
	w io.Writer
	n int64
}

func (c *counter) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	c.n += int64(n)
	return n, err
}

// emit appends a record to what the stream will tell, logged by the caller's line, after a pause of about mean.
func (s *Stream) emit(mean time.Duration, level slog.Level, msg string, attrs ...slog.Attr) {
	var pcs [1]uintptr
	runtime.Callers(2, pcs[:])
	s.now = s.now.Add(s.pause(mean))
	r := slog.NewRecord(s.now, level, msg, pcs[0])
	r.AddAttrs(slog.Int("worker", s.worker), slog.Int("seq", s.seq))
	r.AddAttrs(attrs...)
	s.seq++
	s.pending = append(s.pending, r)
}

// pause is exponentially distributed, at least a microsecond, in whole nanoseconds.
func (s *Stream) pause(mean time.Duration) time.Duration {
	return max(time.Duration(s.rnd.ExpFloat64()*float64(mean)), time.Microsecond)
}

func pick[T any](s *Stream, from []T) T { return from[s.rnd.IntN(len(from))] }

// chance is true in p of 1000 cases.
func (s *Stream) chance(p int) bool { return s.rnd.IntN(1000) < p }

// hex returns n random bytes as text.
func (s *Stream) hex(n int) string {
	const digits = "0123456789abcdef"
	out := make([]byte, 0, 2*n)
	for len(out) < 2*n {
		for x, i := s.rnd.Uint64(), 0; i < 16 && len(out) < 2*n; i++ {
			out = append(out, digits[x&15])
			x >>= 4
		}
	}
	return string(out)
}
