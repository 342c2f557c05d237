package jsontext

import (
	"encoding/json"
	"strings"
	"testing"
)

// BenchmarkScan compares with encoding/json over one line: short members, and a long text with escapes.
func BenchmarkScan(b *testing.B) {
	line := []byte(`{"time":"2026-11-30T10:46:59Z","level":"INFO","msg":"request served","status":200,"ratio":0.875,"user":{"name":"alice","tags":["a","b"]},"text":"` +
		strings.Repeat(`    %12 = tt.load %11 : tensor<128x!tt.ptr<f32>> loc(#loc4)\n`, 20) + `"}`)
	for _, f := range []struct {
		name string
		ok   func() bool
	}{
		{"ScanValue", func() bool { return Valid(line) }},
		{"ValueEnd", func() bool { return ValueEnd(line, 0) == len(line) }},
		{"encodingjson", func() bool { return json.Valid(line) }},
	} {
		b.Run(f.name, func(b *testing.B) {
			b.SetBytes(int64(len(line)))
			b.ReportAllocs()
			for b.Loop() {
				if !f.ok() {
					b.Fatal("invalid")
				}
			}
		})
	}
}

// BenchmarkAppendText compares with encoding/json over one string.
func BenchmarkAppendText(b *testing.B) {
	text := []byte(`"` + strings.Repeat(`    %12 = tt.load %11 : tensor<128x!tt.ptr<f32>> loc(#loc4)\n`, 20) + `"`)
	var buf []byte
	b.Run("jsontext", func(b *testing.B) {
		b.SetBytes(int64(len(text)))
		b.ReportAllocs()
		for b.Loop() {
			buf = AppendText(buf[:0], text[1:len(text)-1])
		}
	})
	b.Run("encodingjson", func(b *testing.B) {
		b.SetBytes(int64(len(text)))
		for b.Loop() {
			var s string
			if err := json.Unmarshal(text, &s); err != nil {
				b.Fatal(err)
			}
		}
	})
}
