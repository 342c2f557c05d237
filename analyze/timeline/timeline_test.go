package timeline

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/tracehandler/tracehandler/analyze/chrometrace"
	"github.com/tracehandler/tracehandler/analyze/interval"
	"github.com/tracehandler/tracehandler/analyze/kineto"
)

func load(events ...string) *kineto.Trace {
	return kineto.Load(chrometrace.NewScanner(strings.NewReader("["+strings.Join(events, ",\n")+"]")), nil)
}

func gpu(cat, name string, stream, ts, dur int) string {
	return fmt.Sprintf(`{"ph":"X","cat":%q,"name":%q,"pid":0,"tid":%d,"ts":%d,"dur":%d}`, cat, name, stream, ts, dur)
}

func TestNew(t *testing.T) {
	tr := load(
		gpu("kernel", "gemm", 1, 0, 10),
		gpu("kernel", "ncclDevKernel", 2, 5, 15), // 10 exposed
		gpu("gpu_memcpy", "Memcpy", 3, 15, 10),   // 5 exposed
		gpu("kernel", "__amd_rocclr_copyBuffer", 3, 30, 2),
		gpu("gpu_memset", "Memset", 3, 31, 2), // counts as computation
		gpu("kernel", "gemm", 1, 50, 1),
	)
	tl := New(tr, Options{MicroGap: 10_000})
	want := Timeline{Events: 6, First: 0, Last: 51_000, Total: 51_000, Busy: 29_000, Idle: 22_000, MicroIdle: 5_000, MacroIdle: 17_000, Computation: 13_000, Comm: 15_000, Memcpy: 12_000,
		ExposedComm: 10_000, ExposedMemcpy: 6_000, OverlapComm: 5_000, KernelSum: 28_000, KernelUnion: 23_000, CopySum: 12_000}
	if tl != want {
		t.Errorf("%+v\nwant %+v", tl, want)
	}
	w := New(tr, Options{Window: &interval.Interval{Start: 0, End: 20_000}})
	if w.Total != 20_000 || w.Events != 3 || w.Busy != 20_000 || w.Idle != 0 {
		t.Errorf("%+v", w)
	}
	if empty := New(load(), Options{}); empty != (Timeline{}) {
		t.Errorf("%+v", empty)
	}
}

// TestIdentity holds for whatever overlaps.
func TestIdentity(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 300 {
		var ev []string
		for range 1 + r.IntN(40) {
			name, cat := []string{"gemm", "rcclX", "MEMORY_COPY_DEVICE_TO_HOST.kd"}[r.IntN(3)], []string{"kernel", "kernel", "gpu_memcpy", "gpu_memset"}[r.IntN(4)]
			ev = append(ev, gpu(cat, name, r.IntN(4), r.IntN(200), r.IntN(30)))
		}
		tl := New(load(ev...), Options{})
		if tl.Computation+tl.ExposedComm+tl.ExposedMemcpy+tl.Idle != tl.Total || tl.Busy+tl.Idle != tl.Total || tl.MicroIdle+tl.MacroIdle != tl.Idle {
			t.Fatalf("%+v of %s", tl, ev)
		}
	}
}

func TestFindImpossible(t *testing.T) {
	serial := func(n int) (ev []string) {
		for i := range n {
			ev = append(ev, gpu("kernel", "k", 1, 10*i, 9))
		}
		return ev
	}
	if bad := FindImpossible(load(serial(100)...)); len(bad.Events) != 0 {
		t.Errorf("a serial stream: %+v", bad)
	}
	if bad := FindImpossible(load(append(serial(100), gpu("kernel", "long", 1, 505, 250_000))...)); len(bad.Events) != 1 || bad.Events[0] != 100 || !bad.Severe {
		t.Errorf("a corrupt event: %+v", bad)
	}
	if bad := FindImpossible(load(append(serial(100), gpu("kernel", "beside", 2, 505, 250_000))...)); len(bad.Events) != 0 {
		t.Errorf("a long event on a stream of its own: %+v", bad)
	}
	if bad := FindImpossible(load(append(serial(100), gpu("kernel", "last", 1, 1000, 2_000_000))...)); len(bad.Events) != 1 {
		t.Errorf("a corrupt last event: %+v", bad)
	}
	if bad := FindImpossible(load(append(serial(100), gpu("kernel", "jitter", 1, 1000, 5), gpu("kernel", "next", 1, 1004, 5))...)); len(bad.Events) != 0 {
		t.Errorf("clock noise: %+v", bad)
	}
}
