package main

import (
	"time"

	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"
)

// progressDelay is how long work goes on before it shows its progress; most is done by then.
const progressDelay = time.Second

// progress shows on standard error how far long work has come, if that is a terminal. A nil progress shows nothing.
type progress struct {
	bar   *progressbar.ProgressBar
	start time.Time
	shown bool
}

// newProgress returns the progress of work on total bytes, -1 if that is not known.
func newProgress(cmd *cobra.Command, label string, total int64) *progress {
	return newProgressOf(cmd, label, total, progressbar.OptionShowBytes(true), progressbar.OptionUseIECUnits(true))
}

// newEventProgress returns the progress of work on total events.
func newEventProgress(cmd *cobra.Command, label string, total int64) *progress {
	return newProgressOf(cmd, label, total, progressbar.OptionShowCount(), progressbar.OptionShowIts(), progressbar.OptionSetItsString("events"))
}

func newProgressOf(cmd *cobra.Command, label string, total int64, units ...progressbar.Option) *progress {
	if !isTerminal(cmd.ErrOrStderr()) {
		return nil
	}
	bar := progressbar.NewOptions64(total, append(units,
		progressbar.OptionSetWriter(cmd.ErrOrStderr()),
		progressbar.OptionSetDescription(label),
		progressbar.OptionSetWidth(30),
		progressbar.OptionThrottle(100*time.Millisecond),
		progressbar.OptionSetRenderBlankState(false),
		progressbar.OptionClearOnFinish(),
	)...)
	bar.StartWithoutRender()
	return &progress{bar: bar, start: time.Now()}
}

// set says that done bytes of the work are done.
func (p *progress) set(done int64) {
	if p == nil || !p.shown && time.Since(p.start) < progressDelay {
		return
	}
	p.shown = true
	_ = p.bar.Set64(done) // a terminal that does not take the bar is no reason to stop
}

// hide removes the bar, so that something else can be printed; the next set shows it again.
func (p *progress) hide() {
	if p != nil && p.shown {
		_ = p.bar.Clear()
	}
}

// pause removes the bar and shows it again when nothing else was printed for a while.
func (p *progress) pause() {
	if p == nil {
		return
	}
	p.hide()
	p.shown, p.start = false, time.Now()
}

// done removes the bar for good.
func (p *progress) done() {
	if p != nil && p.shown {
		_ = p.bar.Finish()
		_ = p.bar.Clear()
	}
}

// parts is the progress of one file after the other.
type parts struct {
	cmd   *cobra.Command
	label string
	bar   *progress
	total int64 // of bar
}

// set says that done bytes are done of the file that has total of them.
func (p *parts) set(done, total int64) {
	if p.bar == nil || total != p.total {
		p.bar.done()
		p.bar, p.total = newProgress(p.cmd, p.label, total), total
	}
	p.bar.set(done)
}

func (p *parts) done() { p.bar.done() }
