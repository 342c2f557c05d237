package roofline

import (
	"encoding/json"
	"strconv"
	"strings"
)

// Operand is one recorded argument of an op.
type Operand struct {
	Dims  []int64 // nil for a scalar, and for an argument that is no tensor
	Type  string  // "c10::BFloat16", "float", "Scalar", …; "" for None
	Value string  // the concrete input, if it was recorded
}

// Shape is the recorded arguments of an op.
type Shape []Operand

// ParseShape reads the raw JSON of Input Dims, Input type and Concrete Inputs. Lists of tensors become one operand with
// their element counts summed. It returns nil if there are no dims.
func ParseShape(dims, types, concrete string) Shape {
	var ds []json.RawMessage
	if json.Unmarshal([]byte(dims), &ds) != nil {
		return nil
	}
	var ts, cs []string
	if json.Unmarshal([]byte(types), &ts) != nil {
		ts = nil
	}
	if json.Unmarshal([]byte(concrete), &cs) != nil {
		cs = nil
	}
	sh := make(Shape, len(ds))
	for i, raw := range ds {
		var flat []int64
		if json.Unmarshal(raw, &flat) == nil {
			sh[i].Dims = flat
		} else {
			var list [][]int64
			if json.Unmarshal(raw, &list) == nil {
				var n int64
				for _, d := range list {
					n += numel(d)
				}
				sh[i].Dims = []int64{n}
			}
		}
		if i < len(ts) {
			sh[i].Type = ts[i]
		}
		if i < len(cs) {
			sh[i].Value = cs[i]
		}
	}
	return sh
}

// numel is the number of elements: 1 for a scalar.
func numel(dims []int64) int64 {
	n := int64(1)
	for _, d := range dims {
		if d < 0 || d > 0 && n > (1<<62)/d {
			return 0
		}
		n *= d
	}
	return n
}

func (o Operand) n() float64     { return float64(numel(o.Dims)) }
func (o Operand) bytes() float64 { return o.n() * o.size() }
func (o Operand) tensor() bool   { return len(o.Dims) > 0 }
func (o Operand) truth() bool    { return strings.EqualFold(o.Value, "true") || o.Value == "1" }

// ints reads a concrete list such as "[1, 1]".
func (o Operand) ints() []int64 {
	var v []int64
	if json.Unmarshal([]byte(o.Value), &v) != nil {
		return nil
	}
	return v
}

// integer reads a concrete scalar.
func (o Operand) integer() (int64, bool) {
	n, err := strconv.ParseInt(o.Value, 10, 64)
	return n, err == nil
}

// size is the bytes of one element, 0 if unknown.
func (o Operand) size() float64 {
	switch o.Type {
	case "double", "long int", "long", "c10::complex<float>":
		return 8
	case "float", "int", "Scalar":
		return 4
	case "c10::Half", "c10::BFloat16", "short int", "short":
		return 2
	case "signed char", "unsigned char", "bool":
		return 1
	}
	if strings.HasPrefix(o.Type, "c10::Float8_") || strings.HasPrefix(o.Type, "c10::Float4_") {
		return 1 // packed float4_x2: the shape is already halved
	}
	return 0
}

// precision names the peak that applies.
func (o Operand) precision() string {
	switch o.Type {
	case "double":
		return "fp64"
	case "float":
		return "fp32"
	case "c10::Half":
		return "fp16"
	case "c10::BFloat16":
		return "bf16"
	case "signed char", "unsigned char":
		return "int8"
	}
	if strings.HasPrefix(o.Type, "c10::Float8_") {
		return "fp8"
	}
	if strings.HasPrefix(o.Type, "c10::Float4_") {
		return "fp4"
	}
	return ""
}

// at is the operand at an index, or an empty one.
func (sh Shape) at(i int) Operand {
	if i < len(sh) {
		return sh[i]
	}
	return Operand{}
}
