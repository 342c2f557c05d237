package parse

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"testing"
)

func TestCompareTensors(t *testing.T) {
	tensor := func(more string) string {
		return `{"type":"tensor","shape":[2,3],"dtype":"torch.float32"` + more + `}`
	}
	stats := func(min, max, mean, std string) string {
		return fmt.Sprintf(`,"min":%s,"max":%s,"mean":%s,"std":%s`, min, max, mean, std)
	}
	for _, c := range []struct{ name, a, b, want string }{
		{"same statistics", tensor(stats("0", "1", "0.5", "0.1")), tensor(stats("0", "1", "0.5", "0.1")), "close"},
		{"within the tolerance", tensor(stats("0", "1", "0.5", "0.1")), tensor(stats("0.000001", "1.0005", "0.5", "0.1")), "close"},
		{"beyond it", tensor(stats("0", "1", "0.5", "0.1")), tensor(stats("0", "1.1", "0.5", "0.1")), "divergent"},
		{"not finite on both sides", tensor(stats(`"-inf"`, `"inf"`, `"nan"`, `"nan"`)), tensor(stats(`"-inf"`, `"inf"`, `"nan"`, `"nan"`)), "close"},
		{"not finite on one", tensor(stats("0", "1", `"nan"`, "0.1")), tensor(stats("0", "1", "0.5", "0.1")), "divergent"},
		{"other infinity", tensor(stats("0", `"inf"`, "0", "0")), tensor(stats("0", `"-inf"`, "0", "0")), "divergent"},
		{"same saved values", tensor(`,"tensor_hash":"x"`), tensor(`,"tensor_hash":"x"`), "identical"},
		{"other saved values", tensor(`,"tensor_hash":"x"`), tensor(`,"tensor_hash":"y"`), "divergent"},
		{"other saved values, alike", tensor(`,"tensor_hash":"x"` + stats("0", "1", "0", "0")), tensor(`,"tensor_hash":"y"` + stats("0", "1", "0", "0")), "close"},
		{"nothing recorded", tensor(""), tensor(""), "unknown"},
		{"half recorded", tensor(stats("0", "1", "0.5", "0.1")), tensor(`,"min":0`), "unknown"},
		{"shape", tensor(""), `{"type":"tensor","shape":[3,2],"dtype":"torch.float32"}`, "shape"},
		{"type", tensor(""), `{"type":"tensor","shape":[2,3],"dtype":"torch.float16"}`, "dtype"},
		{"missing", tensor(""), `{"type":"int","value":1}`, "missing"},
		{"descriptor", `{"type":"TensorDescriptor","base":` + tensor(`,"tensor_hash":"x"`) + `}`, tensor(`,"tensor_hash":"x"`), "identical"},
	} {
		path := filepath.Join(t.TempDir(), "t.ndjson")
		line := func(hash, arg string) string {
			return fmt.Sprintf(`{"event_type":"launch","compilation_metadata":{"hash":%q},"extracted_args":{"x":%s,"n":{"type":"int","value":1}}}`+"\n", hash, arg)
		}
		compile := func(hash string) string {
			return fmt.Sprintf(`{"event_type":"compilation","payload":{"metadata":{"hash":%q,"name":"k"}}}`+"\n", hash)
		}
		// The first launch counts, also one before its compilation.
		write(t, path, line("a", c.a)+compile("a")+compile("b")+line("b", c.b)+line("a", tensor(`,"tensor_hash":"z"`)))
		cs, problems, err := Compilations(path)
		if err != nil || len(problems) > 0 || len(cs) != 2 {
			t.Fatal(err, problems, cs)
		}
		d := Compare(&cs[0], &cs[1])
		delete(d.Metadata, "hash")
		if !d.Same() {
			t.Fatalf("%s: %+v", c.name, d)
		}
		d.CompareTensors(&cs[0], &cs[1], DefaultTolerance)
		got := d.Tensors["x"]
		if len(d.Tensors) != 1 || got.Status != c.want || d.Same() != (c.want == "close" || c.want == "identical" || c.want == "unknown") {
			t.Errorf("%s: %+v, same %v; want %s", c.name, d.Tensors, d.Same(), c.want)
		}
		if _, err := json.Marshal(d); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}
