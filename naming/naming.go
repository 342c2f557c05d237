package naming

import (
	"time"

	"github.com/tracehandler/tracehandler/format"
)

// PartialSuffix ends the name of a trace that is still being written, or that a crash left behind.
const PartialSuffix = ".partial"

// Rank is the number of a process in a distributed job.
type Rank int

// NoRank is the rank of a process that has none.
const NoRank Rank = -1

// Fields is what a name says.
type Fields struct {
	Prefix, User string
	Rank         Rank
	PID          int
	Host         string
}

// Parse reads a base name.
func Parse(base string) Fields { return Fields{Rank: NoRank, PID: -1} }

// Scheme builds names.
type Scheme struct {
	Prefix, User, Host string
	PID                int
	Rank               func() Rank
}

// FileName returns the name for rank r and format f.
func (s Scheme) FileName(r Rank, f format.Format) string { return "trace" + f.Suffix() }

// EnvRank returns a function that reads the rank from the environment.
func EnvRank() func() Rank { return func() Rank { return NoRank } }

// RotatedName returns the name under which path is kept after rotation at t.
func RotatedName(path string, t time.Time, n int) string { return path }

// ParseRotated undoes RotatedName on a base name.
func ParseRotated(base string) (live string, t time.Time, ok bool) { return base, time.Time{}, false }
