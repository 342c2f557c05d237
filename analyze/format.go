package analyze

import (
	"fmt"

	"github.com/tracehandler/tracehandler/analyze/candidate"
	"github.com/tracehandler/tracehandler/analyze/category"
	"github.com/tracehandler/tracehandler/analyze/report"
	"github.com/tracehandler/tracehandler/analyze/roofline"
)

func cut(name string) string {
	if runes := []rune(name); len(runes) > headingMax {
		return string(runes[:headingMax]) + "..."
	}
	return name
}

// short keeps a name on one line of a table.
func short(name string) string { return cut(name) }

func kernelID(i int) string { return fmt.Sprintf("k%03d", i+1) }

func share(part, whole int64) float64 {
	if whole == 0 {
		return 0
	}
	return 100 * float64(part) / float64(whole)
}

func percent(part, whole int64) string {
	if whole == 0 {
		return report.Dash
	}
	return fmt.Sprintf("%.2f%%", share(part, whole))
}

func pct(v float64) string { return fmt.Sprintf("%.2f%%", v) }

func ms(ns int64) string { return fmt.Sprintf("%.3f ms", float64(ns)/1e6) }

func us1(ns int64) string { return fmt.Sprintf("%.1f", float64(ns)/1e3) }

func dash(s string) string { return orDash(s != "", s) }

func round2(v float64) float64 { return float64(int64(v*100+0.5)) / 100 }

func orDash(ok bool, s string) string {
	if ok {
		return s
	}
	return report.Dash
}

func efficiency(r *candidate.Row) string { return orDash(r.HasEstimate, pct(r.Efficiency)) }

func efficiencyOf(r *candidate.Row) string {
	if !r.HasEstimate {
		return report.Dash
	}
	unit := "HBM bandwidth"
	if r.Estimate.Bound == roofline.ComputeBound {
		unit = "vector " + r.Work.Precision
		if r.Work.Matrix {
			unit = "matrix " + r.Work.Precision
		}
	}
	text := fmt.Sprintf("%.2f%% of %s", r.Efficiency, unit)
	if r.Capped {
		text += " (capped: the estimate is above 100%)"
	}
	return text
}

func intensity(r *candidate.Row) string {
	return orDash(r.HasWork && r.Work.Bytes > 0, fmt.Sprintf("%.3f", r.Work.Intensity()))
}

func bound(r *candidate.Row) string { return orDash(r.HasEstimate, string(r.Estimate.Bound)) }

func place(l candidate.Location) string {
	switch {
	case l.File == "":
		return report.Dash
	case l.Line > 0:
		return fmt.Sprintf("%s:%d", l.File, l.Line)
	}
	return l.File
}

func dispatchable(r *candidate.Row) bool {
	return r.Source.File != "" && (r.Provenance == "torch_trace" || r.Provenance == "capture_backfill")
}

// Suggestion is what to try first on a row.
func Suggestion(r *candidate.Row) string {
	text := map[category.Category]string{
		category.GEMM:          "Try other tiles and precisions and fuse the epilogue; a vendor library's GEMM is tuned by its configuration, not by rewriting.",
		category.SDPA:          "Check tile size and occupancy of the attention kernel, and whether a fused backend takes this shape.",
		category.Convolution:   "Compare the library's algorithms and layouts (channels-last) for this shape.",
		category.MoE:           "Balance tokens over experts and fuse routing with the grouped GEMM.",
		category.Normalization: "Fuse the norm with the residual add or the quantisation around it.",
		category.Elementwise:   "Fuse chains of elementwise ops, so that intermediates stay out of memory.",
		category.Reduction:     "Fuse the reduction with what produces its input.",
		category.Quantization:  "Fuse the quantisation into the op before it.",
		category.KVCacheStore:  "Fuse the store into the projection or the rotary embedding.",
		category.Communication: "Overlap with computation, or reduce the volume; the kernel itself is the library's.",
		category.MemCpy:        "Avoid the copy, or make it asynchronous.",
	}[r.Category]
	if text == "" {
		text = "Profile the kernel for tile size and occupancy."
	}
	if r.HasEstimate {
		switch r.Estimate.Bound {
		case roofline.ComputeBound:
			text = "Compute-bound: " + text
		case roofline.MemoryBound:
			text = "Memory-bound: " + text
		}
	}
	return text
}
