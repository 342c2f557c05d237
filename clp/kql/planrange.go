package kql

import (
	"math"

	"github.com/tracehandler/tracehandler/clp/archive"
)

// integers returns the integers of which the operator holds with a number or a time; ok is false if there are none.
func (op operator) integers(l *literal) (low, high int64, ok bool) {
	const least, most = math.MinInt64, math.MaxInt64
	if l.typ == typeFloat {
		return op.integersOf(l.float)
	}
	x := l.integer
	switch op {
	case less:
		return least, x - 1, x > least
	case lessEqual:
		return least, x, true
	case greater:
		return x + 1, most, x < most
	case greaterEqual:
		return x, most, true
	}
	return x, x, true
}

// integersOf is integers for a float; see intFloat.
func (op operator) integersOf(f float64) (low, high int64, ok bool) {
	const least, most = math.MinInt64, math.MaxInt64
	below, above := op == less || op == lessEqual, op == greater || op == greaterEqual
	switch {
	case f >= most: // 2⁶³
		return least, most, below
	case f < least:
		return least, most, above
	}
	whole := int64(f)
	switch whole := float64(whole); {
	case whole == f:
		return op.integers(&literal{typ: typeInteger, integer: int64(f)})
	case below && f < whole:
		return least, int64(f) - 1, true
	case below:
		return least, int64(f), true
	case above && f > whole:
		return int64(f) + 1, most, true
	case above:
		return int64(f), most, true
	}
	return 0, 0, false
}

// floatKeys returns the keys of the floats of which the operator holds with f; ok is false if there are none.
func (op operator) floatKeys(f float64) (low, high int64, ok bool) {
	least, most := archive.FloatKey(math.Inf(-1)), archive.FloatKey(math.Inf(1))
	low, high = archive.FloatKey(f), archive.FloatKey(f)
	if f == 0 {
		low, high = archive.FloatKey(math.Copysign(0, -1)), archive.FloatKey(0)
	}
	switch op {
	case less:
		low, high = least, low-1
	case lessEqual:
		low = least
	case greater:
		low, high = high+1, most
	case greaterEqual:
		high = most
	}
	return low, high, low <= high && f == f
}
