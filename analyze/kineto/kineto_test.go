package kineto

import (
	"strings"
	"testing"

	"github.com/tracehandler/tracehandler/analyze/chrometrace"
)

func load(text string) *Trace { return Load(chrometrace.NewScanner(strings.NewReader(text)), nil) }

func TestLoad(t *testing.T) {
	tr := load(`{"schemaVersion": 1, "baseTimeNanoseconds": 17, "with_stack": 1, "record_shapes": true, "trace_id": "T",
	"distributedInfo": {"backend": "nccl", "rank": 3, "world_size": 8},
	"deviceProperties": [{"id": 0, "name": "A"}, {"id": 1, "name": ""}, "odd", {"id": 2, "name": "A", "numSms": 9}],
	"traceEvents": [
	{"ph":"X","cat":"cpu_op","name":"aten::mm","pid":1,"tid":2,"ts":1.001,"dur":2,"args":{"External id":7,"Input Dims":[[2, 3], [3,4]],"Input type":["float", "long int"],"Sequence number":5,"Fwd thread id":1,"kernel_file":"a.py"}},
	{"ph":"X","cat":"cpu_op","name":"aten::mm","pid":1,"tid":2,"ts":9,"dur":2,"args":{"External id":8,"Input Dims":[[2,3],[3,4]],"Input type":["float","long int"]}},
	{"ph":"X","cat":"cuda_runtime","name":"hipLaunchKernel","pid":1,"tid":2,"ts":2,"dur":1,"args":{"correlation":9,"External id":"7","kernel":"k"}},
	{"ph":"X","cat":"cuda_driver","name":"cuLaunchKernel","pid":1,"tid":"two","ts":2,"dur":1,"args":{}},
	{"ph":"X","cat":"Kernel","name":"old \u00e9","pid":0,"tid":7,"ts":5,"dur":1.5,"args":{"device":2,"stream":3,"correlation":9,"grid":[1, 2, 3]}},
	{"ph":"X","cat":"gpu_memcpy","name":"Memcpy","pid":0,"tid":7,"ts":7,"dur":1,"args":{"bytes":"64","memory bandwidth (GB/s)":Infinity}},
	{"ph":"X","cat":"kernel","name":"nccl","pid":0,"tid":7,"ts":8,"dur":18446744073709551615,"args":{"correlation":10,"Collective name":"allreduce","dtype":"Float","In msg nelems":4,"Out msg nelems":4,"Group size":2,"Process Group Name":"0"}},
	{"ph":"s","id":9,"pid":1,"tid":2,"ts":2,"cat":"ac2g","name":"ac2g"},
	{"ph":"f","id":9,"pid":0,"tid":7,"ts":5,"cat":"ac2g","name":"ac2g","bp":"e"},
	{"ph":"f","id":9,"pid":0,"tid":7,"ts":5,"cat":"ac2g","name":"ac2g","bp":"e"},
	{"ph":"f","id":10,"pid":0,"tid":7,"ts":5,"cat":"ac2g","name":"ac2g","bp":"e"},
	{"ph":"X","cat":"python_function","name":"f","pid":1,"tid":2,"ts":0,"dur":1,"args":{"Python id":1}},
	{"ph":"M","name":"process_name","pid":"x","tid":0,"args":{"name":"y"}}]}`)
	m := &tr.Meta
	if rank, ok := m.Rank(); !ok || rank != 3 || m.Distributed.WorldSize != 8 || m.BaseTime != 17 || !m.WithStack || !m.RecordShapes || m.TraceID != "T" {
		t.Errorf("%+v", m)
	}
	if names := m.DeviceNames(); len(names) != 1 || names[0] != "A" || len(m.Devices) != 3 {
		t.Errorf("devices %v", m.Devices)
	}
	op := tr.Ops[0]
	if op.TS != 1001 || op.Dur != 2000 || op.ExternalID != 7 || op.Sequence != 5 || op.FwdThread != 1 || tr.String(tr.Extras[op.Extra].KernelFile) != "a.py" {
		t.Errorf("%+v", op)
	}
	if tr.Ops[1].Shape != op.Shape || tr.String(tr.Shapes[op.Shape].Dims) != "[[2,3],[3,4]]" || tr.String(tr.Shapes[op.Shape].Types) != `["float","long int"]` {
		t.Errorf("shapes %+v", tr.Shapes)
	}
	if la := tr.Launches[0]; la.Correlation != 9 || la.ExternalID != 7 || tr.String(la.Kernel) != "k" || la.Driver || la.Thread != op.Thread {
		t.Errorf("%+v", la)
	}
	if la := tr.Launches[1]; la.HasCorr || !la.Driver || tr.Threads[la.Thread].TID != "two" {
		t.Errorf("%+v", la)
	}
	if g := tr.GPU[0]; tr.String(g.Name) != "old é" || g.Device != 2 || g.Stream != 3 || g.Dur != 1500 || tr.String(g.Grid) != "[1,2,3]" || g.End() != 6500 {
		t.Errorf("%+v", g)
	}
	if g := tr.GPU[1]; g.Kind != Memcpy || g.Bytes != 64 || g.Device != 0 || g.Stream != 7 || g.Linked {
		t.Errorf("%+v", g)
	}
	if g := tr.GPU[2]; !g.Impossible || g.Dur != 0 || tr.String(tr.Comms[g.Comm].Collective) != "allreduce" || tr.Comms[g.Comm].In != 4 {
		t.Errorf("%+v %+v", g, tr.Comms)
	}
	if f := tr.Flows; f != (Flows{AC2GStarts: 1, AC2GEnds: 3, AC2GBoth: 1, AC2GOrphanEnds: 1}) {
		t.Errorf("%+v", f)
	}
	var n int64
	for _, c := range tr.Counts {
		n += c.N
	}
	if n != tr.Events || tr.Events != 13 || tr.Degraded || tr.NErrors != 1 {
		t.Errorf("%d of %d events counted, errors %v", n, tr.Events, tr.Errors)
	}
}

// TestOddMeta has numbers as strings, members of unexpected types, two kinds of devices of which one is used, and work at no time.
func TestOddMeta(t *testing.T) {
	tr := load(`{"distributedInfo": {"backend": 7, "rank": "3", "world_size": "8", "nccl_version": [2, 21]},
	"deviceProperties": [{"id": 0, "name": "AMD Radeon Graphics"}, {"id": "1", "name": "AMD Instinct MI300X", "totalGlobalMem": 1e400, "warpSize": "64"}],
	"traceEvents": [
	{"ph":"X","cat":"kernel","name":"a","pid":1,"tid":7,"ts":5,"dur":1,"args":{"device":1}},
	{"ph":"X","cat":"kernel","name":"b","pid":1,"tid":7,"dur":1,"args":{"device":1}},
	{"ph":"X","cat":"kernel","name":"c","pid":1,"tid":7,"ts":NaN,"dur":1,"args":{"device":1}},
	{"ph":"X","cat":"cpu_op","name":"d","pid":1,"tid":7,"ts":"soon","dur":1}]}`)
	if d := tr.Meta.Distributed; d == nil || d.Rank != 3 || d.WorldSize != 8 || d.Backend != "" {
		t.Errorf("%+v", d)
	}
	if names := tr.Meta.DeviceNames(); len(names) != 2 || tr.Meta.Devices[1].WarpSize != 64 {
		t.Errorf("%+v", tr.Meta.Devices)
	}
	if names := tr.UsedDevices(); len(names) != 1 || names[0] != "AMD Instinct MI300X" {
		t.Errorf("used devices: %v", names)
	}
	if len(tr.GPU) != 1 || len(tr.Ops) != 0 || tr.NErrors != 3 || tr.Degraded || tr.Events != 4 {
		t.Errorf("%d GPU events, %d ops, errors %v", len(tr.GPU), len(tr.Ops), tr.Errors)
	}
	for _, text := range []string{`{"distributedInfo": {"backend": "nccl"}, "traceEvents": []}`, `{"distributedInfo": {"rank": -1}, "traceEvents": []}`, `{"distributedInfo": [], "traceEvents": []}`} {
		if rank, ok := load(text).Meta.Rank(); ok {
			t.Errorf("%s: rank %d", text, rank)
		}
	}
}

// TestRawForms keeps apart what reads the same and means different strings.
func TestRawForms(t *testing.T) {
	tr := load(`[{"ph":"X","cat":"cpu_op","name":"a\\nb","ts":1},{"ph":"X","cat":"cpu_op","name":"a\nb","ts":2},{"ph":"X","cat":"cpu_op","name":"a\\nb","ts":3},{"ph":"X","cat":"cpu_op","name":"\u0061\\nb","ts":3}]`)
	if a, b := tr.String(tr.Ops[0].Name), tr.String(tr.Ops[1].Name); a != `a\nb` || b != "a\nb" {
		t.Errorf("%q, %q", a, b)
	}
	if tr.Ops[0].Name != tr.Ops[2].Name || tr.Ops[0].Name != tr.Ops[3].Name {
		t.Error("equal names are interned twice")
	}
	if id, ok := tr.Find(`a\nb`); !ok || id != tr.Ops[0].Name {
		t.Error("Find")
	}
}

func TestProgress(t *testing.T) {
	calls := 0
	Load(chrometrace.NewScanner(strings.NewReader(`[{"ph":"X"},{"ph":"X"}]`)), &Options{Progress: func(int64) { calls++ }})
	if calls == 0 {
		t.Error("no progress")
	}
	if tr := Load(chrometrace.NewScanner(strings.NewReader(`[{"ph":"X"},{"ph":"X"}]`)), &Options{Stop: func() bool { return true }}); tr.Events != 1 {
		t.Errorf("%d events after a stop", tr.Events)
	}
}

func FuzzLoad(f *testing.F) {
	f.Add([]byte(`[{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":1,"ts":-9e99,"dur":1,"args":{"correlation":1,"device":99999999999}}]`))
	f.Fuzz(func(t *testing.T, data []byte) {
		tr := Load(chrometrace.NewScanner(strings.NewReader(string(data))), nil)
		for i := range tr.GPU {
			if g := &tr.GPU[i]; g.Dur < 0 || g.TS > 0 && g.End() < g.TS {
				t.Errorf("%+v", g)
			}
		}
	})
}
