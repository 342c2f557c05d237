// Package kineto holds a PyTorch profiler trace in memory: the GPU events, the launches and the CPU ops, and nothing of
// the python frames that make up most of the file.
//
//	t, err := kineto.Open("rank0.pt.trace.json.gz", nil)
//	if err != nil { … }
//	for _, g := range t.GPU {
//		fmt.Println(t.String(g.Name), g.Dur, "ns on stream", g.Stream)
//	}
//
// All times are integer nanoseconds of the trace's own clock. Strings are interned: a Str is an index into the trace's
// table. A Trace is not changed after loading; any number of goroutines may read it.
//
// Event shapes: torch/csrc/profiler and libkineto/src/output_json.cpp in the PyTorch sources.
package kineto
