package main

import (
	"errors"
	"iter"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/tracehandler/tracehandler/cmd/tracectl/internal/filter"
	"github.com/tracehandler/tracehandler/event"
)

type catOptions struct {
	selecting
	showing
	tail    count
	head    count
	follow  bool
	noMerge bool
}

func newCatCommand() *cobra.Command {
	var o catOptions
	cmd := &cobra.Command{
		Use:   "cat [FILE | DIRECTORY | -]...",
		Short: "Print the events of traces, chosen, merged by time, followed",
		Long: `Cat prints events. Several files are merged by time unless --no-merge prints one after the other; events without a
readable time stay behind the one before them in their file. Without a file it reads standard input.

Damage is reported with its place and reading goes on behind it; the exit code is 2 then. It is 1 if something was asked
for and no event matched.
` + selectingHelp + showingHelp + `
Follow: -F prints what comes until it is interrupted, through rotation and truncation. It starts with the last 10 events
that match, or as -n says (-n 0, -n all), or with all if --since or --until is given.
`,
		Example: `  tracectl cat app.ndjson.zst
  tracectl cat -l warn --since -1h traces/
  tracectl cat -f 'http.status>=500' -f 'took>100ms' -k http,took app.ndjson.gz
  tracectl cat -F -l info app.ndjson.zst
  kubectl logs pod | tracectl cat -l error --full`,
		RunE: func(cmd *cobra.Command, args []string) error { return runCat(cmd, args, &o) },
	}
	o.selecting.add(cmd)
	o.showing.add(cmd)
	f := cmd.Flags()
	f.VarP(&o.tail, "tail", "n", "only the last `number` of the events that match, or all")
	f.Var(&o.head, "head", "only the first `number` of the events that match, or all")
	f.BoolVarP(&o.follow, "follow", "F", false, "go on with what is written from now on")
	f.BoolVar(&o.noMerge, "no-merge", false, "print several files one after the other")
	cmd.MarkFlagsMutuallyExclusive("follow", "no-merge")
	return cmd
}

// count is a number or "all".
type count struct {
	n   int
	set bool // not "all"
}

func (c *count) Set(text string) error {
	if text == "all" {
		*c = count{}
		return nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		return errors.New(`want a number or "all"`)
	}
	*c = count{n, true}
	return nil
}

func (c *count) String() string {
	if !c.set {
		return "all"
	}
	return strconv.Itoa(c.n)
}

// none reports whether the count is zero.
func (c *count) none() bool { return c.set && c.n == 0 }

func (c *count) Type() string { return "number" }

func runCat(cmd *cobra.Command, args []string, o *catOptions) error {
	f, err := o.filter(cmd)
	if err != nil {
		return err
	}
	if o.head.set && o.tail.set && !o.follow {
		return &usageError{cmd, errors.New("--head and --tail exclude each other, unless with --follow")}
	}
	loc, err := o.location()
	if err != nil {
		return &usageError{cmd, err}
	}
	p, err := o.printer(cmd, loc)
	if err != nil {
		return err
	}
	paths, err := findInputs(cmd, args)
	if err != nil {
		return err
	}
	t := newTroubles(cmd)
	if o.follow {
		if !cmd.Flags().Changed("tail") && f.Since.IsZero() && f.Until.IsZero() && !o.head.set {
			o.tail = count{10, true}
		}
		return follow(cmd, paths, o, f, p, t)
	}
	ins := openAll(cmd, paths, t)
	defer closeAll(ins)
	if names, all := p.fields.Names(); !all {
		for _, in := range ins {
			in.Project(slices.Concat(names, f.Names(), filter.TimeKeys)...)
		}
	}
	if o.tail.set && f.Empty() && len(ins) == 1 {
		ins[0].Tail(int64(o.tail.n))
	}
	bar := newProgress(cmd, "reading", size(ins))
	defer bar.done()
	t.hide = bar.hide
	p.live, p.bar = isTerminal(cmd.OutOrStdout()), bar
	return printAll(ins, o, f, p, t, func() { bar.set(consumed(ins)) })
}

// printAll prints what is there. It calls tick now and then.
func printAll(ins []*input, o *catOptions, f *filter.Filter, p *printer, t *troubles, tick func()) error {
	hide := t.hide
	t.hide = func() { // a trouble stands behind what came before it
		hide()
		_ = p.flush() // the error stays with the writer
	}
	last := ring{size: o.tail.n}
	matched, seen := 0, 0
	if o.head.none() {
		ins = nil
	}
	for e, err := range inOrder(ins, !o.noMerge) {
		if seen++; seen%4096 == 0 {
			tick()
		}
		if err != nil {
			t.add(err)
			continue
		}
		if !f.Match(e) {
			continue
		}
		matched++
		if o.tail.set {
			last.add(e)
			continue
		}
		if err := p.print(e); err != nil {
			return err
		}
		if o.head.set && matched == o.head.n {
			break
		}
	}
	for e := range last.all() {
		if err := p.print(e); err != nil {
			return err
		}
	}
	if err := p.flush(); err != nil {
		return err
	}
	for _, in := range ins {
		if noTrace(in) {
			t.add(noTraceError(in.name))
		}
	}
	if err := t.result(); err != nil {
		return err
	}
	if matched == 0 && !f.Empty() {
		return errNothing
	}
	return nil
}

// inOrder iterates over the events of all inputs, merged by time or one input after another.
func inOrder(ins []*input, merged bool) iter.Seq2[event.Event, error] {
	if len(ins) > 1 && merged {
		return byTime(ins)
	}
	return oneAfterAnother(ins)
}

// ring keeps the last events.
type ring struct {
	size   int
	events []event.Event
	next   int // where the next goes once the ring is full
}

func (r *ring) add(e event.Event) {
	switch {
	case r.size == 0:
	case len(r.events) < r.size:
		r.events = append(r.events, e.Clone())
	default:
		r.events[r.next] = e.Clone()
		r.next = (r.next + 1) % r.size
	}
}

// all iterates from the oldest to the newest.
func (r *ring) all() iter.Seq[event.Event] {
	return func(yield func(event.Event) bool) {
		for i := range r.events {
			if !yield(r.events[(r.next+i)%len(r.events)]) {
				return
			}
		}
	}
}
