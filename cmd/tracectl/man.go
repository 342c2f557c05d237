package main

import (
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
)

func newManCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "man DIR",
		Short: "Write the manual pages into a directory",
		Long:  "Man writes one manual page a command, tracectl.1, tracectl-cat.1 and so on, into DIR, which it makes if need be.",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := os.MkdirAll(args[0], 0o755); err != nil {
				return err
			}
			root := cmd.Root()
			root.DisableAutoGenTag = true // the same pages from the same program
			return doc.GenManTree(root, &doc.GenManHeader{Title: "TRACECTL", Section: "1", Source: "tracehandler", Manual: "tracehandler"}, args[0])
		},
	}
}
