package candidate

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/tracehandler/tracehandler/analyze/category"
	"github.com/tracehandler/tracehandler/analyze/chrometrace"
	"github.com/tracehandler/tracehandler/analyze/kineto"
	"github.com/tracehandler/tracehandler/analyze/link"
	"github.com/tracehandler/tracehandler/analyze/roofline"
)

func x(cat, name string, tid, ts, dur int, args string) string {
	return fmt.Sprintf(`{"ph":"X","cat":%q,"name":%q,"pid":1,"tid":%d,"ts":%d,"dur":%d,"args":{%s}}`, cat, name, tid, ts, dur, args)
}

func traced(events ...string) Source {
	t := kineto.Load(chrometrace.NewScanner(strings.NewReader("["+strings.Join(events, ",\n")+"]")), nil)
	return Source{Trace: t, Links: link.New(t)}
}

const bf16 = `"Input type":["c10::BFloat16","c10::BFloat16"]`

// call is an op with one launch and one kernel.
func call(id, ts int, op, args, kernel string, dur int) []string {
	return []string{
		x("cpu_op", op, 1, ts, 9, args),
		x("cuda_runtime", "hipLaunchKernel", 1, ts+1, 1, fmt.Sprintf(`"correlation":%d`, id)),
		x("kernel", kernel, 7, 1000+ts, dur, fmt.Sprintf(`"correlation":%d,"grid":[4,1,1],"block":[64,1,1]`, id)),
	}
}

func TestBuild(t *testing.T) {
	var ev []string
	big := `"Input Dims":[[1024,1024],[1024,1024]],` + bf16
	ev = append(ev, call(1, 0, "aten::mm", big, "Cijk_A", 300)...)
	ev = append(ev, call(2, 500, "aten::mm", big, "Cijk_A", 300)...)
	ev = append(ev, call(3, 1000, "aten::mm", `"Input Dims":[[8,8],[8,8]],`+bf16, "Cijk_B", 50)...)
	ev = append(ev, x("cuda_runtime", "hipGraphLaunch", 1, 2000, 1, `"correlation":9`), x("kernel", "Cijk_A", 7, 4000, 100, `"correlation":9`), x("kernel", "unknown", 7, 4200, 10, `"correlation":9`))
	ev = append(ev, x("gpu_memcpy", "Memcpy", 7, 5000, 999, ``))
	spec, _ := roofline.DeviceSpec("MI300X")
	set := Build([]Source{traced(ev...)}, Options{Spec: &spec})
	if len(set.Rows) != 4 || set.Total != 760_000 || set.WithOp != 650_000 || set.WithShape != 650_000 || set.InGraph != 110_000 {
		t.Fatalf("%d rows, %+v", len(set.Rows), set)
	}
	mm := set.Rows[0]
	if mm.Op != "aten::mm" || mm.Calls != 2 || mm.Time != 600_000 || mm.Provenance != "torch_trace" || mm.Category != category.GEMM || mm.Rewritable || mm.SkipReason != category.ReasonVendor {
		t.Errorf("%+v", mm)
	}
	// 2·1024³ operations at 708e12 a second take 3.0332 us.
	if !mm.HasEstimate || math.Abs(mm.Estimate.Nanoseconds-3033.2) > 0.1 || math.Abs(mm.Efficiency-100*3.0332/300) > 0.001 || mm.Estimate.Bound != roofline.ComputeBound {
		t.Errorf("%+v", mm)
	}
	replayed := set.Rows[1]
	if replayed.Name != "Cijk_A" || replayed.Launch != "hipGraphLaunch" || replayed.Provenance != "capture_backfill" || replayed.Ambiguous || replayed.Dims != "[[1024,1024],[1024,1024]]" {
		t.Errorf("%+v", replayed)
	}
	if last := set.Rows[3]; last.Name != "unknown" || last.Provenance != "unresolved" {
		t.Errorf("%+v", last)
	}
	ranks := map[int]bool{}
	for _, r := range set.Rows {
		ranks[r.Rank] = true
		for _, o := range set.Rows {
			if (r.Rank < o.Rank) != (r.Priority > o.Priority) && r.Priority != o.Priority {
				t.Errorf("priority %v has rank %d, %v rank %d", r.Priority, r.Rank, o.Priority, o.Rank)
			}
		}
	}
	if len(ranks) != 4 {
		t.Errorf("ranks %v", ranks)
	}
	// By name only.
	byName := Build([]Source{traced(ev...)}, Options{NoOps: true})
	if len(byName.Rows) != 4 || byName.Rows[0].Name != "Cijk_A" || byName.Rows[0].Op != "" || byName.WithOp != 0 {
		t.Errorf("%+v", byName.Rows)
	}
	// An unknown device has no efficiency, and the priority is the share.
	if r := Build([]Source{traced(ev...)}, Options{}).Rows[0]; r.HasEstimate || r.Priority != r.Percent || !r.HasWork {
		t.Errorf("%+v", r)
	}
}

// TestOwner gives the kernels of library calls to the op whose work is known.
func TestOwner(t *testing.T) {
	set := Build([]Source{traced(
		x("cpu_op", "aten::convolution", 1, 0, 100, `"Input Dims":[[1,3,8,8],[4,3,3,3],[],[],[],[],[],[],[]],"Input type":["float","float"],"Concrete Inputs":["","","","[1,1]","[0,0]","[1,1]","False","[0,0]","1"]`),
		x("cpu_op", "aten::miopen_convolution", 1, 10, 50, `"Input Dims":[[1,3,8,8]]`),
		x("cpu_op", "aten::add_", 1, 70, 20, `"Input Dims":[[1,4,6,6],[4]],"Input type":["float","float"]`),
		x("cuda_runtime", "hipLaunchKernel", 1, 20, 1, `"correlation":1`), x("kernel", "igemm_fwd", 7, 200, 30, `"correlation":1`),
		x("cuda_runtime", "hipLaunchKernel", 1, 75, 1, `"correlation":2`), x("kernel", "elementwise", 7, 300, 10, `"correlation":2`),
	)}, Options{})
	if len(set.Rows) != 1 || set.Rows[0].Name != "aten::convolution" || set.Rows[0].Calls != 1 || len(set.Rows[0].Kernels) != 2 || set.Rows[0].Category != category.Convolution {
		t.Errorf("%+v", set.Rows)
	}
}

func TestRanksSum(t *testing.T) {
	one := call(1, 0, "aten::mm", `"Input Dims":[[8,8],[8,8]],`+bf16, "k", 10)
	set := Build([]Source{traced(one...), traced(one...)}, Options{})
	if len(set.Rows) != 1 || set.Rows[0].Calls != 2 || set.Rows[0].Time != 20_000 {
		t.Errorf("%+v", set.Rows)
	}
}

func TestSource(t *testing.T) {
	row := func(kernelFile, kernel string) Row {
		ev := call(1, 0, "rms", fmt.Sprintf(`"kernel_file":%q`, kernelFile), kernel, 10)
		return Build([]Source{traced(ev...)}, Options{}).Rows[0]
	}
	for _, c := range []struct{ file, kernel, method string }{
		{"testdata/norm.py", "_rms_kernel_0d1d2", MethodDefinition},
		{"Not found", "triton_poi", MethodUnresolved},
		{"", "void ck::kernel<1>()", MethodNonPatchable},
		{"/opt/venv/lib/k.py(7): f", "triton_poi", MethodFile},
		{"/home/u/.cache/torchinductor_u/ab/x.py", "triton_poi", MethodFile},
	} {
		if r := row(c.file, c.kernel); r.Source.Method != c.method {
			t.Errorf("%q: %+v", c.file, r.Source)
		}
	}
	if r := row("testdata/norm.py", "_rms_kernel_0d1d2"); r.Source.Line != 6 {
		t.Errorf("%+v", r.Source)
	}
	if r := row("/opt/venv/lib/k.py(7): f", "triton_poi"); r.Source.Line != 7 || r.Source.File != "/opt/venv/lib/k.py" {
		t.Errorf("%+v", r.Source)
	}
}

func TestShapeText(t *testing.T) {
	for _, c := range [][3]string{
		{`[[8944,1024],[1024],[]]`, `["c10::BFloat16","long int","Scalar"]`, "(8944,1024) bf16<br>(1024,) int64"},
		{`[[[2,3],[4]]]`, `["TensorList"]`, "(10,) TensorList"},
		{``, ``, ``},
	} {
		if got := ShapeText(c[0], c[1]); got != c[2] {
			t.Errorf("%s: %q, want %q", c[0], got, c[2])
		}
	}
	for name, want := range map[string]bool{"Cijk_MT128x64x32": true, "nvjet_64x16": false, "gemm": false} {
		if tileName(name) != want {
			t.Error(name)
		}
	}
}
