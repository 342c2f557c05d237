package link

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tracehandler/tracehandler/analyze/chrometrace"
	"github.com/tracehandler/tracehandler/analyze/kineto"
)

func load(events ...string) *kineto.Trace {
	return kineto.Load(chrometrace.NewScanner(strings.NewReader("["+strings.Join(events, ",\n")+"]")), nil)
}

func x(cat, name string, tid, ts, dur int, args string) string {
	return fmt.Sprintf(`{"ph":"X","cat":%q,"name":%q,"pid":1,"tid":%d,"ts":%d,"dur":%d,"args":{%s}}`, cat, name, tid, ts, dur, args)
}

// ops names, for each GPU event, its op by Op and by Any.
func ops(t *kineto.Trace, l *Links) (direct, any []string) {
	name := func(op int32) string {
		if op < 0 {
			return ""
		}
		return t.String(t.Ops[op].Name)
	}
	for i := range t.GPU {
		direct, any = append(direct, name(l.Op[i])), append(any, name(l.Any[i]))
	}
	return direct, any
}

func TestNew(t *testing.T) {
	tr := load(
		// Children may stand before their parents in the file.
		x("cpu_op", "inner", 1, 10, 10, `"External id":2`),
		x("cpu_op", "outer", 1, 0, 100, `"External id":1`),
		x("cpu_op", "execute", 1, 40, 20, `"External id":3`),
		x("cpu_op", "elsewhere", 2, 0, 100, `"External id":4`),
		x("cuda_runtime", "cudaLaunchKernel", 1, 12, 1, `"correlation":1,"External id":2`),
		x("cuda_driver", "cuLaunchKernelEx", 1, 20, 1, `"correlation":2,"External id":2`), // inner has ended
		x("cuda_runtime", "cudaLaunchKernel", 1, 45, 1, `"correlation":3,"External id":3`),
		x("cuda_runtime", "cudaLaunchKernel", 1, 200, 1, `"correlation":4,"External id":4`), // around no op
		x("cuda_runtime", "cudaGraphLaunch", 1, 210, 1, `"correlation":5,"External id":4`),
		x("cuda_runtime", "cudaMemsetAsync", 1, 13, 1, `"correlation":6`),
		x("kernel", "a", 7, 300, 1, `"correlation":1`),
		x("kernel", "b", 7, 301, 1, `"correlation":2`),
		x("kernel", "c", 7, 302, 1, `"correlation":3`),
		x("kernel", "d", 7, 303, 1, `"correlation":4`),
		x("kernel", "e", 7, 304, 1, `"correlation":5`),
		x("kernel", "f", 7, 305, 1, `"correlation":5`),
		x("gpu_memset", "Memset", 7, 306, 1, `"correlation":6`),
		x("kernel", "g", 7, 307, 1, `"correlation":77,"External id":1`), // its launch is not in the trace
		x("kernel", "h", 7, 308, 1, ``),
	)
	l := New(tr)
	direct, any := ops(tr, l)
	if got, want := strings.Join(direct, ","), "inner,outer,outer,,,,inner,,"; got != want {
		t.Errorf("ops %s, want %s", got, want)
	}
	if got, want := strings.Join(any, ","), "inner,outer,outer,elsewhere,,,inner,outer,"; got != want {
		t.Errorf("any %s, want %s", got, want)
	}
	if l.ByID[1] != -1 || l.ByID[0] < 0 || tr.String(tr.Ops[l.ByID[3]].Name) != "elsewhere" {
		t.Errorf("by id %v", l.ByID)
	}
	if !l.Graph[4] || !l.Graph[5] || l.Graph[3] {
		t.Errorf("graph %v", l.Graph)
	}
	if l.GraphStats != (GraphStats{Launches: 1, LaunchesWithKernels: 1, Kernels: 2}) {
		t.Errorf("%+v", l.GraphStats)
	}
	if l.Launch[7] != -1 || l.Launch[8] != -1 {
		t.Errorf("launches %v", l.Launch)
	}
	if p := l.Parent[0]; p < 0 || tr.String(tr.Ops[p].Name) != "outer" {
		t.Errorf("parents %v", l.Parent)
	}
}

// TestMergedProcesses has one correlation in two processes: the later call before the kernel is the likelier.
func TestMergedProcesses(t *testing.T) {
	tr := load(
		x("cuda_runtime", "first", 1, 10, 1, `"correlation":1`),
		x("cuda_runtime", "second", 2, 1000, 1, `"correlation":1`),
		x("kernel", "a", 7, 20, 1, `"correlation":1`),
		x("kernel", "b", 7, 1010, 1, `"correlation":1`),
		x("kernel", "c", 7, 1, 1, `"correlation":1`),
	)
	l := New(tr)
	if got := fmt.Sprint(l.Launch); got != "[0 1 0]" {
		t.Error(got)
	}
}

func TestUnderRecorded(t *testing.T) {
	for _, c := range []struct {
		g    GraphStats
		want bool
	}{
		{GraphStats{Launches: 20, LaunchesWithKernels: 2, Kernels: 30}, true},
		{GraphStats{Launches: 20, LaunchesWithKernels: 10, Kernels: 30}, false},
		{GraphStats{Launches: 1, LaunchesWithKernels: 0}, false},
		{GraphStats{Launches: 20}, false}, // none at all: kernels are not recorded, which other checks see
	} {
		if c.g.UnderRecorded() != c.want {
			t.Errorf("%+v", c.g)
		}
	}
}

func TestForward(t *testing.T) {
	tr := load(
		x("cpu_op", "aten::linear", 1, 0, 20, `"Sequence number":5`),
		x("cpu_op", "aten::addmm", 1, 2, 10, `"Sequence number":5`),
		x("cpu_op", "AddmmBackward0", 2, 100, 10, `"Sequence number":5,"Fwd thread id":1`),
		x("cpu_op", "LostBackward0", 2, 120, 10, `"Sequence number":6,"Fwd thread id":1`),
	)
	if got := fmt.Sprint(Forward(tr)); got != "[-1 -1 1 -1]" {
		t.Error(got)
	}
}
