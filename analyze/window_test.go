package analyze

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// serving writes a trace of iterations. Each has one launch of two kernels: busy is how long a kernel of a prefill
// runs, gap how long after it the next one starts; a decode's run one after the other. A busy of 0 has no kernels.
func serving(t *testing.T, names []string, busy, gap int) string {
	t.Helper()
	var ev []string
	kernel := func(ts, dur, correlation int) {
		ev = append(ev, fmt.Sprintf(`{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":%d,"dur":%d,"args":{"correlation":%d}}`, ts, dur, correlation))
	}
	for i, n := range names {
		ts := 1_000_000 * i
		ev = append(ev, fmt.Sprintf(`{"ph":"X","cat":"user_annotation","name":%q,"pid":1,"tid":1,"ts":%d,"dur":900}`, n, ts),
			fmt.Sprintf(`{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":1,"ts":%d,"dur":5,"args":{"correlation":%d}}`, ts+10, i+1))
		switch {
		case strings.Contains(n, "context_0"): // back to back with the next iteration's
			kernel(ts+20, 500_000, i+1)
			kernel(ts+500_020, 499_990, i+1)
		case busy > 0:
			kernel(ts+20, busy, i+1)
			kernel(ts+20+gap, busy, i+1)
		}
	}
	path := filepath.Join(t.TempDir(), "trace.json")
	if err := os.WriteFile(path, []byte(`{"traceEvents":[`+strings.Join(ev, ",\n")+`]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestWindowQuality tries windows in which too little runs.
func TestWindowQuality(t *testing.T) {
	prefill, decode := "execute_context_4(400)_generation_0(0)", "execute_context_0(0)_generation_4(4)"
	repeat := func(n int, name string) (out []string) {
		for range n {
			out = append(out, name)
		}
		return out
	}
	mixed := append(repeat(8, prefill), repeat(2, decode)...) // its mixed window is of prefills
	for _, c := range []struct {
		name      string
		steps     []string
		busy, gap int
		window    Window
		code      string
		part      string // a kind of iteration that the window is of; "" is the whole trace
	}{
		{"busy enough", mixed, 200_000, 400_000, WindowMixed, "", prefill},
		{"another is better", mixed, 10, 400_000, WindowMixed, "steady_state_chunk_low_quality", decode},
		{"empty", mixed, 0, 0, WindowMixed, "steady_state_chunk_empty", decode},
		{"all are low", repeat(12, prefill), 10, 400_000, WindowMixed, "steady_state_chunk_low_quality", prefill},
		{"asked for", mixed, 10, 400_000, WindowPrefill, "steady_state_chunk_low_quality", prefill},
		{"no such window", repeat(12, prefill), 10, 400_000, WindowDecode, "bypass_steady_fallback_full_trace", ""},
		{"nowhere steady", []string{decode, prefill, decode}, 200_000, 400_000, WindowMixed, "trace_split_no_steady_state", prefill},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := run(t, serving(t, c.steps, c.busy, c.gap), Options{Window: c.window, Steps: 4})
			code := ""
			for _, w := range r.Warnings {
				if strings.HasPrefix(w.Code, "steady_") || strings.HasPrefix(w.Code, "trace_split") || strings.HasPrefix(w.Code, "bypass_steady") {
					code += w.Code
				}
			}
			equal(t, "warning", code, c.code)
			k := &r.Ranks[0]
			if c.part == "" {
				equal(t, "whole trace", k.Window == nil, true)
				return
			}
			if k.Window == nil {
				t.Fatalf("no window: %+v", r.Warnings)
			}
			if got := k.Roots[k.Window.Start].Name; got != c.part {
				t.Errorf("%s, want %s", got, c.part)
			}
		})
	}
}

// TestUnmarkedIterations finds iterations by what repeats, and only if a window is asked for.
func TestUnmarkedIterations(t *testing.T) {
	var names []string
	for i := range 9 {
		names = append(names, fmt.Sprintf("my_loop_%d", i))
	}
	path := serving(t, names, 200_000, 400_000)
	k := &run(t, path, Options{Window: WindowSteady}).Ranks[0]
	if text := k.WindowText(); text != "8 iteration(s) of 9, from my_loop_1 to my_loop_8" {
		t.Errorf("window: %s", text)
	}
	if r := run(t, path, Options{Window: WindowSteady}); len(r.Warnings) == 0 || r.Warnings[0].Code != "iterations_by_pattern" {
		t.Errorf("warnings: %v", r.Warnings)
	}
	if r := run(t, path, Options{}); len(r.Ranks[0].Roots) != 0 {
		t.Errorf("without a window: %v", r.Ranks[0].Roots)
	}
	splits, err := SplitSteady(t.Context(), path, t.TempDir(), 2)
	if err != nil || len(splits) == 0 || splits[0].NumSteps != 2 || splits[0].GPUEvents != 4 {
		t.Errorf("%+v %v", splits, err)
	}
}
