package chrometrace_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/tracehandler/tracehandler/analyze/chrometrace"
	"github.com/tracehandler/tracehandler/analyze/internal/tracegen"
)

// BenchmarkScan reads a trace made up, as profilers write it and indented by tabs and spaces.
func BenchmarkScan(b *testing.B) {
	var text, indented bytes.Buffer
	if err := tracegen.Synthetic(&text, tracegen.Options{Steps: 50}); err != nil {
		b.Fatal(err)
	}
	if err := json.Indent(&indented, text.Bytes(), "", "    "); err != nil {
		b.Fatal(err)
	}
	for name, text := range map[string][]byte{"plain": text.Bytes(), "indented": indented.Bytes()} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				s := chrometrace.NewScanner(bytes.NewReader(text))
				for s.Scan() {
					for a := s.Event().Arguments(); a.Next(); {
					}
				}
				if s.ErrorCount() != 0 || s.Events() == 0 {
					b.Fatal(s.Events(), s.Errors())
				}
			}
		})
	}
}
