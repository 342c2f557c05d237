package parse_test

import (
	"bytes"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/tracehandler/tracehandler/naming"
	"github.com/tracehandler/tracehandler/parse"
)

// twoRuns writes two traces of the same kernel, compiled and launched once each, and returns their names.
func twoRuns() (before, after string, remove func()) {
	const record = `{"event_type":"compilation","payload":{"metadata":{"hash":"%s","name":"add","num_warps":%d},"python_source":{"file_path":"/u/add.py","start_line":1,"code":"def add(x): pass"}}}
{"event_type":"launch","name":"add","grid":[64],"compilation_metadata":{"hash":"%s","name":"add","num_warps":%d},"extracted_args":{"x":{"type":"tensor","shape":[8],"dtype":"torch.float32","min":0,"max":%d,"mean":0.5,"std":0.1}}}
`
	dir, err := os.MkdirTemp("", "example-")
	if err != nil {
		log.Fatal(err)
	}
	before, after = filepath.Join(dir, "before.ndjson"), filepath.Join(dir, "after.ndjson")
	for i, name := range []string{before, after} {
		hash, warps := fmt.Sprintf("%d0f3a", i), 4<<i
		if err := os.WriteFile(name, fmt.Appendf(nil, record, hash, warps, hash, warps, 1+i), 0o600); err != nil {
			log.Fatal(err)
		}
	}
	return before, after, func() { os.RemoveAll(dir) }
}

// What differs between two runs: of their compilations, and of the tensors that the kernels were given.
func ExamplePair() {
	before, after, remove := twoRuns()
	defer remove()
	as, _, err := parse.Compilations(before)
	if err != nil {
		log.Fatal(err)
	}
	bs, _, err := parse.Compilations(after)
	if err != nil {
		log.Fatal(err)
	}
	pairs, onlyA, onlyB := parse.Pair(as, bs)
	fmt.Println(len(pairs), onlyA, onlyB)
	d := pairs[0]
	d.CompareTensors(&as[d.A.Index], &bs[d.B.Index], parse.DefaultTolerance)
	fmt.Printf("%s %v %s\n", d.Match, d.Same(), d.Metadata["num_warps"])
	x := d.Tensors["x"]
	fmt.Println(x.Differs(), x.Status, x.Stats)
	// Output:
	// 1 [] []
	// name false [4 8]
	// true divergent map[max:[1 2]]
}

// Which launches there were of a kernel, with what arguments.
func ExampleLaunches() {
	before, _, remove := twoRuns()
	defer remove()
	filters, err := parse.ParseArgFilters("x.shape[0]=8, num_warps=4")
	if err != nil {
		log.Fatal(err)
	}
	launches, _, err := parse.Launches(before, "add", filters)
	if err != nil {
		log.Fatal(err)
	}
	for _, l := range launches {
		fmt.Println(l.ID, l.Line, l.Grid)
	}
	kernels, _, err := parse.Kernels(before)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(parse.CloseNames("ad", []string{kernels[0].Name, "softmax"}))
	// Output:
	// 0 2 [64]
	// [add]
}

// A trace is checked, and gets an event of one's own at its end.
func ExampleValidate() {
	before, _, remove := twoRuns()
	defer remove()
	if err := parse.AppendEvents(before, []byte(`{"event_type":"launch","grid":"all"}`+"\n")); err != nil {
		log.Fatal(err)
	}
	v, err := parse.Validate(before)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(v.Records, v.Invalid, v.ByType)
	for _, p := range v.Problems {
		fmt.Println(bytes.HasPrefix([]byte(p.Path), []byte(before)), p.Line)
	}
	// Output:
	// 3 1 map[compilation:1 launch:2]
	// true 3
}

// Options as a user types them. A word that is not known is an error, never a default.
func ExampleParseOutput() {
	var o parse.Options
	var err error
	if o.Output, err = parse.ParseOutput("zstd"); err != nil {
		log.Fatal(err)
	}
	if o.Analyses, err = parse.ParseAnalyses("roofline,loop_schedules"); err != nil {
		log.Fatal(err)
	}
	if o.Ranks, err = parse.ParseSelection("3"); err != nil {
		log.Fatal(err)
	}
	fmt.Println(o.Analyses, o.Ranks == parse.OneRank(naming.Rank(3)))
	_, err = parse.ParseOutput("tar")
	fmt.Println(err != nil)
	// Output:
	// [roofline loop_schedules] true
	// true
}
