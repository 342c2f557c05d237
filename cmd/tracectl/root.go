package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tracehandler/tracehandler/reader"
)

// newRootCommand lists the commands. A feature adds a file of its own and one line here.
func newRootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:   "tracectl",
		Short: "Read, convert, check and recover traces",
		Long: `Tracectl works on traces: files of events, one JSON object a line, plain or compressed with gzip or zstd.
What a file holds is told from its content, never from its name; "-" stands for standard input, and a directory for the
traces in it.

Exit codes: 0 all went well; 1 nothing matched; 2 wrong usage, damage, or an error of reading or writing.`,
		SilenceUsage:               true,
		SilenceErrors:              true,
		SuggestionsMinimumDistance: 2,
		CompletionOptions:          cobra.CompletionOptions{HiddenDefaultCmd: false},
	}
	root.PersistentFlags().Var(&colorFlag{}, "color", "colours: auto (on a terminal, unless NO_COLOR is set), always or never")
	root.PersistentFlags().Var(&bytesFlag{reader.DefaultMaxLine}, "max-line", "the longest `line` that is read, such as 512MiB; longer ones are reported and skipped")
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error { return &usageError{cmd, err} })
	root.AddCommand(
		newCatCommand(),
		newConvertCommand(),
		newSearchCommand(),
		newMergeCommand(),
		newStatCommand(),
		newVerifyCommand(),
		newRecoverCommand(),
		newAnalyzeCommand(),
		newParseCommand(),
		newInfoCommand(),
		newDiffCommand(),
		newValidateCommand(),
		newDemoCommand(),
		newVersionCommand(),
		newManCommand(),
	)
	checkArgs(root)
	return root
}

// files is check for a command that reads files more than once, and so not standard input.
func files(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if slices.Contains(args, stdin) {
			return errors.New("standard input (-) cannot be read here: write it to a file")
		}
		return check(cmd, args)
	}
}

// checkArgs makes what the Args of the commands below cmd refuse an error of usage.
func checkArgs(root *cobra.Command) {
	for _, cmd := range root.Commands() {
		checkArgsOf(cmd)
		checkArgs(cmd)
	}
}

func checkArgsOf(cmd *cobra.Command) {
	if check := cmd.Args; check != nil {
		cmd.Args = func(cmd *cobra.Command, args []string) error {
			err := check(cmd, args)
			if err != nil && strings.Contains(err.Error(), "arg(s)") { // cobra's: how many, not which
				err = fmt.Errorf("usage: %s", cmd.UseLine())
			}
			if err != nil {
				return &usageError{cmd, err}
			}
			return nil
		}
	}
}

// run runs the command that args name and returns the exit code.
func run(args []string, in io.Reader, out, errOut io.Writer) int {
	root := newRootCommand()
	root.SetArgs(args)
	root.SetIn(in)
	root.SetOut(out)
	root.SetErr(errOut)
	cmd, err := root.ExecuteC()
	return exitCode(errOut, cmd, err)
}
