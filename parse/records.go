package parse

import (
	"context"
	"log/slog"
	"os"
	"runtime"
	"slices"
	"time"
)

// A Record is something that an instrumented program writes into a raw trace: a Compilation, a Launch or an Autotune.
type Record interface {
	record() slog.Record
}

// Log writes a record through a handler. It returns the handler's error, nil if the handler is not enabled for
// slog.LevelInfo.
//
// Every handler that writes JSON lines will do; those of this module are made for it. The built-in keys time, level and
// msg that handlers add are understood when the trace is parsed: the time stands in for the record's own.
func Log(ctx context.Context, h slog.Handler, r Record) error {
	if !h.Enabled(ctx, slog.LevelInfo) {
		return nil
	}
	return h.Handle(ctx, r.record())
}

// Frame is one frame of a stack.
type Frame struct {
	Line int    `json:"line"`
	Name string `json:"name"` // of the function
	File string `json:"filename"`
	Code string `json:"loc"` // the text of the line, if known
}

// Stack returns the stack of the calling goroutine, outermost frame first, without the innermost skip frames; 0 leaves
// the caller of Stack as the last.
func Stack(skip int) []Frame {
	var pcs [64]uintptr
	n := runtime.Callers(skip+2, pcs[:])
	var fs []Frame
	frames := runtime.CallersFrames(pcs[:n])
	for {
		f, more := frames.Next()
		fs = append(fs, Frame{Line: f.Line, Name: f.Function, File: f.File})
		if !more {
			break
		}
	}
	slices.Reverse(fs)
	return fs
}

// Common is what all records have.
type Common struct {
	PID   int       // this process if zero
	Time  time.Time // now if zero
	Stack []Frame
}

func (c *Common) start(kind string, attrs ...slog.Attr) slog.Record {
	t, pid := c.Time, c.PID
	if t.IsZero() {
		t = time.Now()
	}
	if pid == 0 {
		pid = os.Getpid()
	}
	stack := c.Stack
	if stack == nil {
		stack = []Frame{}
	}
	r := slog.NewRecord(t, slog.LevelInfo, kind, 0)
	r.AddAttrs(slog.String("event_type", kind), slog.Int("pid", pid))
	r.AddAttrs(attrs...)
	r.AddAttrs(slog.Any("stack", stack), slog.String("timestamp", t.UTC().Format("2006-01-02T15:04:05.000000Z")))
	return r
}

// Compilation is a kernel that was compiled, or taken from a cache.
type Compilation struct {
	Common
	Hash     string // joins the kernel with its launches
	Name     string
	Backend  string      // cuda, hip or cann; says which stages there are
	CacheHit bool        //
	Metadata []slog.Attr // what else is known, such as num_warps, num_stages, num_ctas
	Files    []Artifact  // the code in its stages
	Source   *Source
	Frame    *CompileFrame
}

// Artifact is the text of one stage; Name is KERNEL.ttir, KERNEL.ptx and so on.
type Artifact struct {
	Name string
	Path string // where the compiler left it
	Text string
}

// Source is the kernel in its own language.
type Source struct {
	File      string `json:"file_path"`
	StartLine int    `json:"start_line"`
	EndLine   int    `json:"end_line"`
	Code      string `json:"code"`
}

// CompileFrame are the numbers by which torch.compile knows the compilation.
type CompileFrame struct {
	Frame   int `json:"frame_id"`
	Compile int `json:"frame_compile_id"`
	Attempt int `json:"attempt_id"`
}

func (c *Compilation) record() slog.Record {
	meta := []slog.Attr{slog.String("hash", c.Hash), slog.String("name", c.Name), slog.Bool("cache_hit", c.CacheHit)}
	if c.Backend != "" {
		meta = append(meta, slog.String("backend_name", c.Backend))
	}
	paths, texts := map[string]string{}, map[string]string{}
	for _, f := range c.Files {
		paths[f.Name], texts[f.Name] = f.Path, f.Text
	}
	payload := []slog.Attr{slog.GroupAttrs("metadata", append(meta, c.Metadata...)...)}
	if c.Frame != nil {
		payload = append(payload, slog.Any("pt_info", c.Frame))
	}
	payload = append(payload, slog.Any("file_path", paths), slog.Any("file_content", texts))
	if c.Source != nil {
		payload = append(payload, slog.Any("python_source", c.Source))
	}
	r := c.start("compilation")
	r.AddAttrs(slog.GroupAttrs("payload", payload...))
	return r
}

// Launch is a kernel that was launched.
type Launch struct {
	Common
	Hash     string // of the compilation
	Name     string
	Stream   int
	Grid     []int       // one to three numbers
	Metadata []slog.Attr // of the compilation, as far as it matters
	Args     []slog.Attr // by name; the values are made by TensorArg and ScalarArg
}

func (l *Launch) record() slog.Record {
	meta := append([]slog.Attr{slog.String("hash", l.Hash), slog.String("name", l.Name)}, l.Metadata...)
	return l.start("launch", slog.String("name", l.Name), slog.Any("function", nil), slog.Int("stream", l.Stream), slog.Any("grid", l.Grid),
		slog.GroupAttrs("compilation_metadata", meta...), slog.GroupAttrs("extracted_args", l.Args...))
}

// Tensor describes a tensor argument.
type Tensor struct {
	Shape   []int
	Stride  []int
	DType   string // torch.float16, …
	Device  string
	Size    int    // bytes of an element
	Pointer uint64 // 0 for unknown
}

// TensorArg returns the argument of that name for a tensor.
func TensorArg(name string, t Tensor) slog.Attr {
	n := 1
	for _, d := range t.Shape {
		n *= d
	}
	attrs := []any{
		slog.String("type", "tensor"), slog.Any("shape", t.Shape), slog.Any("stride", t.Stride), slog.String("dtype", t.DType),
		slog.String("device", t.Device), slog.Int("numel", n), slog.Int("element_size", t.Size), slog.Int("memory_usage", n*t.Size),
	}
	if t.Pointer != 0 {
		attrs = append(attrs, slog.String("data_ptr", hexText(t.Pointer)))
	}
	return slog.Group(name, attrs...)
}

// ScalarArg returns the argument of that name for a number, a truth value or a text.
func ScalarArg[T ~int | ~int32 | ~int64 | ~float32 | ~float64 | ~bool | ~string](name string, v T) slog.Attr {
	kind := "int"
	switch value := slog.AnyValue(any(v)); value.Kind() {
	case slog.KindFloat64:
		kind = "float"
	case slog.KindBool:
		kind = "bool"
	case slog.KindString:
		kind = "str"
	}
	return slog.Group(name, slog.String("type", kind), slog.Any("value", v))
}

func hexText(n uint64) string {
	const digits = "0123456789abcdef"
	var b [18]byte
	i := len(b)
	for ; n > 0; n >>= 4 {
		i--
		b[i] = digits[n&15]
	}
	i -= 2
	b[i], b[i+1] = '0', 'x'
	return string(b[i:])
}

// Autotune is a search for the best configuration of a kernel that ended. Its stack must be that of the search, with the
// autotuner's frame on it, so that it finds its session.
type Autotune struct {
	Common
	Kernel   string
	Best     string               // the configuration chosen
	Timings  map[string][]float64 // by configuration, in milliseconds
	Duration time.Duration
	CacheHit bool
}

func (a *Autotune) record() slog.Record {
	return a.start("autotune", slog.String("kernel_name", a.Kernel), slog.String("best_config", a.Best), slog.Any("configs_timings", a.Timings),
		slog.Float64("duration", a.Duration.Seconds()), slog.Bool("cache_hit", a.CacheHit))
}
