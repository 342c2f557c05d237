package candidate

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/tracehandler/tracehandler/analyze/source"
)

// write makes a file below a directory and returns its path.
func write(t *testing.T, dir, name, text string) string {
	t.Helper()
	path := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

const kernelPy = "import triton\n\n@triton.jit\ndef _fwd_kernel(x):\n    pass\n"

func TestFindByFrame(t *testing.T) {
	dir := t.TempDir()
	a := write(t, dir, "a/attention.py", kernelPy)
	b := write(t, dir, "longer/b/attention.py", "\n"+kernelPy)
	native := write(t, dir, "c/norm.cu", "__global__ void norm_kernel(float* x) {\n}\n")
	index, err := source.BuildIndex(context.Background(), []source.Root{{Dir: dir}})
	if err != nil {
		t.Fatal(err)
	}
	finder := IndexFinder{Index: index}
	for _, c := range []struct {
		name, device, frame string
		finder              SourceFinder
		want                Location
	}{
		{"the shortest path", "_fwd_kernel", "", finder, Location{a, 4, MethodIndex, "triton"}},
		{"the one that launched it", "_fwd_kernel", "b/attention.py(12): forward", finder, Location{b, 5, MethodIndex, "triton"}},
		{"not a part of a name", "_fwd_kernel", "ttention.py(12): forward", finder, Location{a, 4, MethodIndex, "triton"}},
		{"a native kernel is not python's", "norm_kernel(float*)", a + "(3): forward", finder, Location{native, 1, MethodIndex, "native"}},
		{"the frame alone", "_fwd_kernel", "testdata/attention.py(12): forward", nil, Location{"testdata/attention.py", 4, MethodDefinition, "triton"}},
		{"a file that defines another", "_decode_kernel", "testdata/attention.py(12): forward", nil, Location{Method: MethodUnresolved}},
		{"a file that is not there", "_fwd_kernel", filepath.Join(dir, "nowhere.py") + "(1): f", nil, Location{Method: MethodUnresolved}},
		{"no frame", "_fwd_kernel", "", nil, Location{Method: MethodUnresolved}},
	} {
		if got := find(c.device, "", c.frame, c.finder); got != c.want {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
	}
}
