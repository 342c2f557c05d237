package analyze

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/tracehandler/tracehandler/analyze/candidate"
	"github.com/tracehandler/tracehandler/analyze/category"
)

// Candidates is kernel_candidates.json. Keys are those of AMD-AGI/Hyperloom's file of that name; kernel names are whole.
type Candidates struct {
	Source             string      `json:"source"`
	Framework          string      `json:"framework"`
	TargetPlatform     string      `json:"target_platform"`
	AggregationScope   string      `json:"aggregation_scope"`
	GPUPctBasis        string      `json:"gpu_pct_basis"`
	Level              Level       `json:"level"`
	LevelMeaning       string      `json:"level_meaning"`
	Missing            []string    `json:"missing"`
	Degraded           bool        `json:"degraded"`
	Errors             []string    `json:"errors"`
	Ranks              []int       `json:"ranks"`
	HotKernels         []Candidate `json:"hot_kernels"`
	RoutableKernels    []Candidate `json:"routable_kernels"`
	SkippedKernels     []Candidate `json:"skipped_kernels"`
	TaskGroups         []TaskGroup `json:"task_groups"`
	SuppressedKernels  []Candidate `json:"suppressed_kernels"`
	Suppression        *Warning    `json:"suppression"`
	ExcludedEvents     []Excluded  `json:"excluded_events"`
	TraceHealth        []Warning   `json:"trace_health_warnings"`
	TotalKernelTimeUS  float64     `json:"total_kernel_time_us"`
	ListedKernelTimeUS float64     `json:"listed_kernel_time_us"`
}

// Excluded is an event with an impossible duration.
type Excluded struct {
	Rank       int     `json:"rank"`
	Name       string  `json:"name"`
	StartUS    float64 `json:"start_us"`
	DurationUS float64 `json:"duration_us"`
}

// Shape is one set of arguments of a candidate.
type Shape struct {
	Calls int    `json:"call_num"`
	Shape string `json:"shape"`
}

// Candidate is one row. Values that are not known are null.
type Candidate struct {
	KernelID           string   `json:"kernel_id"`
	Name               string   `json:"name"`
	Category           string   `json:"kernel_category"`
	DeviceKernelName   string   `json:"device_kernel_name"`
	DeviceKernelNames  []string `json:"device_kernel_names"`
	LaunchName         string   `json:"launch_name"`
	DurationUS         float64  `json:"duration_us"`
	GPUPct             float64  `json:"gpu_pct"`
	PercentOfTotal     float64  `json:"percent_of_total"`
	CallCount          int      `json:"call_count"`
	Bound              *string  `json:"bound_type"`
	Intensity          *float64 `json:"arithmetic_intensity"`
	FlopsPerByte       *float64 `json:"flops_per_byte"`
	GFLOPS             *float64 `json:"gflops"`
	DataMovedMB        *float64 `json:"data_moved_mb"`
	RooflineUS         *float64 `json:"roofline_us"`
	Efficiency         *float64 `json:"efficiency_percent"`
	Attainment         *float64 `json:"roofline_attainment_pct"`
	ComputeUtil        *float64 `json:"compute_utilization_pct"`
	BandwidthUtil      *float64 `json:"bandwidth_utilization_pct"`
	Capped             bool     `json:"roofline_estimate_capped"`
	Measured           bool     `json:"roofline_measured"`
	RooflineSource     string   `json:"roofline_source"`
	Library            string   `json:"library"`
	Backend            string   `json:"backend"`
	Framework          string   `json:"framework"`
	SourceFile         string   `json:"source_file"`
	SourceLine         *int     `json:"source_line"`
	SourceMethod       string   `json:"source_resolution_method"`
	SourceType         string   `json:"source_type"`
	KernelKind         string   `json:"kernel_kind"`
	Reusable           bool     `json:"reusable_native_kernel"`
	SkipReason         string   `json:"skip_reason"`
	RecommendedBackend []string `json:"recommended_backends"`
	BenchmarkFiles     []string `json:"benchmark_files"`
	KernelRepo         string   `json:"kernel_repo"`
	InputShapes        []Shape  `json:"input_shapes"`
	InputDTypes        []string `json:"input_dtypes"`
	InputStrides       string   `json:"input_strides"`
	ConcreteInputs     string   `json:"concrete_inputs"`
	ShapeProvenance    string   `json:"shape_provenance"`
	ShapeAmbiguous     bool     `json:"shape_ambiguous"`
	ShapeDispatchable  bool     `json:"shape_dispatchable"`
	Priority           float64  `json:"optimization_priority"`
	PriorityRank       int      `json:"priority_rank"`
	Suggestion         string   `json:"suggestion"`
	Actions            []string `json:"recommended_actions"`
	ForwardOp          string   `json:"forward_op"`
	ModulePath         string   `json:"module_path"`
	PythonFrame        string   `json:"python_frame"`
	TaskGroup          string   `json:"task_group"`
	ReportPath         string   `json:"trace_report_path"`
}

// TaskGroup is the rows that one piece of work covers: those of one source, or of one op.
type TaskGroup struct {
	ID         string   `json:"task_group"`
	Operation  string   `json:"operation"`
	SourceFile string   `json:"source_file"`
	DurationUS float64  `json:"duration_us"`
	GPUPct     float64  `json:"gpu_pct"`
	CallCount  int      `json:"call_count"`
	Primary    string   `json:"primary_kernel_id"`
	Members    []string `json:"kernel_ids"`
	Shapes     []Shape  `json:"shape_cases"`
}

// Candidates builds the file's content. Durations are microseconds, exact to a nanosecond.
func (r *Result) Candidates() *Candidates {
	c := &Candidates{
		Source: "tracehandler", Framework: r.Options.Framework, TargetPlatform: platform(r), AggregationScope: r.scope(), GPUPctBasis: "listed_ops_sum",
		Level: r.Level, LevelMeaning: r.Level.String(), Missing: orEmpty(r.Missing), Degraded: r.Degraded, Errors: []string{},
		HotKernels: []Candidate{}, RoutableKernels: []Candidate{}, SkippedKernels: []Candidate{}, TaskGroups: []TaskGroup{}, SuppressedKernels: []Candidate{},
		Suppression: r.Suppressed, ExcludedEvents: []Excluded{}, TraceHealth: orEmpty(r.Warnings), TotalKernelTimeUS: micros(r.Set.Total),
	}
	for i := range r.Ranks {
		c.Ranks = append(c.Ranks, r.Ranks[i].Rank)
		c.Errors = append(c.Errors, errorsOf(r.Ranks[i].Trace)...)
	}
	for _, x := range r.Excluded {
		c.ExcludedEvents = append(c.ExcludedEvents, Excluded{x.Rank, x.Name, micros(x.Start), micros(x.Duration)})
	}
	rows := make([]Candidate, 0, len(r.hot()))
	var listed int64
	for i := range r.hot() {
		rows = append(rows, r.candidate(i))
		listed += r.Set.Rows[i].Time
	}
	c.ListedKernelTimeUS = micros(listed)
	c.TaskGroups = taskGroups(rows)
	if r.Suppressed != nil {
		c.SuppressedKernels = rows
		c.TaskGroups = []TaskGroup{}
		return c
	}
	c.HotKernels = rows
	for _, row := range rows {
		if row.Reusable {
			c.RoutableKernels = append(c.RoutableKernels, row)
		} else {
			c.SkippedKernels = append(c.SkippedKernels, row)
		}
	}
	return c
}

// scope says which part of the traces the figures are of.
func (r *Result) scope() string {
	if r.Ranks[0].Window != nil {
		return "steady_state"
	}
	return "full_trace"
}

func platform(r *Result) string {
	if r.Spec != nil {
		return strings.ToLower(r.Spec.Name)
	}
	if r.Device != "" {
		return r.Device
	}
	return "unknown"
}

func orEmpty[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}

func micros(ns int64) float64 { return float64(ns) / 1e3 }

func (r *Result) candidate(i int) Candidate {
	row := &r.Set.Rows[i]
	c := Candidate{
		KernelID: kernelID(i), Name: row.Name, Category: string(row.Category), DeviceKernelName: row.Kernels[0].Name, LaunchName: row.Launch,
		DurationUS: micros(row.Time), GPUPct: round4(row.Percent), PercentOfTotal: round4(row.Percent), CallCount: row.Calls,
		Capped: row.Capped, RooflineSource: "placeholder", Framework: r.Options.Framework, Backend: r.Options.Framework,
		SourceFile: row.Source.File, SourceMethod: row.Source.Method, SourceType: row.Source.Kind, Reusable: row.Rewritable && row.Source.File != "", SkipReason: row.SkipReason,
		RecommendedBackend: []string{}, BenchmarkFiles: []string{}, InputDTypes: []string{}, InputStrides: row.Strides, ConcreteInputs: row.Concrete,
		ShapeProvenance: row.Provenance, ShapeAmbiguous: row.Ambiguous, ShapeDispatchable: row.Provenance == "torch_trace" || row.Provenance == "capture_backfill",
		Priority: round4(row.Priority), PriorityRank: row.Rank, Suggestion: Suggestion(row), Actions: []string{Suggestion(row)}, ReportPath: "analysis.md",
		ForwardOp: row.Forward, ModulePath: row.Modules, PythonFrame: row.Frame,
	}
	if !c.Reusable && c.SkipReason == "" {
		c.SkipReason = category.ReasonUnresolved
	}
	for _, k := range row.Kernels {
		c.DeviceKernelNames = append(c.DeviceKernelNames, k.Name)
	}
	if row.Source.Line > 0 {
		c.SourceLine = &row.Source.Line
	}
	if row.HasWork {
		c.GFLOPS = ptr(row.Work.FLOPs / 1e9)
		if row.Work.Bytes > 0 {
			c.DataMovedMB = ptr(row.Work.Bytes / (1 << 20))
			c.Intensity, c.FlopsPerByte = ptr(row.Work.Intensity()), ptr(row.Work.Intensity())
		}
	}
	if row.HasEstimate {
		c.RooflineSource = "analytical"
		c.Bound = ptr(string(row.Estimate.Bound))
		c.RooflineUS = ptr(row.Estimate.Nanoseconds / 1e3)
		c.Efficiency, c.Attainment = ptr(row.Efficiency), ptr(row.Efficiency)
		c.ComputeUtil, c.BandwidthUtil = ptr(row.ComputeUtil), ptr(row.MemoryUtil)
	}
	text := candidate.ShapeText(row.Dims, row.Types)
	if text == "" && row.Provenance == "launch_grid" {
		text = row.LaunchGrid
	}
	c.InputShapes = []Shape{{row.Calls, text}}
	var types []string
	if json.Unmarshal([]byte(row.Types), &types) == nil && types != nil {
		c.InputDTypes = types
	}
	return c
}

func ptr[T any](v T) *T { return &v }

func round4(v float64) float64 { return float64(int64(v*1e4+0.5)) / 1e4 }

// taskGroups gathers rows by source, or by op where there is none, and names the groups on the rows.
func taskGroups(rows []Candidate) []TaskGroup {
	type key struct{ file, op, kind string }
	index := map[key]int{}
	var groups []TaskGroup
	for i := range rows {
		row := &rows[i]
		k := key{row.SourceFile, row.Name, row.Category}
		n, ok := index[k]
		if !ok {
			n = len(groups)
			index[k] = n
			groups = append(groups, TaskGroup{Operation: row.Name, SourceFile: row.SourceFile, Primary: row.KernelID})
		}
		g := &groups[n]
		g.DurationUS += row.DurationUS
		g.GPUPct += row.GPUPct
		g.CallCount += row.CallCount
		g.Members = append(g.Members, row.KernelID)
		g.Shapes = append(g.Shapes, row.InputShapes...)
	}
	slices.SortStableFunc(groups, func(a, b TaskGroup) int { return cmp.Compare(b.DurationUS, a.DurationUS) })
	for i := range groups {
		groups[i].ID = fmt.Sprintf("tg%03d", i+1)
		for j := range rows {
			if slices.Contains(groups[i].Members, rows[j].KernelID) {
				rows[j].TaskGroup = groups[i].ID
			}
		}
	}
	return orEmpty(groups)
}
