package bench

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"

	"github.com/tracehandler/tracehandler/format"
	"github.com/tracehandler/tracehandler/handler"
	"github.com/tracehandler/tracehandler/internal/frame"
	"github.com/tracehandler/tracehandler/sink"
)

// Memory compares what an open destination holds after some megabytes.
func Memory(out *Output, dir string) error {
	out.title("Memory of an open sink", "Heap in MiB that is live after 12,000 span records (about 4 MB) while the handler is open, blocks included.")
	table := Table{Head: []string{"destination", Ours, "slog.JSONHandler → klauspost"}}
	records := spanRecords()
	for _, d := range destinations {
		path := filepath.Join(dir, "memory")
		ours, err := live(func() (slog.Handler, func() error, error) {
			h := handler.New(sink.File(path, sink.Options{Format: d.format}), nil)
			return h, h.Close, nil
		}, records)
		if err != nil {
			return err
		}
		theirs, err := live(func() (slog.Handler, func() error, error) {
			f, err := os.Create(path)
			if err != nil {
				return nil, nil, err
			}
			w, _, end := d.open(f)
			return slog.NewJSONHandler(w, nil), func() error {
				if err := end(); err != nil {
					return err
				}
				return f.Close()
			}, nil
		}, records)
		if err != nil {
			return err
		}
		if d.format == format.Zstd {
			blocks := 3 * float64(frame.BlockSize(d.format)) / (1 << 20)
			out.atMost("memory of a zstd sink beyond its blocks, MiB", 4, ours-blocks)
		}
		table.add(d.name, fmt.Sprintf("%.2f", ours), fmt.Sprintf("%.2f", theirs))
		if err := os.Remove(path); err != nil {
			return err
		}
	}
	out.table(table)
	return nil
}

func live(open func() (slog.Handler, func() error, error), records []slog.Record) (float64, error) {
	before := heap()
	h, end, err := open()
	if err != nil {
		return 0, err
	}
	c := cycle{records: records}
	c.run(h, 12_000)
	after := heap()
	runtime.KeepAlive(h)
	return float64(int64(after)-int64(before)) / (1 << 20), end()
}

func heap() uint64 {
	runtime.GC()
	runtime.GC() // what pools hold survives the first
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
