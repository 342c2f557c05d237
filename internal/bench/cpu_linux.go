package bench

import (
	"time"

	"golang.org/x/sys/unix"
)

// CPUTime returns the CPU time that the process has used.
func CPUTime() time.Duration { return clock(unix.CLOCK_PROCESS_CPUTIME_ID) }

// ThreadTime returns the CPU time that the thread has used. The goroutine must be locked to its thread.
func ThreadTime() time.Duration { return clock(unix.CLOCK_THREAD_CPUTIME_ID) }

func clock(id int32) time.Duration {
	var ts unix.Timespec
	if err := unix.ClockGettime(id, &ts); err != nil {
		panic(err) // the clocks exist since Linux 2.6.12
	}
	return time.Duration(ts.Nano())
}

// ChildrenTime returns the CPU time of the child processes that have ended.
func ChildrenTime() time.Duration {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_CHILDREN, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// PeakMemory returns the most memory in bytes that the process has had, 0 if it is not known.
func PeakMemory() int64 {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return u.Maxrss << 10
}
