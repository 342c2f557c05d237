package capture

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

// sidecar captures one graph of a batch: an op per kernel, each launched in order.
func sidecar(batch int, kernels ...string) *kineto.Trace {
	ev := []string{x("user_annotation", fmt.Sprintf("capture_%d_FULL", batch), 1, 0, 1000, ""), x("cuda_runtime", "hipStreamBeginCapture", 1, 1, 1, `"correlation":1`)}
	for i, k := range kernels {
		ev = append(ev, x("cpu_op", fmt.Sprintf("op%d_%d", batch, i), 1, 10+10*i, 9, fmt.Sprintf(`"Input Dims":[[%d]]`, batch)),
			x("cuda_runtime", "hipLaunchKernel", 1, 11+10*i, 1, fmt.Sprintf(`"correlation":%d,"kernel":%q`, 10+i, k)),
			x("cuda_runtime", "hipPointerGetAttribute", 1, 13+10*i, 1, `"correlation":9`))
	}
	return load(append(ev, x("cuda_runtime", "hipStreamEndCapture", 1, 900, 1, `"correlation":2`))...)
}

// replay runs one step of a batch with one graph launch.
func replay(batch int, kernels ...string) *kineto.Trace {
	ev := []string{x("user_annotation", fmt.Sprintf("step[DECODE bs=%d]", batch), 1, 0, 100, ""), x("cuda_runtime", "hipGraphLaunch", 1, 5, 2, `"correlation":7`)}
	for i, k := range kernels {
		ev = append(ev, x("kernel", k, 3, 200+10*i, 5, `"correlation":7`))
	}
	return load(ev...)
}

func TestMerge(t *testing.T) {
	small, large := Graphs(sidecar(8, "a", "b", "a")), Graphs(sidecar(32, "a", "b", "a"))
	if len(small) != 1 || small[0].Batch != 8 || small[0].Mode != "FULL" || len(small[0].Launches) != 3 {
		t.Fatalf("%+v", small[0])
	}
	graphs := append(large, small...)
	for _, c := range []struct {
		name    string
		batch   int
		kernels []string
		ops     []string
		stats   Stats
	}{
		{"exact batch", 8, []string{"a", "b", "a"}, []string{"op8_0", "op8_1", "op8_2"}, Stats{1, 1, 0, 3, 3}},
		{"next larger batch", 9, []string{"a", "b", "a"}, []string{"op32_0", "op32_1", "op32_2"}, Stats{1, 1, 0, 3, 3}},
		{"beyond all", 99, []string{"a", "b", "a"}, []string{"op32_0", "op32_1", "op32_2"}, Stats{1, 1, 0, 3, 3}},
		{"one more, by names", 8, []string{"a", "x", "b", "a"}, []string{"op8_0", "", "op8_1", "op8_2"}, Stats{1, 0, 1, 4, 3}},
		{"fewer, by names", 8, []string{"b", "a"}, []string{"op8_1", "op8_0"}, Stats{1, 0, 1, 2, 2}},
		{"another graph", 8, []string{"y", "z"}, []string{"", ""}, Stats{1, 0, 0, 2, 0}},
	} {
		tr := replay(c.batch, c.kernels...)
		m := Merge(tr, link.New(tr), graphs)
		if m.Stats != c.stats {
			t.Errorf("%s: %+v, want %+v", c.name, m.Stats, c.stats)
		}
		for i, want := range c.ops {
			got := ""
			if g, op, ok := m.Op(i); ok {
				got = g.Trace.String(g.Trace.Ops[op].Name)
			}
			if got != want {
				t.Errorf("%s: event %d is %q, want %q", c.name, i, got, want)
			}
		}
	}
	eager := load(x("kernel", "a", 3, 1, 1, `"correlation":1`))
	if m := Merge(eager, link.New(eager), graphs); m != nil {
		t.Error("a trace without replays was merged")
	}
	var none *Merged
	if _, _, ok := none.Op(0); ok {
		t.Error("a nil Merged knows ops")
	}
}

// TestPieces replays two graphs of equal kernels in one step: each is the capture's at its place.
func TestPieces(t *testing.T) {
	graphs := append(Graphs(sidecar(8, "a")), Graphs(sidecar(8, "a"))...)
	tr := load(x("user_annotation", "step[DECODE bs=8]", 1, 0, 100, ""), x("cuda_runtime", "hipGraphLaunch", 1, 5, 2, `"correlation":7`), x("cuda_runtime", "hipGraphLaunch", 1, 9, 2, `"correlation":8`),
		x("kernel", "a", 3, 200, 5, `"correlation":7`), x("kernel", "a", 3, 300, 5, `"correlation":8`))
	m := Merge(tr, link.New(tr), graphs)
	first, _, _ := m.Op(0)
	second, _, _ := m.Op(1)
	if first != graphs[0] || second != graphs[1] || m.Stats.Positional != 2 {
		t.Errorf("%p %p, want %p %p", first, second, graphs[0], graphs[1])
	}
}
