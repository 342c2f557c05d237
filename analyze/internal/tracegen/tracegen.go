// Package tracegen makes large traces for benchmarks: one real trace repeated, or one made up from nothing.
//
//	err := tracegen.Repeat(w, "qwen.json.gz", 4)          // four times as long, ids and times shifted
//	err := tracegen.Synthetic(w, tracegen.Options{Steps: 1000})
package tracegen

import (
	"bufio"
	"errors"
	"fmt"
	"io"

	"github.com/tracehandler/tracehandler/analyze/chrometrace"
)

// shift of one copy against the one before it; larger than what any trace of the vectors spans or numbers.
const (
	shiftNS = 100_000_000_000
	shiftID = 10_000_000
)

// Repeat writes the trace at path, its events repeated n times. In each copy ts, correlation, External id, flow ids,
// Python ids and Ev Idx are shifted, so that the copies follow each other and share no id.
func Repeat(w io.Writer, path string, n int) error {
	out := bufio.NewWriterSize(w, 1<<20)
	for k := range n {
		s, err := chrometrace.Open(path)
		if err != nil {
			return err
		}
		if k == 0 {
			s2, err := chrometrace.Open(path)
			if err != nil {
				return errors.Join(err, s.Close())
			}
			for s2.Scan() {
			}
			fmt.Fprintf(out, "{\n  \"schemaVersion\": 1,\n  \"deviceProperties\": %s,\n  \"traceEvents\": [\n", or(s2.Metadata()["deviceProperties"], "[]"))
			if err := s2.Close(); err != nil {
				return errors.Join(err, s.Close())
			}
		}
		first := k == 0
		for s.Scan() {
			if !first {
				out.WriteString(",\n  ")
			}
			first = false
			writeShifted(out, s.Event().Raw, int64(k))
		}
		if err := s.Close(); err != nil {
			return err
		}
	}
	out.WriteString("\n]}\n")
	return out.Flush()
}

func or(v []byte, otherwise string) string {
	if v == nil {
		return otherwise
	}
	return string(v)
}

func writeShifted(out *bufio.Writer, obj []byte, k int64) {
	at := 0
	for a := chrometrace.ArgsOf(obj); a.Next(); {
		var text string
		switch string(a.Key) {
		case "ts":
			ns, _, ok := chrometrace.Nanoseconds(a.Value)
			if !ok {
				continue
			}
			ns += k * shiftNS
			text = fmt.Sprintf("%d.%03d", ns/1000, ns%1000)
		case "id", "correlation", "External id", "Python id", "Python parent id", "Ev Idx":
			n, ok := chrometrace.Int(a.Value)
			if !ok {
				continue
			}
			text = fmt.Sprint(n + k*shiftID)
		case "args":
			out.Write(obj[at:a.Start()])
			writeShifted(out, a.Value, k)
			at = a.Start() + len(a.Value)
			continue
		default:
			continue
		}
		out.Write(obj[at:a.Start()])
		out.WriteString(text)
		at = a.Start() + len(a.Value)
	}
	out.Write(obj[at:])
}

// Options of Synthetic.
type Options struct {
	Steps  int // each is 40 ops, launches and kernels; 0 is 100
	Frames int // python frames per op; 0 is 8
}

// Synthetic writes a made-up trace whose shape is that of an eager inference run with stacks: per op a cpu_op, a runtime
// call, a flow and a kernel, under Frames python frames.
func Synthetic(w io.Writer, o Options) error {
	if o.Steps == 0 {
		o.Steps = 100
	}
	if o.Frames == 0 {
		o.Frames = 8
	}
	out := bufio.NewWriterSize(w, 1<<20)
	fmt.Fprint(out, `{
  "schemaVersion": 1,
  "deviceProperties": [{"id": 0, "name": "AMD Instinct MI300X", "numSms": 304}],
  "record_shapes": 1, "with_stack": 1,
  "traceEvents": [
  {"ph": "M", "name": "process_name", "ts": 0, "pid": 100, "tid": 0, "args": {"name": "python"}}`)
	id := 0
	ts := int64(1_000_000_000_000)
	names := []string{"aten::mm", "aten::add", "aten::layer_norm", "aten::silu", "aten::copy_"}
	kernels := []string{"Cijk_Ailk_Bljk_BBS_BH_MT128x128x64", "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<c10::BFloat16>>",
		"void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<c10::BFloat16, float>", "void at::native::silu_kernel", "void at::native::direct_copy_kernel_cuda"}
	for step := range o.Steps {
		start := ts
		for op := range 40 {
			id++
			for f := range o.Frames {
				fmt.Fprintf(out, ",\n  {\n    \"ph\": \"X\", \"cat\": \"python_function\", \"name\": \"torch/nn/modules/module.py(%d): _call_impl_%d\", \"pid\": 100, \"tid\": 100,\n    \"ts\": %s, \"dur\": %s,\n    \"args\": {\n      \"Python parent id\": %d, \"Python id\": %d, \"Ev Idx\": %d\n    }\n  }",
					1000+f, f, us(ts+int64(f)), us(40_000-2*int64(f)), id*o.Frames+f-1, id*o.Frames+f, id)
			}
			n := op % len(names)
			fmt.Fprintf(out, ",\n  {\n    \"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": %q, \"pid\": 100, \"tid\": 100,\n    \"ts\": %s, \"dur\": 30.000,\n    \"args\": {\n      \"External id\": %d, \"Input Dims\": [[%d, 1024], [1024, 4096]], \"Input type\": [\"c10::BFloat16\", \"c10::BFloat16\"], \"Input Strides\": [[1024, 1], [4096, 1]], \"Concrete Inputs\": [\"\", \"\"], \"Ev Idx\": %d\n    }\n  }",
				names[n], us(ts+1000), id, 16<<(step%3), id)
			fmt.Fprintf(out, ",\n  {\n    \"ph\": \"X\", \"cat\": \"cuda_runtime\", \"name\": \"hipLaunchKernel\", \"pid\": 100, \"tid\": 100,\n    \"ts\": %s, \"dur\": 5.000,\n    \"args\": {\n      \"External id\": %d, \"cid\": 211, \"correlation\": %d, \"grid\": [64, 1, 1], \"block\": [256, 1, 1]\n    }\n  }",
				us(ts+10_000), id, id)
			fmt.Fprintf(out, ",\n  {\n    \"ph\": \"s\", \"id\": %d, \"pid\": 100, \"tid\": 100, \"ts\": %s,\n    \"cat\": \"ac2g\", \"name\": \"ac2g\"\n  }", id, us(ts+10_000))
			fmt.Fprintf(out, ",\n  {\n    \"ph\": \"X\", \"cat\": \"kernel\", \"name\": %q, \"pid\": 0, \"tid\": 3,\n    \"ts\": %s, \"dur\": %s,\n    \"args\": {\n      \"External id\": %d, \"device\": 0, \"stream\": 3, \"correlation\": %d, \"kind\": \"Dispatch Kernel\", \"grid\": [64, 1, 1], \"block\": [256, 1, 1]\n    }\n  }",
				kernels[n], us(ts+20_000), us(int64(10_000+1000*n)), id, id)
			fmt.Fprintf(out, ",\n  {\n    \"ph\": \"f\", \"id\": %d, \"pid\": 0, \"tid\": 3, \"ts\": %s,\n    \"cat\": \"ac2g\", \"name\": \"ac2g\", \"bp\": \"e\"\n  }", id, us(ts+20_000))
			ts += 50_000
		}
		fmt.Fprintf(out, ",\n  {\n    \"ph\": \"X\", \"cat\": \"user_annotation\", \"name\": \"ProfilerStep#%d\", \"pid\": 100, \"tid\": 100,\n    \"ts\": %s, \"dur\": %s,\n    \"args\": {\"External id\": 0}\n  }", step, us(start), us(ts-start-1))
	}
	fmt.Fprint(out, "\n  ]\n}\n")
	return out.Flush()
}

func us(ns int64) string { return fmt.Sprintf("%d.%03d", ns/1000, ns%1000) }
