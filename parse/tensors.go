package parse

import (
	"encoding/json"
	"math"
	"strconv"

	"github.com/tracehandler/tracehandler/parse/internal/js"
)

// TensorValues is what a launch says about a tensor that it was given. The tensor itself is not in a trace; a file that the
// trace names is not opened.
type TensorValues struct {
	Shape string // JSON
	DType string
	Hash  string             // of the values, if they were saved
	Stats map[string]float64 // min, max, mean, std; empty if they were not recorded
}

// Tolerance is how far apart two values may be and still count as close: Absolute + Relative × the second one's size.
type Tolerance struct{ Absolute, Relative float64 }

// DefaultTolerance is the one of torch.allclose's users in tritonparse.
var DefaultTolerance = Tolerance{Absolute: 1e-5, Relative: 1e-3}

// TensorDifference compares a tensor argument of two launches.
type TensorDifference struct {
	// Status is identical (the same saved values), close or divergent (by minimum, maximum, mean and deviation, or by
	// other saved values), shape or dtype (these differ), missing (only one has the argument), unknown (nothing recorded).
	Status string                `json:"status"`
	Shape  [2]json.RawMessage    `json:"shape"`
	DType  [2]string             `json:"dtype"`
	Stats  map[string][2]float64 `json:"stats,omitempty"` // those that are not close; finite ones
}

// Differs reports whether the tensors are known to differ.
func (d *TensorDifference) Differs() bool {
	return d.Status != "identical" && d.Status != "close" && d.Status != "unknown"
}

var statNames = [...]string{"min", "max", "mean", "std"}

// readTensors returns the tensors among the arguments of a launch, those of tensor descriptors included.
func readTensors(args js.Value) map[string]TensorValues {
	list := map[string]TensorValues{}
	for a := range args.Each() {
		t := a
		switch kind := a.Get("type"); {
		case kind.Is("tensor"):
		case kind.Is("TensorDescriptor") && a.Get("base").Kind() == js.Object:
			t = a.Get("base")
		default:
			continue
		}
		v := TensorValues{Shape: "null", DType: t.Get("dtype").Str(), Hash: t.Get("tensor_hash").Str(), Stats: map[string]float64{}}
		if s := t.Get("shape"); s.Exists() {
			v.Shape = string(s.AppendCanonical(nil, nil))
		}
		for _, name := range statNames {
			// What is not finite is written as text.
			text := t.Get(name).Str()
			if n := t.Get(name); n.Kind() == js.Number {
				text = string(n.Raw())
			}
			if f, err := strconv.ParseFloat(text, 64); err == nil {
				v.Stats[name] = f
			}
		}
		list[a.Key()] = v
	}
	return list
}

// CompareTensors compares the tensors that the first launch of a kernel was given with those of another, by argument.
// The result goes into d.Tensors, and counts for d.Same from then on.
func (d *Difference) CompareTensors(a, b *Compiled, within Tolerance) {
	d.Tensors = map[string]TensorDifference{}
	for name := range union(a.Tensors, b.Tensors) {
		av, inA := a.Tensors[name]
		bv, inB := b.Tensors[name]
		t := TensorDifference{Status: "missing", DType: [2]string{av.DType, bv.DType}}
		for i, s := range [...]string{av.Shape, bv.Shape} {
			t.Shape[i] = json.RawMessage("null")
			if s != "" {
				t.Shape[i] = json.RawMessage(s)
			}
		}
		if inA && inB {
			t.Status, t.Stats = av.compare(bv, within)
		}
		d.Tensors[name] = t
	}
}

func (a TensorValues) compare(b TensorValues, within Tolerance) (status string, stats map[string][2]float64) {
	switch {
	case a.Shape != b.Shape:
		return "shape", nil
	case a.DType != b.DType:
		return "dtype", nil
	case a.Hash != "" && a.Hash == b.Hash:
		return "identical", nil
	case len(a.Stats) < len(statNames) || len(b.Stats) < len(statNames):
		if a.Hash != "" && b.Hash != "" {
			return "divergent", nil
		}
		return "unknown", nil
	}
	status = "close"
	for _, name := range statNames {
		x, y := a.Stats[name], b.Stats[name]
		if within.close(x, y) {
			continue
		}
		status = "divergent"
		if !math.IsNaN(x) && !math.IsNaN(y) && !math.IsInf(x, 0) && !math.IsInf(y, 0) {
			if stats == nil {
				stats = map[string][2]float64{}
			}
			stats[name] = [2]float64{x, y}
		}
	}
	return status, stats
}

func (t Tolerance) close(x, y float64) bool {
	if x == y || math.IsNaN(x) && math.IsNaN(y) {
		return true
	}
	if math.IsInf(x, 0) || math.IsInf(y, 0) {
		return false
	}
	return math.Abs(x-y) <= t.Absolute+t.Relative*math.Abs(y)
}

// firstTensors notes the tensors of the first launch of each kernel.
type firstTensors map[string]map[string]TensorValues

func (f firstTensors) add(launch js.Value) {
	hash, ok := kernelHash(launch.Get("compilation_metadata").Get("hash"))
	if _, seen := f[hash]; !ok || seen {
		return
	}
	f[hash] = readTensors(launch.Get("extracted_args"))
}
