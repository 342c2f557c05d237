// Package report owns the format of analysis.md: what is rendered here is parsed here.
//
//	var d report.Doc
//	d.Title = "Performance Analysis Report — resnet"
//	d.Add(report.Section{Level: 2, Heading: "Executive Summary", Blocks: []report.Block{{Table: metrics}}})
//	text := d.Render()
//	again, err := report.Parse(text)                       // equal to d
//	for _, p := range again.Items() { … }                  // the P-items, with their data
//
// The format is the one that the agents of AMD-AGI/Hyperloom and TraceLens read: sections, tables, and two marker
// comments, "reasoning-candidate tier=compute rank=N" and "impact-begin kind=p_item category=… low=… mid=… high=…".
// A value that is missing is an em dash.
package report

// Dash stands for a missing value.
const Dash = "—"
