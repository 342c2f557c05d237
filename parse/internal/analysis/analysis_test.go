package analysis

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

func TestFileCheck(t *testing.T) {
	for _, c := range []struct {
		check, text string
		want        bool
	}{
		{"CHECK: a\nCHECK: b", "x a y b", true},
		{"CHECK: a\nCHECK: b", "b a", false},
		{"CHECK: a b", "a  \t b", true},
		{"CHECK-NOT: x\nCHECK: a", "a x", true},
		{"CHECK-NOT: x\nCHECK: a", "x a", false},
		{"CHECK: a\nCHECK-NOT: x", "a b", true},
		{"CHECK: a\nCHECK-NOT: x", "a x", false},
		{"CHECK: a\nCHECK-NEXT: b", "a\nb", true},
		{"CHECK: a\nCHECK-NEXT: b", "a\n\nb", false},
		{"CHECK: a\nCHECK-SAME: b", "a b", true},
		{"CHECK: a\nCHECK-SAME: b", "a\nb", false},
		{"CHECK: %{{[0-9]+}} = add", "%12 = add", true},
		{"CHECK: a.b", "axb", false},
	} {
		f, err := compileCheck(c.check)
		if err != nil {
			t.Fatal(err)
		}
		s := foldSpace([]byte(c.text))
		_, got := f.run(s)
		if got != c.want {
			t.Errorf("%q on %q: %v", c.check, c.text, got)
		}
		if got && !f.possible([]byte(c.text)) {
			t.Errorf("%q on %q: passes, but is called impossible", c.check, c.text)
		}
	}
	for _, bad := range []string{"", "CHECK-LABEL: x", "CHECK: [[V:x]]", "CHECK: {{(}}", "CHECK: {{x", "CHECK-NEXT: x", "CHECK:"} {
		if _, err := compileCheck(bad); err == nil {
			t.Errorf("%q is accepted", bad)
		}
	}
}

// TestBuiltinDetects: code made of what a built-in check asks for is detected, and its attributes are read.
func TestBuiltinDetects(t *testing.T) {
	ps := BuiltinProcedures()
	small := `module attributes {"ttg.num-warps" = 4 : i32} {
ttg.local_load a
rocdl.s.setprio 1
tt.load b
rocdl.sched.barrier
ttg.local_load c
rocdl.s.setprio 0
tt.load d
rocdl.sched.barrier
rocdl.s.setprio 1
%5 = tt.dot %4, %4, %2 : tensor<256x64xf16> * tensor<64x256xf16> -> tensor<256x256xf32>
rocdl.s.setprio 0
`
	type result struct {
		Detected bool           `json:"detected"`
		Error    *string        `json:"error_message"`
		Module   *string        `json:"module_attributes"`
		Attrs    map[string]any `json:"attributes"`
		Method   string         `json:"detection_method"`
		Details  []string       `json:"match_details"`
	}
	read := func(b []byte) (r map[string]result) {
		t.Helper()
		if err := json.Unmarshal(b, &r); err != nil {
			t.Fatalf("%s: %v", b, err)
		}
		return r
	}
	r := read(ps.AppendJSON(nil, []byte(small), []byte(small), false))
	s := r["BlockPingpong_Small"]
	if !s.Detected || s.Error != nil || *s.Module != `"ttg.num-warps" = 4 : i32` || s.Method != "native" || s.Details[0] != "line 2" {
		t.Errorf("%+v", s)
	}
	want := map[string]any{"num_warps": 4.0, "num_pp_clusters": 1.0, "dot_count": 1.0, "tile_m": 256.0, "tile_k": 64.0, "tile_size_bits": 67108864.0, "input_dtype": "f16"}
	for k, v := range want {
		if s.Attrs[k] != v {
			t.Errorf("%s is %v, want %v", k, s.Attrs[k], v)
		}
	}
	if r["BlockPingpong_Large"].Detected || r["BlockPingpong_Medium"].Detected {
		t.Error("the larger patterns are detected in the small one")
	}
	if c := read(ps.AppendJSON(nil, []byte(small), nil, true))["BlockPingpong_Small"]; c.Detected || c.Error == nil {
		t.Errorf("compat: %+v", c)
	}
	with := strings.Replace(small, "ttg.local_load a", "amdgpu.cond_barrier\nttg.local_load a", 1)
	if read(ps.AppendJSON(nil, []byte(with), nil, false))["BlockPingpong_Small"].Detected {
		t.Error("detected in spite of CHECK-NOT")
	}
}

func TestStatic(t *testing.T) {
	load := "%1 = tt.load %p : tensor<64x32x!tt.ptr<f16>> loc(#loc1)\n"
	for _, c := range []struct {
		text string
		want string
	}{
		{"", "{false 0 true 0 0 0 false []}"},
		{load + strings.Replace(load, "tt.load", "tt.store", 1), "{false 8192 true 4096 4096 0 false []}"},
		{"%1 = tt.load %p : i32\n", "{false 0 false 0 0 0 false [could not read the type of: %1 = tt.load %p : i32]}"},
		{"%1 = tt.load %p : tensor<99999999x99999999x99999999x!tt.ptr<f64>>\n", "{false 0 false 0 0 0 false [could not read the type of: %1 = tt.load %p : tensor<99999999x99999999x99999999x!tt.ptr<f64>>]}"},
	} {
		if got := fmt.Sprint(ReadStatic([]byte(c.text))); got != c.want {
			t.Errorf("%q: %s, want %s", c.text, got, c.want)
		}
	}
	many := ReadStatic([]byte(strings.Repeat("tt.load x\n", 50)))
	if len(many.Notes) != maxNotes+1 || many.Notes[maxNotes] != "... (truncated)" {
		t.Errorf("%d notes", len(many.Notes))
	}
}

func TestFirstDot(t *testing.T) {
	for text, want := range map[string]string{
		"%5 = tt.dot %4, %4, %2 : tensor<32x16xf16, #a> * tensor<16x64xf16, #b> -> tensor<32x64xf32>": "{32 64 16 f16 f32} true",
		"tt.dot : i32\ntt.dot %4 :\ttensor<1x2xbf16>*tensor<2x3xbf16> ->tensor<1x3xf8E4M3FN>":         "{1 3 2 bf16 f8E4M3FN} true",
		"tt.dot : tensor<1xf16> * tensor<2x3xf16> -> tensor<1x3xf16>":                                 "{0 0 0  } false",
		"tt.dot : tensor<1x2xf16> - tensor<2x3xf16> -> tensor<1x3xf16>":                               "{0 0 0  } false",
		"tt.dot": "{0 0 0  } false", "": "{0 0 0  } false", "tt.dot : tensor<": "{0 0 0  } false",
	} {
		d, ok := FirstDot([]byte(text))
		if got := fmt.Sprint(d, ok); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}
