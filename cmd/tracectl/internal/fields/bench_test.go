package fields

import (
	"testing"

	"github.com/tracehandler/tracehandler/event"
)

func BenchmarkApply(b *testing.B) {
	for name, show := range map[string][]string{"keys": {"span_id", "http.status"}, "glob": {"*_id", "http.*"}} {
		b.Run(name, func(b *testing.B) {
			s, err := Parse(show, nil)
			if err != nil {
				b.Fatal(err)
			}
			var buf []byte
			b.ReportAllocs()
			b.SetBytes(int64(len(line)))
			for b.Loop() {
				buf = s.Apply(event.Lazy([]byte(line))).AppendJSON(buf[:0])
			}
		})
	}
}
