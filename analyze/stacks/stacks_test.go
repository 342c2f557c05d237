package stacks

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/tracehandler/tracehandler/analyze/kineto"
	"github.com/tracehandler/tracehandler/analyze/link"
)

func TestRead(t *testing.T) {
	text := `{"traceEvents":[
	 {"ph":"X","cat":"python_function","name":"train.py(3): <module>","pid":1,"tid":1,"ts":0,"dur":100,"args":{}},
	 {"ph":"X","cat":"python_function","name":"nn.Module: Net_0","pid":1,"tid":1,"ts":10,"dur":50,"args":{}},
	 {"ph":"X","cat":"python_function","name":"model.py(9): forward","pid":1,"tid":1,"ts":11,"dur":40,"args":{}},
	 {"ph":"X","cat":"python_function","name":"nn.Module: Linear_1","pid":1,"tid":1,"ts":12,"dur":8,"args":{}},
	 {"ph":"X","cat":"python_function","name":"torch/nn/modules/module.py(5): _call_impl","pid":1,"tid":1,"ts":12,"dur":7,"args":{}},
	 {"ph":"X","cat":"python_function","name":"<built-in method linear>","pid":1,"tid":1,"ts":13,"dur":4,"args":{}},
	 {"ph":"X","cat":"python_function","name":"other.py(1): idle","pid":1,"tid":1,"ts":70,"dur":4,"args":{}},
	 {"ph":"X","cat":"python_function","name":"thread.py(1): run","pid":1,"tid":2,"ts":0,"dur":100,"args":{}},
	 {"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":1,"ts":14,"dur":1,"args":{"correlation":1}},
	 {"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":1,"ts":45,"dur":1,"args":{"correlation":2}},
	 {"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":1,"ts":200,"dur":1,"args":{"correlation":3}},
	 {"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":30,"dur":5,"args":{"correlation":1}},
	 {"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":60,"dur":5,"args":{"correlation":2}},
	 {"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":260,"dur":5,"args":{"correlation":3}}]}`
	path := filepath.Join(t.TempDir(), "t.json")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	tr, err := kineto.Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	st, err := Read(path, tr, link.New(tr))
	if err != nil {
		t.Fatal(err)
	}
	if st.Frames != 6 {
		t.Errorf("%d frames were kept", st.Frames)
	}
	for launch, want := range []struct {
		depth         int
		modules, from string
	}{{6, "Net_0/Linear_1", "model.py(9): forward"}, {3, "Net_0", "model.py(9): forward"}, {0, "", ""}} {
		n := st.Node(int32(launch))
		if got := st.Stack(n); len(got) != want.depth || len(got) > 0 && got[0] != "train.py(3): <module>" {
			t.Errorf("launch %d: %q", launch, got)
		}
		if st.Modules(n) != want.modules || st.Frame(n) != want.from {
			t.Errorf("launch %d: modules %q, frame %q", launch, st.Modules(n), st.Frame(n))
		}
	}
}

// TestVector checks nesting on a real trace: every frame's callers enclose it.
func TestVector(t *testing.T) {
	const path = "../testdata/kineto/h100_bert_small.json.gz"
	tr, err := kineto.Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	l := link.New(tr)
	st, err := Read(path, tr, l)
	if err != nil {
		t.Fatal(err)
	}
	deep := 0
	for i := range tr.GPU {
		if la := l.Launch[i]; la >= 0 {
			if s := st.Stack(st.Node(la)); len(s) > 3 && slices.ContainsFunc(s, func(f string) bool { return f[:3] == "nn." }) {
				deep++
			}
		}
	}
	if deep*10 < 8*len(tr.GPU) {
		t.Errorf("%d of %d GPU events have a stack with a module", deep, len(tr.GPU))
	}
}
