// Package stacks finds the python frames and the nn.Modules from which GPU work was launched.
//
//	st, err := stacks.Read("trace.json.gz", t, l)      // a second pass over the file
//	fmt.Println(st.Modules(launch))                      // "ResNet_0/Sequential_4/Bottleneck_2/Conv2d_1"
//	fmt.Println(st.Frame(launch))                        // "models/resnet.py(155): forward"
//
// Frames are 80 to 95 % of a trace with stacks. Only those around a launch of GPU work are kept, and equal stacks are
// kept once, so memory follows the launches and not the frames.
package stacks

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/tracehandler/tracehandler/analyze/chrometrace"
	"github.com/tracehandler/tracehandler/analyze/kineto"
	"github.com/tracehandler/tracehandler/analyze/link"
)

// Stacks is the stacks of one trace's launches.
type Stacks struct {
	nodes  []node
	node   []int32 // by launch; 0 is no stack
	names  []string
	Frames int // frames around a launch

	modules, frames map[int32]string // by node, as they are asked for
}

// node is a frame with its callers.
type node struct {
	parent int32
	name   int32
}

type frame struct {
	ts, dur int64
	name    int32
}

// modulePrefix starts the frame of a module's call.
const modulePrefix = "nn.Module: "

// Read reads the frames of the trace at path, which t was loaded from. Damage of the file was reported when t was loaded.
func Read(path string, t *kineto.Trace, l *link.Links) (*Stacks, error) {
	s, err := chrometrace.Open(path)
	if err != nil {
		return nil, err
	}
	defer s.Close() // read only
	r := newReader(t, l)
	s.SkipFunc = func(_ byte, category []byte) bool { return string(category) != "python_function" }
	for s.Scan() {
		r.frame(s.Event())
	}
	if err := s.Close(); err != nil {
		return nil, fmt.Errorf("stacks: %w", err)
	}
	return r.finish(), nil
}

type reader struct {
	t       *kineto.Trace
	st      *Stacks
	ids     map[string]int32
	threads map[kineto.Thread]int32
	calls   [][]int32 // by thread: launches of GPU work by time
	times   [][]int64
	frames  [][]frame
	pid     int64
	tid     int64
	thread  int32
	cached  bool
}

func newReader(t *kineto.Trace, l *link.Links) *reader {
	r := &reader{t: t, st: &Stacks{nodes: []node{{}}, node: make([]int32, len(t.Launches)), names: []string{""}}, ids: map[string]int32{"": 0},
		threads: map[kineto.Thread]int32{}, calls: make([][]int32, len(t.Threads)), times: make([][]int64, len(t.Threads)), frames: make([][]frame, len(t.Threads))}
	for i, th := range t.Threads {
		r.threads[th] = int32(i)
	}
	wanted := make([]bool, len(t.Launches))
	for _, la := range l.Launch {
		if la >= 0 {
			wanted[la] = true
		}
	}
	for i, w := range wanted {
		if w {
			th := t.Launches[i].Thread
			r.calls[th] = append(r.calls[th], int32(i))
		}
	}
	for th, calls := range r.calls {
		slices.SortStableFunc(calls, func(a, b int32) int { return cmp.Compare(t.Launches[a].TS, t.Launches[b].TS) })
		for _, c := range calls {
			r.times[th] = append(r.times[th], t.Launches[c].TS)
		}
	}
	return r
}

func (r *reader) frame(ev *chrometrace.Event) {
	if ev.PID.Text != nil || ev.TID.Text != nil {
		return
	}
	if !r.cached || ev.PID.Num != r.pid || ev.TID.Num != r.tid {
		th, ok := r.threads[kineto.Thread{PID: fmt.Sprint(ev.PID.Num), TID: fmt.Sprint(ev.TID.Num)}]
		if !ok {
			th = -1
		}
		r.pid, r.tid, r.thread, r.cached = ev.PID.Num, ev.TID.Num, th, true
	}
	if r.thread < 0 {
		return
	}
	times := r.times[r.thread]
	i, _ := slices.BinarySearch(times, ev.TS)
	if i == len(times) || times[i] >= ev.TS+ev.Dur {
		return
	}
	id, ok := r.ids[string(ev.Name)]
	if !ok {
		id = int32(len(r.st.names))
		r.st.names = append(r.st.names, chrometrace.String(ev.Name))
		r.ids[string(ev.Name)] = id
	}
	r.frames[r.thread] = append(r.frames[r.thread], frame{ev.TS, ev.Dur, id})
	r.st.Frames++
}

// finish sweeps frames and launches of each thread. Of frames that start together the longer is the outer one.
func (r *reader) finish() *Stacks {
	known := map[node]int32{}
	for th, calls := range r.calls {
		frames := r.frames[th]
		slices.SortStableFunc(frames, func(a, b frame) int {
			return cmp.Or(cmp.Compare(a.ts, b.ts), cmp.Compare(b.dur, a.dur))
		})
		type open struct {
			end  int64
			node int32
		}
		var stack []open
		i := 0
		for n, c := range calls {
			ts := r.times[th][n]
			for ; i < len(frames) && frames[i].ts <= ts; i++ {
				stack = slices.DeleteFunc(stack, func(o open) bool { return o.end <= frames[i].ts })
				k := node{name: frames[i].name}
				if len(stack) > 0 {
					k.parent = stack[len(stack)-1].node
				}
				id, ok := known[k]
				if !ok {
					id = int32(len(r.st.nodes))
					r.st.nodes = append(r.st.nodes, k)
					known[k] = id
				}
				stack = append(stack, open{frames[i].ts + frames[i].dur, id})
			}
			stack = slices.DeleteFunc(stack, func(o open) bool { return o.end <= ts })
			if len(stack) > 0 {
				r.st.node[c] = stack[len(stack)-1].node
			}
		}
	}
	return r.st
}

// Node identifies a launch's stack; equal stacks have equal nodes, and 0 is none.
func (s *Stacks) Node(launch int32) int32 { return s.node[launch] }

// Stack lists a node's frames, the outermost first.
func (s *Stacks) Stack(n int32) []string {
	var out []string
	for ; n != 0; n = s.nodes[n].parent {
		out = append(out, s.names[s.nodes[n].name])
	}
	slices.Reverse(out)
	return out
}

// Modules is the path of the nn.Modules around a node, outermost first, or "". Answers are remembered, so Modules and
// Frame are for one goroutine at a time.
func (s *Stacks) Modules(n int32) string { return remember(&s.modules, n, s.modulePath) }

func remember(known *map[int32]string, n int32, find func(int32) string) string {
	if *known == nil {
		*known = map[int32]string{}
	}
	text, ok := (*known)[n]
	if !ok {
		text = find(n)
		(*known)[n] = text
	}
	return text
}

func (s *Stacks) modulePath(n int32) string {
	var path []string
	for _, f := range s.Stack(n) {
		if m, ok := strings.CutPrefix(f, modulePrefix); ok {
			path = append(path, m)
		}
	}
	return strings.Join(path, "/")
}

// plumbing is code that launches for others.
var plumbing = []string{"triton/runtime", "triton/backends", "triton/compiler", "aiter/jit", "flydsl/compiler", "torch/nn/modules/module.py",
	"torch/utils/_contextlib.py", "torch/_dynamo", "torch/_inductor", "_ops.py", "<"}

var wrappers = []string{"call", "wrapper", "inner", "wrapped", "decorate_context", "_fn", "_call_impl", "_wrapped_call_impl", "__call__", "apply"}

// Frame is the innermost python frame of a node that is neither plumbing nor a wrapper: the line of the program that
// asked for the work. A graph's replay has none.
func (s *Stacks) Frame(n int32) string { return remember(&s.frames, n, s.frame) }

func (s *Stacks) frame(n int32) string {
	for ; n != 0; n = s.nodes[n].parent {
		f := s.names[s.nodes[n].name]
		if strings.Contains(f, "torch/cuda/graphs.py") {
			return ""
		}
		file, function, ok := strings.Cut(f, ": ")
		if !ok || !strings.Contains(file, ".py(") || slices.ContainsFunc(plumbing, func(p string) bool { return strings.Contains(file, p) }) ||
			slices.Contains(wrappers, function) {
			continue
		}
		return f
	}
	return ""
}
