//go:build !linux

package bench

import "time"

var start = time.Now()

// CPUTime returns the time since the start: there is no portable clock of the process's CPU time.
func CPUTime() time.Duration { return time.Since(start) }

// ThreadTime is the same for the thread.
func ThreadTime() time.Duration { return time.Since(start) }

// ChildrenTime is not known.
func ChildrenTime() time.Duration { return 0 }

// PeakMemory is not known.
func PeakMemory() int64 { return 0 }
