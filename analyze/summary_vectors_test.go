package analyze

import (
	"encoding/json"
	"math"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// TestSummaryVectors compares the JSON of the summary, key by key, with the vectors, whose names it uses. Lists are
// compared as sets, for equal times may stand in any order.
func TestSummaryVectors(t *testing.T) {
	keys := []string{"events", "gpu_events", "memory_ops", "streams", "timeline_all_gpu_events", "linked", "timeline_bypass", "attribution_external_id", "graph", "flows",
		"launchers_external_id", "launchers_external_id_shapes", "launchers_enclosing_op", "launchers_enclosing_op_args", "collectives", "annotations", "kernels_by_name"}
	for _, path := range vectors(t) {
		t.Run(filepath.Base(path), func(t *testing.T) {
			want := readExpected[map[string]any](t, path+".expected.json")
			text, err := json.Marshal(run(t, path+".json.gz", Options{}).Summary().Ranks[0])
			if err != nil {
				t.Fatal(err)
			}
			var got map[string]any
			if err := json.Unmarshal(text, &got); err != nil {
				t.Fatal(err)
			}
			for _, k := range keys {
				if why := covers(got[k], want[k]); why != "" {
					t.Errorf("%s%s", k, why)
				}
			}
		})
	}
}

// covers says where got lacks something of want; "" if it has it all. Keys that are Hyperloom's own or text are left out.
func covers(got, want any) string {
	switch w := want.(type) {
	case map[string]any:
		g, ok := got.(map[string]any)
		if !ok {
			return ": no object"
		}
		for k, v := range w {
			if k == "rule" || strings.HasPrefix(k, "hl_") || k == "busy_pct" || k == "idle_pct" {
				continue
			}
			if why := covers(g[k], v); why != "" {
				return "." + k + why
			}
		}
		return ""
	case []any:
		g, _ := got.([]any)
		objects := false
		if len(w) > 0 {
			_, objects = w[0].(map[string]any)
		}
		for i, v := range w {
			found := false
			for j := range g {
				if (objects || i == j) && covers(g[j], v) == "" {
					found = true
					break
				}
			}
			if !found {
				text, _ := json.Marshal(v)
				return ": no " + string(text)
			}
		}
		return ""
	case float64:
		if g, ok := got.(float64); !ok || math.Abs(g-w) > 1e-4+1e-12*math.Abs(w) {
			text, _ := json.Marshal(got)
			return ": " + string(text) + " is not " + strings.TrimSpace(string(mustJSON(w)))
		}
		return ""
	case nil:
		return ""
	}
	if !reflect.DeepEqual(got, want) {
		return ": " + string(mustJSON(got)) + " is not " + string(mustJSON(want))
	}
	return ""
}

func mustJSON(v any) []byte {
	text, err := json.Marshal(v)
	if err != nil {
		return []byte(err.Error())
	}
	return text
}
