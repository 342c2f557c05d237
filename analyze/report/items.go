package report

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// Data is the header of a P-item's table. Others may follow.
var Data = []string{"Operation", "Args", "Kernel Path (launcher)", "Time (ms)", "%E2E", "Count", "FLOPS/Byte", "Efficiency", "Bound"}

// Item is one recommendation: a heading "P<n>: title (library)" with its markers and its rows.
type Item struct {
	Rank           int
	Title, Library string
	Category       string  // of the impact marker
	Low, Mid, High float64 // percent of the time that could be gained
	Tier           string  // of the candidate marker
	Header         []string
	Rows           [][]string // as in the table, by ascending efficiency
}

// Section renders the item, at heading level 3 or 4.
func (p *Item) Section(level int) Section {
	title := p.Title
	if p.Library != "" {
		title += " (" + p.Library + ")"
	}
	return Section{Level: level, Heading: fmt.Sprintf("P%d: %s", p.Rank, title), Blocks: []Block{
		{Marker: fmt.Sprintf("impact-begin kind=p_item category=%s low=%.2f mid=%.2f high=%.2f", word(p.Category), p.Low, p.Mid, p.High)},
		{Marker: fmt.Sprintf("reasoning-candidate tier=%s rank=%d", word(p.Tier), p.Rank)},
		{Text: "**Data:**"},
		{Table: &Table{Header: p.Header, Rows: p.Rows}},
		{Marker: "impact-end"},
	}}
}

func word(s string) string {
	if s == "" {
		return "unknown"
	}
	return strings.ReplaceAll(s, " ", "_")
}

var itemHeading = regexp.MustCompile(`^P(\d+): (.*?)(?: \(([^()]*)\))?$`)

// Items extracts the P-items of a document, those of other tools included.
func (d *Doc) Items() []Item {
	var out []Item
	for _, s := range d.Sections {
		m := itemHeading.FindStringSubmatch(s.Heading)
		if m == nil {
			continue
		}
		p := Item{Title: m[2], Library: m[3]}
		p.Rank, _ = strconv.Atoi(m[1])
		marked := false
		for _, b := range s.Blocks {
			switch kind, fields := marker(b.Marker); kind {
			case "impact-begin":
				p.Category = fields["category"]
				p.Low, _ = strconv.ParseFloat(fields["low"], 64)
				p.Mid, _ = strconv.ParseFloat(fields["mid"], 64)
				p.High, _ = strconv.ParseFloat(fields["high"], 64)
			case "reasoning-candidate":
				p.Tier, marked = fields["tier"], true
			}
			if b.Table != nil && p.Header == nil {
				p.Header, p.Rows = b.Table.Header, b.Table.Rows
			}
		}
		if marked {
			out = append(out, p)
		}
	}
	return out
}

// marker splits "word key=value …".
func marker(text string) (kind string, fields map[string]string) {
	parts := strings.Fields(text)
	if len(parts) == 0 {
		return "", nil
	}
	fields = map[string]string{}
	for _, p := range parts[1:] {
		if k, v, ok := strings.Cut(p, "="); ok {
			fields[k] = v
		}
	}
	return parts[0], fields
}

// Metrics returns the two-column table of the Executive Summary.
func (d *Doc) Metrics() map[string]string {
	out := map[string]string{}
	if s := d.Find("Executive Summary"); s != nil {
		for _, b := range s.Blocks {
			if b.Table != nil && len(b.Table.Header) == 2 {
				for _, r := range b.Table.Rows {
					out[r[0]] = r[1]
				}
			}
		}
	}
	return out
}
