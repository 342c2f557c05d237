package analyze

import (
	"encoding/json"

	"github.com/tracehandler/tracehandler/analyze/category"
	"github.com/tracehandler/tracehandler/analyze/kineto"
	"github.com/tracehandler/tracehandler/analyze/tables"
	"github.com/tracehandler/tracehandler/analyze/timeline"
)

// MetaSummary is the trace's head.
type MetaSummary struct {
	SchemaVersion   int64               `json:"schemaVersion"`
	TraceID         string              `json:"trace_id"`
	BaseTime        int64               `json:"baseTimeNanoseconds"`
	DisplayTimeUnit string              `json:"displayTimeUnit"`
	Devices         []string            `json:"device_names"`
	DeviceCount     int                 `json:"device_count"`
	Distributed     *kineto.Distributed `json:"distributed"`
}

// EventSummary counts events.
type EventSummary struct {
	Total   int64            `json:"total"`
	ByPhCat map[string]int64 `json:"by_ph_cat"`
}

// GPUSummary counts and sums GPU events.
type GPUSummary struct {
	Total     int     `json:"total"`
	Kernels   int     `json:"kernels"`
	Memcpy    int     `json:"memcpy"`
	Memset    int     `json:"memset"`
	KernelSum float64 `json:"kernel_sum_us"`
	MemcpySum float64 `json:"memcpy_sum_us"`
	MemsetSum float64 `json:"memset_sum_us"`
	Names     int     `json:"unique_kernel_names"`
}

// LinkSummary counts GPU events with a launch.
type LinkSummary struct {
	Events  int     `json:"events"`
	Kernels int     `json:"kernels"`
	Sum     float64 `json:"sum_us"`
}

// BypassSummary is the timeline by Hyperloom's definitions.
type BypassSummary struct {
	Total       float64 `json:"total_us"`
	Busy        float64 `json:"busy_us"`
	Idle        float64 `json:"idle_us"`
	KernelUnion float64 `json:"kernel_union_us"`
	CopySum     float64 `json:"memcpy_memset_sum_us"`
	KernelSum   float64 `json:"kernel_sum_us"`
}

// GraphSummary tells about captured and replayed graphs.
type GraphSummary struct {
	Launches            int  `json:"graph_launches"`
	LaunchesWithKernels int  `json:"graph_launches_with_kernels"`
	Kernels             int  `json:"graph_kernels"`
	UnderRecorded       bool `json:"under_recorded"`
	CaptureBegin        int  `json:"capture_begin"`
	CaptureEnd          int  `json:"capture_end"`
}

// FlowSummary counts arrows from launches to GPU events.
type FlowSummary struct {
	Starts int `json:"ac2g_s"`
	Ends   int `json:"ac2g_f"`
	Both   int `json:"ac2g_ids_both"`
	Orphan int `json:"ac2g_f_without_s"`
	FwdBwd int `json:"fwdbwd"`
}

// MemorySummary sums copies or memsets of one name.
type MemorySummary struct {
	Name  string  `json:"name"`
	Count int     `json:"count"`
	Total float64 `json:"total_us"`
	Bytes int64   `json:"bytes"`
}

// StreamSummary sums a stream.
type StreamSummary struct {
	Device int32   `json:"device"`
	Stream int32   `json:"stream"`
	Events int     `json:"events"`
	Sum    float64 `json:"sum_us"`
	Busy   float64 `json:"busy_us"`
}

// KernelSummary sums kernels of one name.
type KernelSummary struct {
	Name     string  `json:"name"`
	Category string  `json:"category"`
	Count    int     `json:"count"`
	Total    float64 `json:"total_us"`
	Min      float64 `json:"min_us"`
	Max      float64 `json:"max_us"`
}

// LauncherSummary charges GPU events other than collectives to launchers.
type LauncherSummary struct {
	Without    int           `json:"events_without_launch"`
	WithoutSum float64       `json:"events_without_launch_us"`
	ByName     []LauncherSum `json:"by_name"`
}

// LauncherSum is one launcher.
type LauncherSum struct {
	Name      string  `json:"name"`
	Category  string  `json:"category"`
	Instances int     `json:"instances"`
	Events    int     `json:"gpu_events"`
	Direct    float64 `json:"direct_us"`
}

// ArgsSummary is one launcher with one set of arguments, strides and concrete inputs included.
type ArgsSummary struct {
	Name      string          `json:"name"`
	Dims      json.RawMessage `json:"input_dims"`
	Types     json.RawMessage `json:"input_types"`
	Strides   json.RawMessage `json:"input_strides"`
	Concrete  json.RawMessage `json:"concrete_inputs"`
	Instances int             `json:"instances"`
	Events    int             `json:"gpu_events"`
	Direct    float64         `json:"direct_us"`
	Kernels   map[string]int  `json:"kernels"`
}

// IDSummary is the attribution by External id alone.
type IDSummary struct {
	Attributed    int     `json:"attributed_kernels"`
	AttributedSum float64 `json:"attributed_us"`
	Graph         int     `json:"graph_kernels"`
	GraphSum      float64 `json:"graph_us"`
	Unlinked      int     `json:"unlinked_kernels"`
	UnlinkedSum   float64 `json:"unlinked_us"`
	Percent       float64 `json:"attributed_pct"`
}

// IDRow is one op of it.
type IDRow struct {
	Op      string  `json:"op"`
	Kernels int     `json:"kernels"`
	Total   float64 `json:"total_us"`
}

// IDShapeRow is one op and shape of it.
type IDShapeRow struct {
	Op        string          `json:"op"`
	Dims      json.RawMessage `json:"input_dims"`
	Types     json.RawMessage `json:"input_types"`
	Instances int             `json:"op_instances"`
	Kernels   int             `json:"kernels"`
	Total     float64         `json:"total_us"`
}

// CommSummary sums collective kernels.
type CommSummary struct {
	Kernels int       `json:"kernels"`
	Sum     float64   `json:"sum_us"`
	Rows    []CommSum `json:"rows"`
}

// CommSum is one kind of collective.
type CommSum struct {
	Collective string  `json:"collective"`
	Group      string  `json:"process_group"`
	DType      string  `json:"dtype"`
	In         int64   `json:"in_nelems"`
	Out        int64   `json:"out_nelems"`
	Size       int64   `json:"group_size"`
	Count      int     `json:"count"`
	Total      float64 `json:"total_us"`
}

// NoteSummary is an annotation's span on the GPU.
type NoteSummary struct {
	Name string  `json:"name"`
	TS   float64 `json:"ts_us"`
	Dur  float64 `json:"dur_us"`
}

// FallbackSummary is the name-and-time table.
type FallbackSummary struct {
	Rows    []FallbackRow `json:"rows"`
	Dropped int           `json:"dropped_names"`
}

func (k *Rank) summary() RankSummary {
	t, l := k.Trace, k.Links
	s := RankSummary{File: k.File.Path, Rank: k.Rank, RankFrom: k.RankFrom, Degraded: t.Degraded, Errors: orEmpty(errorsOf(t)),
		Metadata: MetaSummary{t.Meta.SchemaVersion, t.Meta.TraceID, t.Meta.BaseTime, t.Meta.DisplayTimeUnit, orEmpty(t.Meta.DeviceNames()), len(t.Meta.Devices), t.Meta.Distributed},
		Events:   EventSummary{t.Events, map[string]int64{}}, All: summarize(k.All), LinkedTime: summarize(k.Linked),
		Flows: FlowSummary{t.Flows.AC2GStarts, t.Flows.AC2GEnds, t.Flows.AC2GBoth, t.Flows.AC2GOrphanEnds, t.Flows.FwdBwd}, Notes: []NoteSummary{}, Memory: []MemorySummary{}, Streams: []StreamSummary{}}
	for _, c := range t.Counts {
		s.Events.ByPhCat[c.Phase+"/"+c.Category] += c.N
	}
	g := l.GraphStats
	s.Graph = GraphSummary{g.Launches, g.LaunchesWithKernels, g.Kernels, g.UnderRecorded(), g.CaptureBegin, g.CaptureEnd}
	all := timeline.New(t, timeline.Options{})
	s.Bypass = BypassSummary{micros(all.Total), micros(all.Busy), micros(all.Idle), micros(all.KernelUnion), micros(all.CopySum), micros(all.KernelSum)}
	k.sums(&s)
	for _, m := range tables.Memory(t, nil) {
		s.Memory = append(s.Memory, MemorySummary{m.Name, m.Count, micros(m.Total), m.Bytes})
	}
	for _, r := range tables.Streams(t, nil) {
		s.Streams = append(s.Streams, StreamSummary{r.Device, r.Stream, r.Events, micros(r.Sum), micros(r.Busy)})
	}
	for _, n := range t.GPUNotes {
		s.Notes = append(s.Notes, NoteSummary{t.String(n.Name), micros(n.TS), micros(n.Dur)})
	}
	k.launchers(&s)
	k.attribution(&s)
	s.Comms.Rows = []CommSum{}
	for _, c := range tables.Collectives(t, nil) {
		s.Comms.Kernels += c.Count
		s.Comms.Rows = append(s.Comms.Rows, CommSum{c.Collective, c.Group, c.DType, c.In, c.Out, c.Size, c.Count, micros(c.Total)})
	}
	rows, dropped := tables.Fallback(t, k.All.Total, k.keep)
	s.Fallback = FallbackSummary{[]FallbackRow{}, dropped}
	for _, n := range rows {
		s.Fallback.Rows = append(s.Fallback.Rows, fallbackRow(n, k.All.Total))
	}
	return s
}

func fallbackRow(n tables.NameRow, total int64) FallbackRow {
	return FallbackRow{n.Name, float64(n.Total) / 1e6, share(n.Total, total), n.Count}
}

// sums counts and sums the GPU events.
func (k *Rank) sums(s *RankSummary) {
	t := k.Trace
	var n [3]int
	var sum [3]int64
	var linked, comms int64
	op := map[kineto.Str]string{}
	for i := range t.GPU {
		g := &t.GPU[i]
		n[g.Kind]++
		sum[g.Kind] += g.Dur
		if k.Links.Launch[i] >= 0 {
			s.Linked.Events++
			linked += g.Dur
			if g.Kind == kineto.Kernel {
				s.Linked.Kernels++
			}
		}
		if a := k.Links.Any[i]; a >= 0 {
			op[g.Name] = t.String(t.Ops[a].Name)
		}
	}
	s.Linked.Sum = micros(linked)
	kernels := tables.Kernels(t, nil)
	s.Kernels = make([]KernelSummary, 0, len(kernels))
	for _, r := range kernels {
		s.Kernels = append(s.Kernels, KernelSummary{r.Name, string(category.Of(r.Name, op[r.Str])), r.Count, micros(r.Total), micros(r.Min), micros(r.Max)})
		if category.IsCollective(r.Name) {
			comms += r.Total
		}
	}
	s.Comms.Sum = micros(comms)
	s.GPU = GPUSummary{len(t.GPU), n[0], n[1], n[2], micros(sum[0]), micros(sum[1]), micros(sum[2]), len(kernels)}
}

func (k *Rank) launchers(s *RankSummary) {
	t, l := k.Trace, k.Links
	var without int64
	collective := category.Collectives()
	for i := range t.GPU {
		if name := t.GPU[i].Name; l.Launch[i] < 0 && !collective(uint32(name), t.String(name)) {
			s.Launchers.Without++
			without += t.GPU[i].Dur
		}
	}
	s.Launchers.WithoutSum = micros(without)
	o := tables.LauncherOptions{Captured: k.Captured}
	s.Launchers.ByName, s.Args = []LauncherSum{}, []ArgsSummary{}
	for _, r := range tables.Launchers(t, l, tables.ByName, o) {
		s.Launchers.ByName = append(s.Launchers.ByName, LauncherSum{r.Name, category.Launcher(r.Name, t.String(t.GPU[r.Example].Name)), r.Instances, r.Events, micros(r.Direct)})
	}
	for _, r := range tables.Launchers(t, l, tables.ByAll, o) {
		kernels := map[string]int{}
		for _, x := range r.Kernels {
			kernels[t.String(x.Name)] = x.Count
		}
		s.Args = append(s.Args, ArgsSummary{r.Name, raw(r.Dims), raw(r.Types), raw(r.Strides), raw(r.Concrete), r.Instances, r.Events, micros(r.Direct), kernels})
	}
}

// raw is recorded JSON as it stands, null if there was none or it is not JSON.
func raw(text string) json.RawMessage {
	if !json.Valid([]byte(text)) {
		return json.RawMessage("null")
	}
	return json.RawMessage(text)
}

func (k *Rank) attribution(s *RankSummary) {
	var sums [3]int64
	s.IDs, s.IDShapes = []IDRow{}, []IDShapeRow{}
	for _, r := range tables.ByExternalID(k.Trace, k.Links, false) {
		s.IDs = append(s.IDs, IDRow{r.Op, r.Kernels, micros(r.Total)})
		switch r.Op {
		case tables.GraphRow:
			s.ByID.Graph += r.Kernels
			sums[1] += r.Total
		case tables.UnlinkedRow:
			s.ByID.Unlinked += r.Kernels
			sums[2] += r.Total
		default:
			s.ByID.Attributed += r.Kernels
			sums[0] += r.Total
		}
	}
	s.ByID.AttributedSum, s.ByID.GraphSum, s.ByID.UnlinkedSum = micros(sums[0]), micros(sums[1]), micros(sums[2])
	s.ByID.Percent = share(sums[0], sums[0]+sums[1]+sums[2])
	for _, r := range tables.ByExternalID(k.Trace, k.Links, true) {
		s.IDShapes = append(s.IDShapes, IDShapeRow{r.Op, raw(r.Dims), raw(r.Types), r.Instances, r.Kernels, micros(r.Total)})
	}
}
