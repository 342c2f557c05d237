package archive

import (
	"bytes"
	"fmt"
	"io"
	"runtime"
	"slices"
	"testing"
	"time"

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

// BenchmarkWriteConcurrent writes the same on one processor and on two, in turn, and reports how many times as fast two are.
func BenchmarkWriteConcurrent(b *testing.B) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for _, kind := range corpus.Kinds() {
		lines, size := corpusLines(b, kind, 100_000)
		b.Run(string(kind), func(b *testing.B) {
			var times [3][]time.Duration
			for b.Loop() {
				for _, n := range []int{1, 2} {
					runtime.GOMAXPROCS(n)
					began := time.Now()
					w, err := NewWriter(io.Discard, &WriterOptions{TimeKey: []string{"time"}, Concurrency: n})
					check(b, err)
					for _, line := range lines {
						if err := w.Write(line); err != nil {
							b.Fatal(err)
						}
					}
					check(b, w.Close())
					times[n] = append(times[n], time.Since(began))
				}
			}
			for n := range times {
				slices.Sort(times[n])
			}
			best, median := times[1][0].Seconds()/times[2][0].Seconds(), times[1][b.N/2].Seconds()/times[2][b.N/2].Seconds()
			b.ReportMetric(float64(size)/1e6/times[2][0].Seconds(), "MB/s")
			b.ReportMetric(best, "best")
			b.ReportMetric(median, "median")
		})
	}
}

type counting int64

func (c *counting) Write(p []byte) (int, error) {
	*c += counting(len(p))
	return len(p), nil
}

var _ io.Writer = (*counting)(nil)
