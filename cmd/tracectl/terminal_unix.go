//go:build !windows

package main

import (
	"errors"
	"io"
	"syscall"
)

// enableColor does nothing: terminals here understand ANSI escapes.
func enableColor(io.Writer) {}

func isBrokenPipe(err error) bool { return errors.Is(err, syscall.EPIPE) }
