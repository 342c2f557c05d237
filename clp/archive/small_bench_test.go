package archive

import (
	"fmt"
	"io"
	"testing"
)

// BenchmarkWriteSmall makes archives of a few records: most of it is done by Close.
func BenchmarkWriteSmall(b *testing.B) {
	for _, n := range []int{1, 20, 150, 300} {
		var lines [][]byte
		size := 0
		for i := range n {
			line := fmt.Appendf(nil, `{"time":"2026-03-02T08:00:%02d.%09dZ","level":"INFO","msg":"request %d took %d.50 ms","user":"u%x","ok":true,"n":%d}`, i%60, i*7919, i, i*31%977, i*7919, i)
			lines, size = append(lines, line), size+len(line)
		}
		b.Run(fmt.Sprintf("bytes=%d", size), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				w, err := NewWriter(io.Discard, &WriterOptions{TimeKey: []string{"time"}})
				check(b, err)
				for _, line := range lines {
					check(b, w.Write(line))
				}
				check(b, w.Close())
			}
		})
	}
}
