package main

import (
	"errors"
	"io"
	"os"

	"golang.org/x/sys/windows"
)

// enableColor makes the console understand ANSI escapes, which Windows 10 and later can.
func enableColor(w io.Writer) {
	f, ok := w.(*os.File)
	if !ok {
		return
	}
	var mode uint32
	if h := windows.Handle(f.Fd()); windows.GetConsoleMode(h, &mode) == nil {
		_ = windows.SetConsoleMode(h, mode|windows.ENABLE_VIRTUAL_TERMINAL_PROCESSING) // an old console shows the escapes
	}
}

func isBrokenPipe(err error) bool {
	return errors.Is(err, windows.ERROR_BROKEN_PIPE) || errors.Is(err, windows.ERROR_NO_DATA)
}
