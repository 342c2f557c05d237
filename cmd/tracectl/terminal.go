package main

import (
	"errors"
	"io"
	"os"

	"github.com/spf13/cobra"
	"golang.org/x/term"
)

// colorFlag is the value of --color.
type colorFlag struct{ word string }

func (c *colorFlag) Set(word string) error {
	switch word {
	case "auto", "always", "never":
		c.word = word
		return nil
	}
	return errors.New("want auto, always or never")
}

func (c *colorFlag) String() string {
	if c.word == "" {
		return "auto"
	}
	return c.word
}

func (c *colorFlag) Type() string { return "when" }

// isTerminal reports whether what is read or written here is a terminal.
func isTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// useColor reports whether text for w is coloured: what --color says, else on a terminal that can and without NO_COLOR
// (https://no-color.org).
func useColor(cmd *cobra.Command, w io.Writer) bool {
	when := "auto"
	if f := cmd.Flag("color"); f != nil {
		when = f.Value.String()
	}
	if when == "auto" && (!isTerminal(w) || os.Getenv("NO_COLOR") != "" || os.Getenv("TERM") == "dumb") {
		return false
	}
	if when == "never" {
		return false
	}
	enableColor(w)
	return true
}

// width returns the columns of the terminal that w is, 0 if it is none.
func width(w io.Writer) int {
	f, ok := w.(*os.File)
	if !ok {
		return 0
	}
	n, _, err := term.GetSize(int(f.Fd()))
	if err != nil {
		return 0
	}
	return n
}
