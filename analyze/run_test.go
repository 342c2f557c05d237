package analyze

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/tracehandler/tracehandler/analyze/report"
)

func run(t *testing.T, path string, o Options) *Result {
	t.Helper()
	r, err := Run(context.Background(), path, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestRunVectors checks that the candidates of every trace account for all of its kernel time, that the report parses
// back to itself, and that the name-and-time rows are the expected ones.
func TestRunVectors(t *testing.T) {
	for _, path := range vectors(t) {
		t.Run(filepath.Base(path), func(t *testing.T) {
			e := readExpected[expected](t, path+".expected.json")
			r := run(t, path+".json.gz", Options{TopK: 1 << 20})
			equal(t, "excluded events", len(r.Excluded), 0)
			equal(t, "kernel time", r.Set.Total, e.GPU.Sum.ns())
			var sum int64
			count := 0
			for _, row := range r.Set.Rows {
				var own int64
				for _, k := range row.Kernels {
					own += k.Time
					count += k.Count
				}
				equal(t, "time of "+row.Name, own, row.Time)
				sum += row.Time
				if row.Efficiency < 0 || row.Efficiency > 100 || math.IsNaN(row.Priority) {
					t.Errorf("%s: efficiency %v, priority %v", row.Name, row.Efficiency, row.Priority)
				}
			}
			equal(t, "sum of rows", sum, r.Set.Total)
			equal(t, "kernels in rows", count, e.GPU.Kernels)
			d := r.Document()
			again, err := report.Parse(d.Render())
			if err != nil {
				t.Fatal(err)
			}
			equal(t, "report after a round trip", again.Render(), d.Render())
			if !reflect.DeepEqual(again.Items(), d.Items()) {
				t.Error("items differ after a round trip")
			}
			if r.Level == LevelReplay || r.Level == LevelGPUOnly {
				items := again.Items()
				equal(t, "items", len(items), len(e.Fallback.Rows))
				for i, w := range e.Fallback.Rows {
					row := items[i].Rows[0]
					equal(t, "item", [3]string{row[9], row[3], row[4]}, [3]string{w.Name, fixed(w.Time, 3), fixed(w.Share, 2)})
				}
				if _, idle := again.Metrics()["Idle %"]; idle {
					t.Error("the name-and-time report has an idle row")
				}
			}
		})
	}
}

func fixed(v float64, decimals int) string {
	text, _ := json.Marshal(v)
	whole, frac, _ := strings.Cut(string(text), ".")
	return whole + "." + (frac + "000000")[:decimals]
}

func TestLevels(t *testing.T) {
	for path, want := range map[string]Level{
		"testdata/kineto/h100_bert_small.json.gz":                  LevelNoStack,
		"testdata/kineto/mi210_gpu_only.json.gz":                   LevelGPUOnly,
		"testdata/kineto/vllm_decode_full/graph_execution.json.gz": LevelReplay,
		"chrometrace/testdata/malformed/05_empty_events.json":      LevelNothing,
		"chrometrace/testdata/malformed/18_no_gpu_events.json":     LevelNothing,
		"chrometrace/testdata/malformed/24_empty_file.json":        LevelNothing,
	} {
		if r := run(t, path, Options{}); r.Level != want || r.Usable() != (want != LevelNothing) || len(r.Missing) == 0 {
			t.Errorf("%s: level %d %v", path, r.Level, r.Missing)
		}
	}
}

// TestMalformed runs the whole analysis over every broken file.
func TestMalformed(t *testing.T) {
	e := readExpected[map[string]struct {
		Must struct {
			Events   int64    `json:"events"`
			Kernels  int      `json:"kernels"`
			Sum      *float64 `json:"kernel_sum_us"`
			Total    *float64 `json:"total_us"`
			Error    *string  `json:"error"`
			Degraded bool     `json:"degraded"`
			Attr     int      `json:"attributed"`
			Launches int      `json:"graph_launches"`
			With     int      `json:"graph_launches_with_kernels"`
			Under    bool     `json:"graph_under_recorded"`
		} `json:"must"`
	}](t, "chrometrace/testdata/malformed/expected.json")
	for name, w := range e {
		t.Run(name, func(t *testing.T) {
			r := run(t, filepath.Join("chrometrace/testdata/malformed", name), FromEnv(func(string) string { return "" }))
			s := r.Summary().Ranks[0]
			equal(t, "events", s.Events.Total, w.Must.Events)
			equal(t, "kernels", s.GPU.Kernels, w.Must.Kernels)
			if w.Must.Sum != nil {
				equal(t, "kernel sum", r.Set.Total, us(*w.Must.Sum).ns())
			}
			if w.Must.Total != nil {
				equal(t, "total", r.Timeline.Total, us(*w.Must.Total).ns())
			}
			if w.Must.Degraded {
				equal(t, "degraded", r.Degraded, true)
			}
			if w.Must.Error != nil && (len(s.Errors) == 0 || s.Errors[0] != *w.Must.Error) {
				t.Errorf("errors %q, want %q", s.Errors, *w.Must.Error)
			}
			if w.Must.Attr > 0 {
				equal(t, "rows", len(r.Set.Rows), 1)
				equal(t, "op", r.Set.Rows[0].Op, "aten::mm")
			}
			equal(t, "graph", [3]any{s.Graph.Launches, s.Graph.LaunchesWithKernels, s.Graph.UnderRecorded}, [3]any{w.Must.Launches, w.Must.With, w.Must.Under})
			equal(t, "usable", r.Usable(), w.Must.Kernels > 0)
			if r.Suppressed != nil {
				t.Errorf("a gate fired: %+v", r.Suppressed)
			}
		})
	}
}

func TestImpossibleDurations(t *testing.T) {
	for name, event := range map[string]string{"20_overlapping_same_stream_corrupt_dur.json": "corrupt", "30_huge_ints.json": "k"} {
		r := run(t, "chrometrace/testdata/malformed/"+name, Options{})
		if len(r.Excluded) != 1 || r.Excluded[0].Name != event {
			t.Errorf("%s: excluded %+v", name, r.Excluded)
		}
		if row := r.Set.Rows[0]; event == "corrupt" && row.Name == event {
			t.Errorf("%s: an impossible duration ranks first", name)
		}
		if r.Document().Find("Impossible Durations") == nil || len(r.Candidates().ExcludedEvents) != 1 {
			t.Errorf("%s: excluded events are not shown", name)
		}
	}
}

func TestGates(t *testing.T) {
	const busy, idle = "testdata/kineto/sglang_decode/sglang_Qwen3-8B_decode.json.gz", "testdata/kineto/h100_bert_small.json.gz"
	o := FromEnv(func(string) string { return "" })
	r := run(t, idle, o)
	c := r.Candidates()
	if r.Suppressed == nil || r.Suppressed.Code != "high_gpu_idle_pct" || len(c.HotKernels) != 0 || len(c.SuppressedKernels) == 0 {
		t.Errorf("92 %% idle: %+v, %d hot", r.Suppressed, len(c.HotKernels))
	}
	if r := run(t, busy, o); r.Suppressed != nil {
		t.Errorf("a replay was suppressed: %+v", r.Suppressed)
	}
	env := func(values map[string]string) func(string) string { return func(k string) string { return values[k] } }
	if r := run(t, idle, FromEnv(env(map[string]string{EnvIdle: "100", EnvCompute: "5"}))); r.Suppressed != nil {
		t.Errorf("the threshold was not taken: %+v", r.Suppressed)
	}
	if r := run(t, idle, FromEnv(env(map[string]string{EnvIdle: "100", EnvCompute: "50"}))); r.Suppressed == nil || r.Suppressed.Code != "low_gpu_compute_pct" {
		t.Errorf("compute gate: %+v", r.Suppressed)
	}
	if o := FromEnv(env(map[string]string{EnvIdle: "-3", EnvCompute: "x", EnvTopK: "0"})); o.Idle != DefaultIdle || o.Compute != DefaultMin || o.TopK != 15 {
		t.Errorf("%+v", o)
	}
}

func TestCheckRoute(t *testing.T) {
	for _, c := range []struct {
		given, env string
		ok         bool
	}{{"", "", true}, {" Bypass ", "", true}, {"", "agent", true}, {"magic", "", false}, {"", "magic", false}, {"bypass", "magic", true}} {
		err := CheckRoute(c.given, c.env)
		var route *RouteError
		if (err == nil) != c.ok || err != nil && (!errors.As(err, &route) || route.Class() != "invalid_analysis_route" || len(route.Valid) == 0) {
			t.Errorf("%q, %q: %v", c.given, c.env, err)
		}
	}
}

func TestRanks(t *testing.T) {
	r := run(t, "testdata/kineto/multirank_synthetic", Options{})
	if len(r.Ranks) != 8 {
		t.Fatalf("%d ranks", len(r.Ranks))
	}
	for i, k := range r.Ranks {
		if k.Rank != i || k.RankFrom != "metadata" {
			t.Errorf("rank %d is %d from %s", i, k.Rank, k.RankFrom)
		}
	}
	var sum int64
	for i := range r.Ranks {
		sum += r.Ranks[i].All.KernelSum
	}
	equal(t, "kernel time of all ranks", r.Set.Total, sum)
}

func TestWrite(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "b")
	r := run(t, "testdata/kineto/torch_compile_triton.json.gz", Options{})
	for range 2 { // again over what is there
		if err := r.Write(dir); err != nil {
			t.Fatal(err)
		}
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	names := []string{}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	want := []string{"analysis.md", "categories.csv", "collectives.csv", "kernel_candidates.json", "kernel_metrics.csv", "kernels.csv", "ops.csv", "report.html", "streams.csv", "summary.json", "timeline.csv"}
	if !reflect.DeepEqual(names, want) {
		t.Errorf("%v", names)
	}
	var c Candidates
	text, err := os.ReadFile(filepath.Join(dir, "kernel_candidates.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &c); err != nil || len(c.HotKernels) == 0 || c.HotKernels[0].TaskGroup == "" {
		t.Errorf("%v %+v", err, c)
	}
	f, err := os.Open(filepath.Join(dir, "kernel_metrics.csv"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil || len(rows) != 1+len(c.HotKernels) {
		t.Fatalf("%d rows of metrics, %d candidates: %v", len(rows), len(c.HotKernels), err)
	}
	for i, k := range c.HotKernels {
		if m := rows[i+1]; m[0] != k.KernelID || m[1] != k.Name || m[3] != k.DeviceKernelName || m[4] != fixed(k.DurationUS, 3) || m[6] != strconv.Itoa(k.CallCount) || m[15] != strconv.Itoa(k.PriorityRank) {
			t.Errorf("%v is not %+v", m, k)
		}
	}
}

func TestRunMissing(t *testing.T) {
	if _, err := Run(context.Background(), filepath.Join(t.TempDir(), "none"), Options{}); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Run(ctx, "testdata/kineto/torch_compile_triton.json.gz", Options{}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestWindows(t *testing.T) {
	const path = "testdata/kineto/steady_synthetic/vllm_detailed_96steps.json.gz"
	r := run(t, path, Options{Window: WindowDecode})
	if w := r.Ranks[0].Window; w == nil || w.Start != 26 || w.End != 34 || r.Timeline.Events != 48 || r.Candidates().AggregationScope != "steady_state" {
		t.Errorf("%+v, %d events", r.Ranks[0].Window, r.Timeline.Events)
	}
	want := map[string][2]int{"timeline": {2, 2 * 48}, "kernels": {3, 48}, "streams": {3, 48}, "ops": {8, 48 - 8}} // two views; collectives are no ops
	for _, table := range r.Tables() {
		w, ok := want[table.Name]
		if !ok {
			continue
		}
		count := 0
		for _, row := range table.Rows {
			n, err := strconv.Atoi(row[w[0]])
			if err != nil {
				t.Fatal(err)
			}
			count += n
		}
		equal(t, "events of the window in "+table.Name, count, w[1])
	}
	r = run(t, "testdata/kineto/mi210_gpu_only.json.gz", Options{Window: WindowSteady})
	if r.Ranks[0].Window != nil || r.Warnings[0].Code != "bypass_steady_fallback_full_trace" {
		t.Errorf("%+v", r.Warnings)
	}
	for name, want := range map[string]Window{"all": WindowAll, "": WindowAll, "Mixed": WindowMixed} {
		if w, err := ParseWindow(name); err != nil || w != want {
			t.Errorf("%q: %q %v", name, w, err)
		}
	}
	if _, err := ParseWindow("best"); err == nil {
		t.Error("an unknown window was accepted")
	}
}

func TestSplitSteady(t *testing.T) {
	dir := t.TempDir()
	splits, err := SplitSteady(context.Background(), "testdata/kineto/steady_synthetic/sglang_native_61steps.json.gz", dir, 0)
	if err != nil || len(splits) != 3 {
		t.Fatal(splits, err)
	}
	for _, s := range splits {
		r := run(t, s.Path, Options{})
		if r.Degraded || len(r.Ranks[0].Trace.GPU) != s.GPUEvents || len(r.Ranks[0].Roots) != s.NumSteps {
			t.Errorf("%s: %d GPU events, %d steps", s.Path, len(r.Ranks[0].Trace.GPU), len(r.Ranks[0].Roots))
		}
	}
	if splits, err := SplitSteady(context.Background(), "testdata/kineto/mi210_gpu_only.json.gz", dir, 0); err != nil || len(splits) != 0 {
		t.Errorf("a trace without iterations: %v %v", splits, err)
	}
}

func TestCompare(t *testing.T) {
	a := run(t, "testdata/kineto/h100_bert_small.json.gz", Options{})
	b := run(t, "testdata/kineto/h100_falconsai_vit.json.gz", Options{})
	d := Compare(a, b)
	equal(t, "total", d.Total.Delta, micros(b.Set.Total-a.Set.Total))
	for name, rows := range map[string][]DiffRow{"ops": d.Ops, "kernels": d.Kernels, "categories": d.Categories} {
		var sum int64
		for i, r := range rows {
			sum += r.b - r.a
			if i > 0 && max(r.b-r.a, r.a-r.b) > max(rows[i-1].b-rows[i-1].a, rows[i-1].a-rows[i-1].b) {
				t.Errorf("%s are not by delta", name)
			}
		}
		equal(t, "sum of "+name, sum, b.Set.Total-a.Set.Total)
	}
	equal(t, "timeline", d.Timeline[1].a+d.Timeline[2].a+d.Timeline[3].a+d.Timeline[4].a, d.Timeline[0].a)
	for _, r := range Compare(a, a).Ops {
		if r.Delta != 0 || r.CountA != r.CountB {
			t.Errorf("a trace differs from itself: %+v", r)
		}
	}
	if _, err := report.Parse(d.Document().Render()); err != nil {
		t.Error(err)
	}
}

func TestStacks(t *testing.T) {
	r := run(t, "testdata/kineto/h100_bert_small.json.gz", Options{Stacks: true})
	equal(t, "level", r.Level, LevelFull)
	with := 0
	for _, c := range r.Candidates().HotKernels {
		if c.ModulePath != "" && c.PythonFrame != "" {
			with++
		}
	}
	if with*10 < 8*len(r.Set.Rows) {
		t.Errorf("%d of %d rows have a module and a frame", with, len(r.Set.Rows))
	}
}

// TestMixedFolder analyses what is there of a folder in which not all is profiles.
func TestMixedFolder(t *testing.T) {
	dir := t.TempDir()
	copyFile := func(from, to string) {
		t.Helper()
		text, err := os.ReadFile(from)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, to), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	copyFile("testdata/kineto/torch_compile_triton.json.gz", "trace.json.gz")
	copyFile("chrometrace/testdata/malformed/04_no_traceEvents.json", "config.json")
	copyFile("chrometrace/testdata/malformed/18_no_gpu_events.json", "cpu.json")
	r := run(t, dir, Options{})
	if len(r.Ranks) != 1 || r.Degraded || !r.Usable() {
		t.Errorf("%d ranks, degraded %v, %+v", len(r.Ranks), r.Degraded, r.Warnings)
	}
	var codes []string
	for _, w := range r.Warnings {
		codes = append(codes, w.Code)
	}
	if !reflect.DeepEqual(codes, []string{"not_a_trace", "trace_without_kernels"}) {
		t.Errorf("%v", codes)
	}
	copyFile("testdata/kineto/torch_compile_triton.json.gz", "merged-all.json.gz")
	r = run(t, dir, Options{})
	if len(r.Ranks) != 1 || filepath.Base(r.Ranks[0].File.Path) != "merged-all.json.gz" || len(r.Warnings) == 0 || r.Warnings[0].Code != "traces_left_out" ||
		!strings.Contains(r.Warnings[0].Message, "3 trace(s)") {
		t.Errorf("%+v", r.Warnings)
	}
}
