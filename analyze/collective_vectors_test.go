package analyze

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"testing"

	"github.com/tracehandler/tracehandler/analyze/collective"
)

func close2(got, want float64) bool { return math.Abs(got-want) <= 0.01+1e-6*math.Abs(want) }

// TestCollectiveVectors compares waits, skews, rates and stragglers of eight ranks with TraceLens', to 0.01 us.
func TestCollectiveVectors(t *testing.T) {
	const dir = "testdata/kineto/multirank_synthetic"
	text, err := os.ReadFile(dir + "/expected.json")
	if err != nil {
		t.Fatal(err)
	}
	var e struct {
		Ops       []map[string]any `json:"nccl_implicit_sync"`
		Summaries []map[string]any `json:"nccl_summary_implicit_sync"`
		Straggler []struct {
			Rank  int     `json:"rank"`
			Total float64 `json:"total_wait_time_us"`
			Mean  float64 `json:"mean_wait_time_us"`
			Last  int     `json:"times_arrived_last"`
			First int     `json:"times_arrived_first"`
			N     int     `json:"num_collectives"`
			Dur   float64 `json:"total_nccl_dur_us"`
			Node  int     `json:"node_id"`
		} `json:"straggler_summary"`
		Long []map[string]any `json:"nccl_summary_long"`
	}
	if err := json.Unmarshal(text, &e); err != nil {
		t.Fatal(err)
	}
	rep := run(t, dir, Options{}).Collective
	num := func(m map[string]any, key string) float64 {
		v, ok := m[key].(float64)
		if !ok {
			t.Fatalf("%q is %v", key, m[key])
		}
		return v
	}
	check := func(what string, got, want float64) {
		t.Helper()
		if !close2(got, want) {
			t.Errorf("%s: %v, want %v", what, got, want)
		}
	}
	equal(t, "collectives", len(rep.Ops), len(e.Ops))
	for _, w := range e.Ops {
		var op *collective.Op
		for i := range rep.Ops {
			if rep.Ops[i].Index == int(num(w, "collective_id")) {
				op = &rep.Ops[i]
			}
		}
		if op == nil {
			t.Errorf("collective %v is missing", w["collective_id"])
			continue
		}
		equal(t, "name", op.Collective, w["Collective name"].(string))
		equal(t, "nodes", op.Nodes, w["node_span"].(string))
		equal(t, "first", float64(op.First), num(w, "earliest arrival rank"))
		check("full", op.FullMB, num(w, "Full msg size (MB)"))
		check("latency", float64(op.Latency)/1e3, num(w, "comm_latency"))
		check("skew in", float64(op.SkewIn)/1e3, num(w, "skew in start time"))
		check("skew out", float64(op.SkewOut)/1e3, num(w, "skew in end time"))
		check("mean wait", op.MeanWait/1e3, num(w, "avg_wait_time"))
		check("algo", op.AlgoBW, num(w, "algo bw (GB/s)"))
		check("bus", op.BusBW, num(w, "bus bw (GB/s)"))
		for _, p := range op.Parts {
			check("wait", float64(p.Wait)/1e3, num(w, fmt.Sprintf("rank_%d_wait_time", p.Rank)))
			check("dur", float64(p.Dur)/1e3, num(w, fmt.Sprintf("rank_%d_dur", p.Rank)))
			check("ts", float64(p.TS)/1e3, num(w, fmt.Sprintf("rank_%d_ts", p.Rank)))
		}
		equal(t, "parts", len(op.Parts), 8)
	}
	equal(t, "summaries", len(rep.Summaries), len(e.Summaries))
	for i, w := range e.Summaries {
		s := rep.Summaries[i]
		equal(t, "elements", float64(s.In), num(w, "In msg nelems"))
		equal(t, "count", float64(s.Count), num(w, "count"))
		check("total", float64(s.Total)/1e6, num(w, "Total comm latency (ms)"))
		for name, st := range map[string]collective.Stat{"comm_latency": us1e3(s.Latency), "skew in start time": us1e3(s.SkewIn), "skew in end time": us1e3(s.SkewOut), "algo bw (GB/s)": s.AlgoBW, "bus bw (GB/s)": s.BusBW} {
			check(name, st.Mean, num(w, name+"_mean"))
			check(name, st.Median, num(w, name+"_median"))
			check(name, st.Min, num(w, name+"_min"))
			check(name, st.Max, num(w, name+"_max"))
		}
	}
	equal(t, "stragglers", len(rep.Stragglers), len(e.Straggler))
	for i, w := range e.Straggler {
		s := rep.Stragglers[i]
		equal(t, "straggler", [...]int{s.Rank, s.Last, s.First, s.Ops, s.Node}, [...]int{w.Rank, w.Last, w.First, w.N, w.Node})
		// They print these with one decimal.
		equal(t, "total wait", math.Abs(float64(s.TotalWait)/1e3-w.Total) < 0.051, true)
		equal(t, "mean wait", math.Abs(s.MeanWait/1e3-w.Mean) < 0.051, true)
		equal(t, "duration", math.Abs(float64(s.Total)/1e3-w.Dur) < 0.051, true)
	}
	equal(t, "rank rows", len(rep.Ranks), len(e.Long))
	for _, w := range e.Long {
		found := false
		for _, r := range rep.Ranks {
			found = found || r.Rank == int(num(w, "rank")) && r.Collective == w["Collective name"] && float64(r.In) == num(w, "In msg nelems") && r.DType == w["dtype"] &&
				float64(r.Count) == num(w, "operation_count") && close2(float64(r.Total)/1e3, num(w, "dur_sum")) && close2(float64(r.Min)/1e3, num(w, "dur_min")) &&
				close2(float64(r.Max)/1e3, num(w, "dur_max")) && float64(r.Stream) == num(w, "stream") && close2(r.InMB, num(w, "In msg size (MB)_first"))
		}
		if !found {
			t.Errorf("rank row missing: %v", w)
		}
	}
}

func us1e3(s collective.Stat) collective.Stat {
	return collective.Stat{Mean: s.Mean / 1e3, Median: s.Median / 1e3, Min: s.Min / 1e3, Max: s.Max / 1e3}
}
