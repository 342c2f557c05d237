package parse_test

import (
	"context"
	"fmt"
	"log"
	"log/slog"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/tracehandler/tracehandler"
	"github.com/tracehandler/tracehandler/naming"
	"github.com/tracehandler/tracehandler/parse"
	"github.com/tracehandler/tracehandler/reader"
	"github.com/tracehandler/tracehandler/sink"
)

// A program that compiles kernels traces them and reads the parsed result. Scope closes the handler before it parses,
// so the trace is complete, and removes it afterwards, whatever happens.
func Example() {
	dir, err := os.MkdirTemp("", "example-")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	out := filepath.Join(dir, "parsed")

	body := func(ctx context.Context, h *tracehandler.Handler) error {
		stack := []parse.Frame{{Line: 7, Name: "main", File: "/u/train.py", Code: "add[grid](x, y)"}}
		c := &parse.Compilation{Hash: "0f3a", Name: "add", Backend: "cuda", Metadata: []slog.Attr{slog.Int("num_warps", 4)},
			Files:  []parse.Artifact{{Name: "add.ttir", Text: "%0 = tt.load %x : i32 loc(\"/u/train.py\":3:8)\n"}},
			Source: &parse.Source{File: "/u/train.py", StartLine: 1, EndLine: 4, Code: "@triton.jit\ndef add(x, y):\n    v = tl.load(x)\n"}}
		c.Stack = stack
		if err := parse.Log(ctx, h, c); err != nil {
			return err
		}
		for i := range 3 {
			l := &parse.Launch{Hash: "0f3a", Name: "add", Grid: []int{64 << i}, Args: []slog.Attr{
				parse.TensorArg("x", parse.Tensor{Shape: []int{1024}, Stride: []int{1}, DType: "torch.float32", Device: "cuda:0", Size: 4}),
				parse.ScalarArg("n", 1024),
			}}
			l.Stack, l.Time = stack, time.Date(2026, 5, 6, 7, 8, 9+i, 0, time.UTC)
			if err := parse.Log(ctx, h, l); err != nil {
				return err
			}
		}
		return nil
	}
	consume := func(ctx context.Context, t tracehandler.Traces) error {
		_, err := parse.Dir(ctx, t.Dir, out, nil)
		return err
	}
	o := tracehandler.ScopeOptions{Sink: sink.Options{Format: tracehandler.Zstd}, Scheme: naming.Scheme{User: "me", Host: "node", PID: 1}}
	if err := tracehandler.Scope(context.Background(), o, body, consume); err != nil {
		log.Fatal(err)
	}

	r, err := reader.Open(filepath.Join(out, "dedicated_log_triton_trace_me_rank_none_pid_1_host_node_.ndjson_mapped.ndjson.gz"), nil)
	if err != nil {
		log.Fatal(err)
	}
	defer r.Close()
	for _, e := range r.Enumerate() {
		kind, _ := e.Get("event_type")
		switch kind.String() {
		case "compilation":
			_, mapped := e.Get("payload", "source_mappings", "python", "3")
			fmt.Println("compilation, line 3 mapped:", mapped)
		case "launch_diff":
			diffs, _ := e.Get("diffs")
			fmt.Println("launch_diff:", strings.Join(keys(diffs), ", "))
		default:
			fmt.Println(kind)
		}
	}
	if err := r.Err(); err != nil {
		log.Fatal(err)
	}

	// Output:
	// compilation, line 3 mapped: true
	// launch
	// launch
	// launch
	// roofline
	// launch_diff: grid, timestamp
}

func keys(v slog.Value) (names []string) {
	for _, a := range v.Group() {
		names = append(names, a.Key)
	}
	return names
}

// The stack of a compilation, as an instrumented program writes it.
func ExampleStack() {
	stack := parse.Stack(0)
	here := stack[len(stack)-1]
	fmt.Println(filepath.Base(here.File), path.Base(here.Name))
	// Output: example_test.go parse_test.ExampleStack
}
