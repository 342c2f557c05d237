package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tracehandler/tracehandler/cmd/tracectl/internal/screen"
	"github.com/tracehandler/tracehandler/parse"
)

func newInfoCommand() *cobra.Command {
	var kernel, filters string
	cmd := &cobra.Command{
		Use:   "info FILE",
		Short: "List the kernels of a compile trace, or the launches of one",
		Long: `Info lists the kernels of a compile trace, raw or parsed, with their compilations and launches. With --kernel it lists the
launches of one: its number among the kernel's launches, its line in the file and its grid. --args chooses launches by the values
of arguments, of the compilation's metadata or of the launch: num_stages=3, C_ptr.shape[0]=3024, C_ptr.shape=[3024, 10752].`,
		Example: `  tracectl info parsed/rank_0/f0_fc0_a0_cai-.ndjson.gz
  tracectl info --kernel matmul_kernel --args 'M=32, a.shape[0]=32' trace.ndjson.zst`,
		Args: files(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			if filters != "" && kernel == "" {
				return &usageError{cmd, errors.New("--args needs --kernel")}
			}
			if kernel != "" {
				return listLaunches(cmd, args[0], kernel, filters)
			}
			return listKernels(cmd, args[0])
		},
	}
	cmd.Flags().StringVarP(&kernel, "kernel", "k", "", "list the launches of the kernel of this `name`")
	cmd.Flags().StringVar(&filters, "args", "", "list only launches with these values, a `list` of NAME=VALUE")
	return cmd
}

// complainOf prints what could not be read; it returns errReported if there is anything.
func complainOf(cmd *cobra.Command, problems []parse.Problem) error {
	for _, p := range problems {
		complain(cmd.ErrOrStderr(), errors.New(screen.Text(p.String())))
	}
	if len(problems) > 0 {
		return errReported
	}
	return nil
}

func listKernels(cmd *cobra.Command, path string) error {
	ks, problems, err := parse.Kernels(path)
	if err != nil {
		return err
	}
	for _, k := range ks {
		if _, err := fmt.Fprintf(cmd.OutOrStdout(), "%-40s %14s %12s\n", screen.Text(k.Name), plural(int64(k.Compiled), "compilation"), launchesText(k.Launches)); err != nil {
			return err
		}
	}
	if err := complainOf(cmd, problems); err != nil {
		return err
	}
	if len(ks) == 0 {
		return noKernels(cmd, path)
	}
	return nil
}

// noKernels says that a trace is none of a compiler.
func noKernels(cmd *cobra.Command, path string) error {
	complain(cmd.ErrOrStderr(), fmt.Errorf("%s: no compilation or launch in it", path))
	return errNothing
}

func launchesText(n int64) string {
	if n == 1 {
		return "1 launch"
	}
	return number(n) + " launches"
}

func listLaunches(cmd *cobra.Command, path, kernel, filters string) error {
	fs, err := parse.ParseArgFilters(filters)
	if err != nil {
		return &usageError{cmd, err}
	}
	ls, problems, err := parse.Launches(path, kernel, fs)
	if err != nil {
		return err
	}
	for _, l := range ls {
		if _, err := fmt.Fprintf(cmd.OutOrStdout(), "id %d  line %d  grid %s\n", l.ID, l.Line, screen.Text(l.Grid)); err != nil {
			return err
		}
	}
	if err := complainOf(cmd, problems); err != nil || len(ls) > 0 {
		return err
	}
	ks, _, err := parse.Kernels(path)
	if err != nil {
		return err
	}
	var names []string
	for _, k := range ks {
		if k.Name == kernel {
			return errNothing
		}
		names = append(names, k.Name)
	}
	if len(names) == 0 {
		return noKernels(cmd, path)
	}
	hint := ""
	if near := parse.CloseNames(kernel, names); len(near) > 0 {
		hint = "; there is " + screen.Text(strings.Join(near, ", "))
	}
	return fmt.Errorf("%s: no kernel %q%s", path, kernel, hint)
}
