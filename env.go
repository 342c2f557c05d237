package tracehandler

import (
	"errors"
	"fmt"
	"log/slog"
	"os"

	"github.com/tracehandler/tracehandler/format"
	"github.com/tracehandler/tracehandler/sink"
)

// The variables that FromEnv reads.
const (
	EnvDir    = "TRACEHANDLER_DIR"    // the directory of the traces; unset or empty means that tracing is off
	EnvFormat = "TRACEHANDLER_FORMAT" // plain, gzip, zstd, clp or clp-ir; unset means zstd
	EnvLevel  = "TRACEHANDLER_LEVEL"  // a level as slog.Level.UnmarshalText reads it: debug, INFO, warn+1 …; unset leaves Options.Level
	EnvSource = "TRACEHANDLER_SOURCE" // 1 or true adds the source, 0 or false does not; unset leaves Options.AddSource
)

// ErrOff is returned by FromEnv if the environment names no directory.
var ErrOff = errors.New("tracehandler: off: " + EnvDir + " is not set")

// EnvError says which variable has a value that FromEnv does not understand.
type EnvError struct {
	Variable, Value string
	Err             error
}

func (e *EnvError) Error() string {
	return fmt.Sprintf("tracehandler: %s=%q: %v", e.Variable, e.Value, e.Err)
}

func (e *EnvError) Unwrap() error { return e.Err }

// FromEnv returns a handler that writes into the directory named by the environment, as Dir does. Where a variable is set
// it beats o, which may be nil. It returns ErrOff if no directory is named, so that the program can go on without, and an
// *EnvError for a word that it does not know: never a default in its place.
func FromEnv(o *Options) (*Handler, error) {
	dir := os.Getenv(EnvDir)
	if dir == "" {
		return nil, ErrOff
	}
	var opts Options
	if o != nil {
		opts = *o
	}
	f := Zstd
	if v := os.Getenv(EnvFormat); v != "" {
		var err error
		if f, err = format.Parse(v); err == nil {
			err = sink.Options{Format: f}.Validate()
		}
		if err != nil {
			return nil, &EnvError{EnvFormat, v, err}
		}
	}
	if v := os.Getenv(EnvLevel); v != "" {
		var l slog.Level
		if err := l.UnmarshalText([]byte(v)); err != nil {
			return nil, &EnvError{EnvLevel, v, err}
		}
		opts.Level = l
	}
	switch v := os.Getenv(EnvSource); v {
	case "":
	case "1", "true":
		opts.AddSource = true
	case "0", "false":
		opts.AddSource = false
	default:
		return nil, &EnvError{EnvSource, v, errors.New("want 1, true, 0 or false")}
	}
	return New(Dir(dir, f), &opts), nil
}
