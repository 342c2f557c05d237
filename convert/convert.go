// Package convert copies a trace into another format.
package convert

import (
	"context"
	"errors"

	"github.com/tracehandler/tracehandler/format"
)

// Options change how a trace is converted.
type Options struct {
	Level     int                    // of compression; zero means the format's default
	Overwrite bool                   // replace dst if it exists
	Salvage   bool                   // convert what is intact of a damaged source instead of failing
	Progress  func(read, size int64) // called now and then with the bytes read of the source and its size (-1 unknown)
}

// Report says what was converted.
type Report struct {
	Lines, Bad, Text int64   // lines, of them not JSON objects; bytes of text
	SrcSize, DstSize int64   // bytes stored
	Damage           []error // what could not be read, with Salvage
}

// File writes the lines of the trace at src to dst in format f.
func File(ctx context.Context, src, dst string, f format.Format, o *Options) (Report, error) {
	return Report{}, errors.New("convert: not built yet")
}
