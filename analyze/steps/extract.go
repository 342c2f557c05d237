package steps

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/tracehandler/tracehandler/analyze/chrometrace"
	"github.com/tracehandler/tracehandler/analyze/interval"
	"github.com/tracehandler/tracehandler/analyze/kineto"
)

// Phase counts the iterations of a window.
type Phase struct {
	Prefill       int `json:"num_prefill"`
	PrefillDecode int `json:"num_prefilldecode"`
	Decode        int `json:"num_decode"`
	AvgBatch      int `json:"avg_bs"`
	AvgRequests   int `json:"avg_conc"`
}

// PhaseOf sums iterations up.
func PhaseOf(roots []Root) Phase {
	var p Phase
	batch, requests := 0, 0
	for _, r := range roots {
		switch {
		case r.Context > 0 && r.Generation > 0:
			p.PrefillDecode++
		case r.Context > 0:
			p.Prefill++
		default:
			p.Decode++
		}
		batch += r.Batch
		requests += r.Requests()
	}
	if n := len(roots); n > 0 {
		p.AvgBatch, p.AvgRequests = batch/n, requests/n
	}
	return p
}

// Part is what belongs to a window of a trace.
type Part struct {
	Events       int   // of the file
	GPU          []int // indices into the trace's GPU events
	Duration     int64 // ns, summed over iterations, from the first GPU event's start to the last one's end
	Busy         int64 // ns of the union of the GPU events
	correlations map[int64]bool
	spans        map[kineto.Thread]interval.Set
}

// Of finds the GPU work that the iterations launched. Events is only set by Extract.
func Of(t *kineto.Trace, roots []Root) *Part {
	p := &Part{correlations: map[int64]bool{}, spans: map[kineto.Thread]interval.Set{}}
	for _, r := range roots {
		th := t.Threads[r.Thread]
		if r.Training {
			th.TID = anyThread
		}
		p.spans[th] = append(p.spans[th], interval.Interval{Start: r.TS, End: r.TS + r.Dur})
	}
	for th, s := range p.spans {
		slices.SortFunc(s, func(a, b interval.Interval) int { return int(min(max(a.Start-b.Start, -1), 1)) })
		p.spans[th] = s
	}
	owner := map[int64]int{} // iteration by correlation
	for i := range t.Launches {
		la := &t.Launches[i]
		if !la.HasCorr || !p.inside(t.Threads[la.Thread], la.TS, la.TS+la.Dur) {
			continue
		}
		p.correlations[la.Correlation] = true
		for n, r := range roots {
			if (r.Training || r.Thread == la.Thread) && r.TS <= la.TS && la.TS < r.TS+r.Dur {
				owner[la.Correlation] = n
				break
			}
		}
	}
	var set interval.Set
	extent := make([]interval.Interval, len(roots))
	for i := range t.GPU {
		g := &t.GPU[i]
		if !g.Linked || !p.correlations[g.Correlation] {
			continue
		}
		x := &extent[owner[g.Correlation]]
		if *x == (interval.Interval{}) {
			x.Start = g.TS
		}
		x.Start, x.End = min(x.Start, g.TS), max(x.End, g.End())
		p.GPU = append(p.GPU, i)
		set = append(set, interval.Interval{Start: g.TS, End: g.End()})
	}
	p.Duration, p.Busy = interval.Measure(extent), interval.Measure(interval.Union(set))
	return p
}

// inside reports whether [start, end] lies in one iteration's span on a thread.
func (p *Part) inside(th kineto.Thread, start, end int64) bool {
	return covers(p.spans[th], start, end) || covers(p.spans[kineto.Thread{PID: th.PID, TID: anyThread}], start, end)
}

// anyThread stands for all threads of a process.
const anyThread = "\x00*"

func covers(spans interval.Set, start, end int64) bool {
	for _, x := range spans {
		if x.Start <= start && end <= x.End {
			return true
		}
		if x.Start > start {
			return false
		}
	}
	return false
}

// Extract writes the window as a trace of its own: the events of the iterations' threads within their spans, the flows
// and GPU events of what they launch, and the metadata of the trace, its M events included. t is path, loaded.
func Extract(w io.Writer, path string, t *kineto.Trace, roots []Root) (*Part, error) {
	p := Of(t, roots)
	s, err := chrometrace.Open(path)
	if err != nil {
		return nil, err
	}
	defer s.Close() // read only
	out := bufio.NewWriterSize(w, 256<<10)
	out.WriteByte('{')
	keys := make([]string, 0, len(t.Meta.Raw))
	for k := range t.Meta.Raw {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	for _, k := range keys {
		fmt.Fprintf(out, "%q: %s, ", k, t.Meta.Raw[k])
	}
	out.WriteString("\"traceEvents\": [")
	first := true
	for s.Scan() {
		ev := s.Event()
		if ev.Phase != 'M' {
			if !p.takes(ev) {
				continue
			}
			p.Events++
		}
		if !first {
			out.WriteByte(',')
		}
		first = false
		out.WriteByte('\n')
		out.Write(ev.Raw)
	}
	out.WriteString("\n]}\n")
	if err := out.Flush(); err != nil {
		return nil, fmt.Errorf("steps: %w", err)
	}
	return p, nil
}

func (p *Part) takes(ev *chrometrace.Event) bool {
	switch string(ev.Category) {
	case "ac2g":
		return p.correlations[ev.FlowID.Num]
	case "kernel", "gpu_memcpy", "gpu_memset":
		for a := ev.Arguments(); a.Next(); {
			if string(a.Key) == "correlation" {
				n, ok := chrometrace.Int(a.Value)
				return ok && p.correlations[n]
			}
		}
		return false
	case "gpu_user_annotation":
		return false
	}
	th := kineto.Thread{PID: idText(ev.PID), TID: idText(ev.TID)}
	return ev.Has&chrometrace.HasTS != 0 && p.inside(th, ev.TS, ev.TS+ev.Dur)
}

func idText(id chrometrace.ID) string {
	if id.Text != nil {
		return chrometrace.String(id.Text)
	}
	return fmt.Sprint(id.Num)
}

// FileName is what a window's trace is called, after the base name of the trace it comes from.
func FileName(label string, p Phase, base string) string {
	return fmt.Sprintf("%s_steady_state_prefill_%d_prefilldecode_%d_decode_%d_bs%d_conc%d_%s", label, p.Prefill, p.PrefillDecode, p.Decode, p.AvgBatch, p.AvgRequests,
		strings.TrimSuffix(strings.TrimSuffix(base, ".gz"), ".zst"))
}
