package parse

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func parsedCase(t *testing.T, name string) (raw, parsed string) {
	t.Helper()
	in, err := filepath.Glob(filepath.Join("testdata/cases", name, "input/*"))
	if err != nil || len(in) != 1 {
		t.Fatal(in, err)
	}
	out := filepath.Join(t.TempDir(), "out")
	rep, err := Dir(context.Background(), in[0], out, &Options{NoSplit: true})
	if err != nil {
		t.Fatal(err)
	}
	return in[0], filepath.Join(out, rep.Ranks[0].Files[0].Path)
}

// TestKernels: a raw trace and its parsed form say the same.
func TestKernels(t *testing.T) {
	raw, parsed := parsedCase(t, "03_launch_autotune")
	for _, path := range []string{raw, parsed} {
		ks, problems, err := Kernels(path)
		if err != nil || len(problems) > 0 {
			t.Fatal(err, problems)
		}
		var got []string
		for _, k := range ks {
			got = append(got, fmt.Sprintf("%s %d %d %d", k.Name, len(k.Hashes), k.Compiled, k.Launches))
		}
		if want := []string{"fused_op_kernel 2 2 4", "matmul_kernel 3 3 27"}; !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", path, got, want)
		}
	}
}

func TestLaunches(t *testing.T) {
	_, parsed := parsedCase(t, "03_launch_autotune")
	for _, c := range []struct {
		filter string
		want   int
	}{
		{"", 27}, {"M=32", 13}, {"num_stages=1", 27}, {"num_stages=3", 0}, {"a.shape[0]=16, BLOCK_SIZE_M=32", 4}, {"a.shape=[16, 16]", 13},
		{"a.dtype=torch.float16", 27}, {"a.shape[7]=1", 0}, {"grid=[4]", 5}, {"nothing=1", 0},
	} {
		f, err := ParseArgFilters(c.filter)
		if err != nil {
			t.Fatal(err)
		}
		ls, _, err := Launches(parsed, "matmul_kernel", f)
		if err != nil {
			t.Fatal(err)
		}
		if len(ls) != c.want {
			t.Errorf("%q: %d launches, want %d", c.filter, len(ls), c.want)
		}
	}
	for _, bad := range []string{"x", "=3", "x=", "a[b]=3", "a[1=3"} {
		if _, err := ParseArgFilters(bad); err == nil {
			t.Errorf("%q is accepted", bad)
		}
	}
}

func TestCloseNames(t *testing.T) {
	got := CloseNames("matmul", []string{"add_kernel", "matmul_kernel", "mat_mul", "matmal"})
	if !slices.Equal(got, []string{"matmul_kernel", "mat_mul", "matmal"}) {
		t.Error(got)
	}
}

// TestValidate: our own output and the reference's example are valid; what is wrong is told with its line and place.
func TestValidate(t *testing.T) {
	raw, parsed := parsedCase(t, "03_launch_autotune")
	for _, path := range []string{raw, parsed} {
		v, err := Validate(path)
		if err != nil || v.Invalid > 0 || v.ByType["launch"] != 31 {
			t.Errorf("%s: %+v %v", path, v, err)
		}
	}
	bad := filepath.Join(t.TempDir(), "bad.ndjson")
	write(t, bad, strings.Join([]string{
		edgeCompile, `{"x":1}`, `{"event_type":"launch","grid":["x"]}`, `{"event_type":"new","grid":1}`, `nope`,
		`{"event_type":"launch_diff","hash":"x"}`, strings.Replace(edgeCompile, `"hash":"h1",`, ``, 1), ``,
	}, "\n"))
	v, err := Validate(bad)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, p := range v.Problems {
		got = append(got, fmt.Sprintf("%d: %s", p.Line, p.Msg))
	}
	want := []string{
		"2: event_type is missing or no string", "3: grid[0] is a string, want a number", "5: json: byte 0: expected a value",
		"6: total_launches is missing; launch_index_map is missing; diffs is missing; sames is missing",
		"7: payload.metadata.hash is missing",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if v.Records != 7 || v.Invalid != 5 || v.ByType["new"] != 1 {
		t.Errorf("%+v", v)
	}
}
