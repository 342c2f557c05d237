package archive

import (
	"bytes"
	"fmt"
	"io"
	"testing"

	"github.com/tracehandler/tracehandler/internal/corpus"
)

// corpusLines returns about size bytes of a corpus.
func corpusLines(t testing.TB, kind corpus.Kind, events int) (lines [][]byte, size int64) {
	t.Helper()
	var b bytes.Buffer
	n, err := corpus.WriteNDJSON(&b, kind, 1, events)
	check(t, err)
	return splitLines(b.Bytes()), n
}

// BenchmarkWrite writes 100,000 events, 18 to 33 MB of JSON. With -cpu 1 it is the work of one core, all goroutines counted.
func BenchmarkWrite(b *testing.B) {
	for _, kind := range corpus.Kinds() {
		lines, size := corpusLines(b, kind, 100_000)
		for _, level := range []int{1, 3} {
			b.Run(fmt.Sprintf("%s/level=%d", kind, level), func(b *testing.B) {
				b.SetBytes(size)
				b.ReportAllocs()
				written := int64(0)
				began := cpuTime()
				for b.Loop() {
					var out counting
					w, err := NewWriter(&out, &WriterOptions{TimeKey: []string{"time"}, Level: level})
					check(b, err)
					for _, line := range lines {
						if err := w.Write(line); err != nil {
							b.Fatal(err)
						}
					}
					check(b, w.Close())
					written = int64(out)
				}
				b.ReportMetric(float64(size)*float64(b.N)/1e6/(cpuTime()-began).Seconds(), "cpuMB/s")
				b.ReportMetric(float64(written)/float64(size), "ratio")
			})
		}
	}
}

// BenchmarkWriteConcurrent is the same on several processors.
func BenchmarkWriteConcurrent(b *testing.B) {
	for _, kind := range corpus.Kinds() {
		lines, size := corpusLines(b, kind, 100_000)
		for _, n := range []int{1, 2} {
			b.Run(fmt.Sprintf("%s/processors=%d", kind, n), func(b *testing.B) {
				b.SetBytes(size)
				for b.Loop() {
					w, err := NewWriter(io.Discard, &WriterOptions{TimeKey: []string{"time"}, Concurrency: n})
					check(b, err)
					for _, line := range lines {
						if err := w.Write(line); err != nil {
							b.Fatal(err)
						}
					}
					check(b, w.Close())
				}
			})
		}
	}
}

type counting int64

func (c *counting) Write(p []byte) (int, error) {
	*c += counting(len(p))
	return len(p), nil
}

var _ io.Writer = (*counting)(nil)
