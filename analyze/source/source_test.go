package source

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

type vectors struct {
	Editable []struct {
		Path   string
		Kind   *string
		Expect bool
	} `json:"is_editable_source"`
	Forms []struct {
		Text   string
		Expect [3]any
	} `json:"launcher_form"`
	Triton struct {
		Sources map[string]string
		Cases   []struct {
			File, Func, Symbol string
			Expect             *int
		}
	} `json:"triton_def_line"`
	Cores []struct{ Symbol, Expect string } `json:"normalize_symbol"`
	Bases struct {
		Cases []struct{ Name, Expect string }
	} `json:"base_symbol"`
	NonPatchable []struct{ Name, Expect string } `json:"non_patchable_kind"`
	Globals      struct {
		Source string
		Expect [][2]any
	} `json:"global_defs"`
	Match []struct {
		Event  string
		Wanted []string
		Expect *string
	} `json:"match_kernel"`
}

func load(t *testing.T) (v vectors) {
	t.Helper()
	text, err := os.ReadFile("../category/testdata/rules.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

func TestIsEditable(t *testing.T) {
	for _, c := range load(t).Editable {
		kind := ""
		if c.Kind != nil {
			kind = *c.Kind
		}
		if got := IsEditable(c.Path, kind); got != c.Expect {
			t.Errorf("%q %q: %v", c.Path, kind, got)
		}
	}
	for _, s := range []string{"Not found", "AITER (vendor)", "unresolved", " ", "N/A"} {
		if IsPath(s) {
			t.Errorf("%q is a path", s)
		}
	}
}

func TestParseLocation(t *testing.T) {
	for _, c := range load(t).Forms {
		line := 0.0
		if c.Expect[1] != nil {
			line = c.Expect[1].(float64)
		}
		want := Location{c.Expect[0].(string), int(line), c.Expect[2].(string)}
		if got := ParseLocation(c.Text); got != want {
			t.Errorf("%q: %+v, want %+v", c.Text, got, want)
		}
	}
}

func TestTritonDefLine(t *testing.T) {
	v := load(t).Triton
	dir := t.TempDir()
	for name, text := range v.Sources {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range v.Cases {
		want := 0
		if c.Expect != nil {
			want = *c.Expect
		}
		got, _ := TritonDefLine(filepath.Join(dir, c.File), c.Func, c.Symbol, false)
		if got != want {
			t.Errorf("%s func %q symbol %q: line %d, want %d", c.File, c.Func, c.Symbol, got, want)
		}
		// Strict differs where nothing but the single definition speaks for a line.
		if strict, _ := TritonDefLine(filepath.Join(dir, c.File), c.Func, c.Symbol, true); strict != got && (strict != 0 || c.Func == "launch") {
			t.Errorf("strict %s %q: %d", c.File, c.Symbol, strict)
		}
	}
	for _, c := range [][2]string{{"one.py", "unrelated_symbol"}, {"latin.py", "zzz"}} {
		if line, ok := TritonDefLine(filepath.Join(dir, c[0]), "", c[1], true); ok {
			t.Errorf("strict %v: line %d", c, line)
		}
	}
}

func TestSymbols(t *testing.T) {
	v := load(t)
	for _, c := range v.Cores {
		if got := SymbolCore(c.Symbol); got != c.Expect {
			t.Errorf("core of %q: %q, want %q", c.Symbol, got, c.Expect)
		}
	}
	for _, c := range v.Bases.Cases {
		if got := BaseSymbol(c.Name); got != c.Expect && c.Expect != "" && c.Expect != "void" { // they stumble over (anonymous namespace)
			t.Errorf("base of %.120q: %q, want %q", c.Name, got, c.Expect)
		}
	}
	for _, c := range v.NonPatchable {
		if got := NonPatchable(c.Name); got != c.Expect {
			t.Errorf("%q: %q, want %q", c.Name, got, c.Expect)
		}
	}
	for _, c := range v.Match {
		got, ok := MatchKernel(c.Event, c.Wanted)
		if ok != (c.Expect != nil) || ok && got != *c.Expect {
			t.Errorf("%q among %q: %q %v", c.Event, c.Wanted, got, ok)
		}
	}
}

func TestGlobalDefs(t *testing.T) {
	v := load(t).Globals
	var want []Global
	for _, e := range v.Expect {
		if e[0] != "commented_out" { // in a comment
			want = append(want, Global{e[0].(string), int(e[1].(float64))})
		}
	}
	if got := GlobalDefs(v.Source); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestIndex(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"csrc/norm.cu":            "/* __global__ void no() {} */\ntemplate <class T>\n__global__ void rms_norm_kernel(T* x) {\n}\n",
		"csrc/gfx942/norm.cu":     "__global__ void rms_norm_kernel(float* x) {}\n",
		"ops/k.py":                "import triton\n\n@triton.jit\ndef _add_kernel(x):\n    pass\n",
		"tests/t.cu":              "__global__ void rms_norm_kernel(int) {}\n",
		"csrc/huge/not_source.md": "__global__ void other() {}\n",
	} {
		p := filepath.Join(dir, name)
		os.MkdirAll(filepath.Dir(p), 0o700)
		if err := os.WriteFile(p, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	x, err := BuildIndex(context.Background(), []Root{{Dir: dir, Framework: "vllm"}})
	if err != nil {
		t.Fatal(err)
	}
	device := "void vllm::rms_norm_kernel<c10::BFloat16>(c10::BFloat16*)"
	defs := x.Lookup(device, "vllm", "")
	if len(defs) != 2 || filepath.Base(filepath.Dir(defs[0].File)) != "csrc" || defs[0].Line != 3 {
		t.Errorf("%+v", defs)
	}
	if defs := x.Lookup(device, "", "gfx942"); filepath.Base(filepath.Dir(defs[0].File)) != "gfx942" {
		t.Errorf("%+v", defs)
	}
	if defs := x.Lookup("_add_kernel_0d1d2", "", ""); len(defs) != 1 || defs[0].Line != 4 || !defs[0].Triton {
		t.Errorf("%+v", defs)
	}
	if defs := x.Lookup("void ck::rms_norm_kernel<1>()", "", ""); defs != nil {
		t.Errorf("%+v", defs)
	}
	if _, err := BuildIndex(context.Background(), []Root{{Dir: filepath.Join(dir, "none")}}); err == nil {
		t.Error("a missing root is no error")
	}
}

func TestCachedIndex(t *testing.T) {
	dir, cache := t.TempDir(), filepath.Join(t.TempDir(), "symbols")
	file := filepath.Join(dir, "a.cu")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	open := func(dir string) *Index {
		t.Helper()
		x, err := CachedIndex(context.Background(), []Root{{Dir: dir}}, cache)
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	stored := func() int {
		entries, err := os.ReadDir(cache)
		if err != nil {
			t.Fatal(err)
		}
		return len(entries)
	}
	write("__global__ void one() {}\n")
	for range 2 {
		if x := open(dir); len(x.Lookup("one", "", "")) != 1 || x.Files != 1 || stored() != 1 {
			t.Errorf("%+v, %d stored", x, stored())
		}
	}
	write("__global__ void another() {}\n")
	if x := open(dir); len(x.Lookup("another", "", "")) != 1 || len(x.Lookup("one", "", "")) != 0 || stored() != 2 {
		t.Errorf("after a change: %+v, %d stored", x, stored())
	}
	// A damaged cache is built anew.
	entries, _ := os.ReadDir(cache)
	for _, e := range entries {
		if err := os.WriteFile(filepath.Join(cache, e.Name()), []byte("{"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if x := open(dir); len(x.Lookup("another", "", "")) != 1 {
		t.Errorf("%+v", x)
	}
}
