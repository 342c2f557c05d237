package sink

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/tracehandler/tracehandler/event"
	"github.com/tracehandler/tracehandler/format"
	"github.com/tracehandler/tracehandler/internal/corpus"
)

// BenchmarkSize reports how many bytes an event of each corpus takes in zstd and in clp-ir, and the quotient of the two. One
// iteration is enough: go test -run xxx -bench Size -benchtime 1x ./sink
func BenchmarkSize(b *testing.B) {
	for _, kind := range corpus.Kinds() {
		for level := 1; level <= 4; level++ {
			b.Run(fmt.Sprintf("%v/level=%d", kind, level), func(b *testing.B) {
				for b.Loop() {
					lines, stream := traceSize(b, kind, format.Zstd, level), traceSize(b, kind, format.CLPIR, level)
					b.ReportMetric(lines, "zstd-B/event")
					b.ReportMetric(stream, "clp-ir-B/event")
					b.ReportMetric(stream/lines, "clp-ir/zstd")
				}
			})
		}
	}
}

// traceSize returns the bytes that an event takes in a file of 40,000.
func traceSize(b *testing.B, kind corpus.Kind, f format.Format, level int) float64 {
	const events = 40_000
	var trace bytes.Buffer
	s := Writer(&trace, Options{Format: f, Level: level})
	enc := s.Encoder(event.Options{})
	var buf event.Buffer
	for r := range corpus.New(kind, 1, 0).Records(events) {
		buf.Reset()
		enc.AppendRecord(&buf, r, nil)
		if err := s.Append(buf.B); err != nil {
			b.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		b.Fatal(err)
	}
	return float64(trace.Len()) / events
}
