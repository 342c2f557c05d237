package analyze

import (
	"github.com/tracehandler/tracehandler/analyze/timeline"
)

// Summary is what `tracectl analyze --json` prints: times in microseconds, exact to a nanosecond.
type Summary struct {
	Input      string            `json:"input"`
	Status     string            `json:"status"` // ok, suppressed, no_gpu_kernels
	Level      Level             `json:"level"`
	Meaning    string            `json:"level_meaning"`
	Missing    []string          `json:"missing"`
	Degraded   bool              `json:"degraded"`
	Device     string            `json:"device"`
	Ranks      []RankSummary     `json:"ranks"`
	Categories []CategorySummary `json:"categories"`
	Kernels    int               `json:"kernels"`
	KernelSum  float64           `json:"kernel_sum_us"`
	Attributed float64           `json:"op_attributed_pct"`
	Warnings   []Warning         `json:"warnings"`
	Candidates int               `json:"candidates"`
	Fallback   []FallbackRow     `json:"fallback_name_time"`
	Dropped    int               `json:"fallback_dropped_names"`
	Captures   []string          `json:"captures"`
}

// RankSummary is one trace: its events and sums as recorded, by the names that TraceLens and Hyperloom use for them. An
// event with an impossible duration counts, with a duration of zero.
type RankSummary struct {
	File       string          `json:"file"`
	Rank       int             `json:"rank"`
	RankFrom   string          `json:"rank_from"`
	Degraded   bool            `json:"degraded"`
	Errors     []string        `json:"errors"`
	Metadata   MetaSummary     `json:"metadata"`
	Events     EventSummary    `json:"events"`
	GPU        GPUSummary      `json:"gpu_events"`
	All        TimelineSummary `json:"timeline_all_gpu_events"`
	Linked     LinkSummary     `json:"linked"`
	LinkedTime TimelineSummary `json:"timeline_linked"`
	Bypass     BypassSummary   `json:"timeline_bypass"`
	Graph      GraphSummary    `json:"graph"`
	Flows      FlowSummary     `json:"flows"`
	Memory     []MemorySummary `json:"memory_ops"`
	Streams    []StreamSummary `json:"streams"`
	Kernels    []KernelSummary `json:"kernels_by_name"`
	Launchers  LauncherSummary `json:"launchers_enclosing_op"`
	Args       []ArgsSummary   `json:"launchers_enclosing_op_args"`
	ByID       IDSummary       `json:"attribution_external_id"`
	IDs        []IDRow         `json:"launchers_external_id"`
	IDShapes   []IDShapeRow    `json:"launchers_external_id_shapes"`
	Comms      CommSummary     `json:"collectives"`
	Notes      []NoteSummary   `json:"annotations"`
	Fallback   FallbackSummary `json:"fallback_name_time"`
}

// TimelineSummary is a timeline in microseconds.
type TimelineSummary struct {
	Events        int     `json:"events"`
	Total         float64 `json:"total_us"`
	Busy          float64 `json:"busy_us"`
	Idle          float64 `json:"idle_us"`
	MicroIdle     float64 `json:"micro_idle_us"`
	MacroIdle     float64 `json:"macro_idle_us"`
	Computation   float64 `json:"computation_us"`
	Comm          float64 `json:"total_comm_us"`
	Memcpy        float64 `json:"total_memcpy_us"`
	ExposedComm   float64 `json:"exposed_comm_us"`
	ExposedMemcpy float64 `json:"exposed_memcpy_us"`
	First         float64 `json:"first_ts_us"`
	Last          float64 `json:"last_end_us"`
}

// CategorySummary sums kernels of a category.
type CategorySummary struct {
	Category string  `json:"category"`
	Kernels  int     `json:"kernels"`
	Total    float64 `json:"total_us"`
	Percent  float64 `json:"pct_of_kernel_sum"`
}

// FallbackRow is a kernel by name and time.
type FallbackRow struct {
	Name    string  `json:"name"`
	TimeMS  float64 `json:"time_ms"`
	Percent float64 `json:"pct_e2e"`
	Count   int     `json:"count"`
}

// Summary sums the result up.
func (r *Result) Summary() *Summary {
	s := &Summary{Input: r.Input, Status: "ok", Level: r.Level, Meaning: r.Level.String(), Missing: orEmpty(r.Missing), Degraded: r.Degraded, Device: r.Device,
		KernelSum: micros(r.Set.Total), Attributed: share(r.Set.WithOp, r.Set.Total), Warnings: orEmpty(r.Warnings), Candidates: len(r.hot()), Dropped: r.Dropped,
		Fallback: []FallbackRow{}, Captures: []string{}, Categories: []CategorySummary{}}
	switch {
	case !r.Usable():
		s.Status = "no_gpu_kernels"
	case r.Suppressed != nil:
		s.Status = "suppressed"
	}
	for _, c := range r.Captures {
		s.Captures = append(s.Captures, c.Path)
	}
	for _, c := range r.Set.Categories {
		s.Categories = append(s.Categories, CategorySummary{string(c.Category), c.Kernels, micros(c.Time), round4(c.Percent)})
		s.Kernels += c.Kernels
	}
	for _, k := range r.Fallback {
		s.Fallback = append(s.Fallback, fallbackRow(k, r.Timeline.Total))
	}
	for i := range r.Ranks {
		s.Ranks = append(s.Ranks, r.Ranks[i].summary())
	}
	return s
}

func summarize(t timeline.Timeline) TimelineSummary {
	return TimelineSummary{t.Events, micros(t.Total), micros(t.Busy), micros(t.Idle), micros(t.MicroIdle), micros(t.MacroIdle), micros(t.Computation), micros(t.Comm), micros(t.Memcpy),
		micros(t.ExposedComm), micros(t.ExposedMemcpy), micros(t.First), micros(t.Last)}
}
