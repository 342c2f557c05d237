package chrometrace_test

import (
	"fmt"
	"strings"

	"github.com/tracehandler/tracehandler/analyze/chrometrace"
)

func ExampleScanner() {
	s := chrometrace.NewScanner(strings.NewReader(`{"traceEvents": [
		{"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": 10.5, "dur": 2.125, "args": {"correlation": 42}},
		{"ph": "X", "cat": "kernel", "name": "cut`))
	for s.Scan() {
		ev := s.Event()
		for a := ev.Arguments(); a.Next(); {
			fmt.Printf("%s at %d ns for %d ns, %s %s\n", ev.Name, ev.TS, ev.Dur, a.Key, a.Value)
		}
	}
	for _, err := range s.Errors() {
		fmt.Println(err)
	}
	// Output:
	// gemm at 10500 ns for 2125 ns, correlation 42
	// chrometrace: traceEvents object truncated after 1 event(s): unterminated object (byte 143)
}

// Open reads any Chrome trace, compressed or not. SkipFunc passes over what is not wanted several times faster.
func ExampleOpen() {
	s, err := chrometrace.Open("../testdata/kineto/h100_bert_small.json.gz")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.Close()
	s.SkipFunc = func(_ byte, category []byte) bool { return string(category) != "kernel" }
	kernels := 0
	for s.Scan() {
		if string(s.Event().Category) == "kernel" { // events without a category come too
			kernels++
		}
	}
	fmt.Println(kernels, "kernels of", s.Events(), "events in", s.Offset(), "bytes; damaged:", s.Degraded(), s.ErrorCount())
	chrometrace.Elements(s.Metadata()["deviceProperties"], func(device []byte) bool {
		for a := chrometrace.ArgsOf(device); a.Next(); {
			if name, ok := chrometrace.Text(a.Value); ok {
				fmt.Println(name)
			}
		}
		return false // the first one will do
	})
	// Output:
	// 60 kernels of 2551 events in 1078562 bytes; damaged: false 0
	// NVIDIA H100 80GB HBM3
}

// The texts of a trace are raw: numbers may be strings, microseconds have fractions, and strings have escapes.
func ExampleNanoseconds() {
	ns, huge, ok := chrometrace.Nanoseconds([]byte(`"2241346127446.09"`))
	fmt.Println(ns, huge, ok)
	n, ok := chrometrace.Int([]byte(`"49485"`))
	fmt.Println(n, ok)
	fmt.Printf("%s\n", chrometrace.AppendString(nil, []byte(`C:\\tmp\u00e9 \q`)))
	// Output:
	// 2241346127446090 false true
	// 49485 true
	// C:\tmpé \q
}

// NewFileScanner does for a stream what Open does for a file. Faults say where they are, in words that other tools use.
func ExampleNewFileScanner() {
	s, err := chrometrace.NewFileScanner(strings.NewReader(`{"traceEvents": [{"ph": "X", "name": "a", "ts": 1}, 7, {"ph": "X"`))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.Close()
	for s.Scan() {
		ev := s.Event()
		for a := chrometrace.ArgsOf(ev.Raw); a.Next(); {
			fmt.Printf("%s at byte %d\n", a.Key, ev.Offset+int64(a.Start()))
		}
	}
	for _, e := range s.Errors() {
		fmt.Println(e.Kind, e.Text())
	}
	// Output:
	// ph at byte 24
	// name at byte 37
	// ts at byte 48
	// not_object traceEvents element malformed after 1 event(s): expected an object
	// truncated traceEvents object truncated after 1 event(s): unterminated object
}
