package report_test

import (
	"fmt"

	"github.com/tracehandler/tracehandler/analyze/report"
)

func Example() {
	d := report.Doc{Title: "Performance Analysis Report — resnet"}
	metrics := &report.Table{Header: []string{"Metric", "Value"}, Rows: [][]string{{"Idle %", "2.50%"}}}
	d.Add(report.Section{Level: 2, Heading: "Executive Summary", Blocks: []report.Block{{Table: metrics}}})
	text := d.Render()
	fmt.Print(text)
	again, err := report.Parse(text)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(again.Find("Executive Summary").Blocks[0].Table.Rows)
	// Output:
	// # Performance Analysis Report — resnet
	//
	// ## Executive Summary
	//
	// | Metric | Value |
	// |---|---|
	// | Idle % | 2.50% |
	// [[Idle % 2.50%]]
}
