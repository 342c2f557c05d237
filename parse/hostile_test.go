package parse

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tracehandler/tracehandler/parse/internal/srcmap"
)

// TestManyKeys: a record of very many members costs about what its bytes do, not their square: this would take minutes.
func TestManyKeys(t *testing.T) {
	const n = 20000
	launch := func(reverse bool) string {
		var b strings.Builder
		b.WriteString(`{"event_type":"launch","compilation_metadata":{"hash":"h1","name":"k"},"stack":[{"filename":"/u.py","line":1,"name":"f"},{"filename":"triton/runtime/autotuner.py","line":1,"name":"_bench"}],"extracted_args":{`)
		for i := range n {
			j := i
			if reverse {
				j = n - 1 - i
			}
			if i > 0 {
				b.WriteByte(',')
			}
			fmt.Fprintf(&b, `"a%d":{"type":"int","value":%d}`, j, j%7+i%2)
		}
		b.WriteByte('}')
		for i := range n {
			fmt.Fprintf(&b, `,"m%d":%d`, i, i)
		}
		return b.String() + "}"
	}
	events := parseOne(t, nil, edgeCompile, launch(false), launch(true))
	d := events["launch_diff"][0]
	if got := d.Get("diffs").Get("extracted_args").Len() + d.Get("sames").Get("extracted_args").Len(); got != n {
		t.Errorf("%d arguments in the difference, want %d", got, n)
	}
	if len(events["autotune_analysis"]) != 1 {
		t.Error("no analysis")
	}
}

// TestLongDirectives: a line of very many directives that lead nowhere is given up.
func TestLongDirectives(t *testing.T) {
	text := "; -- Begin function\n" + strings.Repeat("loc 1 1 1 ;", 200000) + "\n.loc 1 2 3 ; k.py:2:3\n; -- End function\n"
	var b srcmap.Builder
	b.Add(srcmap.AMDGCN, "amdgcn", []byte(text))
	if len(b.Stages) != 1 || b.Stages[0].At(3) == nil || b.Stages[0].At(2) != nil {
		t.Errorf("%d stages", len(b.Stages))
	}
}

// TestLongNames: names that a trace or its file gives to outputs are cut to what file systems take, and stay apart.
func TestLongNames(t *testing.T) {
	long := strings.Repeat("9", 5000)
	dir := t.TempDir()
	name := "dedicated_log_triton_trace_" + strings.Repeat("u", 220) + ".ndjson"
	compile := func(hash, frame string) string {
		return fmt.Sprintf(`{"event_type":"compilation","payload":{"metadata":{"hash":%q,"name":"k"},"pt_info":{"frame_id":%s}}}`+"\n", hash, frame)
	}
	write(t, filepath.Join(dir, "in", name), compile("a", `"`+long+`1"`)+compile("b", `"`+long+`2"`)+compile("c", `"`+strings.Repeat("x/", 300)+`"`)+edgeCompile+"\n")
	rep, err := Dir(context.Background(), filepath.Join(dir, "in"), filepath.Join(dir, "out"), nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(rep.Files()) != 5 {
		t.Errorf("%q", rep.Files())
	}
}

// TestTorchLogsThatCannotBeRead: those beside the traces are passed over, those asked for are an error.
func TestTorchLogsThatCannotBeRead(t *testing.T) {
	dir := t.TempDir()
	in := filepath.Join(dir, "in")
	write(t, filepath.Join(in, "dedicated_log_triton_trace_u_.ndjson"), edgeCompile+"\n")
	if err := os.Symlink(filepath.Join(dir, "gone"), filepath.Join(in, "x_dedicated_log_torch_trace_1.log")); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(in, "y_dedicated_log_torch_trace_1.log"), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := Dir(context.Background(), in, filepath.Join(dir, "out"), nil); err != nil {
		t.Error(err)
	}
	if _, err := Dir(context.Background(), in, filepath.Join(dir, "out2"), &Options{TorchTraceDir: in}); err == nil {
		t.Error("a torch log that was asked for cannot be read, and no error")
	}
}
