package parse

import (
	"context"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/tracehandler/tracehandler/parse/internal/traces"
)

// TestMemory: three times the launches of the same kernels do not take more memory.
func TestMemory(t *testing.T) {
	peak := func(size int64) (most uint64) {
		dir := t.TempDir()
		writeTraces(t, dir, "launches", traces.Options{Seed: 1, Bytes: size, Ranks: 1, Procs: 1, OneHash: true})
		n := 0
		o := &Options{Memory: 1 << 20, Parallel: 1, Progress: func(int64, int64) {
			if n++; n%2 != 0 {
				return
			}
			runtime.GC()
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			most = max(most, m.HeapAlloc)
		}}
		if _, err := Dir(context.Background(), dir, filepath.Join(dir, "out"), o); err != nil {
			t.Fatal(err)
		}
		return most
	}
	small, large := peak(3e6), peak(9e6)
	if small == 0 || large > small+2<<20 {
		t.Errorf("%d KiB live for 3 MB of launches, %d KiB for 9 MB", small>>10, large>>10)
	}
}
