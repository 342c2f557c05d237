package event

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"testing"
)

// TestFloats compares with encoding/json: the texts must be the same to the digit.
func TestFloats(t *testing.T) {
	check := func(f float64) {
		t.Helper()
		want, err := json.Marshal(f)
		if err != nil {
			return
		}
		if got := string(appendFloat(nil, f, 64)); got != string(want) {
			t.Fatalf("%v: got %s, want %s", math.Float64bits(f), got, want)
		}
		want, err = json.Marshal(float32(f))
		if got := string(appendFloat(nil, float64(float32(f)), 32)); err == nil && got != string(want) {
			t.Fatalf("%v as float32: got %s, want %s", f, got, want)
		}
	}
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 40_000 {
		check(math.Float64frombits(rnd.Uint64()))
		check(rnd.NormFloat64() * 1000)
		digits, scale := float64(rnd.Int64N(1e17)), math.Pow(10, float64(rnd.IntN(24)))
		check(digits / scale)
		check(-math.Nextafter(digits/scale, 0))
		check(math.Trunc(digits/scale) / 1e6)
	}
	for e := range 700 {
		f := math.Pow(10, float64(e-350))
		for _, f := range []float64{f, math.Nextafter(f, 0), math.Nextafter(f, math.Inf(1)), 1 / f, -f, f * 9.999999} {
			check(f)
		}
	}
}
