package steps

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tracehandler/tracehandler/analyze/chrometrace"
	"github.com/tracehandler/tracehandler/analyze/kineto"
	"github.com/tracehandler/tracehandler/analyze/roofline"
)

// TestVectors compares regions, windows and what is in them with TraceLens' splitter.
func TestVectors(t *testing.T) {
	paths, err := filepath.Glob("../testdata/kineto/steady_synthetic/*.expected.json")
	if err != nil || len(paths) == 0 {
		t.Fatal("no vectors", err)
	}
	for _, path := range paths {
		t.Run(filepath.Base(path), func(t *testing.T) {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			var e struct {
				Roots   int              `json:"iteration_roots"`
				First   []string         `json:"first_roots"`
				Regions [][2]int         `json:"steady_regions"`
				Windows map[string][]int `json:"windows"`
				Details []struct {
					Events int     `json:"event_count"`
					GPU    int     `json:"num_gpu_events"`
					Dur    float64 `json:"gpu_duration"`
					Busy   float64 `json:"gpu_busy_duration"`
					Phase  Phase   `json:"phase"`
					Label  string  `json:"label"`
					Steps  int     `json:"num_steps"`
				} `json:"execution_details"`
			}
			if err := json.Unmarshal(text, &e); err != nil {
				t.Fatal(err)
			}
			file := strings.TrimSuffix(path, ".expected.json") + ".json.gz"
			tr, err := kineto.Open(file, nil)
			if err != nil {
				t.Fatal(err)
			}
			roots := Find(tr)
			if len(roots) != e.Roots {
				t.Fatalf("%d roots, want %d", len(roots), e.Roots)
			}
			for i, name := range e.First {
				if roots[i].Name != name {
					t.Errorf("root %d is %s", i, roots[i].Name)
				}
			}
			sel := Select(roots, 0)
			if len(sel.Regions) != len(e.Regions) {
				t.Errorf("regions %v, want %v", sel.Regions, e.Regions)
			}
			for i, r := range sel.Regions {
				if [2]int{r.Start, r.End} != e.Regions[i] {
					t.Errorf("region %v, want %v", r, e.Regions[i])
				}
			}
			windows := map[string]*Window{"mixed": sel.Mixed, "decode_only": sel.Decode, "prefilldecode": sel.Prefill}
			for label, w := range windows {
				want := e.Windows[label]
				if (w == nil) != (want == nil) || w != nil && (w.Start != want[0] || w.End != want[1]) {
					t.Errorf("%s: %v, want %v", label, w, want)
				}
			}
			for _, d := range e.Details {
				w := windows[d.Label]
				if w == nil || w.End-w.Start != d.Steps {
					t.Errorf("%s: %v, want %d steps", d.Label, w, d.Steps)
					continue
				}
				if got := PhaseOf(roots[w.Start:w.End]); got != d.Phase {
					t.Errorf("%s: %+v, want %+v", d.Label, got, d.Phase)
				}
				var b bytes.Buffer
				p, err := Extract(&b, file, tr, roots[w.Start:w.End])
				if err != nil {
					t.Fatal(err)
				}
				if p.Events != d.Events || len(p.GPU) != d.GPU || math.Abs(float64(p.Duration)/1e3-d.Dur) > 0.001 || math.Abs(float64(p.Busy)/1e3-d.Busy) > 0.001 {
					t.Errorf("%s: %d events, %d on the GPU, %d ns, busy %d ns; want %+v", d.Label, p.Events, len(p.GPU), p.Duration, p.Busy, d)
				}
				if !json.Valid(b.Bytes()) {
					t.Fatalf("%s: the extract is no JSON", d.Label)
				}
				again := kineto.Load(chrometrace.NewScanner(&b), nil)
				if len(Find(again)) != d.Steps || len(again.GPU) != d.GPU || again.Degraded {
					t.Errorf("%s: the extract has %d steps and %d GPU events", d.Label, len(Find(again)), len(again.GPU))
				}
			}
		})
	}
}

func TestNames(t *testing.T) {
	for name, want := range map[string]Root{
		"step[DECODE bs=32]":          {Generation: 32, Batch: 32},
		"step[EXTEND bs=4 toks=4096]": {Context: 4, Batch: 4096},
		"decode[bs=117/128]":          {Generation: 117, Batch: 117},
		"prefill[bs=2 tok=300 ctx=[10, 20] sk=320 sqsq=90000 sqsk=96000]": {Context: 2, Batch: 300, Detailed: true,
			Prefill: roofline.Lengths{Q: 300, K: 320, QQ: 90000, QK: 96000}},
		"step[MIXED bs=5 toks=40 c=2 g=3 c_sq=37 c_sk=50 c_sqsq=700 c_sqsk=900 g_sq=3 g_sk=90 g_sqsq=3 g_sqsk=90]": {Context: 2, Generation: 3, Batch: 40, Detailed: true,
			Prefill: roofline.Lengths{Q: 37, K: 50, QQ: 700, QK: 900}, Decode: roofline.Lengths{Q: 3, K: 90, QQ: 3, QK: 90}},
		"step[MIXED bs=5 toks=40]": {Context: 5, Batch: 40},
		"execute_8192_context_9(sq8155sk8430sqsq7475785sqsk7671310)_generation_37(sq37sk34489sqsq37sqsk34489)": {Context: 9, Generation: 37, Batch: 8192, Detailed: true,
			Prefill: roofline.Lengths{Q: 8155, K: 8430, QQ: 7475785, QK: 7671310}, Decode: roofline.Lengths{Q: 37, K: 34489, QQ: 37, QK: 34489}},
		"execute_context_8(1024)_generation_56(56)": {Context: 8, Generation: 56, Batch: 1080},
		"execute_new_2_cached_30":                   {Context: 2, Generation: 30, Batch: 32},
		"execute_diffusion_2_1024x768":              {Generation: 2, Batch: 2},
		"ProfilerStep#7":                            {Generation: 1, Batch: 1},
	} {
		text := `{"traceEvents":[{"ph":"X","cat":"user_annotation","name":"` + name + `","pid":1,"tid":1,"ts":5,"dur":2}]}`
		roots := Find(kineto.Load(chrometrace.NewScanner(strings.NewReader(text)), nil))
		if len(roots) != 1 {
			t.Errorf("%s: %+v", name, roots)
			continue
		}
		got := roots[0]
		got.Name, got.TS, got.Dur, got.Training = "", 0, 0, false
		if !got.Detailed {
			got.Prefill, got.Decode = roofline.Lengths{}, roofline.Lengths{}
		}
		if got != want {
			t.Errorf("%s: %+v, want %+v", name, got, want)
		}
	}
	if Find(kineto.Load(chrometrace.NewScanner(strings.NewReader(`[]`)), nil)) != nil {
		t.Error("roots from nothing")
	}
}

// TestTraining takes the launches of autograd's thread into the step.
func TestTraining(t *testing.T) {
	text := `{"traceEvents":[
		{"ph":"X","cat":"user_annotation","name":"ProfilerStep#1","pid":1,"tid":1,"ts":0,"dur":100},
		{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":1,"ts":10,"dur":1,"args":{"correlation":1}},
		{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":2,"ts":20,"dur":1,"args":{"correlation":2}},
		{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":9,"tid":2,"ts":20,"dur":1,"args":{"correlation":3}},
		{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":2,"ts":120,"dur":1,"args":{"correlation":4}},
		{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":30,"dur":5,"args":{"correlation":1}},
		{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":40,"dur":5,"args":{"correlation":2}},
		{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":50,"dur":5,"args":{"correlation":3}},
		{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":150,"dur":5,"args":{"correlation":4}}]}`
	tr := kineto.Load(chrometrace.NewScanner(strings.NewReader(text)), nil)
	p := Of(tr, Find(tr))
	if len(p.GPU) != 2 || p.Duration != 15_000 || p.Busy != 10_000 {
		t.Errorf("%+v", p)
	}
}
