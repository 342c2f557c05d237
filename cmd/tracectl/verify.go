package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/fatih/color"
	"github.com/spf13/cobra"

	"github.com/tracehandler/tracehandler/cmd/tracectl/internal/screen"
	"github.com/tracehandler/tracehandler/reader"
)

type verifyOptions struct{ json, quiet, all bool }

func newVerifyCommand() *cobra.Command {
	var o verifyOptions
	cmd := &cobra.Command{
		Use:   "verify FILE | DIRECTORY | - ...",
		Short: "Read everything and report what is damaged, and where",
		Long: `Verify reads traces to their ends, checks every checksum and every line, and prints one line for each thing that is wrong - a
torn end, a damaged stretch, a line that is no JSON object - and one for each trace. The exit code is 2 if anything is wrong.
Of the bad lines of one trace the first 100 are printed, unless --all is given; --json lists up to 10,000 faults.`,
		Example: `  tracectl verify app.ndjson.zst
  tracectl verify -q traces/ || echo damaged
  tracectl verify --json traces/ | jq '.[] | select(.ok | not) | .path'`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return runVerify(cmd, args, &o) },
	}
	f := cmd.Flags()
	f.BoolVar(&o.json, "json", false, "print one JSON array")
	f.BoolVarP(&o.quiet, "quiet", "q", false, "print only what could not be read at all; the exit code tells the rest")
	f.BoolVar(&o.all, "all", false, "print every bad line")
	cmd.MarkFlagsMutuallyExclusive("json", "quiet", "all")
	return cmd
}

// verdict is what verify says about one trace. Sizes are in bytes; of the places at most maxPlaces are listed.
type verdict struct {
	Path        string  `json:"path"`
	OK          bool    `json:"ok"`
	Error       string  `json:"error,omitempty"` // why it could not be read at all
	Format      string  `json:"format,omitempty"`
	Events      int64   `json:"events"`
	BadLines    int64   `json:"bad_lines"`
	Text        int64   `json:"text_bytes"`
	Stored      int64   `json:"stored_bytes"`
	Frames      int64   `json:"frames"`
	Damage      int64   `json:"damage"` // torn ends and damaged stretches
	DamageBytes int64   `json:"damage_bytes"`
	Places      []place `json:"places"`
}

const (
	maxPlaces   = 10_000
	maxBadLines = 100
)

// place is one thing that is wrong.
type place struct {
	Kind   string `json:"kind"`            // torn, damage or line
	Offset int64  `json:"offset"`          // in the file as it is stored; of a line, in the uncompressed text
	Bytes  int64  `json:"bytes,omitempty"` // that cannot be read, as stored
	Line   int64  `json:"line"`            // the bad line, or the last one before the damage
	What   string `json:"what"`
}

func runVerify(cmd *cobra.Command, args []string, o *verifyOptions) error {
	paths, err := findInputs(cmd, args)
	if err != nil {
		return err
	}
	t := newTroubles(cmd)
	verdicts := []verdict{}
	out := cmd.OutOrStdout()
	for _, path := range paths {
		badLines := 0
		v, err := verify(cmd, path, t, func(err error) error {
			if o.json || o.quiet {
				return nil
			}
			if _, ok := err.(*reader.LineError); ok {
				if badLines++; badLines > maxBadLines && !o.all {
					return nil
				}
			}
			_, werr := fmt.Fprintln(out, describe(err))
			return werr
		})
		if err != nil {
			return err
		}
		switch {
		case o.json:
			verdicts = append(verdicts, v)
		case !o.quiet && v.Error == "":
			if more := badLines - maxBadLines; more > 0 && !o.all {
				if _, err := fmt.Fprintf(out, "%s: %s; --all prints them\n", shown(v.Path), plural(more, "more bad line")); err != nil {
					return err
				}
			}
			if err := printVerdict(out, &v, useColor(cmd, out)); err != nil {
				return err
			}
		}
	}
	if o.json {
		if err := writeIndented(out, verdicts); err != nil {
			return err
		}
	}
	return t.result()
}

// verify reads one trace to its end. It calls found with each thing that is wrong.
func verify(cmd *cobra.Command, path string, t *troubles, found func(error) error) (verdict, error) {
	v := verdict{Path: path, Places: []place{}}
	in, err := open(cmd, path)
	if err != nil {
		t.add(err)
		v.Error = humane(err)
		return v, nil
	}
	defer in.Close()
	v.Path = in.name
	bar := newProgress(cmd, "verifying", in.size)
	defer bar.done()
	n := 0
	for _, err := range in.Events() {
		if n++; n%4096 == 0 {
			bar.set(in.Stats().Stored)
		}
		if err == nil {
			continue
		}
		bar.hide()
		if !reader.IsReport(err) {
			t.add(err)
			v.Error = humane(err)
			break
		}
		t.any = true
		if err := found(err); err != nil {
			return v, err
		}
		if len(v.Places) < maxPlaces {
			v.Places = append(v.Places, placeOf(err))
		}
	}
	st := in.Stats()
	v.OK = st.Bad == 0 && st.Damage == 0 && v.Error == "" && len(v.Places) == 0
	v.Format, v.Events, v.BadLines, v.Text, v.Stored, v.Frames = layers(in), st.Events, st.Bad, st.Text, st.Stored, st.Frames
	v.Damage, v.DamageBytes = st.Damage, st.Skipped
	if noTrace(in) {
		t.add(noTraceError(in.name))
	}
	return v, nil
}

func placeOf(err error) place {
	var l *reader.LineError
	var d *reader.DamageError
	var t *reader.TornError
	switch {
	case errors.As(err, &l):
		return place{Kind: "line", Offset: l.Offset, Line: l.Line, What: lineTrouble(l)}
	case errors.As(err, &d):
		return place{Kind: "damage", Offset: d.Offset, Bytes: d.Skipped, Line: d.Line, What: "expected " + d.Expected + cause(d.Err)}
	case errors.As(err, &t):
		return place{Kind: "torn", Offset: t.Offset, Bytes: t.Skipped, Line: t.Line, What: "the file ends inside " + t.Expected + cause(t.Err)}
	}
	return place{Kind: "damage", What: humane(err)}
}

func cause(err error) string {
	if err == nil {
		return ""
	}
	return ": " + humane(err)
}

func printVerdict(out io.Writer, v *verdict, useColor bool) error {
	word := screen.NewStyle(useColor, color.FgGreen).Paint("ok     ")
	if !v.OK {
		word = screen.NewStyle(useColor, color.Bold, color.FgRed).Paint("DAMAGED")
	}
	frames, bad, damage := "", "", ""
	if v.Frames > 0 {
		frames = ", " + plural(v.Frames, "frame")
	}
	if v.BadLines > 0 {
		bad = ", " + plural(v.BadLines, "bad line")
	}
	if v.DamageBytes > 0 {
		damage = ", " + plural(v.DamageBytes, "byte") + " unreadable"
	}
	_, err := fmt.Fprintf(out, "%s  %s  %s%s, %s%s%s, %s of text in %s\n", word, shown(v.Path), v.Format, frames, plural(v.Events, "event"), bad, damage,
		bytesText(v.Text), bytesText(v.Stored))
	return err
}

// writeIndented writes v indented.
func writeIndented(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}
