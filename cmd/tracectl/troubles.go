package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/tracehandler/tracehandler/event"
	"github.com/tracehandler/tracehandler/reader"
)

// listed is how many bad lines of one file are printed; a file that is no trace would fill the screen.
const listed = 5

// troubles prints what is wrong with inputs and remembers that something was.
type troubles struct {
	w     io.Writer
	hide  func() // takes the progress bar out of the way
	lines map[string]int
	order []string // files with bad lines
	any   bool
}

func newTroubles(cmd *cobra.Command) *troubles {
	return &troubles{w: cmd.ErrOrStderr(), hide: func() {}, lines: map[string]int{}}
}

// add prints err; of many bad lines in one file only the first.
func (t *troubles) add(err error) {
	t.any = true
	if line, ok := err.(*reader.LineError); ok {
		if t.lines[line.Path] == 0 {
			t.order = append(t.order, line.Path)
		}
		if t.lines[line.Path]++; t.lines[line.Path] > listed {
			return
		}
	}
	t.hide()
	fmt.Fprintf(t.w, "tracectl: %s\n", describe(err))
}

// describe says what is wrong and where, for a person.
func describe(err error) string {
	if line, ok := err.(*reader.LineError); ok {
		return fmt.Sprintf("%s: line %d (text offset %d): %s", shown(line.Path), line.Line, line.Offset, lineTrouble(line))
	}
	return humane(err)
}

// lineTrouble says what is wrong with a line and where in it.
func lineTrouble(l *reader.LineError) string {
	var syntax *event.SyntaxError
	if errors.As(l.Err, &syntax) {
		return fmt.Sprintf("no JSON object: column %d: %s", syntax.Offset+1, syntax.Msg)
	}
	return "expected " + l.Expected + cause(l.Err)
}

// result ends a command: with the number of bad lines that were not printed, and the error if there was any trouble.
func (t *troubles) result() error {
	t.hide()
	for _, path := range t.order {
		if more := t.lines[path] - listed; more > 0 {
			fmt.Fprintf(t.w, "tracectl: %s: %s; 'tracectl verify' lists them\n", shown(path), plural(more, "more bad line"))
		}
	}
	if t.any {
		return errReported
	}
	return nil
}

// noTrace reports whether nothing in an input that was read to its end is an event, because it is something else.
func noTrace(in *input) bool {
	st := in.Stats()
	return st.Events == 0 && (st.Bad > 0 || st.Damage > 0 && instead(in.name) != "")
}

func noTraceError(name string) error {
	text := name + ": no line is a JSON object: this is no trace of events"
	if what := instead(name); what != "" {
		text += "; " + what
	}
	return errors.New(text)
}
