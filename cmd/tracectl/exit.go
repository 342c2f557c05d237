package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"regexp"
	"strings"
	"sync"
	"syscall"

	"github.com/spf13/cobra"
)

// The exit codes.
const (
	exitOK          = 0
	exitNothing     = 1   // nothing matched
	exitTrouble     = 2   // usage, damage, or an error of reading or writing
	exitInterrupted = 130 // 128 + SIGINT, as shells count
)

// errNothing ends a command that found nothing, errReported one whose troubles were printed where they were met.
var (
	errNothing  = errors.New("nothing matched")
	errReported = errors.New("trouble was reported")
)

// usageError is an error of whoever typed the command.
type usageError struct {
	cmd *cobra.Command
	err error
}

func (e *usageError) Error() string { return e.err.Error() }
func (e *usageError) Unwrap() error { return e.err }

// exitCode tells what is wrong with what cmd was to do, if anything is, and returns the code for it.
func exitCode(errOut io.Writer, cmd *cobra.Command, err error) int {
	var usage *usageError
	switch {
	case err == nil:
		return exitOK
	case errors.Is(err, errNothing):
		return exitNothing
	case errors.Is(err, errReported):
		return exitTrouble
	case isBrokenPipe(err):
		return exitOK // the reader of our output has had enough
	case errors.Is(err, context.Canceled):
		return exitInterrupted
	case errors.As(err, &usage):
		fmt.Fprintf(errOut, "tracectl: %s\nTry '%s --help'.\n", usageText(usage.err), usage.cmd.CommandPath())
	case flagGroup(err) != "":
		fmt.Fprintf(errOut, "tracectl: %s\nTry '%s --help'.\n", flagGroup(err), cmd.CommandPath())
	case strings.HasPrefix(err.Error(), "unknown command "): // cobra's, of several lines, with the word in quotes
		fmt.Fprintf(errOut, "tracectl: %v\n", err)
	default:
		complain(errOut, err)
	}
	return exitTrouble
}

// flagGroups are what cobra says of flags that do not go together, and that one of some is missing.
var flagGroups = regexp.MustCompile(`^(?:if any flags in the group \[.*\] are set none of the others can be; \[(.*)\] were all set|` +
	`at least one of the flags in the group \[(.*)\] is required)$`)

// flagGroup says what cobra says of flags as they are typed, empty if err is about something else.
func flagGroup(err error) string {
	m := flagGroups.FindStringSubmatch(err.Error())
	switch {
	case m == nil:
		return ""
	case m[1] != "":
		return "--" + strings.ReplaceAll(m[1], " ", " and --") + " exclude each other"
	}
	return "one of --" + strings.ReplaceAll(m[2], " ", ", --") + " is needed"
}

// interruptible returns a context that an interrupt ends, for commands that have something to tidy up; the others just die. A
// second interrupt kills. An interrupt also ends what comes from standard input.
func interruptible(cmd *cobra.Command) (context.Context, context.CancelFunc) {
	ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	cmd.SetIn(endingWith(ctx, cmd.InOrStdin()))
	return ctx, stop
}

// endingWith returns a reader of what r has until ctx ends, also if r is waited for then. A file is returned as it is: nobody
// waits for one, and it is read on all cores.
func endingWith(ctx context.Context, r io.Reader) io.Reader {
	if f, ok := r.(*os.File); ok {
		if info, err := f.Stat(); err != nil || info.Mode().IsRegular() || isTerminal(f) {
			return r
		}
	}
	from, to := io.Pipe()
	context.AfterFunc(ctx, func() { _ = to.Close() }) // never fails
	var start sync.Once
	return readerFunc(func(p []byte) (int, error) {
		start.Do(func() {
			go func() { // ends with r, or with the command
				_, err := io.Copy(to, r)
				_ = to.CloseWithError(err) // never fails
			}()
		})
		return from.Read(p)
	})
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// usageText says what is wrong with a command. What shows a query has lines of its own.
func usageText(err error) string {
	var query *queryError
	if errors.As(err, &query) {
		return query.Error()
	}
	return humane(err)
}

// complain prints an error for a person, each of joined ones on a line.
func complain(errOut io.Writer, err error) {
	for _, err := range each(err) {
		fmt.Fprintf(errOut, "tracectl: %s\n", humane(err))
	}
}

// packageNames are those of this module that errors begin with.
var packageNames = regexp.MustCompile(`(^|: )(?:(?:` + strings.Join(strings.Fields(`
	analyze archive chrometrace convert corpus event finalize format frame handler html input ir kineto kql naming parse reader roofline
	sink slogkv source spans stacks steps vfs`), "|") + `): )+`)

// humane returns the text of an error for a person: without the names of the packages it passed through, and with the controls
// escaped that the name of a file may have.
func humane(err error) string {
	return shown(packageNames.ReplaceAllString(err.Error(), "$1"))
}
