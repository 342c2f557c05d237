package roofline

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
)

//go:embed devices.json
var devicesJSON []byte

// Spec is what a device can do, without sparsity. TFLOPS are 1e12 operations a second, keyed by precision: bf16, fp16,
// fp8, fp4, int8, tf32, fp32, fp64. A precision that is missing is unknown.
type Spec struct {
	Name   string             `json:"name"`
	Match  []string           `json:"match"`    // lower-case parts of device names
	HBM    float64            `json:"hbm_gbps"` // 1e9 bytes a second
	Matrix map[string]float64 `json:"matrix"`
	Vector map[string]float64 `json:"vector"`
	Source string             `json:"source"`
}

var builtin = sync.OnceValues(func() ([]Spec, error) { return ParseSpecs(devicesJSON) })

// ParseSpecs reads device specifications in the format of devices.json, for devices that it lacks.
func ParseSpecs(text []byte) ([]Spec, error) {
	var specs []Spec
	if err := json.Unmarshal(text, &specs); err != nil {
		return nil, fmt.Errorf("roofline: device specifications: %w", err)
	}
	for _, s := range specs {
		if s.HBM <= 0 || len(s.Match) == 0 {
			return nil, fmt.Errorf("roofline: device %q needs hbm_gbps and match", s.Name)
		}
	}
	return specs, nil
}

// DeviceSpec finds a device by the name the profiler gives it, among more and then the built-in ones: the first with a
// part of its name. false means unknown, as a slice of a built-in device is ("NVIDIA H100 80GB HBM3 MIG 1g.10gb").
func DeviceSpec(name string, more ...Spec) (Spec, bool) {
	known, err := builtin()
	if err != nil {
		return Spec{}, false
	}
	name = strings.ToLower(name)
	if strings.Contains(name, " mig ") {
		known = nil
	}
	for _, list := range [][]Spec{more, known} {
		for _, s := range list {
			for _, m := range s.Match {
				if strings.Contains(name, strings.ToLower(m)) {
					return s, true
				}
			}
		}
	}
	return Spec{}, false
}

// Bound says what limits an op.
type Bound string

const (
	Unknown      Bound = ""
	ComputeBound Bound = "compute_bound"
	MemoryBound  Bound = "memory_bound"
)

// Estimate is the least time a Work takes on a device.
type Estimate struct {
	Nanoseconds float64 // the larger of the two below
	Compute     float64 // at the device's peak for the precision
	Memory      float64 // at its memory bandwidth
	Bound       Bound
}

// By is the Work as a kernel does it: what the matrix units are given as fp32 they round to tf32 if the kernel's name says
// so, and are several times as fast. CUTLASS names such kernels by the instruction, 16 × 8 × 8 in single precision.
func (w Work) By(kernel string) Work {
	if w.Matrix && w.Precision == "fp32" && (strings.Contains(kernel, "tf32") || strings.Contains(kernel, "_s1688gemm")) {
		w.Precision = "tf32"
	}
	return w
}

// On is the Work's estimate on a device. ok is false if the device's peak for the precision is unknown or the Work does
// not say how many bytes it moves.
func (w Work) On(s Spec) (e Estimate, ok bool) {
	peaks := s.Vector
	if w.Matrix {
		peaks = s.Matrix
	}
	peak := peaks[w.Precision]
	if peak == 0 || w.Bytes == 0 {
		return Estimate{}, false
	}
	e.Compute = w.FLOPs / (peak * 1e3)
	e.Memory = w.Bytes / s.HBM
	e.Nanoseconds, e.Bound = e.Compute, ComputeBound
	if e.Memory > e.Compute {
		e.Nanoseconds, e.Bound = e.Memory, MemoryBound
	}
	return e, true
}
