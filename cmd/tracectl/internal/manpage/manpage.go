// Package manpage writes the manual pages of a cobra command, as they stand in its help: nothing of the text is taken for mark-up.
//
//	err := manpage.Write(w, cmd, manpage.Header{Source: "tracehandler"})
//
// Lines that are indented in the help, tables and commands, stay as they are; others are filled. Format: man(7).
package manpage

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Header is what stands in the margins of a page.
type Header struct {
	Source string // bottom, left: the software
	Manual string // top, middle: the manual
}

// Name returns the name of a command's page without its section: tracectl-cat.
func Name(cmd *cobra.Command) string { return strings.ReplaceAll(cmd.CommandPath(), " ", "-") }

// Write writes the page of one command, in section 1.
func Write(to io.Writer, cmd *cobra.Command, h Header) error {
	w := &page{bufio.NewWriter(to)}
	w.line(`.TH "%s" 1 "" "%s" "%s"`, strings.ToUpper(Name(cmd)), h.Source, h.Manual)
	w.line(".SH NAME")
	w.line(`%s \- %s`, escape(Name(cmd)), escape(cmd.Short))
	w.line(".SH SYNOPSIS")
	w.line(`.B %s`, escape(cmd.UseLine()))
	if cmd.HasAvailableSubCommands() {
		w.line(".br")
		w.line(`.B %s COMMAND`, escape(cmd.CommandPath()))
	}
	w.line(".SH DESCRIPTION")
	if cmd.Long != "" {
		w.text(cmd.Long)
	} else {
		w.text(cmd.Short + ".")
	}
	if cmd.HasAvailableSubCommands() {
		w.line(".SH COMMANDS")
		for _, c := range cmd.Commands() {
			if c.IsAvailableCommand() {
				w.line(".TP")
				w.line(`\fB%s\fR(1)`, escape(Name(c)))
				w.text(c.Short)
			}
		}
	}
	w.flags("OPTIONS", cmd.NonInheritedFlags())
	w.flags("OPTIONS OF ALL COMMANDS", cmd.InheritedFlags())
	if cmd.Example != "" {
		w.line(".SH EXAMPLES")
		w.verbatim(strings.Split(cmd.Example, "\n"))
	}
	w.seeAlso(cmd)
	return w.Flush()
}

type page struct{ *bufio.Writer }

func (w *page) line(f string, args ...any) { fmt.Fprintf(w, f+"\n", args...) } // errors show in Flush

// text writes paragraphs.
func (w *page) text(s string) {
	var block []string
	for _, line := range append(strings.Split(strings.Trim(s, "\n"), "\n"), "") {
		if strings.HasPrefix(line, " ") || strings.HasPrefix(line, "\t") {
			block = append(block, line)
			continue
		}
		if len(block) > 0 {
			w.verbatim(block)
			block = nil
		}
		if line == "" {
			w.line(".PP")
			continue
		}
		w.line("%s", escape(line))
	}
}

// verbatim writes lines that are not filled.
func (w *page) verbatim(lines []string) {
	w.line(".PP\n.nf")
	for _, l := range lines {
		w.line("%s", escape(l))
	}
	w.line(".fi\n.PP")
}

func (w *page) flags(title string, flags *pflag.FlagSet) {
	if !flags.HasAvailableFlags() {
		return
	}
	w.line(".SH %s", title)
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		value, usage := pflag.UnquoteUsage(f)
		head := ""
		if f.Shorthand != "" {
			head = fmt.Sprintf(`\fB\-%s\fR, `, escape(f.Shorthand))
		}
		head += fmt.Sprintf(`\fB\-\-%s\fR`, escape(f.Name))
		if value != "" {
			head += fmt.Sprintf(` \fI%s\fR`, escape(value))
		}
		w.line(".TP\n%s", head)
		switch f.DefValue {
		case "", "false", "0", "[]":
			w.line("%s", escape(usage))
		default:
			w.line("%s (default %s)", escape(usage), escape(f.DefValue))
		}
	})
}

func (w *page) seeAlso(cmd *cobra.Command) {
	var pages []string
	if cmd.HasParent() {
		pages = append(pages, fmt.Sprintf(`\fB%s\fR(1)`, escape(Name(cmd.Parent()))))
		for _, c := range cmd.Parent().Commands() {
			if c != cmd && c.IsAvailableCommand() {
				pages = append(pages, fmt.Sprintf(`\fB%s\fR(1)`, escape(Name(c))))
			}
		}
	}
	if len(pages) > 0 {
		w.line(".SH SEE ALSO\n%s", strings.Join(pages, ",\n"))
	}
}

// escape takes the special meaning from what man(7) would read as a request or an escape.
func escape(s string) string {
	s = strings.NewReplacer(`\`, `\e`, `-`, `\-`, "`", `\(ga`, "^", `\(ha`, "~", `\(ti`, "'", `\(aq`).Replace(s)
	if strings.HasPrefix(s, ".") {
		s = `\&` + s
	}
	return s
}
