package tracegen_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/tracehandler/tracehandler/analyze/chrometrace"
	"github.com/tracehandler/tracehandler/analyze/internal/tracegen"
	"github.com/tracehandler/tracehandler/analyze/kineto"
	"github.com/tracehandler/tracehandler/analyze/link"
)

func TestRepeat(t *testing.T) {
	var b bytes.Buffer
	const path = "../../testdata/kineto/torch_compile_triton.json.gz"
	if err := tracegen.Repeat(&b, path, 3); err != nil {
		t.Fatal(err)
	}
	if !json.Valid(b.Bytes()) {
		t.Fatal("not JSON")
	}
	one, err := kineto.Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	three := kineto.Load(chrometrace.NewScanner(&b), nil)
	if three.Events != 3*one.Events || len(three.GPU) != 3*len(one.GPU) {
		t.Errorf("%d events, %d on the GPU", three.Events, len(three.GPU))
	}
	l := link.New(three)
	for i := range three.GPU {
		if la := l.Launch[i]; la >= 0 && three.GPU[i].TS-three.Launches[la].TS > 1e9 {
			t.Errorf("event %d is linked into another copy", i)
		}
	}
}

func TestSynthetic(t *testing.T) {
	var b bytes.Buffer
	if err := tracegen.Synthetic(&b, tracegen.Options{Steps: 3}); err != nil {
		t.Fatal(err)
	}
	if !json.Valid(b.Bytes()) {
		t.Fatal("not JSON")
	}
	tr := kineto.Load(chrometrace.NewScanner(&b), nil)
	l := link.New(tr)
	for i := range tr.GPU {
		if l.Op[i] < 0 {
			t.Fatalf("kernel %d has no op", i)
		}
	}
	if len(tr.GPU) != 120 || len(tr.Notes) != 3 {
		t.Errorf("%d kernels, %d steps", len(tr.GPU), len(tr.Notes))
	}
}
