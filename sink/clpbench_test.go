//go:build unix

package sink

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/tracehandler/tracehandler/event"
	"github.com/tracehandler/tracehandler/format"
	"github.com/tracehandler/tracehandler/internal/corpus"
)

// BenchmarkClose is what Close takes for 100 MB of text, all at its end or most of it in the background before. text-MB/s is
// text by time on the clock, cpu-s/100MB processor time.
func BenchmarkClose(b *testing.B) {
	const text = 100 << 20
	for _, kind := range corpus.Kinds() {
		for _, background := range []bool{false, true} {
			name := string(kind) + "/atOnce"
			if background {
				name = string(kind) + "/background"
			}
			b.Run(name, func(b *testing.B) {
				var wall, used time.Duration
				for b.Loop() {
					s := File(filepath.Join(b.TempDir(), "trace.clp"), Options{Format: format.CLP, ArchiveInBackground: background})
					kv, plain := s.Encoder(event.Options{}), event.NewJSON(event.Options{})
					src := corpus.New(kind, 1, 0)
					var buf event.Buffer
					for n := 0; n < text; {
						r := src.Next()
						buf.Reset()
						plain.AppendRecord(&buf, r, nil)
						n += len(buf.B)
						buf.Reset()
						kv.AppendRecord(&buf, r, nil)
						check(b, s.Append(buf.B))
					}
					check(b, s.Flush())
					if background { // a program does not log as fast as it can until its end
						for f := s.(*stream).target.(*file); f.part.Behind() > 0; {
							time.Sleep(10 * time.Millisecond)
						}
					}
					start, cpuStart := time.Now(), cpu()
					check(b, s.Close())
					wall += time.Since(start)
					used += cpu() - cpuStart
				}
				b.ReportMetric(wall.Seconds()/float64(b.N), "close-s")
				b.ReportMetric(used.Seconds()/float64(b.N), "close-cpu-s")
				b.ReportMetric(0, "ns/op")
			})
		}
	}
}
