package analyze

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/tracehandler/tracehandler/analyze/roofline"
	"github.com/tracehandler/tracehandler/analyze/source"
	"github.com/tracehandler/tracehandler/analyze/timeline"
)

// Environment variables that older tools read, and their defaults.
const (
	EnvRoute      = "HYPERLOOM_TRACE_ANALYSIS_ROUTE"
	EnvIdle       = "HYPERLOOM_TRACELENS_IDLE_PCT_THRESHOLD"
	EnvCompute    = "HYPERLOOM_TRACELENS_MIN_COMPUTE_PCT_THRESHOLD"
	EnvTopK       = "HYPERLOOM_KERNEL_CANDIDATES_TOP_K"
	DefaultIdle   = 80.0 // percent of the time idle from which there are no candidates
	DefaultMin    = 10.0 // percent of the time computing below which there are none
	DefaultTopK   = 100
	smallestTopK  = 15
	replayShare   = 0.10 // of kernel time in replayed graphs from which rows are by name and time
	shapelessness = 0.50 // of op time without shapes from which there are "no shapes"
)

// Window names a part of a trace.
type Window string

const (
	WindowAll     Window = ""              // the whole trace
	WindowSteady  Window = "steady"        // mixed, or a training run's iterations without the first
	WindowMixed   Window = "mixed"         // like the steady regions in its share of prefills
	WindowDecode  Window = "decode_only"   // the longest run without prefill
	WindowPrefill Window = "prefilldecode" // the longest run with prefill
)

// ParseWindow reads a window's name; "all" and "" are the whole trace.
func ParseWindow(name string) (Window, error) {
	switch w := Window(strings.ToLower(strings.TrimSpace(name))); w {
	case "all":
		return WindowAll, nil
	case WindowAll, WindowSteady, WindowMixed, WindowDecode, WindowPrefill:
		return w, nil
	}
	return "", fmt.Errorf("analyze: unknown window %q: want all, steady, mixed, decode_only or prefilldecode", name)
}

// Options of Run; the zero value is what most people want, with gates off. FromEnv gives the gates their defaults.
type Options struct {
	Idle      float64 // percent; 0 is no gate
	Compute   float64 // percent; 0 is no gate
	TopK      int     // candidates at most; 0 is DefaultTopK
	Device    string  // overrides the trace's own device name
	Specs     []roofline.Spec
	Framework string
	Model     string
	Stacks    bool          // read python stacks, in a second pass over the files
	Window    Window        // the part of the trace to look at
	Steps     int           // iterations in a window at most; 0 is steps.DefaultSteps
	Sources   []source.Root // trees to look for definitions in
	Cache     string        // directory to keep indexes of the trees in; "" keeps none
	Arch      string        // prefers definitions with this in their path
	MicroGap  int64         // ns; idle gaps below it are the launch overhead's. 0 is timeline.DefaultMicroGap
	Progress  func(path string, bytes int64)
}

// FromEnv returns the options that the environment asks for. A value that is no number, or negative, counts as unset.
func FromEnv(getenv func(string) string) Options {
	percent := func(name string, otherwise float64) float64 {
		v, err := strconv.ParseFloat(strings.TrimSpace(getenv(name)), 64)
		if err != nil || !(v >= 0) || v > 1e9 {
			return otherwise
		}
		return v
	}
	o := Options{Idle: percent(EnvIdle, DefaultIdle), Compute: percent(EnvCompute, DefaultMin), TopK: DefaultTopK, MicroGap: timeline.DefaultMicroGap}
	if n, err := strconv.Atoi(strings.TrimSpace(getenv(EnvTopK))); err == nil {
		if o.TopK = n; n <= 0 {
			o.TopK = smallestTopK
		}
	}
	return o
}

// routes are the names under which older tools offered several analyses. Here they all mean the one there is.
var routes = []string{"agent", "bypass", "deterministic"}

// RouteError refuses a route that does not exist, before anything runs.
type RouteError struct {
	Requested string
	Valid     []string
}

// Class is the error's stable name.
func (e *RouteError) Class() string { return "invalid_analysis_route" }

func (e *RouteError) Error() string {
	return fmt.Sprintf("analyze: invalid_analysis_route: %q is not one of %s", e.Requested, strings.Join(e.Valid, ", "))
}

// CheckRoute judges an explicit route: the one given, else the environment's. "" is none, which is right.
func CheckRoute(given, env string) error {
	route := strings.ToLower(strings.TrimSpace(given))
	if route == "" {
		route = strings.ToLower(strings.TrimSpace(env))
	}
	if route == "" || slices.Contains(routes, route) {
		return nil
	}
	return &RouteError{Requested: route, Valid: slices.Clone(routes)}
}
