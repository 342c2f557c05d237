package main

import (
	"bufio"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/tracehandler/tracehandler/cmd/tracectl/internal/fields"
	"github.com/tracehandler/tracehandler/cmd/tracectl/internal/pretty"
	"github.com/tracehandler/tracehandler/event"
)

// showing are the flags that say how events are printed.
type showing struct {
	output     string
	keys, hide []string
	full       bool
	clock      pretty.Clock
}

const showingHelp = `
Output: pretty is an event set for people, raw its JSON text as it stands in the file, json one object a line made of what
is in the event. Pretty is the default on a terminal, raw otherwise, json if keys are chosen. Pretty cuts long values, shows
the first line of texts of several lines, and marks what it leaves out; --full shows all. Values that a key had before are
dim there. Text in front of the JSON of a line is not printed.

Keys: -k chooses keys, -K hides them, with dots into groups and * for any text (-k 'http.*,took' -K '*_id'). Pretty keeps
time, level and message unless they are hidden by name.
`

func (s *showing) add(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVarP(&s.output, "output", "o", "", "`how` to print: pretty, raw or json")
	f.StringSliceVarP(&s.keys, "keys", "k", nil, "only these `keys`")
	f.StringSliceVarP(&s.hide, "hide", "K", nil, "not these `keys`")
	f.BoolVar(&s.full, "full", false, "pretty: cut nothing, and print texts of several lines")
	f.Var(&s.clock, "clock", "pretty: `time` as datetime, time, rfc3339, delta (since the event before) or none")
	complete(cmd, "output", "pretty", "raw", "json")
	complete(cmd, "clock", "datetime", "time", "rfc3339", "delta", "none")
}

// builtin are the keys that pretty keeps on its own.
var builtin = []string{"time", "level", "msg", "message"}

// printer returns the printer that the flags ask for, onto the command's output.
func (s *showing) printer(cmd *cobra.Command, loc *time.Location) (*printer, error) {
	out := cmd.OutOrStdout()
	if s.output == "" {
		switch {
		case isTerminal(out):
			s.output = "pretty"
		case len(s.keys)+len(s.hide) > 0:
			s.output = "json"
		default:
			s.output = "raw"
		}
	}
	p := &printer{w: bufio.NewWriterSize(out, 64<<10)}
	show := s.keys
	switch s.output {
	case "pretty":
		p.pretty = pretty.New(pretty.Options{Color: useColor(cmd, out), Full: s.full, Zone: loc, Clock: s.clock, Width: width(out)})
		if len(show) > 0 {
			show = append(append([]string{}, builtin...), show...)
		}
	case "json":
		p.json = true
	case "raw":
		if len(s.keys)+len(s.hide) > 0 {
			return nil, &usageError{cmd, fmt.Errorf("-o raw prints lines as they are and cannot choose keys: use -o json")}
		}
	default:
		return nil, &usageError{cmd, fmt.Errorf("--output: unknown output %q: want pretty, raw or json", s.output)}
	}
	var err error
	if p.fields, err = fields.Parse(show, s.hide); err != nil {
		return nil, &usageError{cmd, fmt.Errorf("--keys, --hide: %w", err)}
	}
	return p, nil
}

// printer prints events.
type printer struct {
	w      *bufio.Writer
	pretty *pretty.Printer // nil: raw or json
	json   bool
	fields fields.Selection
	live   bool      // somebody watches: every event is written at once
	bar    *progress // gives way to what is printed live
	buf    []byte
}

func (p *printer) print(e event.Event) error { return p.shown(p.write(e)) }

// text prints a line that is no event.
func (p *printer) text(line string) error {
	_, err := p.w.WriteString(line + "\n")
	return p.shown(err)
}

// shown takes what was written to where it is seen, if somebody watches; err is what writing it gave.
func (p *printer) shown(err error) error {
	if err != nil || !p.live {
		return err
	}
	p.bar.pause()
	return p.flush()
}

func (p *printer) write(e event.Event) error {
	if !p.fields.Empty() {
		e = p.fields.Apply(e)
	}
	switch line := e.Line(); {
	case p.pretty != nil:
		p.buf = p.pretty.Append(p.buf[:0], e)
	case p.json && line != nil:
		attrs, err := e.Attrs()
		if err != nil {
			return err
		}
		p.buf = append(event.New(attrs...).AppendJSON(p.buf[:0]), '\n')
	case line != nil:
		if _, err := p.w.Write(line); err != nil {
			return err
		}
		return p.w.WriteByte('\n')
	default:
		p.buf = append(e.AppendJSON(p.buf[:0]), '\n')
	}
	_, err := p.w.Write(p.buf)
	return err
}

// rule prints what stands between events that do not follow each other, for people.
func (p *printer) rule() error {
	if p.pretty == nil {
		return nil
	}
	_, err := p.w.WriteString("--\n")
	return err
}

func (p *printer) flush() error { return p.w.Flush() }
