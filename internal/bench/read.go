package bench

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/tracehandler/tracehandler/format"
	"github.com/tracehandler/tracehandler/handler"
	"github.com/tracehandler/tracehandler/reader"
	"github.com/tracehandler/tracehandler/sink"
)

// Read compares the ways to read a trace back.
func Read(out *Output, dir string, events, rounds int) error {
	for _, f := range []format.Format{format.Zstd, format.Gzip, format.Plain} {
		if err := readOne(out, dir, f, events, rounds); err != nil {
			return err
		}
	}
	return nil
}

const (
	linesWay  = "reader.Lines"
	eventsWay = "reader.Events, time and level"
	attrsWay  = "reader.Events, all attributes"
	oneCore   = ", one core"
)

func allCores() string { return fmt.Sprintf(", %d cores", runtime.GOMAXPROCS(0)) }

type way struct {
	name string
	read func(path string) error
}

func readOne(out *Output, dir string, f format.Format, events, rounds int) error {
	path := filepath.Join(dir, "read"+f.Suffix())
	h := handler.New(sink.File(path, sink.Options{Format: f}), nil)
	c := cycle{records: spans(min(events, 100_000))}
	c.run(h, events)
	if err := h.Close(); err != nil {
		return err
	}
	defer os.Remove(path)
	text := h.Stats().Sink.Bytes

	out.title("Reading "+f.String(), fmt.Sprintf("%d span records, %.0f MB of text. MB of text per second of wall time and per second of CPU, the best of %d runs.", events, float64(text)/1e6, rounds))
	ways := []way{}
	switch f {
	case format.Zstd:
		ways = append(ways, way{"klauspost/compress zstd alone, one core", func(path string) error {
			return drain(path, func(r io.Reader) (io.Reader, error) { return zstd.NewReader(r, zstd.WithDecoderConcurrency(1)) })
		}}, way{"klauspost/compress zstd alone, its default", func(path string) error {
			return drain(path, func(r io.Reader) (io.Reader, error) { return zstd.NewReader(r) })
		}})
	case format.Gzip:
		ways = append(ways, way{"klauspost/compress gzip alone", func(path string) error {
			return drain(path, func(r io.Reader) (io.Reader, error) { return gzip.NewReader(r) })
		}})
	case format.Plain:
		ways = append(ways, way{"read alone", func(path string) error {
			return drain(path, func(r io.Reader) (io.Reader, error) { return r, nil })
		}})
	}
	for _, cores := range []int{1, runtime.GOMAXPROCS(0)} {
		o, in := &reader.Options{Parallel: cores}, oneCore
		if cores > 1 {
			in = allCores()
		} else if len(ways) > 2 {
			break // there is only one core
		}
		ways = append(ways, way{linesWay + in, func(path string) error { return lines(path, o) }},
			way{eventsWay + in, func(path string) error { return each(path, o, false) }},
			way{attrsWay + in, func(path string) error { return each(path, o, true) }})
	}
	ways = append(ways, way{"encoding/json.Decoder into maps, after the decompression above", func(path string) error { return maps(path, f) }})
	if f == format.Zstd {
		for _, command := range []string{"zstd -dc", "zstd -dc | jq -c .level"} {
			if _, err := exec.LookPath("zstd"); err != nil {
				break
			}
			if _, err := exec.LookPath("jq"); err != nil && command != "zstd -dc" {
				break
			}
			ways = append(ways, way{command, func(path string) error {
				return exec.Command("sh", "-c", "zstd -dc "+path+command[len("zstd -dc"):]+" > /dev/null").Run()
			}})
		}
	}
	wall, cpu := make([]time.Duration, len(ways)), make([]time.Duration, len(ways))
	for range rounds {
		for i, w := range ways {
			runtime.GC()
			start, used := time.Now(), CPUTime()+ChildrenTime()
			if err := w.read(path); err != nil {
				return fmt.Errorf("bench: %s: %w", w.name, err)
			}
			used, spent := CPUTime()+ChildrenTime()-used, time.Since(start)
			if wall[i] == 0 || spent < wall[i] {
				wall[i] = spent
			}
			if cpu[i] == 0 || used < cpu[i] {
				cpu[i] = used
			}
		}
	}
	took, used := map[string]float64{}, map[string]float64{}
	for i, w := range ways {
		took[w.name], used[w.name] = wall[i].Seconds(), cpu[i].Seconds()
	}
	if f == format.Zstd {
		out.atLeast("speed of reader.Lines on zstd, one core / klauspost's decoder alone, by CPU", 0.8, cpu[0].Seconds()/used[linesWay+oneCore])
		if n := runtime.GOMAXPROCS(0); n > 1 {
			out.atLeast("speed of reader.Events on zstd, all cores / klauspost's decoder alone, one core", 0.8, wall[0].Seconds()/took[eventsWay+allCores()])
			out.atLeast("speed of reader.Events on zstd, all cores / one core", 0.8*float64(n), took[eventsWay+oneCore]/took[eventsWay+allCores()])
		}
	}
	table := Table{Head: []string{"way", "MB/s", "MB/s of CPU", "of the first"}}
	for i, w := range ways {
		table.add(w.name, figure(float64(text)/1e6/wall[i].Seconds()), figure(float64(text)/1e6/cpu[i].Seconds()), ratio(wall[0].Seconds(), wall[i].Seconds()))
	}
	out.table(table)
	return nil
}

func drain(path string, decode func(io.Reader) (io.Reader, error)) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	r, err := decode(f)
	if err != nil {
		return err
	}
	_, err = io.Copy(struct{ io.Writer }{io.Discard}, r)
	if z, ok := r.(*zstd.Decoder); ok {
		z.Close()
	}
	return err
}

func lines(path string, o *reader.Options) error {
	r, err := reader.Open(path, o)
	if err != nil {
		return err
	}
	defer r.Close()
	for _, err := range r.Lines() {
		if err != nil {
			return err
		}
	}
	return nil
}

func each(path string, o *reader.Options, all bool) error {
	r, err := reader.Open(path, o)
	if err != nil {
		return err
	}
	defer r.Close()
	for e, err := range r.Events() {
		if err != nil {
			return err
		}
		e.Time()
		e.Level()
		if all {
			if _, err := e.Attrs(); err != nil {
				return err
			}
		}
	}
	return nil
}

func maps(path string, f format.Format) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	var r io.Reader = file
	switch f {
	case format.Zstd:
		z, err := zstd.NewReader(file, zstd.WithDecoderConcurrency(1))
		if err != nil {
			return err
		}
		defer z.Close()
		r = z
	case format.Gzip:
		if r, err = gzip.NewReader(file); err != nil {
			return err
		}
	}
	d := json.NewDecoder(r)
	for {
		var m map[string]any
		if err := d.Decode(&m); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
	}
}
