package main

import (
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/tracehandler/tracehandler/cmd/tracectl/internal/manpage"
)

func newManCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "man DIRECTORY",
		Short: "Write the manual pages into a directory",
		Long:  "Man writes one manual page a command, tracectl.1, tracectl-cat.1 and so on, into the directory, which it makes if need be.",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := os.MkdirAll(args[0], 0o755); err != nil {
				return err
			}
			return writePages(cmd.Root(), args[0])
		},
	}
}

// writePages writes the page of cmd and those of the commands below it.
func writePages(cmd *cobra.Command, dir string) error {
	f, err := os.Create(filepath.Join(dir, manpage.Name(cmd)+".1"))
	if err != nil {
		return err
	}
	err = manpage.Write(f, cmd, manpage.Header{Source: "tracehandler", Manual: "Tracehandler Manual"})
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return err
	}
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			if err := writePages(c, dir); err != nil {
				return err
			}
		}
	}
	return nil
}
