package reader

import (
	"fmt"
	"runtime"
)

// Policy says what to do when a line or a stretch of a file is bad.
type Policy uint8

// The policies.
const (
	Continue Policy = iota // report it as an error of the iteration, then go on
	Stop                   // report it, then end the iteration
)

// Newlines says where lines end.
type Newlines uint8

// The kinds of line ends.
const (
	// Universal ends lines at "\n", "\r\n" and a lone "\r", as text files are read in Python. No other character ends a
	// line. A lone "\r" in a line of JSON can only be white space between tokens, so nothing valid is torn that the
	// usual writers write on one line. A byte order mark at the start of the text is dropped.
	Universal Newlines = iota
	// LF ends lines at "\n" only and drops nothing else: joined with "\n", the lines are the text byte for byte.
	LF
)

// The limits that hold where Options leaves them zero.
const (
	DefaultMaxLine   = 64 << 20  // bytes in one line
	DefaultMaxWindow = 128 << 20 // bytes of history that a zstd frame may ask for; what `zstd -d` allows without --long
	maxDepth         = 4         // layers of compression
)

// Options change how a trace is read. The zero value and nil are what most callers want.
type Options struct {
	// Name stands for the file in errors. Open uses the path if it is empty.
	Name string

	// MaxLine is the longest line in bytes that is delivered; longer ones are reported as a LineError and skipped in
	// constant memory. Zero means DefaultMaxLine.
	MaxLine int

	// OnBad is what follows a bad line or damage.
	OnBad Policy

	// Newlines says where lines end.
	Newlines Newlines

	// Parallel is the number of goroutines that decode and check blocks while the caller consumes others. Zero means
	// GOMAXPROCS, 1 means none. Only a source that can be read again from any offset without waiting (a regular file,
	// a bytes.Reader, a strings.Reader) is read in parallel; pipes never are, so that a line is delivered when it is
	// there. The goroutines run only while an iteration runs; those of a CLP archive, of which pipes make no difference, from
	// the first event to the end or to Close.
	Parallel int

	// MaxKeys is how many different keys a CLP stream may have; beyond, reading ends with an *ir.LimitError. A key costs
	// about 64 bytes of memory. Zero means 131,072.
	MaxKeys int

	// MaxWindow is the largest zstd window in bytes that is decoded. Zero means DefaultMaxWindow. One window's worth of
	// memory, and no more, is held for frames that need it.
	MaxWindow int64

	// Progress, if there is one, is called now and then, by the goroutine that iterates, with the bytes that were read from
	// the file so far (Stats.Stored), also while no event is found that Select asks for. A search of an archive does not call it.
	Progress func(stored int64)
}

func (o *Options) withDefaults() (Options, error) {
	var v Options
	if o != nil {
		v = *o
	}
	switch {
	case v.MaxLine < 0:
		return v, fmt.Errorf("reader: MaxLine %d is negative", v.MaxLine)
	case v.MaxKeys < 0:
		return v, fmt.Errorf("reader: MaxKeys %d is negative", v.MaxKeys)
	case v.MaxWindow < 0:
		return v, fmt.Errorf("reader: MaxWindow %d is negative", v.MaxWindow)
	case v.Parallel < 0:
		return v, fmt.Errorf("reader: Parallel %d is negative", v.Parallel)
	case v.OnBad > Stop:
		return v, fmt.Errorf("reader: unknown policy %d", v.OnBad)
	case v.Newlines > LF:
		return v, fmt.Errorf("reader: unknown kind of line ends %d", v.Newlines)
	}
	if v.MaxLine == 0 {
		v.MaxLine = DefaultMaxLine
	}
	if v.MaxWindow == 0 {
		v.MaxWindow = DefaultMaxWindow
	}
	if v.Parallel == 0 {
		v.Parallel = runtime.GOMAXPROCS(0)
	}
	return v, nil
}
