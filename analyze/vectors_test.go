package analyze

import (
	"cmp"
	"encoding/json"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tracehandler/tracehandler/analyze/candidate"
	"github.com/tracehandler/tracehandler/analyze/category"
	"github.com/tracehandler/tracehandler/analyze/kineto"
	"github.com/tracehandler/tracehandler/analyze/link"
	"github.com/tracehandler/tracehandler/analyze/tables"
	"github.com/tracehandler/tracehandler/analyze/timeline"
)

// TestVectors checks every figure that a trace's expected.json states about events, links, timeline and tables.
func TestVectors(t *testing.T) {
	for _, path := range vectors(t) {
		t.Run(filepath.Base(path), func(t *testing.T) {
			e := readExpected[expected](t, path+".expected.json")
			tr, err := kineto.Open(path+".json.gz", nil)
			if err != nil {
				t.Fatal(err)
			}
			l := link.New(tr)
			checkEvents(t, &e, tr)
			checkTimeline(t, &e, tr, l)
			checkExternalID(t, &e, tr, l)
			checkLaunchers(t, &e, tr, l)
			checkCategories(t, &e, tr, l)
			checkFallback(t, &e, tr)
		})
	}
}

func checkEvents(t *testing.T, e *expected, tr *kineto.Trace) {
	m, w := &tr.Meta, &e.Metadata
	equal(t, "degraded", tr.Degraded, false)
	equal(t, "schema", m.SchemaVersion, w.SchemaVersion)
	equal(t, "trace id", m.TraceID, w.TraceID)
	equal(t, "base time", m.BaseTime, w.BaseTime)
	equal(t, "unit", m.DisplayTimeUnit, w.DisplayTimeUnit)
	equal(t, "devices", strings.Join(m.DeviceNames(), ","), strings.Join(w.DeviceNames, ","))
	equal(t, "device count", len(m.Devices), w.DeviceCount)
	rank, hasRank := m.Rank()
	equal(t, "has rank", hasRank, w.Distributed != nil)
	if w.Distributed != nil && hasRank {
		equal(t, "rank", rank, w.Distributed.Rank)
		equal(t, "world", m.Distributed.WorldSize, w.Distributed.WorldSize)
		equal(t, "backend", m.Distributed.Backend, w.Distributed.Backend)
	}
	equal(t, "events", tr.Events, e.Events.Total)
	equal(t, "kinds of events", len(tr.Counts), len(e.Events.ByPhCat))
	for _, c := range tr.Counts {
		equal(t, "events "+c.Phase+"/"+c.Category, c.N, e.Events.ByPhCat[c.Phase+"/"+c.Category])
	}
	var n [3]int
	var sum [3]int64
	for i := range tr.GPU {
		n[tr.GPU[i].Kind]++
		sum[tr.GPU[i].Kind] += tr.GPU[i].Dur
	}
	equal(t, "gpu events", len(tr.GPU), e.GPU.Total)
	equal(t, "counts", n, [3]int{e.GPU.Kernels, e.GPU.Memcpy, e.GPU.Memset})
	equal(t, "sums", sum, [3]int64{e.GPU.Sum.ns(), e.GPU.CopySum.ns(), e.GPU.SetSum.ns()})
	kernels := tables.Kernels(tr, nil)
	equal(t, "kernel names", len(kernels), e.GPU.Unique)
	if len(kernels) == len(e.Kernels) {
		for i, w := range e.Kernels {
			g := kernels[i]
			equal(t, "kernel", g, tables.NameRow{Name: w.Name, Str: g.Str, Count: w.Count, Total: w.Total.ns(), Min: w.Min.ns(), Max: w.Max.ns(), Bytes: g.Bytes, Example: g.Example})
		}
	} else {
		t.Errorf("%d kernel rows, want %d", len(kernels), len(e.Kernels))
	}
	memory := tables.Memory(tr, nil)
	equal(t, "memory rows", len(memory), len(e.Memory))
	for _, w := range e.Memory {
		if !slices.ContainsFunc(memory, func(r tables.NameRow) bool {
			return r.Name == w.Name && r.Count == w.Count && r.Total == w.Total.ns() && r.Bytes == w.Bytes
		}) {
			t.Errorf("memory row missing: %+v", w)
		}
	}
	streams := tables.Streams(tr, nil)
	equal(t, "streams", len(streams), len(e.Streams))
	for i, w := range e.Streams {
		equal(t, "stream", streams[i], tables.StreamRow{Device: w.Device, Stream: w.Stream, Events: w.Events, Sum: w.Sum.ns(), Busy: w.Busy.ns()})
	}
	equal(t, "flows", tr.Flows.AC2GStarts, e.Flows.S)
	equal(t, "flow ends", tr.Flows.AC2GEnds, e.Flows.F)
	equal(t, "flow ids with both", tr.Flows.AC2GBoth, e.Flows.Both)
	equal(t, "flow ends without start", tr.Flows.AC2GOrphanEnds, e.Flows.Orphan)
	equal(t, "gpu annotations", len(tr.GPUNotes), len(e.Annotations))
	notes := slices.Clone(tr.GPUNotes)
	for _, w := range e.Annotations {
		if !slices.ContainsFunc(notes, func(n kineto.Note) bool {
			return tr.String(n.Name) == w.Name && n.TS == w.TS.ns() && n.Dur == w.Dur.ns()
		}) {
			t.Errorf("annotation %+v missing", w)
		}
	}
}

func checkTimeline(t *testing.T, e *expected, tr *kineto.Trace, l *link.Links) {
	all := timeline.New(tr, timeline.Options{})
	same := func(what string, tl timeline.Timeline, w expectedTimeline) {
		t.Helper()
		got := [...]int64{tl.Total, tl.Busy, tl.Idle, tl.Computation, tl.Comm, tl.Memcpy, tl.ExposedComm, tl.ExposedMemcpy, tl.First, tl.Last}
		want := [...]int64{w.Total.ns(), w.Busy.ns(), w.Idle.ns(), w.Computation.ns(), w.Comm.ns(), w.Memcpy.ns(), w.ExposedComm.ns(), w.ExposedMemcpy.ns(), w.First.ns(), w.Last.ns()}
		equal(t, what, got, want)
		equal(t, what+" identity", tl.Computation+tl.ExposedComm+tl.ExposedMemcpy+tl.Idle, tl.Total)
		equal(t, what+" idle", tl.MicroIdle+tl.MacroIdle, tl.Idle)
	}
	same("timeline of all", all, e.All)
	linked := timeline.New(tr, timeline.Options{Keep: func(i int) bool { return l.Launch[i] >= 0 }})
	want := e.All
	if e.TimelineLinked[0] == '{' {
		if err := json.Unmarshal(e.TimelineLinked, &want); err != nil {
			t.Fatal(err)
		}
	}
	if e.Linked.Events > 0 {
		same("timeline of linked", linked, want)
	}
	equal(t, "linked events", linked.Events, e.Linked.Events)
	equal(t, "bypass", [...]int64{all.Total, all.Busy, all.KernelUnion, all.CopySum, all.KernelSum},
		[...]int64{e.Bypass.Total.ns(), e.Bypass.Busy.ns(), e.Bypass.Union.ns(), e.Bypass.CopySum.ns(), e.Bypass.Sum.ns()})
}

func checkExternalID(t *testing.T, e *expected, tr *kineto.Trace, l *link.Links) {
	g, w := l.GraphStats, &e.Graph
	equal(t, "graph", [...]any{g.Launches, g.LaunchesWithKernels, g.Kernels, g.CaptureBegin, g.CaptureEnd, g.UnderRecorded()},
		[...]any{w.Launches, w.WithKernels, w.Kernels, w.Begin, w.End, w.Under})
	var counts [3]int
	var sums [3]int64
	rows := tables.ByExternalID(tr, l, false)
	equal(t, "rows by id", len(rows), len(e.ByID))
	for i, r := range rows {
		k := 0
		switch r.Op {
		case tables.GraphRow:
			k = 1
		case tables.UnlinkedRow:
			k = 2
		}
		counts[k] += r.Kernels
		sums[k] += r.Total
		if i < len(e.ByID) {
			equal(t, "row by id", [...]any{r.Op, r.Kernels, r.Total}, [...]any{e.ByID[i].Op, e.ByID[i].Kernels, e.ByID[i].Total.ns()})
		}
	}
	a := &e.Attribution
	equal(t, "attribution", counts, [3]int{a.Attributed, a.Graph, a.Unlinked})
	equal(t, "attributed time", sums, [3]int64{a.AttributedUS.ns(), a.GraphUS.ns(), a.UnlinkedUS.ns()})
	shaped := tables.ByExternalID(tr, l, true)
	equal(t, "rows by id and shape", len(shaped), e.ByIDShapesRows)
	for _, w := range e.ByIDShapes {
		if !slices.ContainsFunc(shaped, func(r tables.IDRow) bool {
			return r.Op == w.Op && r.Dims == compact(w.Dims) && sameTypes(r.Types, w.Types) && r.Instances == w.Instances && r.Kernels == w.Kernels && r.Total == w.Total.ns()
		}) {
			t.Errorf("row by id and shape missing: %s %s %d %d %v", w.Op, w.Dims, w.Instances, w.Kernels, w.Total)
		}
	}
}

func shares(tr *kineto.Trace, r tables.LauncherRow) map[string]int {
	m := map[string]int{}
	for _, k := range r.Kernels {
		m[tr.String(k.Name)] = k.Count
	}
	return m
}

// sameTypes compares with the spaces of type names, such as "long int", left in.
func sameTypes(got string, want json.RawMessage) bool {
	var a, b []string
	if got == "" {
		return string(want) == "null" || string(want) == "[]" || len(want) == 0
	}
	return json.Unmarshal([]byte(got), &a) == nil && json.Unmarshal(want, &b) == nil && slices.Equal(a, b)
}

func checkLaunchers(t *testing.T, e *expected, tr *kineto.Trace, l *link.Links) {
	without, withoutSum := 0, int64(0)
	for i := range tr.GPU {
		if l.Launch[i] < 0 && !category.IsCollective(tr.String(tr.GPU[i].Name)) {
			without++
			withoutSum += tr.GPU[i].Dur
		}
	}
	equal(t, "without launch", without, e.Enclosing.Without)
	equal(t, "time without launch", withoutSum, e.Enclosing.WithoutUS.ns())
	rows := tables.Launchers(tr, l, tables.ByName, tables.LauncherOptions{})
	equal(t, "launchers", len(rows), len(e.Enclosing.ByName))
	for i, w := range e.Enclosing.ByName {
		if i < len(rows) {
			r := rows[i]
			equal(t, "launcher", [...]any{r.Name, r.Instances, r.Events, r.Direct}, [...]any{w.Name, w.Instances, w.Events, w.Direct.ns()})
		}
	}
	args := tables.Launchers(tr, l, tables.ByAll, tables.LauncherOptions{})
	equal(t, "launchers by arguments", len(args), e.ArgsRows)
	for _, w := range e.Args {
		if !slices.ContainsFunc(args, func(r tables.LauncherRow) bool {
			return r.Name == w.Name && cmp.Or(r.Dims, "[]") == cmp.Or(compact(w.Dims), "[]") && sameTypes(r.Types, w.Types) &&
				r.Instances == w.Instances && r.Events == w.Events && r.Direct == w.Direct.ns() && maps.Equal(shares(tr, r), w.Kernels)
		}) {
			t.Errorf("launcher by arguments missing: %s %s %d %d %v", w.Name, w.Dims, w.Instances, w.Events, w.Direct)
		}
	}
	comms := tables.Collectives(tr, nil)
	n, sum := 0, int64(0)
	for _, r := range comms {
		n += r.Count
		sum += r.Total
	}
	equal(t, "collectives", n, e.Collectives.Kernels)
	equal(t, "collectives' time", sum, e.Collectives.Sum.ns())
	for _, w := range e.Collectives.Rows {
		if !slices.ContainsFunc(comms, func(r tables.CommRow) bool {
			return r.Collective == w.Collective && r.DType == w.DType && r.In == w.In && r.Out == w.Out && r.Size == w.Size && r.Count == w.Count && r.Total == w.Total.ns()
		}) {
			t.Errorf("collective row missing: %+v of %+v", w, comms)
		}
	}
}

func checkCategories(t *testing.T, e *expected, tr *kineto.Trace, l *link.Links) {
	for _, r := range tables.Launchers(tr, l, tables.ByName, tables.LauncherOptions{}) {
		for _, w := range e.Reference.TraceLens.Ops {
			if w.Name == r.Name && len(w.Categories) == 1 && category.Launcher(r.Name, tr.String(tr.GPU[r.Example].Name)) != w.Categories[0] {
				t.Errorf("launcher %s: %s, want %v", r.Name, category.Launcher(r.Name, tr.String(tr.GPU[r.Example].Name)), w.Categories)
			}
		}
	}
	var total, others int64
	for _, r := range tables.Kernels(tr, nil) {
		op := ""
		if a := l.Any[r.Example]; a >= 0 {
			op = tr.String(tr.Ops[a].Name)
		}
		total += r.Total
		if category.Of(r.Name, op) == category.Others {
			others += r.Total
			t.Logf("unclassified: %d ns %.100s by %s", r.Total, r.Name, op)
		}
	}
	if others*10 >= total && total > 0 {
		t.Errorf("%d of %d ns are unclassified", others, total)
	}
}

func checkFallback(t *testing.T, e *expected, tr *kineto.Trace) {
	total := timeline.New(tr, timeline.Options{}).Total
	rows, dropped := tables.Fallback(tr, total, nil)
	equal(t, "fallback rows", len(rows), len(e.Fallback.Rows))
	equal(t, "fallback dropped", dropped, e.Fallback.Dropped)
	for i, w := range e.Fallback.Rows {
		if i >= len(rows) {
			break
		}
		r := rows[i]
		ms := math.Round(float64(r.Total)/1e3) / 1e3
		share := math.Round(float64(r.Total)/float64(total)*1e4) / 1e2
		equal(t, "fallback row", [...]any{r.Name, r.Count, ms, share}, [...]any{w.Name, w.Count, w.Time, w.Share})
	}
}

// concreteInputs lists the distinct concrete inputs of each op and dims.
func concreteInputs(t *testing.T, path string) map[string][]string {
	t.Helper()
	tr, err := kineto.Open(path+".json.gz", nil)
	if err != nil {
		t.Fatal(err)
	}
	m := map[string][]string{}
	for i := range tr.Ops {
		sh := &tr.Shapes[tr.Ops[i].Shape]
		key := tr.String(tr.Ops[i].Name) + tr.String(sh.Dims)
		if c := tr.String(sh.Concrete); !slices.Contains(m[key], c) {
			m[key] = append(m[key], c)
		}
	}
	return m
}

// TestCaptureVectors compares the op table after merging capture sidecars with TraceLens'. The sidecars are not in the
// repository; a small one of the same form is made in package capture's TestMerge.
func TestCaptureVectors(t *testing.T) {
	dir := os.Getenv("TRACEHANDLER_KINETO")
	if dir == "" {
		t.Log("TRACEHANDLER_KINETO is not set: the sidecars of its traces are too large for the repository")
		return
	}
	for folder, name := range map[string]string{"vllm_decode_full": "graph_execution", "sglang_decode": "sglang_Qwen3-8B_decode"} {
		e := readExpected[struct {
			Merge struct {
				Ops []struct {
					Name   string `json:"name"`
					Count  int    `json:"count"`
					Direct us     `json:"direct_us"`
				} `json:"ops_summary"`
				Unified []struct {
					Name  string          `json:"name"`
					Dims  json.RawMessage `json:"input_dims"`
					Count int             `json:"count"`
					Sum   float64         `json:"kernel_us_sum"`
				} `json:"unified_perf"`
			} `json:"capture_merge"`
		}](t, filepath.Join(dir, folder, name+".expected.json"))
		r := run(t, filepath.Join(dir, folder), Options{TopK: 1 << 20})
		equal(t, "level", r.Level, LevelMerged)
		k := &r.Ranks[0]
		rows := tables.Launchers(k.Trace, k.Links, tables.ByName, tables.LauncherOptions{Captured: k.Captured})
		const noise = 0.06 // us: theirs adds floating-point numbers of 6.5e12
		equal(t, "ops", len(rows), len(e.Merge.Ops))
		for _, w := range e.Merge.Ops {
			if !slices.ContainsFunc(rows, func(r tables.LauncherRow) bool {
				return r.Name == w.Name && r.Instances == w.Count && math.Abs(float64(r.Direct)/1e3-float64(w.Direct)) < noise
			}) {
				t.Errorf("%s: op missing: %+v", name, w)
			}
		}
		for _, w := range e.Merge.Unified {
			if strings.Contains(w.Name, "->") || w.Name == "aten::copy_" {
				continue // theirs splits ops without a model by kernel, and counts copies, which are no candidates
			}
			if !slices.ContainsFunc(r.Set.Rows, func(r candidate.Row) bool {
				return r.Name == w.Name && r.Dims == compact(w.Dims) && r.Calls == w.Count && math.Abs(float64(r.Time)/1e3-w.Sum) < noise
			}) {
				t.Errorf("%s: row missing: %s %s %d %v", name, w.Name, compact(w.Dims), w.Count, w.Sum)
			}
		}
	}
}
