package candidate

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/tracehandler/tracehandler/analyze/category"
	"github.com/tracehandler/tracehandler/analyze/roofline"
)

func tuple(list string) string {
	return "(" + strings.TrimSuffix(strings.TrimPrefix(list, "["), "]") + ")"
}

// finish derives what a row's sums allow.
func finish(r *Row, total int64, o Options) {
	slices.SortFunc(r.Kernels, func(a, b Kernel) int { return cmp.Or(cmp.Compare(b.Time, a.Time), cmp.Compare(a.Name, b.Name)) })
	device := r.Kernels[0].Name
	r.Category = category.Of(device, r.Op)
	r.Rewritable, r.SkipReason = category.Rewritable(device)
	if total > 0 {
		r.Percent = 100 * float64(r.Time) / float64(total)
	}
	if r.Provenance == "unresolved" {
		switch {
		case r.LaunchGrid != "":
			r.Provenance = "launch_grid"
		case tileName(device):
			r.Provenance = "tile_name"
		}
	}
	if r.Provenance == "torch_trace" || r.Captured {
		if r.Work, r.HasWork = roofline.Model(r.Op, roofline.ParseShape(r.Dims, r.Types, r.Concrete)); !r.HasWork {
			r.Work, r.HasWork = r.paged.mean(r.Calls)
		}
		r.Work = r.Work.By(device)
	}
	if r.HasWork && o.Spec != nil && r.Time > 0 {
		if r.Estimate, r.HasEstimate = r.Work.On(*o.Spec); r.HasEstimate {
			per := float64(r.Time) / float64(r.Calls)
			r.Efficiency = 100 * r.Estimate.Nanoseconds / per
			r.ComputeUtil, r.MemoryUtil = 100*r.Estimate.Compute/per, 100*r.Estimate.Memory/per
			if r.Efficiency > 100 {
				r.Efficiency, r.Capped = 100, true
			}
		}
	}
	r.Priority = r.Percent * (1 - r.Efficiency/100)
	r.Source = find(device, r.Source.File, r.Frame, o.Sources)
	if r.Rewritable && (r.Source.File == "" || r.Source.Line == 0 && r.Source.Method != "trace_kernel_file") {
		r.SkipReason = category.ReasonUnresolved
	}
	if !r.Rewritable && r.SkipReason == category.ReasonUnresolved && r.Source.Line > 0 {
		r.Rewritable, r.SkipReason = true, ""
	}
}

// tileName reports whether a kernel's name states its tile, such as MT128x64x32 or 128x256x64.
func tileName(name string) bool {
	run := 0
	digits := false
	for i := range len(name) {
		switch c := name[i]; {
		case '0' <= c && c <= '9':
			digits = true
		case c == 'x' && digits:
			if run++; run == 2 && i+1 < len(name) && name[i+1] >= '0' && name[i+1] <= '9' {
				return true
			}
			digits = false
		default:
			run, digits = 0, false
		}
	}
	return false
}

func categories(rows []Row, total int64) []CategorySum {
	sums := map[category.Category]*CategorySum{}
	for i := range rows {
		r := &rows[i]
		c := sums[r.Category]
		if c == nil {
			c = &CategorySum{Category: r.Category}
			sums[r.Category] = c
		}
		c.Time += r.Time
		for _, k := range r.Kernels {
			c.Kernels += k.Count
		}
	}
	var out []CategorySum
	for _, c := range sums {
		if total > 0 {
			c.Percent = 100 * float64(c.Time) / float64(total)
		}
		out = append(out, *c)
	}
	slices.SortFunc(out, func(a, b CategorySum) int {
		return cmp.Or(cmp.Compare(b.Time, a.Time), cmp.Compare(a.Category, b.Category))
	})
	return out
}

// ShapeText renders recorded arguments as reports show them: "(8944,1024) bf16<br>(1024,1024) bf16". Only tensors appear.
func ShapeText(dims, types string) string {
	var parts []string
	for _, operand := range roofline.ParseShape(dims, types, "") {
		if len(operand.Dims) == 0 {
			continue
		}
		var b strings.Builder
		b.WriteByte('(')
		for i, d := range operand.Dims {
			if i > 0 {
				b.WriteByte(',')
			}
			fmt.Fprint(&b, d)
		}
		if len(operand.Dims) == 1 {
			b.WriteByte(',')
		}
		b.WriteByte(')')
		if t := shortType(operand.Type); t != "" {
			b.WriteString(" " + t)
		}
		parts = append(parts, b.String())
	}
	return strings.Join(parts, "<br>")
}

func shortType(t string) string {
	switch t {
	case "c10::BFloat16":
		return "bf16"
	case "c10::Half":
		return "fp16"
	case "float":
		return "fp32"
	case "double":
		return "fp64"
	case "long int", "long":
		return "int64"
	case "int":
		return "int32"
	case "signed char":
		return "int8"
	case "unsigned char":
		return "uint8"
	}
	if strings.HasPrefix(t, "c10::Float8_") {
		return "fp8"
	}
	if strings.HasPrefix(t, "c10::Float4_") {
		return "fp4"
	}
	return strings.TrimPrefix(t, "c10::")
}
