package tables

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tracehandler/tracehandler/analyze/chrometrace"
	"github.com/tracehandler/tracehandler/analyze/kineto"
	"github.com/tracehandler/tracehandler/analyze/link"
)

func load(events ...string) *kineto.Trace {
	return kineto.Load(chrometrace.NewScanner(strings.NewReader("["+strings.Join(events, ",\n")+"]")), nil)
}

func x(cat, name string, tid, ts, dur int, args string) string {
	return fmt.Sprintf(`{"ph":"X","cat":%q,"name":%q,"pid":1,"tid":%d,"ts":%d,"dur":%d,"args":{%s}}`, cat, name, tid, ts, dur, args)
}

// The figures of real traces are checked in package analyze; here is what those do not show.

func TestLaunchers(t *testing.T) {
	tr := load(
		x("cpu_op", "op", 1, 0, 10, `"Input Dims":[[1]],"Concrete Inputs":["1"]`), x("cpu_op", "op", 1, 20, 10, `"Input Dims":[[1]],"Concrete Inputs":["2"]`),
		x("cuda_runtime", "launch", 1, 1, 1, `"correlation":1`), x("cuda_runtime", "launch", 1, 2, 1, `"correlation":2`), x("cuda_runtime", "launch", 1, 21, 1, `"correlation":3`),
		x("cuda_runtime", "copy", 1, 50, 1, `"correlation":4`),
		x("kernel", "a", 7, 100, 10, `"correlation":1`), x("kernel", "b", 8, 105, 10, `"correlation":2`), // overlap: 15 together
		x("kernel", "a", 7, 200, 3, `"correlation":3`), x("gpu_memcpy", "m", 7, 300, 4, `"correlation":4`),
		x("kernel", "nccl", 7, 400, 50, `"correlation":3`), x("kernel", "alone", 7, 500, 5, ``),
	)
	l := link.New(tr)
	rows := Launchers(tr, l, ByName, LauncherOptions{})
	if len(rows) != 2 || rows[0].Name != "op" || rows[0].Instances != 2 || rows[0].Events != 3 || rows[0].Direct != 18_000 || !rows[1].IsLaunch || rows[1].Name != "copy" {
		t.Errorf("%+v", rows)
	}
	if k := rows[0].Kernels; len(k) != 2 || tr.String(k[0].Name) != "a" || k[0].Total != 13_000 || k[0].Count != 2 {
		t.Errorf("%+v", k)
	}
	if n := len(Launchers(tr, l, ByArgs, LauncherOptions{})); n != 2 {
		t.Errorf("%d rows by dims and types", n)
	}
	if n := len(Launchers(tr, l, ByAll, LauncherOptions{})); n != 3 {
		t.Errorf("%d rows by everything", n)
	}
	if rows := Launchers(tr, l, ByName, LauncherOptions{Collectives: true}); rows[0].Direct != 68_000 {
		t.Errorf("with collectives: %+v", rows[0])
	}
	if rows := Launchers(tr, l, ByName, LauncherOptions{Keep: func(i int) bool { return i == 3 }}); len(rows) != 1 || rows[0].Name != "copy" {
		t.Errorf("narrowed: %+v", rows)
	}
}

func TestFallback(t *testing.T) {
	var ev []string
	for i := range 50 {
		ev = append(ev, x("kernel", fmt.Sprintf("k%02d", i), 7, 100*i, 50-i, ``))
	}
	ev = append(ev, x("kernel", "hipLaunchKernel", 7, 9000, 99, ``), x("kernel", "__amd_rocclr_fillBuffer", 7, 9100, 99, ``))
	rows, dropped := Fallback(load(ev...), 5_000_000, nil)
	// Half a percent of 5 ms is 25 us, which k00 to k25 reach.
	if len(rows) != 26 || dropped != 24 || rows[0].Name != "k00" {
		t.Errorf("%d rows, %d dropped", len(rows), dropped)
	}
	if rows, dropped := Fallback(load(ev...), 1000, nil); len(rows) != FallbackMaxRows || dropped != 10 {
		t.Errorf("%d rows, %d dropped", len(rows), dropped)
	}
}

func TestCollectives(t *testing.T) {
	rows := Collectives(load(
		x("kernel", "ncclA", 7, 0, 5, `"Collective name":"allreduce","dtype":"Float","In msg nelems":8`), x("kernel", "ncclA", 7, 10, 7, `"Collective name":"allreduce","dtype":"Float","In msg nelems":8`),
		x("kernel", "ncclB", 7, 20, 1, ``), x("kernel", "gemm", 7, 30, 1, ``),
	), nil)
	if len(rows) != 2 || rows[0].Count != 2 || rows[0].Total != 12_000 || rows[0].Min != 5_000 || rows[0].Max != 7_000 || rows[1].Collective != "" {
		t.Errorf("%+v", rows)
	}
}
