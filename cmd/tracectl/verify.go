package main

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/tracehandler/tracehandler/finalize"
)

type verifyOptions struct{ json, quiet bool }

func newVerifyCommand() *cobra.Command {
	var o verifyOptions
	cmd := &cobra.Command{
		Use:   "verify FILE | DIRECTORY...",
		Short: "Read everything and report what is damaged, and where",
		Long: `Verify reads traces to their ends, checks every checksum and every line, and prints one line for each trace and one for each
thing that is wrong with it: torn ends, damaged stretches, lines that are no JSON objects. The exit code is 2 if anything is.`,
		Example: `  tracectl verify app.ndjson.zst
  tracectl verify -q traces/ || echo damaged
  tracectl verify --json traces/ | jq '.[] | select(.ok | not) | .path'`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return runVerify(cmd, args, &o) },
	}
	f := cmd.Flags()
	f.BoolVar(&o.json, "json", false, "print one JSON array")
	f.BoolVarP(&o.quiet, "quiet", "q", false, "print nothing but errors of reading; the exit code tells")
	return cmd
}

// verdict is what verify says about one file, as JSON.
type verdict struct {
	Path        string  `json:"path"`
	OK          bool    `json:"ok"`
	Error       string  `json:"error,omitempty"`
	Format      string  `json:"format,omitempty"`
	Events      int64   `json:"events"`
	Text        int64   `json:"text_bytes"`
	Stored      int64   `json:"stored_bytes"`
	Frames      int64   `json:"frames"`
	TornBytes   int64   `json:"torn_bytes"`
	Salvageable int64   `json:"torn_events"`
	DamageBytes int64   `json:"damage_bytes"`
	BadLines    int64   `json:"bad_lines"`
	Places      []place `json:"places,omitempty"`
}

// place is one thing that is wrong.
type place struct {
	Kind   string `json:"kind"` // torn, damage or line
	Offset int64  `json:"offset"`
	Size   int64  `json:"size,omitempty"`
	Line   int64  `json:"line,omitempty"`
	What   string `json:"what"`
}

func runVerify(cmd *cobra.Command, args []string, o *verifyOptions) error {
	for _, a := range args {
		if a == stdin {
			return &usageError{cmd, errors.New("verify needs a file: standard input can be checked by 'tracectl stat -'")}
		}
	}
	paths, err := findInputs(cmd, args)
	if err != nil {
		return err
	}
	t := newTroubles(cmd)
	verdicts := []verdict{}
	bad := false
	for _, path := range paths {
		r, err := finalize.Verify(path, nil)
		if err != nil {
			if o.json {
				verdicts = append(verdicts, verdict{Path: path, Error: humane(err)})
			}
			t.add(path, err)
			continue
		}
		bad = bad || !r.OK()
		switch {
		case o.json:
			verdicts = append(verdicts, verdictOf(&r))
		case !o.quiet:
			if err := printReport(cmd, &r); err != nil {
				return err
			}
		}
	}
	if o.json {
		enc := json.NewEncoder(cmd.OutOrStdout())
		enc.SetIndent("", "  ")
		enc.SetEscapeHTML(false)
		if err := enc.Encode(verdicts); err != nil {
			return err
		}
	}
	if err := t.result(); err != nil {
		return err
	}
	if bad {
		return errReported
	}
	return nil
}

func verdictOf(r *finalize.Report) verdict {
	v := verdict{Path: r.Path, OK: r.OK(), Format: r.Format.String(), Events: r.Events, Text: r.Text, Stored: r.Size, Frames: r.Frames,
		TornBytes: r.TornBytes, Salvageable: r.SalvagedEvents, DamageBytes: r.DamageBytes, BadLines: r.BadLinesCount}
	if r.TornBytes > 0 {
		v.Places = append(v.Places, place{Kind: "torn", Offset: r.Size - r.TornBytes, Size: r.TornBytes, What: "the file ends in the middle of something"})
	}
	for _, d := range r.Damage {
		v.Places = append(v.Places, place{Kind: "damage", Offset: d.Offset, Size: d.Size, What: humane(d.Err)})
	}
	for _, b := range r.BadLines {
		v.Places = append(v.Places, place{Kind: "line", Offset: b.Offset, Line: b.Line, What: humane(b.Err)})
	}
	return v
}

// printReport prints one line for a file and one for each thing that is wrong with it.
func printReport(cmd *cobra.Command, r *finalize.Report) error {
	out := cmd.OutOrStdout()
	color := useColor(cmd, out)
	paint := func(sgr, text string) string {
		if !color {
			return text
		}
		return "\x1b[" + sgr + "m" + text + "\x1b[0m"
	}
	head := paint("32", "ok     ")
	if !r.OK() {
		head = paint("1;31", "DAMAGED")
	}
	var wrong []string
	if r.TornBytes > 0 {
		s := fmt.Sprintf("offset %d: torn: %s behind the last whole line", r.Size-r.TornBytes, plural(r.TornBytes, "byte"))
		if r.SalvagedEvents > 0 {
			s += fmt.Sprintf(", %s among them can be saved", plural(r.SalvagedEvents, "event"))
		}
		wrong = append(wrong, s)
	}
	for _, d := range r.Damage {
		wrong = append(wrong, fmt.Sprintf("offset %d: %s damaged: %s", d.Offset, plural(d.Size, "byte"), humane(d.Err)))
	}
	for _, b := range r.BadLines {
		wrong = append(wrong, fmt.Sprintf("line %d (offset %d): %s", b.Line, b.Offset, humane(b.Err)))
	}
	if more := r.BadLinesCount - int64(len(r.BadLines)); more > 0 {
		wrong = append(wrong, fmt.Sprintf("%s not listed", plural(more, "more bad line")))
	}
	frames := ""
	if r.Frames > 0 {
		frames = fmt.Sprintf(", %s", plural(r.Frames, "frame"))
	}
	if _, err := fmt.Fprintf(out, "%s  %s  %s%s, %s, %s of text in %s\n", head, r.Path, r.Format, frames, plural(r.Events, "event"),
		bytesText(r.Text), bytesText(r.Size)); err != nil {
		return err
	}
	for _, w := range wrong {
		if _, err := fmt.Fprintf(out, "         %s: %s\n", r.Path, w); err != nil {
			return err
		}
	}
	return nil
}
