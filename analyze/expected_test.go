package analyze

import (
	"encoding/json"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// us is a time in an expected.json: microseconds, exact to a nanosecond.
type us float64

func (u us) ns() int64 { return int64(math.Round(float64(u) * 1000)) }

type expectedTimeline struct {
	Total         us `json:"total_us"`
	Busy          us `json:"busy_us"`
	Idle          us `json:"idle_us"`
	Computation   us `json:"computation_us"`
	Comm          us `json:"total_comm_us"`
	Memcpy        us `json:"total_memcpy_us"`
	ExposedComm   us `json:"exposed_comm_us"`
	ExposedMemcpy us `json:"exposed_memcpy_us"`
	First         us `json:"first_ts_us"`
	Last          us `json:"last_end_us"`
}

type expected struct {
	Metadata struct {
		SchemaVersion   int64    `json:"schemaVersion"`
		TraceID         string   `json:"trace_id"`
		BaseTime        int64    `json:"baseTimeNanoseconds"`
		DisplayTimeUnit string   `json:"displayTimeUnit"`
		DeviceNames     []string `json:"device_names"`
		DeviceCount     int      `json:"device_count"`
		Distributed     *struct {
			Backend   string `json:"backend"`
			Rank      int    `json:"rank"`
			WorldSize int    `json:"world_size"`
		} `json:"distributed"`
	} `json:"metadata"`
	Events struct {
		Total   int64            `json:"total"`
		ByPhCat map[string]int64 `json:"by_ph_cat"`
	} `json:"events"`
	GPU struct {
		Total   int `json:"total"`
		Kernels int `json:"kernels"`
		Memcpy  int `json:"memcpy"`
		Memset  int `json:"memset"`
		Sum     us  `json:"kernel_sum_us"`
		CopySum us  `json:"memcpy_sum_us"`
		SetSum  us  `json:"memset_sum_us"`
		Unique  int `json:"unique_kernel_names"`
	} `json:"gpu_events"`
	Memory []struct {
		Name  string `json:"name"`
		Count int    `json:"count"`
		Total us     `json:"total_us"`
		Bytes int64  `json:"bytes"`
	} `json:"memory_ops"`
	Streams []struct {
		Device int32 `json:"device"`
		Stream int32 `json:"stream"`
		Events int   `json:"events"`
		Sum    us    `json:"sum_us"`
		Busy   us    `json:"busy_us"`
	} `json:"streams"`
	All    expectedTimeline `json:"timeline_all_gpu_events"`
	Linked struct {
		Events  int `json:"events"`
		Kernels int `json:"kernels"`
		Sum     us  `json:"sum_us"`
	} `json:"linked"`
	TimelineLinked json.RawMessage `json:"timeline_linked"`
	Bypass         struct {
		Total   us `json:"total_us"`
		Busy    us `json:"busy_us"`
		Union   us `json:"kernel_union_us"`
		CopySum us `json:"memcpy_memset_sum_us"`
		Sum     us `json:"kernel_sum_us"`
	} `json:"timeline_bypass"`
	Attribution struct {
		Attributed   int `json:"attributed_kernels"`
		AttributedUS us  `json:"attributed_us"`
		Graph        int `json:"graph_kernels"`
		GraphUS      us  `json:"graph_us"`
		Unlinked     int `json:"unlinked_kernels"`
		UnlinkedUS   us  `json:"unlinked_us"`
	} `json:"attribution_external_id"`
	Graph struct {
		Launches    int  `json:"graph_launches"`
		WithKernels int  `json:"graph_launches_with_kernels"`
		Kernels     int  `json:"graph_kernels"`
		Under       bool `json:"under_recorded"`
		Begin       int  `json:"capture_begin"`
		End         int  `json:"capture_end"`
	} `json:"graph"`
	ByID []struct {
		Op      string `json:"op"`
		Kernels int    `json:"kernels"`
		Total   us     `json:"total_us"`
	} `json:"launchers_external_id"`
	ByIDShapesRows int `json:"launchers_external_id_shapes_total_rows"`
	ByIDShapes     []struct {
		Op        string          `json:"op"`
		Dims      json.RawMessage `json:"input_dims"`
		Types     json.RawMessage `json:"input_types"`
		Instances int             `json:"op_instances"`
		Kernels   int             `json:"kernels"`
		Total     us              `json:"total_us"`
	} `json:"launchers_external_id_shapes"`
	Enclosing struct {
		Without   int `json:"events_without_launch"`
		WithoutUS us  `json:"events_without_launch_us"`
		ByName    []struct {
			Name      string `json:"name"`
			Instances int    `json:"instances"`
			Events    int    `json:"gpu_events"`
			Direct    us     `json:"direct_us"`
		} `json:"by_name"`
	} `json:"launchers_enclosing_op"`
	ArgsRows int `json:"launchers_enclosing_op_args_total_rows"`
	Args     []struct {
		Name      string          `json:"name"`
		Dims      json.RawMessage `json:"input_dims"`
		Types     json.RawMessage `json:"input_types"`
		Instances int             `json:"instances"`
		Events    int             `json:"gpu_events"`
		Direct    us              `json:"direct_us"`
		Kernels   map[string]int  `json:"kernels"`
	} `json:"launchers_enclosing_op_args"`
	Collectives struct {
		Kernels int `json:"kernels"`
		Sum     us  `json:"sum_us"`
		Rows    []struct {
			Collective string `json:"collective"`
			Group      any    `json:"process_group"`
			DType      string `json:"dtype"`
			In         int64  `json:"in_nelems"`
			Out        int64  `json:"out_nelems"`
			Size       int64  `json:"group_size"`
			Count      int    `json:"count"`
			Total      us     `json:"total_us"`
		} `json:"rows"`
	} `json:"collectives"`
	Annotations []struct {
		Name string `json:"name"`
		TS   us     `json:"ts_us"`
		Dur  us     `json:"dur_us"`
	} `json:"annotations"`
	Flows struct {
		S      int `json:"ac2g_s"`
		F      int `json:"ac2g_f"`
		Both   int `json:"ac2g_ids_both"`
		Orphan int `json:"ac2g_f_without_s"`
	} `json:"flows"`
	Kernels []struct {
		Name  string `json:"name"`
		Count int    `json:"count"`
		Total us     `json:"total_us"`
		Min   us     `json:"min_us"`
		Max   us     `json:"max_us"`
	} `json:"kernels_by_name"`
	Categories struct {
		ByLauncher []struct {
			Category  string `json:"category"`
			Launchers int    `json:"launchers"`
			Total     us     `json:"total_us"`
		} `json:"tracelens_by_launcher"`
	} `json:"categories"`
	Reference struct {
		TraceLens struct {
			Differing []string `json:"ops_differing_from_launchers_enclosing_op"`
			Ops       []struct {
				Name       string   `json:"name"`
				Categories []string `json:"categories"`
			} `json:"ops_summary"`
		} `json:"tracelens_generate_perf_report_pytorch"`
	} `json:"reference"`
	Fallback struct {
		Rows []struct {
			Name  string  `json:"name"`
			Time  float64 `json:"time_ms"`
			Share float64 `json:"pct_e2e"`
			Count int     `json:"count"`
		} `json:"rows"`
		Dropped int `json:"dropped_names"`
	} `json:"fallback_name_time"`
}

// vectors lists the traces with expected values: those of the repository, and those of TRACEHANDLER_KINETO.
func vectors(t *testing.T) (paths []string) {
	t.Helper()
	roots := []string{"testdata/kineto"}
	if dir := os.Getenv("TRACEHANDLER_KINETO"); dir != "" {
		roots = []string{dir}
	}
	for _, root := range roots {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err == nil && strings.HasSuffix(path, ".expected.json") && !strings.Contains(path, "steady_synthetic") {
				paths = append(paths, strings.TrimSuffix(path, ".expected.json"))
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if len(paths) == 0 {
		t.Fatalf("no vectors under %v", roots)
	}
	return paths
}

func readExpected[T any](t *testing.T, path string) (e T) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &e); err != nil {
		t.Fatal(err)
	}
	return e
}

func compact(raw json.RawMessage) string {
	s := strings.Join(strings.Fields(string(raw)), "")
	if s == "null" {
		return ""
	}
	return s
}

func equal[T comparable](t *testing.T, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}
