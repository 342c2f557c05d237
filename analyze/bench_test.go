package analyze

import (
	"bytes"
	"encoding/json"
	"os"
	"strconv"
	"testing"

	"github.com/tracehandler/tracehandler/analyze/chrometrace"
	"github.com/tracehandler/tracehandler/analyze/internal/tracegen"
	"github.com/tracehandler/tracehandler/analyze/kineto"
	"github.com/tracehandler/tracehandler/analyze/link"
	"github.com/tracehandler/tracehandler/analyze/tables"
	"github.com/tracehandler/tracehandler/analyze/timeline"
)

// benchmarkInput is the file that TRACEHANDLER_TRACE names, as it is or, repeated TRACEHANDLER_REPEAT times with shifted ids
// and times, as one long trace; or 24 MB made up.
func benchmarkInput(b *testing.B) []byte {
	if n, err := strconv.Atoi(os.Getenv("TRACEHANDLER_REPEAT")); err == nil {
		var buf bytes.Buffer
		if err := tracegen.Repeat(&buf, os.Getenv("TRACEHANDLER_TRACE"), n); err != nil {
			b.Fatal(err)
		}
		return buf.Bytes()
	}
	if path := os.Getenv("TRACEHANDLER_TRACE"); path != "" {
		data, err := os.ReadFile(path)
		if err != nil {
			b.Fatal(err)
		}
		return data
	}
	var buf bytes.Buffer
	if err := tracegen.Synthetic(&buf, tracegen.Options{Steps: 200}); err != nil {
		b.Fatal(err)
	}
	return buf.Bytes()
}

// BenchmarkTables reads, links and sums up a trace.
func BenchmarkTables(b *testing.B) {
	data := benchmarkInput(b)
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		s, err := chrometrace.NewFileScanner(bytes.NewReader(data))
		if err != nil {
			b.Fatal(err)
		}
		t := kineto.Load(s, nil)
		s.Close()
		l := link.New(t)
		timeline.New(t, timeline.Options{})
		timeline.New(t, timeline.Options{Keep: func(i int) bool { return l.Launch[i] >= 0 }})
		tables.Kernels(t, nil)
		tables.Launchers(t, l, tables.ByAll, tables.LauncherOptions{})
		tables.Streams(t, nil)
	}
}

// BenchmarkEncodingJSON is the yardstick: Go's own decoder over the same bytes, into a struct, analysing nothing.
func BenchmarkEncodingJSON(b *testing.B) {
	data := benchmarkInput(b)
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		dec := json.NewDecoder(bytes.NewReader(data))
		for {
			tok, err := dec.Token()
			if err != nil {
				b.Fatal(err)
			}
			if tok == "traceEvents" {
				break
			}
		}
		if _, err := dec.Token(); err != nil {
			b.Fatal(err)
		}
		for dec.More() {
			var ev struct {
				Ph, Cat, Name string
				TS, Dur       float64
				Args          struct {
					Correlation int64
					ExternalID  int64 `json:"External id"`
				}
			}
			if err := dec.Decode(&ev); err != nil {
				if _, bad := err.(*json.UnmarshalTypeError); !bad {
					b.Fatal(err)
				}
			}
		}
	}
}
