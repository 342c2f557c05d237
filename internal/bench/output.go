package bench

import (
	"fmt"
	"io"
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
)

// Output writes Markdown.
type Output struct {
	W    io.Writer
	bars Table
}

// Table is a table of texts.
type Table struct {
	Head []string
	Rows [][]string
}

func (t *Table) add(row ...string) { t.Rows = append(t.Rows, row) }

func (o *Output) title(title, text string) { fmt.Fprintf(o.W, "### %s\n\n%s\n\n", title, text) }

func (o *Output) note(text string, args ...any) { fmt.Fprintf(o.W, text+"\n\n", args...) }

func (o *Output) table(t Table) {
	fmt.Fprintf(o.W, "| %s |\n|%s\n", strings.Join(t.Head, " | "), " --- |"+strings.Repeat(" ---: |", len(t.Head)-1))
	for _, row := range t.Rows {
		fmt.Fprintf(o.W, "| %s |\n", strings.Join(escaped(row), " | "))
	}
	fmt.Fprintln(o.W)
}

// atMost and atLeast note a figure that has a bar.
func (o *Output) atMost(what string, bar, got float64) { o.bar(what, "≤", bar, got, got <= bar) }

func (o *Output) atLeast(what string, bar, got float64) { o.bar(what, "≥", bar, got, got >= bar) }

func (o *Output) bar(what, sign string, bar, got float64, met bool) {
	verdict := "met"
	if !met {
		verdict = "**missed**"
	}
	o.bars.add(what, fmt.Sprintf("%s %v", sign, bar), fmt.Sprintf("%.2f", got), verdict)
}

// Bars prints the figures that have one.
func (o *Output) Bars() {
	if len(o.bars.Rows) > 0 {
		o.title("Bars", "What this run measured of what is asked.")
		o.bars.Head = []string{"what", "bar", "measured", ""}
		o.table(o.bars)
	}
}

// Environment says on what the figures were measured.
func (o *Output) Environment() {
	fmt.Fprintf(o.W, "%s, %s/%s, GOMAXPROCS %d", runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.GOMAXPROCS(0))
	if text, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		if _, rest, ok := strings.Cut(string(text), "model name\t: "); ok {
			model, _, _ := strings.Cut(rest, "\n")
			fmt.Fprintf(o.W, ", %s", model)
		}
	}
	if text, err := os.ReadFile("/proc/loadavg"); err == nil {
		load, _, _ := strings.Cut(string(text), " ")
		fmt.Fprintf(o.W, ", load average at the start %s", load)
	}
	fmt.Fprint(o.W, ".\n")
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, m := range info.Deps {
			switch m.Path {
			case "go.uber.org/zap", "go.uber.org/zap/exp", "github.com/rs/zerolog", "github.com/phuslu/log", "github.com/klauspost/compress":
				fmt.Fprintf(o.W, "%s %s. ", m.Path, m.Version)
			}
		}
	}
	fmt.Fprint(o.W, "\n\n")
}

// cell is nanoseconds and, if there are any, allocations.
func cell(ns, allocs float64) string {
	text := figure(ns)
	if n := math.Round(allocs); n > 0 {
		text += fmt.Sprintf(" (%.0f)", n)
	}
	return text
}

// figure has three digits that count.
func figure(f float64) string {
	switch {
	case f >= 1e6:
		return fmt.Sprintf("%.3g M", f/1e6)
	case f >= 100:
		return fmt.Sprintf("%.0f", f)
	case f >= 10:
		return fmt.Sprintf("%.1f", f)
	}
	return fmt.Sprintf("%.2f", f)
}

func ratio(a, b float64) string {
	if b == 0 {
		return "–"
	}
	return fmt.Sprintf("%.2f", a/b)
}

// escaped returns the texts as they must stand in a table.
func escaped(row []string) []string {
	out := make([]string, len(row))
	for i, text := range row {
		out[i] = strings.ReplaceAll(text, "|", `\|`)
	}
	return out
}
