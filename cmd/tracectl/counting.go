package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/tracehandler/tracehandler/clp/kql"
	"github.com/tracehandler/tracehandler/cmd/tracectl/internal/table"
	"github.com/tracehandler/tracehandler/cmd/tracectl/internal/when"
)

// counting are the flags that have events counted and measured instead of printed.
type counting struct {
	count       bool
	by          []string
	every       string
	distinct    []string
	stats       []string
	percentiles percentiles
}

// countingFlags are their names, but for --percentiles, which means nothing alone.
var countingFlags = []string{"count", "count-by", "by-time", "distinct", "stats"}

func (c *counting) add(cmd *cobra.Command) {
	f := cmd.Flags()
	f.BoolVarP(&c.count, "count", "c", false, "print only how many events were found")
	f.StringArrayVar(&c.by, "count-by", nil, "count for each value of this `key`; may be repeated")
	f.StringVar(&c.every, "by-time", "", "count for each stretch of time of this `length`, such as 30s, 1m, 1h or 1d")
	f.StringArrayVar(&c.distinct, "distinct", nil, "the different values of this `key`; may be repeated")
	f.StringArrayVar(&c.stats, "stats", nil, "measure the numbers of this `key`; may be repeated")
	c.percentiles = percentiles{50, 90, 95, 99}
	f.Var(&c.percentiles, "percentiles", "the percentiles that --stats prints, a `list` of numbers from 0 to 100")
}

// percentiles is a list of them.
type percentiles []float64

func (p *percentiles) Set(text string) error {
	var list percentiles
	for _, word := range strings.Split(text, ",") {
		f, err := strconv.ParseFloat(strings.TrimSpace(word), 64)
		if err != nil {
			return errors.New("want numbers such as 50,99.9")
		}
		list = append(list, f)
	}
	*p = list
	return nil
}

func (p *percentiles) String() string {
	var words []string
	for _, f := range *p {
		words = append(words, strconv.FormatFloat(f, 'f', -1, 64))
	}
	return strings.Join(words, ",")
}

func (p *percentiles) Type() string { return "list" }

// any reports whether anything is to be counted or measured.
func (c *counting) any() bool {
	return c.count || len(c.by)+len(c.distinct)+len(c.stats) > 0 || c.every != ""
}

// onlyCount reports whether nothing is asked for but the number of events.
func (c *counting) onlyCount() bool {
	return c.count && len(c.by)+len(c.distinct)+len(c.stats) == 0 && c.every == ""
}

// grouped reports whether there may be several groups.
func (c *counting) grouped() bool { return len(c.by) > 0 || c.every != "" }

func (c *counting) aggregation(timeKey string, loc *time.Location) (*kql.Aggregation, error) {
	o := kql.AggregateOptions{By: c.by, Location: loc, TimeKey: timeKey, Distinct: c.distinct, Stats: c.stats, Percentiles: c.percentiles}
	if c.every != "" {
		var ok bool
		if o.Every, ok = when.Length(c.every); !ok || o.Every <= 0 {
			return nil, fmt.Errorf("--by-time: %q is no length of time: try 30s, 1m, 1h or 1d", c.every)
		}
	}
	a, err := kql.NewAggregation(&o)
	var syntax *kql.SyntaxError
	if errors.As(err, &syntax) {
		return nil, fmt.Errorf("a key to count or measure is wrong: %s", humane(err))
	}
	return a, err
}

// writeAggregation prints what was counted and measured. found is how many events there were.
func writeAggregation(cmd *cobra.Command, c *counting, a *kql.Aggregation, found int64, asJSON bool, loc *time.Location) error {
	groups := a.Groups()
	out := cmd.OutOrStdout()
	switch {
	case len(groups) == 0 && !c.grouped():
		groups = []kql.Group{{Count: found, Distinct: make([]kql.Distinct, len(c.distinct)), Stats: make([]kql.Stats, len(c.stats))}}
		for i := range groups[0].Distinct {
			groups[0].Distinct[i].Exact = true
		}
	case len(groups) == 0:
		return nil
	}
	if asJSON {
		return c.writeJSON(out, groups)
	}
	if c.grouped() {
		return c.writeTable(out, groups, useColor(cmd, out), loc)
	}
	g := &groups[0]
	if c.count || len(c.distinct)+len(c.stats) == 0 {
		if _, err := fmt.Fprintln(out, g.Count); err != nil {
			return err
		}
	}
	if len(c.distinct) == 1 && len(c.stats) == 0 && g.Distinct[0].Exact {
		for _, v := range g.Distinct[0].Values {
			if _, err := fmt.Fprintln(out, shown(v.Text())); err != nil {
				return err
			}
		}
		return nil
	}
	if len(c.distinct) > 0 {
		t := table.New("key", "different values>")
		for i, key := range c.distinct {
			t.Row(key, about(g.Distinct[i].Exact, number(g.Distinct[i].Count)))
		}
		if err := t.Write(out, useColor(cmd, out)); err != nil {
			return err
		}
	}
	if len(c.stats) == 0 {
		return nil
	}
	t := table.New(append([]string{"key", "numbers>", "min>", "mean>"}, append(c.percentileNames(">"), "max>")...)...)
	for i, key := range c.stats {
		t.Row(append([]string{key}, c.statCells(&g.Stats[i])...)...)
	}
	return t.Write(out, useColor(cmd, out))
}

// writeTable prints a row for each group.
func (c *counting) writeTable(out io.Writer, groups []kql.Group, color bool, loc *time.Location) error {
	var headings []string
	if c.every != "" {
		headings = append(headings, "time")
	}
	headings = append(append(headings, c.by...), "count>")
	for _, key := range c.distinct {
		headings = append(headings, "different "+key+">")
	}
	for _, key := range c.stats {
		for _, what := range append([]string{"min", "mean"}, append(c.percentileNames(""), "max")...) {
			headings = append(headings, what+" "+key+">")
		}
	}
	t := table.New(headings...)
	for i := range groups {
		g := &groups[i]
		var row []string
		switch {
		case c.every == "":
		case g.Timed:
			row = append(row, g.Start.In(loc).Format(c.timeLayout()))
		default:
			row = append(row, "(none)")
		}
		for _, v := range g.Values {
			if v.Missing() {
				row = append(row, "(none)")
			} else {
				row = append(row, v.Text())
			}
		}
		row = append(row, number(g.Count))
		for _, d := range g.Distinct {
			row = append(row, about(d.Exact, number(d.Count)))
		}
		for j := range g.Stats {
			row = append(row, c.statCells(&g.Stats[j])[1:]...)
		}
		t.Row(row...)
	}
	return t.Write(out, color)
}

// timeLayout is as fine as the stretches of time.
func (c *counting) timeLayout() string {
	if d, _ := when.Length(c.every); d%time.Second != 0 {
		return "2006-01-02 15:04:05.000000"
	}
	return "2006-01-02 15:04:05"
}

func (c *counting) percentileNames(suffix string) []string {
	var names []string
	for _, p := range c.percentiles {
		names = append(names, "p"+strconv.FormatFloat(p, 'f', -1, 64)+suffix)
	}
	return names
}

// statCells returns the number of numbers and what was measured.
func (c *counting) statCells(s *kql.Stats) []string {
	cells := []string{number(s.Count)}
	if s.Count == 0 {
		for range len(c.percentiles) + 3 {
			cells = append(cells, "-")
		}
		return cells
	}
	cells = append(cells, string(s.Min), shortFloat(s.Mean))
	for _, p := range s.Percentiles {
		cells = append(cells, about(s.Exact, shortFloat(p)))
	}
	return append(cells, string(s.Max))
}

// about marks an estimate.
func about(exact bool, text string) string {
	if exact {
		return text
	}
	return "~" + text
}

// shortFloat writes a float with six digits, and with all that stand before the point. What is very large or small has an exponent.
func shortFloat(f float64) string {
	switch size := math.Abs(f); {
	case f == math.Trunc(f) && size < 1e15:
		return strconv.FormatFloat(f, 'f', -1, 64)
	case size >= 1e5 && size < 1e15:
		return strconv.FormatFloat(f, 'f', 0, 64)
	}
	return strconv.FormatFloat(f, 'g', 6, 64)
}

// groupJSON is a group as --json prints it.
type groupJSON struct {
	Start    *time.Time                 `json:"start,omitempty"`
	By       map[string]json.RawMessage `json:"by,omitempty"` // keys that are missing are left out
	Count    int64                      `json:"count"`
	Distinct map[string]distinctJSON    `json:"distinct,omitempty"`
	Stats    map[string]map[string]any  `json:"stats,omitempty"`
}

type distinctJSON struct {
	Count  int64             `json:"count"`
	Exact  bool              `json:"exact"`
	Values []json.RawMessage `json:"values,omitempty"`
}

// writeJSON prints one object a group.
func (c *counting) writeJSON(out io.Writer, groups []kql.Group) error {
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	for i := range groups {
		g := &groups[i]
		j := groupJSON{Count: g.Count}
		if g.Timed {
			j.Start = &g.Start
		}
		for k, v := range g.Values {
			if j.By == nil {
				j.By = map[string]json.RawMessage{}
			}
			if !v.Missing() {
				j.By[c.by[k]] = json.RawMessage(v)
			}
		}
		for k, d := range g.Distinct {
			if j.Distinct == nil {
				j.Distinct = map[string]distinctJSON{}
			}
			dj := distinctJSON{Count: d.Count, Exact: d.Exact}
			for _, v := range d.Values {
				dj.Values = append(dj.Values, json.RawMessage(v))
			}
			j.Distinct[c.distinct[k]] = dj
		}
		for k := range g.Stats {
			if j.Stats == nil {
				j.Stats = map[string]map[string]any{}
			}
			j.Stats[c.stats[k]] = c.statJSON(&g.Stats[k])
		}
		if err := enc.Encode(j); err != nil {
			return err
		}
	}
	return nil
}

func (c *counting) statJSON(s *kql.Stats) map[string]any {
	m := map[string]any{"count": s.Count}
	if s.Count == 0 {
		return m
	}
	m["min"], m["max"], m["exact"] = json.RawMessage(s.Min), json.RawMessage(s.Max), s.Exact
	if !math.IsInf(s.Mean, 0) && !math.IsNaN(s.Mean) { // the sum may be beyond all floats
		m["mean"] = s.Mean
	}
	for i, name := range c.percentileNames("") {
		m[name] = s.Percentiles[i]
	}
	return m
}
