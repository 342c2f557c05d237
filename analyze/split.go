package analyze

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/tracehandler/tracehandler/analyze/kineto"
	"github.com/tracehandler/tracehandler/analyze/steps"
)

// Split is one trace cut out of another: an entry of execution_details.json.
type Split struct {
	Index       int          `json:"idx"`
	Label       string       `json:"label"`
	Path        string       `json:"output_path"`
	Events      int          `json:"event_count"`
	GPUEvents   int          `json:"num_gpu_events"`
	GPUDuration float64      `json:"gpu_duration"`      // us
	GPUBusy     float64      `json:"gpu_busy_duration"` // us
	Phase       steps.Phase  `json:"phase"`
	NumSteps    int          `json:"num_steps"`
	Window      steps.Window `json:"window"`
	Steps       []string     `json:"steps"`
}

// SplitSteady cuts the steady windows of at most n iterations out of a trace and writes each as a trace of its own into
// dir, with execution_details.json. It returns none, without error, if the trace marks no iterations and nothing in it repeats.
func SplitSteady(ctx context.Context, path, dir string, n int) ([]Split, error) {
	t, err := kineto.Open(path, nil)
	if err != nil {
		return nil, fmt.Errorf("analyze: %w", err)
	}
	roots := steps.Find(t)
	if len(roots) == 0 {
		roots = steps.Repeats(t)
	}
	sel := steps.Select(roots, n)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("analyze: %w", err)
	}
	splits := []Split{}
	for _, w := range []struct {
		label  string
		window *steps.Window
	}{{"mixed", sel.Mixed}, {"decode_only", sel.Decode}, {"prefilldecode", sel.Prefill}} {
		if w.window == nil {
			continue
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		s, err := extract(t, path, dir, w.label, roots[w.window.Start:w.window.End])
		if err != nil {
			return nil, err
		}
		s.Index, s.Window = len(splits), *w.window
		splits = append(splits, s)
	}
	text, err := indented(splits)
	if err != nil {
		return nil, err
	}
	return splits, replace(filepath.Join(dir, "execution_details.json"), text)
}

func extract(t *kineto.Trace, path, dir, label string, roots []steps.Root) (Split, error) {
	phase := steps.PhaseOf(roots)
	out := filepath.Join(dir, steps.FileName(label, phase, filepath.Base(path)))
	f, err := os.CreateTemp(dir, ".split.*")
	if err != nil {
		return Split{}, fmt.Errorf("analyze: %w", err)
	}
	p, err := steps.Extract(f, path, t, roots)
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = os.Rename(f.Name(), out)
	}
	if err != nil {
		os.Remove(f.Name())
		return Split{}, fmt.Errorf("analyze: %w", err)
	}
	s := Split{Label: label, Path: out, Events: p.Events, GPUEvents: len(p.GPU), GPUDuration: micros(p.Duration), GPUBusy: micros(p.Busy), Phase: phase, NumSteps: len(roots)}
	for _, r := range roots {
		s.Steps = append(s.Steps, r.Name)
	}
	return s, nil
}
