package main

import (
	"os"
	"syscall"
)

// peakMemory returns the largest resident size that the process had, in bytes.
func peakMemory(s *os.ProcessState) int64 {
	if u, ok := s.SysUsage().(*syscall.Rusage); ok {
		return int64(u.Maxrss) << 10
	}
	return 0
}
