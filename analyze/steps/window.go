package steps

// DefaultSteps is how many iterations a window holds at most.
const DefaultSteps = 32

// Window is a range of iterations, End excluded.
type Window struct{ Start, End int }

// Selection is the parts of a trace worth looking at. A window is nil if there is none of its kind.
type Selection struct {
	Regions []Window // where the number of requests stays near its peak
	Mixed   *Window  // like the whole of the regions in its share of prefills
	Decode  *Window  // the longest run without prefill
	Prefill *Window  // the longest run with prefill
}

// opening is how many iterations near the peak, strictly in a row or not, open a region, and how many away from it close
// it again.
const opening = 6

// Select finds the steady regions and the windows of at most n iterations in the largest of them. n ≤ 0 is DefaultSteps.
func Select(roots []Root, n int) Selection {
	var sel Selection
	if n <= 0 {
		n = DefaultSteps
	}
	if len(roots) == 0 {
		return sel
	}
	sel.Regions = regions(roots, n)
	region := middle(len(roots), n)
	for i, r := range sel.Regions {
		if i == 0 || r.End-r.Start > region.End-region.Start {
			region = r
		}
	}
	if region.Start >= region.End {
		return sel
	}
	sel.Mixed = mixed(roots, sel.Regions, region, n)
	sel.Decode = longest(roots, region, n, func(r Root) bool { return r.Context == 0 })
	sel.Prefill = longest(roots, region, n, func(r Root) bool { return r.Context > 0 })
	return sel
}

// regions counts iterations near the peak up to opening, then those away from it down to zero.
func regions(roots []Root, n int) []Window {
	peak := 0
	for _, r := range roots {
		peak = max(peak, r.Requests())
	}
	share := 0.1
	if len(roots) < n {
		share = 0.2
	}
	tolerance := max(1, share*float64(peak))
	var out []Window
	count, start, open := 0, 0, false
	for i, r := range roots {
		switch near := float64(peak-r.Requests()) <= tolerance; {
		case !open && near:
			if count++; count == opening {
				open, start = true, i-count+1
			}
		case open && !near:
			if count--; count == 0 {
				out = append(out, Window{start, i})
				open = false
			}
		}
	}
	if open {
		out = append(out, Window{start, len(roots)})
	}
	return out
}

// middle is what stands for a region where there is none.
func middle(roots, n int) Window {
	drop := min(roots, max(8, n-roots)) / 2
	return Window{drop, roots - drop}
}

func mixed(roots []Root, all []Window, region Window, n int) *Window {
	if len(all) == 0 {
		all = []Window{region}
	}
	prefills, total := 0, 0
	for _, r := range all {
		p, _ := tally(roots[r.Start:r.End])
		prefills += p
		total += r.End - r.Start
	}
	reference := ratio(prefills, total)
	stride := max(1, n/max(1, min(n/2, 10)))
	var best *Window
	bestDiff, bestAvg, bestHas := 0.0, 0.0, false
	for start := region.Start; ; start += stride {
		w := Window{start, min(start+n, region.End)}
		p, requests := tally(roots[w.Start:w.End])
		diff := ratio(p, w.End-w.Start) - reference
		if diff < 0 {
			diff = -diff
		}
		avg := float64(requests) / float64(w.End-w.Start)
		better := best == nil || p > 0 && !bestHas || (p > 0) == bestHas && (diff < bestDiff-1e-12 || diff < bestDiff+1e-12 && avg > bestAvg+1e-12)
		if better {
			best, bestDiff, bestAvg, bestHas = &w, diff, avg, p > 0
		}
		if start+stride+n > region.End {
			return best
		}
	}
}

// tally counts the iterations with prefill, and the requests.
func tally(roots []Root) (prefills, requests int) {
	for _, r := range roots {
		if r.Context > 0 {
			prefills++
		}
		requests += r.Requests()
	}
	return prefills, requests
}

// ratio is prefill-bearing iterations by all.
func ratio(prefills, total int) float64 {
	if total == 0 {
		return 0
	}
	return float64(prefills) / float64(total)
}

// longest is the first longest run of iterations that are as wanted, cut to n.
func longest(roots []Root, region Window, n int, want func(Root) bool) *Window {
	var best *Window
	for i := region.Start; i < region.End; {
		j := i
		for j < region.End && want(roots[j]) {
			j++
		}
		if j > i && (best == nil || j-i > best.End-best.Start) {
			best = &Window{i, j}
		}
		i = max(j, i+1)
	}
	if best != nil {
		best.End = min(best.End, best.Start+n)
	}
	return best
}
