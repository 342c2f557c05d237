package tables

import (
	"strings"

	"github.com/tracehandler/tracehandler/analyze/kineto"
)

// Rows of the name-and-time report: at least this share of the time, and at most so many.
const (
	FallbackMinShare = 0.005
	FallbackMaxRows  = 40
)

// Fallback is the report when nothing but names and times is known: kernels by exact name, plumbing left out, of at least
// FallbackMinShare of total nanoseconds. dropped counts the names left out for being too short or too many.
func Fallback(t *kineto.Trace, total int64, keep func(i int) bool) (rows []NameRow, dropped int) {
	for _, r := range Kernels(t, keep) {
		switch {
		case IsPlumbing(r.Name):
		case float64(r.Total) < FallbackMinShare*float64(total) || len(rows) == FallbackMaxRows:
			dropped++
		default:
			rows = append(rows, r)
		}
	}
	return rows, dropped
}

// IsPlumbing reports whether a name is a launch or a copy rather than a kernel of the program's.
func IsPlumbing(name string) bool {
	switch name {
	case "hipLaunchKernel", "hipModuleLaunchKernel", "hipExtModuleLaunchKernel", "hipMemcpyAsync", "hipMemcpyWithStream",
		"cudaLaunchKernel", "cudaMemcpyAsync", "cuLaunchKernel":
		return true
	}
	return strings.HasPrefix(name, "Memcpy") || strings.HasPrefix(name, "Memset") || strings.HasPrefix(name, "__amd_rocclr_")
}
