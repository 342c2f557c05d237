package event

import (
	"encoding/json"
	"log/slog"
	"strings"
	"testing"
)

// tenLine is the line of tenRecord.
func tenLine() []byte {
	var b Buffer
	NewJSON(Options{}).AppendRecord(&b, tenRecord(), nil)
	return b.B[:len(b.B)-1]
}

// bigLine is a line of about 64 KiB as compilers write them: a text with many escaped newlines, nested objects, numbers.
func bigLine() []byte {
	code := strings.Repeat("    %12 = tt.load %11 : tensor<128x!tt.ptr<f32>> loc(#loc4)\n", 700)
	locs := make([]any, 200)
	for i := range locs {
		locs[i] = map[string]any{"file": "/home/user/kernel.py", "line": i, "column": i % 80, "ratio": float64(i) / 7}
	}
	return New(slog.String("event_type", "compilation"), slog.Int("pid", 4711), slog.Group("payload",
		slog.String("ttir", code), slog.Any("source_mapping", locs)), slog.String("end", "x")).AppendJSON(nil)
}

func BenchmarkParse(b *testing.B) {
	for name, line := range map[string][]byte{"Ten": tenLine(), "64KiB": bigLine()} {
		b.Run(name+"/event", func(b *testing.B) {
			b.SetBytes(int64(len(line)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Parse(line); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(name+"/encodingjson", func(b *testing.B) {
			b.SetBytes(int64(len(line)))
			for b.Loop() {
				if !json.Valid(line) {
					b.Fatal("invalid")
				}
			}
		})
	}
}

func BenchmarkAttrs(b *testing.B) {
	for name, line := range map[string][]byte{"Ten": tenLine(), "64KiB": bigLine()} {
		e, _ := Parse(line)
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(line)))
			b.ReportAllocs()
			for b.Loop() {
				if attrs, _ := e.Attrs(); len(attrs) == 0 {
					b.Fatal("nothing")
				}
			}
		})
	}
}

// BenchmarkGet looks at two early keys: it must not depend on the length of the line.
func BenchmarkGet(b *testing.B) {
	for name, line := range map[string][]byte{"64KiB": bigLine(), "4MiB": append(bigLine(), make([]byte, 4<<20)...)} {
		b.Run("TwoEarlyKeys/"+name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				e := Lazy(line)
				kind, ok1 := e.Get("event_type")
				pid, ok2 := e.Get("pid")
				if !ok1 || !ok2 || kind.String() != "compilation" || pid.Int64() != 4711 {
					b.Fatal(kind, pid)
				}
			}
		})
	}
	line := bigLine()
	b.Run("LastKey/64KiB", func(b *testing.B) {
		b.SetBytes(int64(len(line)))
		for b.Loop() {
			if _, ok := Lazy(line).Get("end"); !ok {
				b.Fatal("not found")
			}
		}
	})
	ten := tenLine()
	b.Run("TimeLevel/Ten", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			e := Lazy(ten)
			_, ok1 := e.Time()
			_, ok2 := e.Level()
			if !ok1 || !ok2 {
				b.Fatal("not found")
			}
		}
	})
}
