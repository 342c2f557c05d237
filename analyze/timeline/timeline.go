// Package timeline says where a GPU's time went, exactly: every figure is a sum of integer nanoseconds, and
//
//	Computation + ExposedComm + ExposedMemcpy + Idle == Total
//
// holds to the nanosecond. Definitions: TraceLens' gpu_timeline. Communication is what the name says (NCCL, RCCL,
// cross_device_reduce); copies are gpu_memcpy and the copy kernels of old ROCm; all else is computation. Overlapping work
// counts once. Exposed is what no computation runs beside; of copies, what no communication runs beside either.
package timeline

import (
	"github.com/tracehandler/tracehandler/analyze/category"
	"github.com/tracehandler/tracehandler/analyze/interval"
	"github.com/tracehandler/tracehandler/analyze/kineto"
)

// Timeline is measured in nanoseconds. It is zero if there was no GPU work.
type Timeline struct {
	Events        int
	First, Last   int64 // start of the first event and end of the last, on the trace's clock
	Total         int64 // Last − First
	Busy          int64 // any work at all
	Idle          int64 // Total − Busy
	MicroIdle     int64 // gaps shorter than Options.MicroGap
	MacroIdle     int64 // the others
	Computation   int64
	Comm          int64
	Memcpy        int64
	ExposedComm   int64
	ExposedMemcpy int64
	OverlapComm   int64 // Comm − ExposedComm
	KernelSum     int64 // durations of kernels, overlaps counted twice
	KernelUnion   int64
	CopySum       int64 // durations of copies and memsets
}

// DefaultMicroGap is the length in nanoseconds below which an idle gap is the launch overhead's and not the program's.
const DefaultMicroGap = 10_000

// Options of New; the zero value takes every event.
type Options struct {
	Keep     func(i int) bool // which of t.GPU counts; nil is all
	MicroGap int64            // nanoseconds; 0 is DefaultMicroGap
	Window   *interval.Interval
}

// New measures the GPU events of t. Impossible durations count as zero. With a Window, intervals are clipped to it, sums
// are of the events that start in it, and Total is its length.
func New(t *kineto.Trace, o Options) Timeline {
	var all, comp, comm, copies, kernels interval.Set
	var tl Timeline
	classes := make(map[kineto.Str]class, 64)
	for i := range t.GPU {
		g := &t.GPU[i]
		if o.Keep != nil && !o.Keep(i) {
			continue
		}
		x := interval.Interval{Start: g.TS, End: g.End()}
		if o.Window != nil {
			if g.TS < o.Window.Start || g.TS >= o.Window.End {
				continue
			}
			x.End = min(x.End, o.Window.End)
		}
		if tl.Events == 0 {
			tl.First, tl.Last = x.Start, x.End
		}
		tl.Events++
		tl.First, tl.Last = min(tl.First, x.Start), max(tl.Last, x.End)
		all = append(all, x)
		if g.Kind == kineto.Kernel {
			tl.KernelSum += g.Dur
			kernels = append(kernels, x)
		} else {
			tl.CopySum += g.Dur
		}
		c, ok := classes[g.Name]
		if !ok {
			c = classOf(t.String(g.Name))
			classes[g.Name] = c
		}
		switch {
		case g.Kind == kineto.Memcpy || g.Kind == kineto.Kernel && c == copyClass:
			copies = append(copies, x)
		case c == commClass:
			comm = append(comm, x)
		default:
			comp = append(comp, x)
		}
	}
	if o.Window != nil {
		tl.First, tl.Last = o.Window.Start, o.Window.End
	}
	all, comp, comm, copies = interval.Union(all), interval.Union(comp), interval.Union(comm), interval.Union(copies)
	tl.Total = tl.Last - tl.First
	tl.Busy = interval.Measure(all)
	tl.Idle = tl.Total - tl.Busy
	tl.Computation = interval.Measure(comp)
	tl.Comm = interval.Measure(comm)
	tl.Memcpy = interval.Measure(copies)
	tl.ExposedComm = interval.Measure(interval.Subtract(comm, comp))
	tl.ExposedMemcpy = interval.Measure(interval.Subtract(interval.Subtract(copies, comp), comm))
	tl.OverlapComm = tl.Comm - tl.ExposedComm
	tl.KernelUnion = interval.Measure(interval.Union(kernels))
	micro := o.MicroGap
	if micro == 0 {
		micro = DefaultMicroGap
	}
	for _, gap := range interval.Gaps(all) {
		if n := gap.End - gap.Start; n < micro {
			tl.MicroIdle += n
		}
	}
	tl.MacroIdle = tl.Idle - tl.MicroIdle
	return tl
}

type class uint8

const (
	compClass class = iota
	commClass
	copyClass
)

func classOf(name string) class {
	switch {
	case category.IsCollective(name):
		return commClass
	case category.IsCopyKernel(name):
		return copyClass
	}
	return compClass
}
