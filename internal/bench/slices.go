package bench

import (
	"runtime"
	"slices"
	"time"
)

// Case is something to be measured: Run does it n times.
type Case struct {
	Name string
	Run  func(n int)
}

// Result is what one operation of a case costs in nanoseconds: the tenth percentile over the slices.
type Result struct {
	Name   string
	CPU    float64 // of the process
	Caller float64 // CPU of the goroutine that calls Run alone
	Wall   float64
}

// Plan says how long to measure.
type Plan struct {
	Rounds int           // slices of each case
	Slice  time.Duration // CPU time of one slice, about
	Unit   int           // a slice has a multiple of this many operations
	Caller bool          // measure the caller's thread, too
}

// Interleave measures the cases in turn, slice by slice, and so gives each the same share of whatever else the machine
// does meanwhile.
func Interleave(cases []Case, p Plan) []Result {
	threadTime := func() time.Duration { return 0 }
	if p.Caller {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		threadTime = ThreadTime
	}
	unit := max(p.Unit, 1)
	sizes := make([]int, len(cases))
	for i, c := range cases {
		n := unit
		for {
			start := CPUTime()
			c.Run(n)
			d := CPUTime() - start
			if d >= p.Slice/2 {
				n = int(float64(n) * float64(p.Slice) / float64(d))
				sizes[i] = max(1, n/unit) * unit
				break
			}
			n *= 2
		}
	}
	type samples struct{ cpu, caller, wall []float64 }
	all := make([]samples, len(cases))
	for range p.Rounds {
		for i, c := range cases {
			wall, cpu, caller := time.Now(), CPUTime(), threadTime()
			c.Run(sizes[i])
			dCaller, dCPU, dWall := threadTime()-caller, CPUTime()-cpu, time.Since(wall)
			n := float64(sizes[i])
			s := &all[i]
			s.cpu = append(s.cpu, float64(dCPU)/n)
			s.caller = append(s.caller, float64(dCaller)/n)
			s.wall = append(s.wall, float64(dWall)/n)
		}
	}
	out := make([]Result, len(cases))
	for i, c := range cases {
		out[i] = Result{c.Name, Percentile(all[i].cpu, 0.1), Percentile(all[i].caller, 0.1), Percentile(all[i].wall, 0.1)}
	}
	return out
}

// Percentile returns the value below which the share p of the values lies. It sorts them.
func Percentile[T float64 | time.Duration](values []T, p float64) T {
	slices.Sort(values)
	return values[int(p*float64(len(values)-1)+0.5)]
}

// Allocs returns the allocations of one operation, rounded down as testing.AllocsPerRun does: a goroutine elsewhere may
// allocate now and then.
func Allocs(run func(n int)) float64 {
	const n = 500
	run(n) // warm
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	run(n)
	runtime.ReadMemStats(&after)
	return float64((after.Mallocs - before.Mallocs) / n)
}
