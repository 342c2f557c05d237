package analyze

import (
	"encoding/json"
	"math"
	"path/filepath"
	"testing"

	"github.com/tracehandler/tracehandler/analyze/roofline"
)

// TestRooflineVectors compares operations, bytes and roofline times with those that TraceLens states.
func TestRooflineVectors(t *testing.T) {
	type row struct {
		Name     string          `json:"name"`
		Dims     json.RawMessage `json:"input_dims"`
		Types    json.RawMessage `json:"input_types"`
		GFLOPS   *float64        `json:"gflops"`
		MB       *float64        `json:"data_moved_mb"`
		Roofline *float64        `json:"roofline_us"`
		Bound    string          `json:"roofline_bound"`
	}
	checked, missing := 0, map[string]int{}
	for _, path := range vectors(t) {
		e := readExpected[struct {
			Reference struct {
				TraceLens struct {
					Unified []row `json:"unified_perf"`
				} `json:"tracelens_generate_perf_report_pytorch"`
			} `json:"reference"`
			Metadata struct {
				Devices []string `json:"device_names"`
			} `json:"metadata"`
		}](t, path+".expected.json")
		recorded := concreteInputs(t, path)
		for _, r := range e.Reference.TraceLens.Unified {
			if r.GFLOPS == nil {
				continue
			}
			// Rows differ by concrete inputs, which the vectors leave out: any recorded call may be the one.
			found := false
			var last roofline.Work
			for _, c := range recorded[r.Name+compact(r.Dims)] {
				w, ok := roofline.Model(r.Name, roofline.ParseShape(string(r.Dims), string(r.Types), c))
				if !ok {
					continue
				}
				last = w
				good := near(w.FLOPs/1e9, *r.GFLOPS) && (r.MB == nil || *r.MB == 0 || near(w.Bytes/(1<<20), *r.MB)) // 0 where they do not know a type
				if r.Roofline != nil && len(e.Metadata.Devices) == 1 {
					spec, known := roofline.DeviceSpec(e.Metadata.Devices[0])
					est, ok := w.On(spec)
					good = good && known && ok && math.Abs(est.Nanoseconds/1e3-*r.Roofline) < 1e-4
				}
				found = found || good
			}
			switch {
			case last == (roofline.Work{}) && !found:
				missing[r.Name]++
				t.Errorf("%s: no model of %s", filepath.Base(path), r.Name)
			case !found:
				t.Errorf("%s: %s %s: %.6f GFLOPS %.6f MB, want %v %v roof %v", filepath.Base(path), r.Name, compact(r.Dims), last.FLOPs/1e9, last.Bytes/(1<<20), *r.GFLOPS, deref(r.MB), deref(r.Roofline))
			default:
				checked++
			}
		}
	}
	t.Logf("%d rows equal; without a model: %v", checked, missing)
	if checked == 0 {
		t.Error("nothing was compared")
	}
}

func deref(f *float64) float64 {
	if f == nil {
		return math.NaN()
	}
	return *f
}

func near(got, want float64) bool { return math.Abs(got-want) <= 1e-6+1e-7*math.Abs(want) }
