package collective

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/tracehandler/tracehandler/analyze/chrometrace"
	"github.com/tracehandler/tracehandler/analyze/kineto"
	"github.com/tracehandler/tracehandler/analyze/link"
)

// rank has one collective for each pair of start and duration.
func rank(id int, name string, size int, at ...[2]int) Rank {
	var ev []string
	for i, a := range at {
		ev = append(ev, fmt.Sprintf(`{"ph":"X","cat":"cuda_runtime","name":"launch","pid":1,"tid":1,"ts":%d,"dur":1,"args":{"correlation":%d}}`, a[0]-1, i),
			fmt.Sprintf(`{"ph":"X","cat":"kernel","name":"ncclKernel","pid":0,"tid":4,"ts":%d,"dur":%d,"args":{"correlation":%d,"Collective name":%q,"dtype":"Float","In msg nelems":262144,"Out msg nelems":262144,"Group size":%d,"Process Group Name":"0","Process Group Ranks":"[0, 1]"}}`, a[0], a[1], i, name, size))
	}
	t := kineto.Load(chrometrace.NewScanner(strings.NewReader("["+strings.Join(ev, ",")+"]")), nil)
	return Rank{ID: id, Trace: t, Links: link.New(t)}
}

func TestAnalyze(t *testing.T) {
	rep := Analyze([]Rank{rank(0, "allreduce", 2, [2]int{100, 50}, [2]int{200, 10}), rank(1, "allreduce", 2, [2]int{130, 20}, [2]int{195, 15})}, Options{})
	if len(rep.Ops) != 2 || rep.Incomplete != 0 {
		t.Fatalf("%+v", rep)
	}
	op := rep.Ops[0]
	if op.Latency != 20_000 || op.SkewIn != 30_000 || op.SkewOut != 0 || op.First != 0 || op.Last != 1 || op.Parts[0].Wait != 30_000 || op.Parts[1].Wait != 0 || op.MeanWait != 15_000 {
		t.Errorf("%+v", op)
	}
	// 1 MB in 20 us, and 2·(2−1)/2 of that on the bus.
	if want := 1.0 / 1024 / 20e-6; op.FullMB != 1 || math.Abs(op.AlgoBW-want) > 1e-9 || math.Abs(op.BusBW-want) > 1e-9 {
		t.Errorf("%+v", op)
	}
	if s := rep.Stragglers; len(s) != 2 || s[0].Rank != 1 || s[0].TotalWait != 5_000 || s[0].Last != 1 || s[1].TotalWait != 30_000 {
		t.Errorf("%+v", s)
	}
}

// TestBaseTimes has ranks that count their times from different instants.
func TestBaseTimes(t *testing.T) {
	early, late := rank(0, "allreduce", 2, [2]int{100, 50}), rank(1, "allreduce", 2, [2]int{30, 20})
	early.Trace.Meta.BaseTime, late.Trace.Meta.BaseTime = 1_700_000_000_000_000_000, 1_700_000_000_000_100_000
	if op := Analyze([]Rank{late, early}, Options{}).Ops[0]; op.SkewIn != 30_000 || op.SkewOut != 0 || op.First != 0 || op.Last != 1 {
		t.Errorf("%+v", op)
	}
	early.Trace.Meta.BaseTime = 0
	if op := Analyze([]Rank{late, early}, Options{}).Ops[0]; op.SkewIn != 70_000 || op.First != 1 {
		t.Errorf("one base time is not known: %+v", op)
	}
}

func TestIncomplete(t *testing.T) {
	rep := Analyze([]Rank{rank(0, "allreduce", 2, [2]int{100, 50}, [2]int{200, 10}), rank(1, "allreduce", 2, [2]int{130, 20})}, Options{})
	if len(rep.Ops) != 1 || rep.Incomplete != 1 {
		t.Errorf("%+v", rep)
	}
	if rep := Analyze([]Rank{rank(0, "broadcast", 2, [2]int{1, 1}), rank(1, "broadcast", 2, [2]int{1, 1})}, Options{}); len(rep.Ops) != 0 || len(rep.Ranks) != 2 {
		t.Errorf("a broadcast holds nobody: %+v", rep)
	}
	if rep := Analyze(nil, Options{}); rep.Ops != nil {
		t.Errorf("%+v", rep)
	}
	if rep := Analyze([]Rank{rank(0, "allreduce", 2, [2]int{1, 5}), rank(9, "allreduce", 2, [2]int{2, 4})}, Options{GPUsPerNode: 8}); len(rep.Ops) != 1 || rep.Ops[0].Nodes != "inter_node" {
		t.Errorf("%+v", rep.Ops)
	}
}

func TestNames(t *testing.T) {
	for name, want := range map[string]bool{"allreduce": true, "_allgather_base": true, "reduce_scatter_tensor_coalesced": true, "all_to_allv": true, "broadcast": false, "send": false, "": false} {
		if synchronised(name) != want {
			t.Error(name)
		}
	}
	if n := nameOf("ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)"); n != "allreduce" {
		t.Error(n)
	}
}
