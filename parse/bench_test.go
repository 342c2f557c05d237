package parse

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/tracehandler/tracehandler/parse/internal/traces"
)

var benchExamples = map[string][]string{
	"launches":     {"testdata/cases/07_full_autotune/input/*"},
	"compilations": {"testdata/cases/03_launch_autotune/input/*", "testdata/cases/01_example/input/*"},
	"fresh-code":   {"testdata/cases/03_launch_autotune/input/*", "testdata/cases/01_example/input/*"}, // no two the same
}

// writeTraces makes raw traces of about the given size from the examples of a kind.
func writeTraces(tb testing.TB, dir, kind string, o traces.Options) (size int64) {
	tb.Helper()
	var paths []string
	for _, g := range benchExamples[kind] {
		p, err := filepath.Glob(g)
		if err != nil {
			tb.Fatal(err)
		}
		paths = append(paths, p...)
	}
	examples, err := traces.Read(paths...)
	if err != nil {
		tb.Fatal(err)
	}
	o.CompileOnly = kind != "launches"
	o.FreshCode = kind == "fresh-code"
	size, _, err = traces.Write(dir, examples, o)
	if err != nil {
		tb.Fatal(err)
	}
	return size
}

// BenchmarkDir parses 20 MB of traces, of launches or of compilations, in each form of input. Bytes are those of the
// uncompressed input; cpu-ms/MB is the CPU time of the whole process, user and system.
func BenchmarkDir(b *testing.B) {
	for _, kind := range []string{"launches", "compilations", "fresh-code"} {
		for _, compress := range []string{"", "gzip", "zstd"} {
			name := compress
			if name == "" {
				name = "plain"
			}
			b.Run(kind+"/"+name, func(b *testing.B) {
				dir := b.TempDir()
				size := writeTraces(b, dir, kind, traces.Options{Seed: 1, Bytes: 20e6, Ranks: 2, Procs: 1, Compress: compress})
				b.SetBytes(size)
				b.ReportAllocs()
				runtime.GC()
				out := filepath.Join(b.TempDir(), "out")
				before := cpuTime()
				for b.Loop() {
					if _, err := Dir(context.Background(), dir, out, nil); err != nil {
						b.Fatal(err)
					}
					if err := os.RemoveAll(out); err != nil {
						b.Fatal(err)
					}
				}
				if used := cpuTime() - before; used > 0 {
					b.ReportMetric(used.Seconds()*1e3/(float64(size)/1e6*float64(b.N)), "cpu-ms/MB")
				}
			})
		}
	}
}
