package parse

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestCompare(t *testing.T) {
	_, parsed := parsedCase(t, "03_launch_autotune")
	cs, problems, err := Compilations(parsed)
	if err != nil || len(problems) > 0 || len(cs) != 5 {
		t.Fatal(err, problems, len(cs))
	}
	if !Compare(&cs[0], &cs[0]).Same() {
		t.Error("a compilation differs from itself")
	}
	d := Compare(&cs[0], &cs[1]) // the same kernel, other block size
	if d.Same() || !d.Source.Equal || d.Metadata["hash"][0] == nil || d.Stages["ttir"].Lines[0] == 0 || len(d.Lines) == 0 {
		t.Errorf("%+v", d)
	}
	if ops := d.Stages["llir"].Ops; len(ops) == 0 {
		t.Errorf("no operation of LLIR differs: %v", d.Stages["llir"])
	}
	pairs, onlyA, onlyB := Pair(cs[:3], cs[1:])
	if len(pairs) != 2 || pairs[0].Match != "hash" || !slices.Equal(onlyA, []int{0}) || !slices.Equal(onlyB, []int{2, 3}) {
		t.Errorf("%d pairs, only %v, %v", len(pairs), onlyA, onlyB)
	}
	other := cs[1]
	other.Hash = "x"
	if pairs, _, _ := Pair(cs[:3], []Compiled{other}); len(pairs) != 1 || pairs[0].Match != "name and configuration" {
		t.Errorf("%+v", pairs)
	}
}

func TestCompareSources(t *testing.T) {
	d := compareSources("a\nb\nc\nd", "a\nx\nc\nd")
	if d.Equal || d.Similarity != 0.75 || !slices.Equal(d.Removed, []string{"b"}) || !slices.Equal(d.Added, []string{"x"}) {
		t.Errorf("%+v", d)
	}
	if d := compareSources("a\n", ""); d.Equal {
		t.Errorf("%+v", d)
	}
}

func TestCountOps(t *testing.T) {
	got := countOps("  %0 = tt.load %x : i32\n  %1, %2 = tt.split %0\n  scf.for %i = %0 {\n\tld.param.u64 \t%rd1;\n  tt.load\n")
	if got["tt.load"] != 2 || got["tt.split"] != 1 || got["scf.for"] != 1 || got["ld.param.u64"] != 1 {
		t.Error(got)
	}
}

func TestCompilationsSkipsFakes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.ndjson")
	write(t, path, strings.Replace(edgeCompile, `"pid"`, `"is_fake":true,"pid"`, 1)+"\n"+edgeCompile+"\n")
	cs, _, err := Compilations(path)
	if err != nil || len(cs) != 1 || cs[0].Line != 2 {
		t.Error(err, cs)
	}
}
