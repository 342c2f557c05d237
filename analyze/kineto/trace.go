package kineto

import (
	"slices"

	"github.com/tracehandler/tracehandler/analyze/chrometrace"
)

// Str is an interned string; 0 is the empty string.
type Str uint32

// Trace is one profiled process, or several merged into one file.
type Trace struct {
	Path     string
	Meta     Meta
	Events   int64
	Counts   []Count // events by phase and category, in order of first appearance
	GPU      []GPU   // in file order
	Launches []Launch
	Ops      []Op
	Notes    []Note // user_annotation: on the CPU
	GPUNotes []Note // gpu_user_annotation: their projection on the GPU's rows
	Threads  []Thread
	Shapes   []Shape // distinct arguments of ops; Shapes[0] is "not recorded"
	Extras   []Extra // what few ops have; Extras[0] is empty
	Comms    []Comm  // distinct arguments of collectives; Comms[0] is empty
	Flows    Flows
	Errors   []*chrometrace.Error
	NErrors  int
	Degraded bool // events may be missing: see Errors
	strings  []string
}

// String returns the text of an interned string.
func (t *Trace) String(s Str) string { return t.strings[s] }

// Find returns the interned form of a text that occurs in the trace. It looks at all of them.
func (t *Trace) Find(text string) (Str, bool) {
	i := slices.Index(t.strings, text)
	return Str(max(i, 0)), i >= 0
}

// Strings is the number of interned strings: every Str is below it.
func (t *Trace) Strings() int { return len(t.strings) }

// Count is a number of events of one phase and category.
type Count struct {
	Phase    string
	Category string
	N        int64
}

// Kind says what a GPU event is.
type Kind uint8

const (
	Kernel Kind = iota
	Memcpy
	Memset
)

func (k Kind) String() string { return [...]string{"kernel", "gpu_memcpy", "gpu_memset"}[k] }

// GPU is one piece of work on a device.
type GPU struct {
	TS, Dur     int64 // Dur is 0 when Impossible
	Correlation int64
	ExternalID  int64 // 0 if none
	Bytes       int64 // of copies and memsets
	Name        Str
	Device      int32
	Stream      int32
	PID         int32 // index into Threads, of the row the event stands on
	Comm        int32 // index into Comms
	Grid, Block Str   // raw JSON arrays of the launch configuration, or empty
	Kind        Kind
	Linked      bool // has a correlation at all
	Impossible  bool // its duration did not fit 64 bits
}

// End is the first nanosecond after the event.
func (g *GPU) End() int64 { return g.TS + g.Dur }

// Launch is a call of the CUDA or HIP runtime or driver.
type Launch struct {
	TS, Dur     int64
	Correlation int64
	ExternalID  int64
	Name        Str
	Kernel      Str // the device function it names (ROCm)
	Thread      int32
	Driver      bool // cuda_driver
	HasCorr     bool
}

// Op is one operator on the CPU.
type Op struct {
	TS, Dur    int64
	ExternalID int64
	Sequence   int64 // autograd's; -1 if none
	Name       Str
	Thread     int32
	Shape      int32 // index into Shapes
	Extra      int32 // index into Extras
	FwdThread  int32 // autograd's "Fwd thread id"; -1 if none. A backward op has one above 0
}

// Note is an annotation of the user or of the profiler, such as ProfilerStep#3.
type Note struct {
	TS, Dur int64
	Name    Str
	Thread  int32
}

// Thread is one row of the trace: a thread of the CPU or a stream of a GPU.
type Thread struct{ PID, TID string }

// Shape is the recorded arguments of an op, as raw JSON with the spaces taken out.
type Shape struct{ Dims, Types, Strides, Concrete Str }

// Extra holds what Inductor records about a generated kernel.
type Extra struct{ KernelFile, KernelName, Backend Str }

// Comm is the recorded arguments of a collective.
type Comm struct {
	Collective, DType, Group, GroupDesc, Ranks Str
	In, Out, Size                              int64
}

// Flows counts the arrows between events.
type Flows struct {
	AC2GStarts, AC2GEnds int
	AC2GBoth             int // distinct ids that have a start and an end
	AC2GOrphanEnds       int // distinct ids that have an end and no start
	FwdBwd               int // pairs of forward and backward
}

// Meta is the head of a trace. A field is zero if the file does not say.
type Meta struct {
	SchemaVersion   int64
	TraceID         string
	TraceName       string
	BaseTime        int64 // nanoseconds
	DisplayTimeUnit string
	WithStack       bool
	RecordShapes    bool
	Devices         []Device
	Distributed     *Distributed
	Raw             chrometrace.Metadata
}

// Device is one entry of deviceProperties.
type Device struct {
	ID          int    `json:"id"`
	Name        string `json:"name"`
	TotalMemory int64  `json:"totalGlobalMem"`
	SMs         int    `json:"numSms"`
	WarpSize    int    `json:"warpSize"`
}

// Distributed is the trace's own statement about its job.
type Distributed struct {
	Backend     string `json:"backend"`
	Rank        int    `json:"rank"`
	WorldSize   int    `json:"world_size"`
	PGCount     int    `json:"pg_count"`
	NCCLVersion string `json:"nccl_version"`
}

// Rank is the trace's rank by its own metadata; ok is false if it does not say.
func (m *Meta) Rank() (rank int, ok bool) {
	if m.Distributed == nil {
		return 0, false
	}
	return m.Distributed.Rank, true
}

// DeviceNames lists the distinct names of the devices, without empty ones.
func (m *Meta) DeviceNames() []string {
	var names []string
	for _, d := range m.Devices {
		if d.Name != "" && !slices.Contains(names, d.Name) {
			names = append(names, d.Name)
		}
	}
	return names
}

// UsedDevices lists the distinct names of the devices that GPU events ran on; of all devices if no event tells.
func (t *Trace) UsedDevices() []string {
	ids := map[int]bool{}
	for i := range t.GPU {
		ids[int(t.GPU[i].Device)] = true
	}
	used := Meta{}
	for _, d := range t.Meta.Devices {
		if ids[d.ID] {
			used.Devices = append(used.Devices, d)
		}
	}
	if names := used.DeviceNames(); len(names) > 0 {
		return names
	}
	return t.Meta.DeviceNames()
}

// decodeMeta reads what it can; a member that is not as expected is left out, for the events do not depend on it.
func decodeMeta(raw chrometrace.Metadata) Meta {
	m := Meta{Raw: raw}
	m.SchemaVersion, _ = chrometrace.Int(raw["schemaVersion"])
	m.BaseTime, _ = chrometrace.Int(raw["baseTimeNanoseconds"])
	m.TraceID, _ = chrometrace.Text(raw["trace_id"])
	m.TraceName, _ = chrometrace.Text(raw["traceName"])
	m.DisplayTimeUnit, _ = chrometrace.Text(raw["displayTimeUnit"])
	m.WithStack = truthy(raw["with_stack"])
	m.RecordShapes = truthy(raw["record_shapes"])
	m.Distributed = distributed(raw["distributedInfo"])
	chrometrace.Elements(raw["deviceProperties"], func(v []byte) bool {
		if d, ok := device(v); ok {
			m.Devices = append(m.Devices, d)
		}
		return true
	})
	return m
}

// distributed is nil if there is no rank. Numbers may be strings, and any other member anything.
func distributed(v []byte) *Distributed {
	var d Distributed
	ranked := false
	for a := chrometrace.ArgsOf(v); a.Next(); {
		n, number := chrometrace.Int(a.Value)
		switch string(a.Key) {
		case "backend":
			d.Backend, _ = chrometrace.Text(a.Value)
		case "nccl_version":
			d.NCCLVersion, _ = chrometrace.Text(a.Value)
		case "rank":
			d.Rank, ranked = int(n), number && n >= 0 && n <= maxRank
		case "world_size":
			d.WorldSize = int(min(max(n, 0), maxRank))
		case "pg_count":
			d.PGCount = int(min(max(n, 0), maxRank))
		}
	}
	if !ranked {
		return nil
	}
	return &d
}

// maxRank is more than any job has.
const maxRank = 1 << 30

func device(v []byte) (d Device, ok bool) {
	if len(v) == 0 || v[0] != '{' {
		return Device{}, false
	}
	for a := chrometrace.ArgsOf(v); a.Next(); {
		n, _ := chrometrace.Int(a.Value)
		switch string(a.Key) {
		case "id":
			d.ID = int(int32(n))
		case "name":
			d.Name, _ = chrometrace.Text(a.Value)
		case "totalGlobalMem":
			d.TotalMemory = n
		case "numSms":
			d.SMs = int(int32(n))
		case "warpSize":
			d.WarpSize = int(int32(n))
		}
	}
	return d, true
}

func truthy(v []byte) bool { return string(v) == "1" || string(v) == "true" }
