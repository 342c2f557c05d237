package manpage

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

func TestWrite(t *testing.T) {
	root := &cobra.Command{Use: "tool", Short: "Do things"}
	root.PersistentFlags().String("color", "auto", "colours, `when`")
	cmd := &cobra.Command{
		Use:   "find [FILE]",
		Short: "Find things",
		Long:  "Find finds.\n\nA table:\n  a<b   a*b\n.dots 'and' \\slashes",
		Example: `  tool find -f 'x~=y'
  tool find .`,
		Run: func(*cobra.Command, []string) {},
	}
	cmd.Flags().IntP("count", "n", 7, "at most this `number`")
	other := &cobra.Command{Use: "other", Short: "Other things", Run: func(*cobra.Command, []string) {}}
	root.AddCommand(cmd, other)
	var out strings.Builder
	if err := Write(&out, cmd, Header{Source: "tools", Manual: "the tools"}); err != nil {
		t.Fatal(err)
	}
	want := `.TH "TOOL-FIND" 1 "" "tools" "the tools"
.SH NAME
tool\-find \- Find things
.SH SYNOPSIS
.B tool find [FILE] [flags]
.SH DESCRIPTION
Find finds.
.PP
A table:
.PP
.nf
  a<b   a*b
.fi
.PP
\&.dots \(aqand\(aq \eslashes
.PP
.SH OPTIONS
.TP
\fB\-n\fR, \fB\-\-count\fR \fInumber\fR
at most this number (default 7)
.SH OPTIONS OF ALL COMMANDS
.TP
\fB\-\-color\fR \fIwhen\fR
colours, when (default auto)
.SH EXAMPLES
.PP
.nf
  tool find \-f \(aqx\(ti=y\(aq
  tool find .
.fi
.PP
.SH SEE ALSO
\fBtool\fR(1),
\fBtool\-other\fR(1)
`
	if out.String() != want {
		t.Errorf("got:\n%s", out.String())
	}
	out.Reset()
	if err := Write(&out, root, Header{}); err != nil || !strings.Contains(out.String(), "\\fBtool\\-find\\fR(1)\nFind things\n") {
		t.Errorf("%v; got:\n%s", err, out.String())
	}
}
