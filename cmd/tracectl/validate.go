package main

import (
	"fmt"
	"maps"
	"slices"

	"github.com/spf13/cobra"

	"github.com/tracehandler/tracehandler/parse"
)

func newValidateCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "validate FILE...",
		Short: "Check the records of compile traces against their schemas",
		Long: `Validate checks each record of compile traces, raw or parsed: whether the fields are there that readers rely on, and have
the types they should. Fields and types of records that are not known pass. The exit code is 2 if a record is not valid.`,
		Args: files(cobra.MinimumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			bad := false
			for _, path := range args {
				v, err := parse.Validate(path)
				if err != nil {
					return err
				}
				if err := complainOf(cmd, v.Problems); err != nil {
					bad = true
				}
				if more := v.Invalid - int64(len(v.Problems)); more > 0 {
					fmt.Fprintf(cmd.ErrOrStderr(), "tracectl: %s: %s\n", path, plural(more, "more problem"))
				}
				text := ""
				for _, k := range slices.Sorted(maps.Keys(v.ByType)) {
					text += fmt.Sprintf(", %s %s", number(v.ByType[k]), k)
				}
				if _, err := fmt.Fprintf(cmd.OutOrStdout(), "%s: %s, %s invalid%s\n", path, plural(v.Records, "record"), number(v.Invalid), text); err != nil {
					return err
				}
			}
			if bad {
				return errReported
			}
			return nil
		},
	}
}
