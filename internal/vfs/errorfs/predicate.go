package errorfs

import (
	"math/rand/v2"
	"path/filepath"
)

// Predicate accepts or refuses a call. An FS asks it under its lock: it must not call the FS.
type Predicate func(Call) bool

// Ops accepts the calls in the set.
func Ops(ops Op) Predicate {
	return func(c Call) bool { return c.Op&ops != 0 }
}

// Base accepts paths whose last element matches the pattern, by the rules of filepath.Match. A malformed pattern panics.
func Base(pattern string) Predicate {
	if _, err := filepath.Match(pattern, ""); err != nil {
		panic("errorfs: pattern " + pattern + ": " + err.Error())
	}
	return func(c Call) bool {
		ok, _ := filepath.Match(pattern, filepath.Base(c.Path)) // the pattern is known to be well formed
		return ok
	}
}

// Nth accepts the nth call that it is asked about, counted from 1, and no other.
func Nth(n int) Predicate {
	i := 0
	return func(Call) bool {
		i++
		return i == n
	}
}

// After accepts every call but the first n that it is asked about.
func After(n int) Predicate {
	i := 0
	return func(Call) bool {
		i++
		return i > n
	}
}

// First accepts the first n calls that it is asked about.
func First(n int) Predicate { return Not(After(n)) }

// Sometimes accepts a part of the calls, from 0 (none) to 1 (all), chosen by rng.
func Sometimes(part float64, rng *rand.Rand) Predicate {
	return func(Call) bool { return rng.Float64() < part }
}

// Not accepts what p refuses.
func Not(p Predicate) Predicate {
	return func(c Call) bool { return !p(c) }
}
