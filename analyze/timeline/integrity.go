package timeline

import (
	"cmp"
	"slices"

	"github.com/tracehandler/tracehandler/analyze/kineto"
)

// A stream runs one thing at a time. An event that ends this much after its successor's start has a wrong duration; less
// is the clock's noise.
const (
	overlapNoise   = 1_000     // ns that do not count
	overlapWorst   = 1_000_000 // ns of the worst excess from which a stream is reported
	overlapShare   = 0.05      // of the stream's summed time that the excess must reach
	overlapWarning = 0.25      // …and to be a warning rather than a note
	longest        = 1_000_000_000
)

// Impossible is what is wrong with durations.
type Impossible struct {
	Events []int   // indices into GPU, to be left out of rankings
	Excess int64   // ns
	Share  float64 // the worst stream's excess by its summed time
	Severe bool    // a warning rather than a note
}

// FindImpossible looks for events that overlap their successors on a stream, that do not fit 64 bits, and that last ten
// times longer than all else in the trace together.
func FindImpossible(t *kineto.Trace) Impossible {
	var out Impossible
	rows := map[int32][]int32{}
	first, last := int64(0), int64(0)
	for i := range t.GPU {
		g := &t.GPU[i]
		rows[g.PID] = append(rows[g.PID], int32(i))
		if i == 0 || g.TS < first {
			first = g.TS
		}
		last = max(last, g.TS)
		if g.Impossible {
			out.Events = append(out.Events, i)
			out.Severe = true
		}
	}
	for i := range t.Launches {
		last = max(last, t.Launches[i].TS)
	}
	for i := range t.GPU {
		if d := t.GPU[i].Dur; d > longest && d/10 > last-first {
			out.Events = append(out.Events, i)
			out.Excess += d
			out.Share, out.Severe = 1, true
		}
	}
	for _, row := range rows {
		slices.SortFunc(row, func(a, b int32) int { return cmp.Compare(t.GPU[a].TS, t.GPU[b].TS) })
		var sum, excess, worst int64
		var bad []int
		next := len(row) // index of the first event that starts later than event i
		for i := len(row) - 1; i >= 0; i-- {
			g := &t.GPU[row[i]]
			if i+1 < len(row) && t.GPU[row[i+1]].TS > g.TS {
				next = i + 1
			}
			sum += g.Dur
			if next == len(row) {
				continue
			}
			if over := g.End() - t.GPU[row[next]].TS; over > overlapNoise {
				excess += over
				worst = max(worst, over)
				if over >= overlapWorst {
					bad = append(bad, int(row[i]))
				}
			}
		}
		share := 0.0
		if sum > 0 {
			share = float64(excess) / float64(sum)
		}
		if worst >= overlapWorst && share >= overlapShare {
			out.Events = append(out.Events, bad...)
			out.Excess += excess
			out.Share = max(out.Share, share)
			out.Severe = out.Severe || share >= overlapWarning
		}
	}
	slices.Sort(out.Events)
	out.Events = slices.Compact(out.Events)
	return out
}
